"""The state of a session: every task, and every agent's line of unfinished ones.

Only the rules change it. What is asked here costs as much as the edges it touches: nothing scans the board.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.ids import agent_of
from teambot_tui.engine.text import Tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.facts import TaskCreated
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.engine.policy import Policy


class State(StrEnum):
    """The states of a task; the last four are final."""

    QUEUED = "queued"
    WAITING = "waiting"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(slots=True, eq=False)
class Lane:
    """An agent and its tasks, in the order they were submitted."""

    agent: AgentId
    queue: OrderedDict[TaskId, Task] = field(default_factory=OrderedDict)
    busy: Task | None = None
    """The task whose work is going on: a cancelled one still counts until its work has ended."""
    count: int = 0
    waiters: list[Task] = field(default_factory=list)
    """Tasks that wait for an output of this agent, which nobody has begun to produce."""
    finished: list[Task] = field(default_factory=list)

    @property
    def head(self) -> Task | None:
        """The unfinished task that is at work, or next."""
        if self.busy is not None and self.busy.state is State.EXECUTING:
            return self.busy
        return next(iter(self.queue.values())) if self.queue else None

    @property
    def is_idle(self) -> bool:
        """Whether the agent has nothing to do."""
        return not self.queue and self.busy is None

    @property
    def newest(self) -> Task | None:
        """The unfinished task that was submitted last."""
        return next(reversed(self.queue.values())) if self.queue else None

    def in_turn(self, more: Iterable[Task] = ()) -> list[Task]:
        """Return the unfinished tasks, and some more, in the order in which they are done.

        A task that was brought back stands where it was submitted, but behind the one that is at work.
        """
        return sorted(
            (*self.queue.values(), *more), key=lambda task: (task.state is not State.EXECUTING, task.order)
        )

    @property
    def latest(self) -> Task | None:
        """The task that completed or failed last: a cancelled or skipped one leaves it as it was."""
        while self.finished and self.finished[-1].state not in (State.COMPLETED, State.FAILED):
            self.finished.pop()
        return self.finished[-1] if self.finished else None


@dataclass(slots=True, eq=False)
class Level:
    """The tasks of one depth: 0 was started by nobody, 1 by a task of depth 0, and so on.

    Each level has room of its own, and a task whose agent waits for others takes none of it: so nobody who
    waits keeps what it waits for from starting. When the wait is over it goes on at once, though its place
    may have been given away: then more are at work than allowed, and none starts until there is room again.
    """

    depth: int
    running: int = 0
    """How many are at work: a cancelled one still counts until its work has ended."""
    waiting: int = 0
    """How many of those wait for other tasks."""
    ready: OrderedDict[Task, None] = field(default_factory=OrderedDict)
    """Tasks that could run, in the order they became able to."""

    @property
    def occupied(self) -> int:
        """How many places are taken."""
        return self.running - self.waiting


@dataclass(slots=True, eq=False)
class Task:
    """One piece of work, from its submission to its one end."""

    id: TaskId
    agent: AgentId
    plan: TaskCreated
    lane: Lane
    level: Level
    order: int
    output: Tail
    state: State = State.QUEUED
    sources: list[Task | None] = field(default_factory=list)
    """Where each dependency's output comes from, in the order of `plan.dependencies`."""
    pending: dict[Task | Lane, frozenset[State]] = field(default_factory=dict)
    """What it still lacks, a task or, where there is none yet, an agent's next, and how that may end."""
    lacking: dict[AgentId, int] = field(default_factory=dict)
    """How many outputs of which agents a waiting task lacks; the badge shows the agents."""
    dependents: dict[Task, None] = field(default_factory=dict)
    """Those that need its output, in the order they came; once it is there, nobody does."""
    reason: str = ""
    started: float = 0.0
    prompt: str | None = None
    """The text it was sent when it last started."""
    parent: Task | None = None
    children: list[Task] = field(default_factory=list)
    attempts: int = 0
    """How often it was tried again by itself."""
    sent: Prompt | None = None
    """What it was sent, if it may be tried again: whatever becomes of its sources, it is the same then."""
    waits: frozenset[int] = frozenset()
    """The waits for other tasks that the agent is in, while it is at work."""
    last_activity: float = 0.0
    """When the agent last gave a sign of life."""
    ended: float | None = None
    deadline: float | None = None
    """When a waiting task has waited longer than usual, or when one that failed is tried again."""

    def count_lacking(self) -> None:
        """Count what is lacking by agent, in the order of the references."""
        counts = dict.fromkeys((dependency.agent for dependency in self.plan.dependencies), 0)
        for source in self.pending:
            counts[source.agent] += 1
        self.lacking = {agent: count for agent, count in counts.items() if count}

    @property
    def waits_for_nothing(self) -> bool:
        """Whether it waits for an agent that nobody has given work to."""
        return self.state is State.WAITING and any(isinstance(source, Lane) for source in self.pending)

    def no_output_yet(self) -> tuple[AgentId, ...]:
        """The agents it needs that have no task which could produce the output."""
        if None not in self.sources:
            return ()
        return tuple(
            dict.fromkeys(
                dependency.agent
                for dependency, source in zip(self.plan.dependencies, self.sources, strict=True)
                if source is None
            )
        )

    def obstacles(self) -> Iterator[Task]:
        """Yield the dependencies that ended in a way in which this task cannot run."""
        for dependency, source in zip(self.plan.dependencies, self.sources, strict=True):
            if source is not None and source.ended is not None and not source.meets(dependency.condition):
                yield source

    def obstacle(self) -> Task | None:
        """The first of them."""
        return next(self.obstacles(), None) if self.sources else None

    def meets(self, condition: Condition) -> bool:
        """Whether the task, which has ended, ended as somebody who depends on it wants."""
        return self.state in _MET_BY[condition]

    @property
    def cause(self) -> Task | None:
        """The task because of which this one is skipped, at the root: the next one to retry."""
        cause = self.obstacle() if self.state is State.SKIPPED else None
        while cause is not None and cause.state is State.SKIPPED:
            cause = cause.obstacle()
        return cause

    @property
    def spoiled(self) -> bool:
        """Whether the task ended without an output."""
        return self.ended is not None and self.state is not State.COMPLETED


