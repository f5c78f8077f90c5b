"""The façade: everything a face of the program can do with a team, and nothing about how it looks."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from teambot_tui.engine.board import State
from teambot_tui.engine.bus import Bus
from teambot_tui.engine.cycles import circle_of_retry
from teambot_tui.engine.explain import Explanation, explain_tasks
from teambot_tui.engine.facts import (
    BudgetSet,
    CancelRequested,
    Fact,
    PermissionAnswered,
    RetryRequested,
    StatementRejected,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskSkipped,
    TaskStarted,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.monitor import log_dependencies
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import Lasting
from teambot_tui.engine.resolver import Roster, resolve
from teambot_tui.engine.rules import Rules
from teambot_tui.engine.runner import Runner
from teambot_tui.engine.text import printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import did_you_mean
from teambot_tui.language.parser import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from teambot_tui.engine.board import Board, Task
    from teambot_tui.engine.facts import StatementAccepted
    from teambot_tui.engine.ports import Member, Verdict


class RefusedError(Exception):
    """A request that cannot be carried out, and why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended, or where it is."""

    task: TaskId
    agent: AgentId
    state: State
    output: str
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a submission, in the order of its tasks."""

    outcomes: tuple[Outcome, ...]

    @property
    def completed(self) -> bool:
        """Whether every task completed."""
        return all(outcome.state is State.COMPLETED for outcome in self.outcomes)

    @property
    def output(self) -> str:
        """What the last task said."""
        return self.outcomes[-1].output


