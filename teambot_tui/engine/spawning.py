"""Runs that somebody starts by name: a script, a person's `/spawn`, or an agent at work.

A run of an agent that is not on the team, and every run that an agent starts, gets an agent of its own, so
that runs started together work together and nobody waits in the queue of whoever waits for it. Limits keep
agents from starting agents for ever.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from teambot_tui.engine.context import LONGEST_KEY, as_json
from teambot_tui.engine.dependencies import Condition, Via
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.monitor import log_refusal
from teambot_tui.engine.orders import Need, Newcomer, Order, OrderError, find
from teambot_tui.engine.roster import GENERAL
from teambot_tui.engine.text import one_line, printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import RESERVED, did_you_mean, is_agent_id
from teambot_tui.language.nodes import Span, Words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from teambot_tui.engine.board import State
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.session import Session
    from teambot_tui.language.nodes import Part
_ON_FAILURE = {"skip": Condition.SUCCESS, "refuse": Condition.SUCCESS, "proceed": Condition.ALWAYS}
_KEPT = 6
"""At least so many agents that were made for a run stay in view after it has ended."""
_LONGEST_LABEL = 100
_NOT_IN_LABELS = "#/"
"""A label that looks like a task, or an instance of one, would be taken for it."""


class SpawnOptions(TypedDict, total=False):
    """How a run is started; see `Spawner.spawn`."""

    agent: str | None
    base: str | None
    prompt: str | None
    label: str | None
    chain_after: str | Sequence[str] | None
    depends_on: str | Sequence[str] | None
    include_dependency_result: bool
    shared_context: Mapping[str, object] | None
    parallel: bool
    model: str | None
    timeout: float | None
    retries: int
    on_dependency_failure: str


@dataclass(frozen=True, slots=True)
class _SpawnRequest:
    """What is wanted of each run; see `Spawner.spawn`.

    `agent` is who does it or what an agent is made of for it, `name` how a new agent is to be called.
    """

    agent: str
    name: str | None
    prompt: str
    label: str | None
    after: tuple[str, ...]
    include_results: bool
    context: Mapping[str, object]
    model: str | None
    timeout: float | None
    retries: int
    on_failure: str
    parent: TaskId | None


class Run:
    """A task that was started by name, for whoever started it."""

    def __init__(self, session: Session, task: TaskId) -> None:
        self._session = session
        self.id = task

    @property
    def agent(self) -> AgentId:
        """Who does it."""
        return self._session.board.tasks[self.id].agent

    @property
    def label(self) -> str | None:
        """The name it was given."""
        return self._session.board.tasks[self.id].plan.label

    @property
    def status(self) -> State:
        """Where it is."""
        return self._session.board.tasks[self.id].state

    @property
    def output(self) -> str:
        """What it has said so far."""
        return self._session.board.tasks[self.id].output.text

    @property
    def reason(self) -> str:
        """Why it failed or was skipped."""
        return self._session.board.tasks[self.id].reason

    async def wait(self) -> str:
        """Wait until it has ended, however; return what it said."""
        await self._session.ended([self.id])
        return self.output

    def cancel(self) -> None:
        """Stop it, and what it started."""
        self._session.cancel(self.id)


class Spawner:
    """Starts the runs of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.count = 0
        """How many runs were started."""
        self._made: set[AgentId] = set()
        self._numbers: dict[str, int] = {}
        self._finished: OrderedDict[AgentId, None] = OrderedDict()
        self._timers: dict[TaskId, asyncio.TimerHandle] = {}

    async def spawn(
        self,
        task: str | Sequence[str],
        *,
        agent: str | None = None,
        base: str | None = None,
        prompt: str | None = None,
        label: str | None = None,
        chain_after: str | Sequence[str] | None = None,
        depends_on: str | Sequence[str] | None = None,
        include_dependency_result: bool = False,
        shared_context: Mapping[str, object] | None = None,
        parallel: bool = False,
        model: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the run's, not the call's
        retries: int = 0,
        on_dependency_failure: str = "skip",
        parent: TaskId | None = None,
        permission: Callable[[], Awaitable[None]] | None = None,
    ) -> Run | list[Run]:
        """Start a run, or one for each of several tasks, and return at once.

        Without an `agent`, a general-purpose one is made for it. `prompt` says who the agent is besides: the
        run gets a new agent, made of `base`, that is called `agent` or else as it is made for any run.

        In the words of a person or a script (there is no `parent`), `$agent`, `{variable}` and `{{…}}` mean
        what they mean in a typed task; the words of an agent are text.

        `chain_after` and `depends_on` mean the same: task ids, labels or agents that must complete first.
        With `include_dependency_result` their outputs stand before the task. `shared_context` is what the
        run, and whatever it starts, is told beside the task; a key that begins with `$` takes the output of
        the run or agent of that name. `timeout` is in seconds, waiting included. A dependency that fails
        skips the run, refuses it (`refuse`, if it has failed already) or lets it go on (`proceed`).

        `permission` asks for it, and raises if it is not given. Nobody is asked for what would be refused
        anyway; what has become of it by the time of the answer is looked at again.

        Raises:
            OrderError: something is unknown, closes a cycle, or exceeds a limit; nothing was started.
        """
        made_of = base or agent or GENERAL
        request = _SpawnRequest(
            agent=self._session.roster.base(made_of) or made_of,
            name=agent if base else None,
            prompt=printable(prompt or "").strip(),
            label=one_line(label or "", _LONGEST_LABEL) or None,
            after=(*_names(chain_after), *_names(depends_on)),
            include_results=include_dependency_result,
            context=shared_context or {},
            model=one_line(model or "") or None,
            timeout=timeout,
            retries=retries,
            on_failure=on_dependency_failure,
            parent=parent,
        )
        tasks = [task] if isinstance(task, str) else list(task)
        if permission is not None:
            self._session.planned(*self._ordered(tasks, request, parallel, dict(self._numbers)))
            await permission()
        orders, newcomers = self._ordered(tasks, request, parallel, self._numbers)
        placed = self._session.place(orders, newcomers)
        self._made.update(newcomer.agent for newcomer in newcomers)
        self.count += len(placed)
        if request.timeout is not None:
            for each in placed:
                self._set_timer(each, request.timeout)
        runs = [Run(self._session, each) for each in placed]
        return runs[0] if isinstance(task, str) else runs

    @log_refusal("run", OrderError)
    def _ordered(
        self, tasks: list[str], request: _SpawnRequest, parallel: bool, numbers: dict[str, int]
    ) -> tuple[list[Order], list[Newcomer]]:
        """Return what is to be placed, and who joins to do it; `numbers` count the names of those."""
        self._check(tasks, request)
        alone = self._is_alone(request) or (parallel and len(tasks) > 1)
        labels = _labels(request.label, len(tasks))
        agents = self._new_names(request, labels, numbers) if alone else [AgentId(request.agent)] * len(tasks)
        needs = self._needs(request)
        context = _context(request.context)
        condition = _ON_FAILURE[request.on_failure]
        via = Via.RESULT if request.include_results else Via.AFTER
        orders: list[Order] = []
        for number, (text, label, agent) in enumerate(zip(tasks, labels, agents, strict=True)):
            before = [] if parallel or not number else [Need(number - 1, via, condition)]
            typed = printable(text)
            order = Order(
                agent,
                self._parts(typed, request),
                needs=(*needs, *before),
                label=label,
                model=request.model,
                parent=request.parent,
                context=context,
                retries=request.retries,
                typed=typed if request.parent is None else None,
                condition=condition,
            )
            orders.append(order)
        return orders, [
            Newcomer(agent, request.agent, request.parent, request.prompt) for agent in agents if alone
        ]

    def see_end(self, task: TaskId) -> None:
        """A task has ended: an agent that was made for it need not stay in view for ever."""
        if timer := self._timers.pop(task, None):
            timer.cancel()
        agent = self._session.board.tasks[task].agent
        if agent in self._made:
            self._finished[agent] = None
        if len(self._finished) > 2 * _KEPT:
            oldest = [self._finished.popitem(last=False)[0] for _ in range(_KEPT)]
            left = self._session.dismiss_idle(*oldest)
            self._made.difference_update(left)
            # Work that was stopped takes a moment to end: its agent leaves next time.
            self._finished.update(dict.fromkeys(agent for agent in oldest if agent not in left))

    def close(self) -> None:
        """Stop all clocks."""
        for timer in self._timers.values():
            timer.cancel()

    # What is asked for

    def _parts(self, text: str, request: _SpawnRequest) -> tuple[Part, ...]:
        if request.parent is not None:  # what an agent says is never syntax
            return (Words(text, Span(0, len(text))),)
        try:
            return self._session.prompt_of(text)
        except StatementError as error:
            raise OrderError(f"{error.message} ({error.hint})" if error.hint else error.message) from error

    def _check(self, tasks: list[str], request: _SpawnRequest) -> None:
        session = self._session
        policy, board = session.policy, session.board
        if not tasks or not all(text.strip() for text in tasks):
            raise OrderError("A run needs a task.")
        if request.on_failure not in _ON_FAILURE:
            raise OrderError(
                f"on_dependency_failure must be one of {', '.join(_ON_FAILURE)},"
                f" not {one_line(request.on_failure, 40)}."
            )
        if request.retries < 0 or (request.timeout is not None and not request.timeout > 0):
            raise OrderError("retries must not be negative, and timeout must be above 0.")
        if request.label and set(request.label) & set(_NOT_IN_LABELS):
            raise OrderError(f"A label must not contain {_NOT_IN_LABELS}, which are for the ids of tasks.")
        if session.roster.base(request.agent) is None:
            known = tuple(dict.fromkeys((*session.roster.agents, *session.roster.bases)))
            near = did_you_mean(request.agent, known)
            hint = f" Did you mean {near}?" if near else ""
            raise OrderError(
                f"There is no agent {one_line(request.agent, 60)}.{hint} There are: {', '.join(known)}"
            )
        if request.name is not None:
            self._check_name(request)
        if self.count + len(tasks) > policy.spawn_runs:
            raise OrderError(
                f"A session may start at most {policy.spawn_runs} runs (spawn_runs);"
                f" {self.count} were started."
            )
        if request.parent is None:
            return
        parent = board.tasks[request.parent]
        if parent.ended is not None:
            raise OrderError(f"{parent.id} has ended and can start nothing any more.")
        if parent.level.depth >= policy.spawn_depth:
            raise OrderError(f"Runs may be started at most {policy.spawn_depth} deep (spawn_depth).")
        # What it started before it was tried again has ended with that attempt.
        started = sum(child.plan.time >= parent.started for child in parent.children)
        if started + len(tasks) > policy.spawn_children:
            raise OrderError(
                f"One run may start at most {policy.spawn_children} others (spawn_children);"
                f" {parent.id} has started {started}."
            )

    def _check_name(self, request: _SpawnRequest) -> None:
        name, roster = request.name or "", self._session.roster
        if not request.prompt:
            raise OrderError("A new agent needs a prompt beside its base: say who it is.")
        if not is_agent_id(name) or name in RESERVED:
            raise OrderError(
                f"{one_line(name, 60)} is no name for an agent: use lowercase letters, digits and hyphens,"
                " such as security-scanner."
            )
        if roster.base(name) is not None:
            raise OrderError(
                f"There is an agent {name} already: leave out base and prompt to give it work,"
                " or take another name."
            )

    def _needs(self, request: _SpawnRequest) -> tuple[Need, ...]:
        session = self._session
        if request.on_failure == "refuse":
            for name in request.after:
                task = session.board.tasks[find(name, session.board, session.roster)]
                if task.spoiled:
                    raise OrderError(f"{name} {task.state}: {task.reason}".rstrip(": "))
        references = [key[1:] for key in request.context if key.startswith("$")]
        condition = _ON_FAILURE[request.on_failure]
        via = Via.RESULT if request.include_results else Via.AFTER
        return (
            *(Need(name, via, condition) for name in request.after),
            *(Need(name, Via.CONTEXT, condition, name) for name in references),
        )

    # Who does it

    def _is_alone(self, request: _SpawnRequest) -> bool:
        roster = self._session.roster
        is_base = request.agent in roster.bases and request.agent not in roster.team
        is_new = request.parent is not None or bool(request.prompt)
        return is_new or is_base or request.agent not in roster.agents

    def _new_names(
        self, request: _SpawnRequest, labels: list[str | None], numbers: dict[str, int]
    ) -> list[AgentId]:
        taken = {*self._session.roster.agents, *self._session.roster.bases, *self._made, *RESERVED}
        if request.name is not None and len(labels) == 1:
            return [AgentId(request.name)]
        agent = request.name or request.agent
        names: list[AgentId] = []
        for label in labels:
            if label is not None and is_agent_id(label) and label not in taken:
                name = AgentId(label)
            else:
                number = numbers.get(agent, 0) + 1
                while f"{agent}-{number}" in taken:
                    number += 1
                numbers[agent] = number
                name = AgentId(f"{agent}-{number}")
            taken.add(name)
            names.append(name)
        return names

    def _set_timer(self, task: TaskId, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._timers[task] = loop.call_later(seconds, self._session.expire, task, seconds)


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _labels(label: str | None, count: int) -> list[str | None]:
    if label is None or count == 1:
        return [label] * count
    return [f"{label}-{number}" for number in range(1, count + 1)]


def _context(context: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    try:
        own = {key: value for key, value in context.items() if not key.startswith("$")}
        return tuple((one_line(key, LONGEST_KEY), as_json(value)) for key, value in own.items())
    except ValueError as error:
        raise OrderError(f"The shared context cannot be passed on: {error}") from error