_MET_BY: Final = {
    Condition.SUCCESS: frozenset({State.COMPLETED}),
    Condition.FAILURE: frozenset({State.FAILED}),
    Condition.ANY: frozenset({State.COMPLETED, State.FAILED, State.SKIPPED}),
    Condition.ALWAYS: frozenset({State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED}),
}


class Board:
    """Every task of a session."""

    def __init__(self, output_limit: int) -> None:
        self.tasks: dict[TaskId, Task] = {}
        self.lanes: dict[AgentId, Lane] = {}
        self.levels = [Level(0)]
        """By depth; nobody starts anything deeper than the next one."""
        self.deadlines: list[tuple[float, int, Task]] = []
        self.unfinished = 0
        self.labels: dict[str, list[Task]] = {}
        self.captures: dict[str, list[Task]] = {}
        """The tasks whose output a variable receives, in the order they were submitted."""
        self.context: dict[str, str] = {}
        """What every agent is told, as JSON."""
        self._output_limit = output_limit

    def lane(self, agent: AgentId) -> Lane:
        """Return an agent's lane; a new agent gets one."""
        lane = self.lanes.get(agent)
        if lane is None:
            lane = self.lanes[agent] = Lane(agent)
        return lane

    def add(self, plan: TaskCreated) -> Task:
        """Put a new task at the end of its agent's queue."""
        lane = self.lane(plan.agent)
        parent = self.tasks[plan.parent] if plan.parent is not None else None
        level = self._level(parent.level.depth + 1 if parent else 0)
        task = Task(plan.task, plan.agent, plan, lane, level, len(self.tasks), Tail(self._output_limit))
        self.tasks[plan.task] = task
        if plan.label is not None:
            self.labels.setdefault(plan.label, []).append(task)
        if plan.capture is not None:
            self.captures.setdefault(plan.capture, []).append(task)
        if parent is not None:
            task.parent = parent
            parent.children.append(task)
        lane.count += 1
        lane.queue[plan.task] = task
        self.unfinished += 1
        for dependency in plan.dependencies:
            source = self.tasks[dependency.task] if dependency.task is not None else None
            task.sources.append(source)
            self.await_source(task, source, dependency)
        return task

    def _level(self, depth: int) -> Level:
        if depth == len(self.levels):
            self.levels.append(Level(depth))
        return self.levels[depth]

    def await_source(self, task: Task, source: Task | None, dependency: Dependency) -> None:
        """Make the task wait for a source that has not ended yet."""
        if source is None:
            lane = self.lane(dependency.agent)
            lane.waiters.append(task)
            _expect(task, lane, dependency)
        elif source.state is not State.COMPLETED:
            source.dependents[task] = None
            if source.ended is None:
                _expect(task, source, dependency)

    def bind(self, waiter: Task, source: Task) -> None:
        """Let a task that waits for an agent wait for this task of the agent."""
        waiter.pending.pop(source.lane, None)
        for index, dependency in enumerate(waiter.plan.dependencies):
            if waiter.sources[index] is None and dependency.agent == source.agent:
                waiter.sources[index] = source
                self.await_source(waiter, source, dependency)

    def unfinished_tasks(self) -> tuple[TaskId, ...]:
        """Return the tasks that have not ended, agent by agent."""
        return tuple(task for lane in self.lanes.values() for task in lane.queue)

    def stuck(self) -> Task | None:
        """Return the first task that waits for nothing, if no task is at work and none can start."""
        if any(level.running or level.ready for level in self.levels):
            return None
        heads = [lane.head for lane in self.lanes.values() if lane.head is not None]
        if any(head.state is State.QUEUED for head in heads):  # it is tried again later
            return None
        return min(
            (head for head in heads if head.waits_for_nothing), key=lambda head: head.order, default=None
        )

    def revival(self, root: Task) -> list[Task]:
        """Return what retrying a task brings back: itself and what was skipped only because of it."""
        revived = {root: None}
        obstacles: dict[Task, set[Task]] = {}
        line = deque([root])
        while line:
            source = line.popleft()
            for task in source.dependents:
                if task.state is not State.SKIPPED or task in revived:
                    continue
                if task not in obstacles:
                    obstacles[task] = set(task.obstacles())
                obstacles[task].discard(source)
                if not obstacles[task]:
                    revived[task] = None
                    line.append(task)
        return sorted(revived, key=lambda task: task.order)

    def validate(self, policy: Policy, *, is_paused: bool = False) -> None:
        """Assert every invariant; for tests."""
        busy = [lane.busy for lane in self.lanes.values() if lane.busy is not None]
        for level in self.levels:
            limit = policy.at_once(level.depth)
            own = [task for task in busy if task.level is level]
            assert level.running == len(own)
            assert level.waiting == sum(bool(task.waits) for task in own)
            assert not level.ready or is_paused or level.occupied >= limit, "what can run does"
            assert all(task.level is level for task in level.ready)
        assert self.unfinished == sum(task.ended is None for task in self.tasks.values())
        for task in self.tasks.values():
            _validate_task(task, lined_up=task in task.level.ready)
        for lane in self.lanes.values():
            orders = [task.order for task in lane.queue.values()]
            assert orders == sorted(orders), "an agent's tasks keep their order"
            assert all(task.ended is None and agent_of(task.id) == lane.agent for task in lane.queue.values())