class Session:
    """A team at work. Use it as an async context manager; leaving cancels whatever still runs.

    All methods belong to the event loop in which the session was entered. `attended` says that somebody is
    there to answer when an agent asks permission; else such a wish is rejected.
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
    ) -> None:
        self.policy = policy or Policy()
        self.bus = Bus()
        self._members = {member.id: member for member in members}
        self._roster = Roster(tuple(self._members), default_agent)
        self._rules = Rules(self.policy)
        self._clock = clock or _steady_clock()
        self._runner = Runner(
            self._rules, self.bus, self._members, directory or Path.cwd(), self._clock, attended=attended
        )
        self._monitor = self.bus.subscribe(self._log_start, TaskStarted)

    async def __aenter__(self) -> Self:
        self._monitor.__enter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.aclose()
        self._monitor.__exit__(None, None, None)

    def now(self) -> float:
        """Return the time, as the facts of this session tell it."""
        return self._clock()

    @property
    def board(self) -> Board:
        """The state of the session, to read."""
        return self._rules.board

    @property
    def roster(self) -> Roster:
        """Who can be given work."""
        return self._roster

    @property
    def models(self) -> dict[AgentId, str | None]:
        """The model of each agent, in the order of the team."""
        return {agent: member.model for agent, member in self._members.items()}

    def submit(self, text: str) -> tuple[TaskId, ...]:
        """Accept a submission as a whole; return the tasks it made.

        Raises:
            StatementError: something in it is wrong, and nothing of it was started.
        """
        try:
            facts = self._resolve(printable(text))
        except StatementError as error:
            self._runner.report(
                StatementRejected(self._clock(), error.message, error.line, error.column, error.hint)
            )
            raise
        for fact in facts:
            self._runner.report(fact)
        return tuple(fact.task for fact in facts if isinstance(fact, TaskCreated))

    def explain(self, text: str) -> Explanation:
        """Say what submitting this text now would do."""
        try:
            facts = self._resolve(printable(text))
        except StatementError as error:
            return Explanation(error=error)
        return Explanation(explain_tasks(facts, self.board, self.policy))

    async def run(self, text: str) -> Result:
        """Submit, wait until each of its tasks has ended, and return what came of them.

        Raises:
            StatementError: as `submit`.
        """
        done = asyncio.Event()
        unfinished: set[TaskId] = set()

        def watch(fact: Fact) -> None:
            unfinished.discard(fact.task)  # type: ignore[union-attr]  # only facts about a task come here
            if not unfinished:
                done.set()

        with self.bus.subscribe(watch, TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled):
            tasks = self.submit(text)
            unfinished.update(task for task in tasks if self.board.tasks[task].ended is None)
            if unfinished:
                done.clear()
                await done.wait()
        return Result(tuple(map(self.outcome, tasks)))

    def outcome(self, task: TaskId) -> Outcome:
        """Return how a task stands."""
        found = self.board.tasks[task]
        return Outcome(task, found.agent, found.state, found.output.text, found.reason)

    def cancel(self, target: str = "all") -> tuple[TaskId, ...]:
        """Cancel a task, an agent's tasks, `last` or `all`; return the ones that had not ended.

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

    def retry(self, target: str) -> TaskId:
        """Do a failed or cancelled task again, with what was skipped because of it; return the task.

        An agent's id means the failure that stands in the way of `$agent`, else its newest task that can be
        retried. A skipped task means the one at the root.

        Raises:
            RefusedError: there is nothing to retry, or it would close a circle.
        """
        task = self._retryable(target) if target in self._members else self._find(target)
        if task.state is State.SKIPPED and task.cause is not None:
            task = task.cause
        if task.state not in (State.FAILED, State.CANCELLED):
            raise RefusedError(f"{task.id} is {task.state}: only a failed or cancelled task can be retried.")
        if circle := circle_of_retry(self.board, task):
            way = " → ".join(f"@{agent}" for agent in circle)
            raise RefusedError(f"Circular dependency detected: {way}")
        self._runner.report(RetryRequested(self._clock(), task.id))
        return task.id

    def use_agent(self, agent: AgentId | None) -> None:
        """Let what is addressed to nobody go to this agent."""
        self._roster = replace(self._roster, default=agent)

    def set_model(self, agent: AgentId, model: str | None) -> None:
        """Let an agent's further tasks run on this model."""
        self._members[agent] = replace(self._members[agent], model=model)

    def answer(self, task: TaskId, request: str, verdict: Verdict, *, always: bool = False) -> None:
        """Answer an agent that asks permission; an answer that comes too late changes nothing."""
        self._runner.report(PermissionAnswered(self._clock(), task, request, verdict, always))

    def set_budget(self, cost: float | None, tokens: int | None = None) -> None:
        """Allow this many US dollars and tokens in all; what waits for it goes on."""
        self._runner.report(BudgetSet(self._clock(), cost, tokens))

    async def forget(self, agent: AgentId) -> None:
        """Let the agent's next task begin without memory of the earlier ones."""
        backend = self._members[agent].backend
        if isinstance(backend, Lasting):
            await backend.forget(agent)

    async def idle(self) -> None:
        """Wait until every task has ended and nothing runs any more."""
        await self._runner.idle()

    def _resolve(self, text: str) -> list[StatementAccepted | TaskCreated]:
        statements = parse(text, references=self.policy.references)
        return resolve(text, statements, self.board, self._roster, self.policy, self._clock())

    def _retryable(self, agent: str) -> Task:
        lane = self.board.lanes.get(AgentId(agent))
        if lane and lane.latest and lane.latest.state is State.FAILED:
            return lane.latest
        ended = (State.FAILED, State.CANCELLED, State.SKIPPED)
        for task in reversed(self.board.tasks.values()):
            if task.agent == agent and task.state in ended:
                return task
        raise RefusedError(f"@{agent} has nothing to retry.")

    def _find(self, target: str) -> Task:
        tasks = self.board.tasks
        if target == "last" and tasks:
            return next(reversed(tasks.values()))
        if TaskId(target) in tasks:
            return tasks[TaskId(target)]
        near = did_you_mean(target, (*self._members, *tasks))
        raise RefusedError(
            f"There is no task or agent {target}." + (f" Did you mean {near}?" if near else "")
        )

    def _log_start(self, fact: Fact) -> None:
        if isinstance(fact, TaskStarted):
            log_dependencies(self.board.tasks[fact.task])


def _steady_clock() -> Callable[[], float]:
    """Return a clock that tells Unix time and never jumps, whatever happens to the system's."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()
