"""The façade: everything a face of the program can do with a team, and nothing about how it looks."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from teambot_tui.engine.bus import Bus
from teambot_tui.engine.clock import steady_clock
from teambot_tui.engine.context import LONGEST_KEY, as_json
from teambot_tui.engine.cycles import cycle_of_retry
from teambot_tui.engine.expansion import Expansion
from teambot_tui.engine.explain import Explanation, explain_facts, find_slips_in
from teambot_tui.engine.facts import (
    AgentDefined,
    AgentDismissed,
    AgentPromoted,
    BackendSet,
    BudgetSet,
    CancelRequested,
    ContextSet,
    DefaultAgentSet,
    Fact,
    InputEnded,
    MemoryForgotten,
    ModelSet,
    PermissionAnswered,
    RetryRequested,
    StatementRejected,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskExpired,
    TaskFailed,
    TaskSkipped,
    TaskStarted,
    UpStarted,
    WaitEnded,
    WaitStarted,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.monitor import log_dependencies, log_refusal
from teambot_tui.engine.orders import OrderError, place
from teambot_tui.engine.outcomes import Outcome, RefusedError, Result
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import ListsModels, Stateful
from teambot_tui.engine.resolver import resolve
from teambot_tui.engine.roster import Roster
from teambot_tui.engine.rules import Rules
from teambot_tui.engine.runner import Runner
from teambot_tui.engine.spawning import Spawner
from teambot_tui.engine.targets import find_task, once_more, task_to_retry
from teambot_tui.engine.text import one_line, printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse, parse_prompt
from teambot_tui.language.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from teambot_tui.engine.board import Board, Task
    from teambot_tui.engine.facts import IterationStarted, PermissionAsked, UpEnded
    from teambot_tui.engine.orders import Newcomer, Order
    from teambot_tui.engine.ports import Answered, Backend, Member, Recruiter, ToolProvider, Verdict
    from teambot_tui.engine.resolver import Accepted
    from teambot_tui.engine.spending import Spending
    from teambot_tui.language.nodes import Part, Statement


_ENDS = (TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled)
_CLOSING = "The session is closing and starts nothing any more."


class _Wait:
    """Somebody waits until so many more tasks have ended."""

    def __init__(self, missing: int) -> None:
        self._missing = missing
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def see_end(self) -> None:
        """One of them has."""
        self._missing -= 1
        if not self._missing and not self.over.done():  # whoever waited may have been cancelled
            self.over.set_result(None)


class Session:
    """A team at work. Use it as an async context manager; leaving cancels whatever still runs.

    All methods belong to the event loop in which the session was entered.

    Args:
        attended: somebody is there to answer when an agent asks permission; else such a request is rejected.
        bases: what temporary agents may be made of besides the members; `recruit` makes them.
        promoted: the members that were temporary agents once: one of that name may be defined all the same.
        include: returns the text of a file for `{{include: path}}`, or raises IncludeRefusedError.
        stdin: what `{{STDIN}}` stands for, or a way to read it.
        context: what every agent is told beside its task.
    """

    def __init__(
        self,
        members: Iterable[Member],
        *,
        default_agent: AgentId | None = None,
        policy: Policy | None = None,
        directory: Path | None = None,
        clock: Callable[[], float] | None = None,
        attended: bool = False,
        bases: Iterable[str] = (),
        promoted: Iterable[AgentId] = (),
        recruit: Recruiter | None = None,
        include: Callable[[str], str] | None = None,
        stdin: str | Callable[[], str | None] | None = None,
        context: Mapping[str, object] | None = None,
    ) -> None:
        self.policy = policy or Policy()
        self.bus = Bus()
        self._members = {member.id: member for member in members}
        self._recruits: dict[AgentDefined, Member] = {}
        """Who joined for this session, by definition: a task keeps the one that it was given to."""
        self._recruit = recruit or self._copy_of_base
        self._roster = Roster(
            tuple(self._members), default_agent, bases=tuple(bases), promoted=tuple(promoted)
        )
        self._expansion = Expansion(include, stdin)
        self._rules = Rules(self.policy)
        self._clock = clock or steady_clock()
        self._directory = directory or Path.cwd()
        self._runner = Runner(
            self._rules,
            self.bus,
            self._members,
            self._recruits,
            self._directory,
            self._clock,
            attended=attended,
        )
        self._readers = ExitStack()
        self._waits: dict[TaskId, set[_Wait]] = {}
        """Who waits for the end of which task."""
        self._spawner = Spawner(self)
        self.spawn = self._spawner.spawn
        self._agents_waits = 0
        """How often an agent at work has waited for other tasks."""
        self.is_closing = False
        self.ups = 0
        """How many workflows were started."""
        for key, value in (context or {}).items():
            self.set_context(key, value)

    async def __aenter__(self) -> Self:
        self._readers.enter_context(self.bus.subscribe(self._log_start, TaskStarted))
        self._readers.enter_context(self.bus.subscribe(self._see_end, *_ENDS))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.is_closing = True
        self._spawner.close()
        await self._runner.aclose()
        self._readers.close()

    def now(self) -> float:
        """Return the time, as the facts of this session tell it; from any thread."""
        return self._clock()

    @property
    def board(self) -> Board:
        """The state of the session, to read."""
        return self._rules.board

    @property
    def run_id(self) -> str:
        """What the folder of its captured outputs is called; empty if they are not kept."""
        return ""

    @property
    def roster(self) -> Roster:
        """Who can be given work."""
        return self._roster

    @property
    def models(self) -> dict[AgentId, str | None]:
        """The model of each agent, in the order of the team."""
        return {agent: member.model for agent, member in self._members.items()}

    @property
    def spawned(self) -> int:
        """How many runs were started by name."""
        return self._spawner.count

    @property
    def spending(self) -> Spending:
        """What the agents have used, and how much they may, to read."""
        return self._rules.spending

    @property
    def approvals(self) -> tuple[PermissionAsked, ...]:
        """The requests of agents that wait for the person, in the order they came."""
        return tuple(self._rules.approvals.open.values())

    @log_refusal("statement", StatementError)
    def submit(self, text: str) -> tuple[TaskId, ...]:
        """Accept a submission as a whole; return the tasks it made.

        Raises:
            StatementError: something in it is wrong, or the session is closing; nothing of it was started.
        """
        try:
            source = printable(text)
            facts = self._resolve(source, parse(source, references=self.policy.references))
        except StatementError as error:
            self._runner.report(
                StatementRejected(self._clock(), error.message, error.line, error.column, error.hint)
            )
            raise
        return self._take(facts)

    def place(self, orders: Iterable[Order], newcomers: Iterable[Newcomer] = ()) -> tuple[TaskId, ...]:
        """Accept orders as a whole, with the agents that join to do them; return the tasks they made.

        Raises:
            OrderError: one of them has no meaning, or the session is closing; nothing of them was started.
        """
        return self._take(self.planned(orders, newcomers))

    @log_refusal("order", OrderError)
    def planned(self, orders: Iterable[Order], newcomers: Iterable[Newcomer] = ()) -> list[Accepted]:
        """Return the facts that placing orders now would be.

        Raises:
            OrderError: as `place`.
        """
        if self.is_closing:
            raise OrderError(_CLOSING)
        now = self._clock()
        joined = [
            AgentDefined(now, each.agent, each.base, each.prompt, None, each.parent) for each in newcomers
        ]
        roster = self._roster.with_agents(*joined)
        return [*joined, *place(orders, self.board, roster, self.policy, now)]

    def prompt_of(self, text: str) -> tuple[Part, ...]:
        """Return the parts of a prompt that a person wrote, with everything brought in.

        Raises:
            StatementError: something cannot be brought in.
        """
        return self._expansion.parts(text, parse_prompt(text, references=self.policy.references))

    def define(
        self,
        agent: AgentId,
        base: str,
        prompt: str = "",
        model: str | None = None,
        parent: TaskId | None = None,
    ) -> None:
        """Let an agent join for this session.

        Raises:
            RefusedError: the session is closing.
        """
        if self.is_closing:
            raise RefusedError(_CLOSING)
        self._take([AgentDefined(self._clock(), agent, base, prompt, model, parent)])

    @log_refusal("dismissal", RefusedError)
    def dismiss(self, agent: AgentId) -> None:
        """Let an agent that joined for this session leave.

        Raises:
            RefusedError: it is of the team, or still has work.
        """
        if agent not in self._roster.temporary:
            raise RefusedError(f"@{agent} is not a temporary agent.")
        if not self.dismiss_idle(agent):
            raise RefusedError(f"@{agent} still has work. /cancel {agent} ends it.")

    def dismiss_idle(self, *agents: AgentId) -> tuple[AgentId, ...]:
        """Let those of some agents that joined for this session leave that have no work; return them."""
        lanes = self.board.lanes
        leaving = tuple(agent for agent in agents if not (lane := lanes.get(agent)) or lane.is_idle)
        present = [agent for agent in leaving if agent in self._roster.temporary]
        self._roster = self._roster.without_agents(*leaving)
        for agent in present:
            self._runner.report(AgentDismissed(self._clock(), agent))
            self._runner.upkeep.leave(agent)
        self._runner.tidy()
        return leaving

    def expire(self, task: TaskId, seconds: float) -> None:
        """Tell a task that its time is over."""
        self._runner.report(TaskExpired(self._clock(), task, seconds))

    def announce(self, progress: UpStarted | IterationStarted | UpEnded) -> None:
        """Tell how far a workflow is."""
        self.ups += isinstance(progress, UpStarted)
        self._runner.report(progress)

    def set_context(self, key: str, value: object) -> None:
        """Tell every agent something from its next task on; None takes it back.

        Raises:
            ValueError: it cannot be written as JSON.
        """
        told = None if value is None else as_json(value)
        self._runner.report(ContextSet(self._clock(), one_line(key, LONGEST_KEY), told))

    def end_input(self) -> None:
        """Say that nothing more will be submitted: no one waits on for an agent that nothing can start."""
        self._runner.report(InputEnded(self._clock()))

    def explain(self, text: str) -> Explanation:
        """Say what submitting this text now would do."""
        source = printable(text)
        try:
            statements = parse(source, references=self.policy.references)
            facts = self._resolve(source, statements)
        except StatementError as error:
            return Explanation(error=error)
        explanation = explain_facts(facts, self.board, self._roster, self.policy)
        return replace(explanation, slips=find_slips_in(source, statements, facts, self.board, self._roster))

    async def run(self, text: str) -> Result:
        """Submit, wait until each of its tasks has ended, and return what came of them.

        Raises:
            StatementError: as `submit`.
        """
        tasks = self.submit(text)
        await self.ended(tasks)
        return Result(tuple(map(self.outcome, tasks)))

    async def ended(
        self, tasks: Iterable[TaskId], *, at_least: int | None = None, waiter: TaskId | None = None
    ) -> None:
        """Wait until all of these tasks have ended, or at least so many.

        Where the agent of a task at work waits, that is the `waiter`: others may have its place meanwhile.
        """
        wanted = dict.fromkeys(tasks)
        unfinished = [task for task in wanted if self.board.tasks[task].ended is None]
        missing = len(unfinished) - (0 if at_least is None else len(wanted) - at_least)
        if missing <= 0:
            return
        wait = _Wait(missing)
        for task in unfinished:
            self._waits.setdefault(task, set()).add(wait)
        try:
            with self._waiting(waiter, unfinished) if waiter else nullcontext():
                await wait.over
        finally:
            for task in unfinished:
                if (waits := self._waits.get(task)) is not None:
                    waits.discard(wait)
                    if not waits:
                        del self._waits[task]

    @contextmanager
    def _waiting(self, waiter: TaskId, tasks: Iterable[TaskId]) -> Iterator[None]:
        self._agents_waits += 1
        wait = self._agents_waits
        self._runner.report(WaitStarted(self._clock(), waiter, wait, tuple(tasks)))
        try:
            yield
        finally:
            self._runner.report(WaitEnded(self._clock(), waiter, wait))

    def outcome(self, task: TaskId) -> Outcome:
        """Return how a task stands."""
        found = self.board.tasks[task]
        return Outcome(task, found.agent, found.state, found.output.text, found.reason)

    @log_refusal("cancellation", RefusedError)
    def cancel(self, target: str = "all") -> tuple[TaskId, ...]:
        """Cancel a task by its id or label, an agent's tasks, `last` or `all`; return what had not ended.

        Raises:
            RefusedError: there is no such task or agent.
        """
        if target == "all":
            tasks = self.board.unfinished_tasks()
        elif target in self._members:
            lane = self.board.lanes.get(AgentId(target))
            tasks = tuple(lane.queue) if lane else ()
        else:
            task = self._find(target)
            tasks = (task.id,) if task.ended is None else ()
        if tasks:
            self._runner.report(CancelRequested(self._clock(), tasks))
        return tasks

    @log_refusal("retry", RefusedError)
    def retry(self, target: str) -> TaskId:
        """Do a failed or cancelled task again, with what was skipped because of it; return the task.

        An agent or a label means its last task. A skipped task means the one at the root.

        Raises:
            RefusedError: there is nothing to retry, it would close a cycle, or the session is closing.
        """
        if self.is_closing:
            raise RefusedError(_CLOSING)
        task = task_to_retry(self.board, target, self._roster.agents)
        if cycle := cycle_of_retry(self.board, task):
            way = " → ".join(f"@{agent}" for agent in cycle)
            raise RefusedError(f"Circular dependency detected: {way}")
        self._runner.report(RetryRequested(self._clock(), task.id))
        return task.id

    def again(self, target: str) -> TaskId:
        """Make a new task with the words, options and inputs that a task had; return the new one.

        An agent or a label means its last task.

        Raises:
            RefusedError: there is no such task, its agent has left, or the session is closing.
        """
        if self.is_closing:
            raise RefusedError(_CLOSING)
        (task,) = self._take(once_more(self.board, self._find(target), self._roster.agents, self._clock()))
        return task

    def use_agent(self, agent: AgentId | None) -> None:
        """Let what is addressed to nobody go to this agent."""
        self._roster = replace(self._roster, default=agent)
        self._runner.report(DefaultAgentSet(self._clock(), agent))

    def set_model(self, agent: AgentId, model: str | None) -> None:
        """Let an agent's further tasks run on this model."""
        self._change(replace(self._members[agent], model=model))
        self._runner.report(ModelSet(self._clock(), agent, model))

    def set_backend(self, agent: AgentId, backend: Backend) -> None:
        """Let an agent's further tasks run on this backend; one that nobody runs on any more is closed."""
        self._change(replace(self._members[agent], backend=backend))
        self._runner.upkeep.place(self._members[agent])
        self._runner.tidy()
        self._runner.report(BackendSet(self._clock(), agent, type(backend).__name__))

    def note_promotion(self, agent: AgentId, name: str) -> None:
        """Note that an agent which joined for this session is kept for later ones."""
        self._runner.report(AgentPromoted(self._clock(), agent, name))

    def answer(
        self, task: TaskId, request: str, verdict: Verdict, *, always: bool = False, words: str = ""
    ) -> None:
        """Answer an agent that asks permission, and tell it these words besides.

        An answer that comes too late changes nothing.
        """
        said = printable(words).strip()
        self._runner.report(PermissionAnswered(self._clock(), task, request, verdict, always, said))

    async def ask(self, task: TaskId, tool: str, kind: str, detail: str) -> Answered | None:
        """Ask the person whether an agent at work may do something; nothing if its work ends before."""
        return await self._runner.ask(task, tool, kind, detail)

    def offer_tools(self, provider: ToolProvider) -> None:
        """Let agents that can use tools find these."""
        self._runner.tools = provider

    def set_budget(self, cost: float | None, tokens: int | None = None) -> None:
        """Allow this many US dollars and tokens in all; what waits for it goes on."""
        self._runner.report(BudgetSet(self._clock(), cost, tokens))

    async def forget(self, agent: AgentId) -> None:
        """Let the agent's next task begin without memory of the earlier ones."""
        backend = self._members[agent].backend
        if isinstance(backend, Stateful):
            await backend.forget(agent)
        self._runner.report(MemoryForgotten(self._clock(), agent))

    async def offered_models(self, agent: AgentId) -> tuple[str, ...]:
        """Return the models that an agent's backend offers, as far as it tells; it may raise anything."""
        backend = self._members[agent].backend
        return await backend.models(self._directory) if isinstance(backend, ListsModels) else ()

    async def idle(self) -> None:
        """Wait until every task has ended and nothing runs any more."""
        await self._runner.idle()

    def _resolve(self, text: str, statements: Sequence[Statement]) -> list[Accepted]:
        if self.is_closing:
            raise StatementError(_CLOSING, text, Span(0, len(text)))
        expanded = self._expansion.statements(text, statements)
        return resolve(text, expanded, self.board, self._roster, self.policy, self._clock())

    def _take(self, facts: Sequence[Accepted]) -> tuple[TaskId, ...]:
        joined = [fact for fact in facts if isinstance(fact, AgentDefined)]
        if joined:
            for defined in joined:
                self._members[defined.agent] = self._recruits[defined] = member = self._recruit(defined)
                self._runner.upkeep.place(member)
            self._roster = self._roster.with_agents(*joined)
        for fact in facts:
            self._runner.report(fact)
        return tuple(fact.task for fact in facts if isinstance(fact, TaskCreated))

    def _change(self, member: Member) -> None:
        self._members[member.id] = member
        if defined := self._roster.temporary.get(member.id):
            self._recruits[defined] = member

    def _copy_of_base(self, defined: AgentDefined) -> Member:
        base = self._members[AgentId(defined.base)]
        system = "\n\n".join(filter(None, (base.system, defined.prompt)))
        model = defined.model or base.model
        return replace(base, id=defined.agent, system=system, model=model, exact_system=base.system)

    def _find(self, target: str) -> Task:
        return find_task(self.board, target, self._roster.agents)

    def _see_end(self, fact: Fact) -> None:
        task: TaskId = fact.task  # type: ignore[union-attr]  # only facts about a task come here
        self._spawner.see_end(task)
        for wait in self._waits.pop(task, ()):
            wait.see_end()

    def _log_start(self, fact: Fact) -> None:
        if isinstance(fact, TaskStarted):
            log_dependencies(self.board.tasks[fact.task])