def _expect(task: Task, source: Task | Lane, dependency: Dependency) -> None:
    # The same source may be needed twice: it must end as all of the needs want.
    wanted = _MET_BY[dependency.condition]
    task.pending[source] = task.pending.get(source, wanted) & wanted


def _validate_task(task: Task, *, lined_up: bool) -> None:
    lane = task.lane
    final = task.state in (State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED)
    assert final == (task.ended is not None) == (task.id not in lane.queue), "a task ends exactly once"
    assert lane.busy is task or not task.waits
    if final:
        assert not lined_up
        return
    is_head = lane.head is task
    for source in task.pending:
        if isinstance(source, Task):
            assert source.ended is None, "no task waits for what has ended"
        else:
            assert task in source.waiters
            assert not source.queue, "an agent that has work is no longer one without output"
    match task.state:
        case State.EXECUTING:
            assert is_head
            assert lane.busy is task
            assert not task.pending, "no task starts before its dependencies"
            assert not lined_up
            obstacle = task.obstacle()  # a source may be retried, and end otherwise, after the start
            assert obstacle is None or task.attempts or (obstacle.ended or 0.0) >= task.started
        case State.WAITING:
            assert is_head
            assert lane.busy is None
            assert task.pending, "no task waits for nothing"
            assert not lined_up
            assert sum(task.lacking.values()) == len(task.pending)
            assert task.deadline is not None or not task.waits_for_nothing, (
                "nobody waits for nothing for ever"
            )
        case State.QUEUED:
            assert lined_up == (is_head and lane.busy is None and task.deadline is None)
            assert not lined_up or not task.pending
            assert task.deadline is None or task.attempts
        case _:
            raise AssertionError(task.state)
