"""Whether a change would close a cycle, found before the change is made.

A dependency always points at a task that was there before, with one exception: a task that waits for an agent
nobody has given work to points at whatever that agent is given later. Only when such a wait is bound can a
cycle close, so only then is the graph walked, and only through tasks that have not ended. The queue counts
as dependency too: a task depends on the one before it in its agent's line. A task that is brought back stands
before others that came later and may bind waits again, so a retry looks at all that would be around it.
"""

from __future__ import annotations

from collections import deque
from graphlib import CycleError, TopologicalSorter
from itertools import groupby
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State, Task
from teambot_tui.engine.ids import AgentId, TaskId, agent_of, task_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from teambot_tui.engine.board import Board, Lane
    from teambot_tui.engine.facts import TaskCreated


class PlannedBoard:
    """The unfinished tasks as they would be if some more were submitted; the board stays as it is."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._plans: dict[TaskId, TaskCreated] = {}
        self._lanes: dict[AgentId, list[TaskId]] = {}
        self._waiters: dict[AgentId, list[TaskId]] = {}
        self._bound: dict[tuple[TaskId, AgentId], TaskId] = {}
        self._captures: dict[str, TaskCreated] = {}

    def next_task(self, agent: AgentId) -> TaskId:
        """Return the id that the agent's next task gets."""
        lane = self._board.lanes.get(agent)
        return task_id(agent, 1 + len(self._lanes.get(agent, ())) + (lane.count if lane else 0))

    def newest(self, agent: AgentId) -> TaskId | None:
        """Return the agent's unfinished task that was submitted last."""
        if planned := self._lanes.get(agent):
            return planned[-1]
        lane = self._board.lanes.get(agent)
        return lane.newest.id if lane and lane.newest else None

    def latest(self, agent: AgentId) -> Task | None:
        """Return the agent's task that completed or failed last."""
        lane = self._board.lanes.get(agent)
        return lane.latest if lane else None

    def captures(self, name: str) -> tuple[TaskCreated | None, list[Task]]:
        """Return the last task that would capture a variable, and those on the board that do."""
        return self._captures.get(name), self._board.captures.get(name, [])

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that are captured by some task."""
        return tuple(dict.fromkeys((*self._board.captures, *self._captures)))

    def add(self, plan: TaskCreated) -> list[AgentId]:
        """Add a task; return the cycle that it closes, or nothing."""
        self._plans[plan.task] = plan
        if plan.capture is not None:
            self._captures[plan.capture] = plan
        self._lanes.setdefault(plan.agent, []).append(plan.task)
        waiters = self._take_waiters(plan.agent)
        for waiter in waiters:
            self._bound[waiter, plan.agent] = plan.task
        for dependency in plan.dependencies:
            if dependency.task is None:
                self._waiters.setdefault(dependency.agent, []).append(plan.task)
        return _cycle(plan.task, waiters, self._sources, self._line)

    def _take_waiters(self, agent: AgentId) -> list[TaskId]:
        lane = self._board.lanes.get(agent)
        there = [task.id for task in lane.waiters if task.ended is None] if lane else []
        waiters = [task for task in there if (task, agent) not in self._bound]
        return waiters + self._waiters.pop(agent, [])

    def _sources(self, task: TaskId) -> Iterator[TaskId]:
        plan = self._plans.get(task)
        if plan is None:
            yield from _sources(self._board.tasks[task], self._bound)
            return
        for dependency in plan.dependencies:
            source = dependency.task or self._bound.get((task, dependency.agent))
            if source is not None and (source in self._plans or self._board.tasks[source].ended is None):
                yield source

    def _line(self, agent: AgentId) -> Iterator[TaskId]:
        if lane := self._board.lanes.get(agent):
            yield from (task.id for task in lane.in_turn())
        yield from self._lanes.get(agent, ())


def cycle_of_retry(board: Board, root: Task) -> list[AgentId]:
    """Return the cycle that bringing back a task and what was skipped with it would close, or nothing."""
    revived = board.revival(root)
    back: dict[Lane, list[Task]] = {}
    for task in revived:
        back.setdefault(task.lane, []).append(task)
    there = set(revived)
    ahead: dict[Lane, dict[Task, Task]] = {}

    def source_of(task: Task, lane: Lane) -> Task | None:
        """What a wait for an agent would be bound to."""
        if task not in there:
            return back[lane][0] if lane in back else None
        newest = [*back.get(lane, ())[-1:], *([lane.newest] if lane.newest else [])]
        return max(newest, key=lambda task: task.order, default=None)

    def sources(task: Task) -> Iterator[Task]:
        if task.state is State.EXECUTING:
            return
        for dependency, bound in zip(task.plan.dependencies, task.sources, strict=True):
            source = bound or source_of(task, board.lanes[dependency.agent])
            if source is not None and (source.ended is None or source in there):
                yield source
        if task.lane not in ahead:
            line = task.lane.in_turn(back.get(task.lane, ()))
            ahead[task.lane] = dict(zip(line[1:], line, strict=False))
        if task in ahead[task.lane]:
            yield ahead[task.lane][task]

    graph: dict[Task, list[Task]] = {}
    open_ends = [*revived]
    while open_ends:
        task = open_ends.pop()
        if task not in graph:
            graph[task] = list(sources(task))
            open_ends += graph[task]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return _agents_on([task.id for task in error.args[1]])
    return []


def stands_behind(task: Task, other: Task) -> bool:
    """Whether a task cannot begin, let alone end, before another one has ended."""
    ahead: dict[Lane, dict[Task, Task]] = {}
    seen = {task}
    open_ends = [task]
    while open_ends:
        each = open_ends.pop()
        if each is other:
            return True
        if each.ended is not None or each.state is State.EXECUTING:
            continue
        if each.lane not in ahead:
            line = each.lane.in_turn()
            ahead[each.lane] = dict(zip(line[1:], line, strict=False))
        for source in (*each.pending, ahead[each.lane].get(each)):
            if isinstance(source, Task) and source not in seen:
                seen.add(source)
                open_ends.append(source)
    return False


def _sources(task: Task, bound: dict[tuple[TaskId, AgentId], TaskId]) -> Iterator[TaskId]:
    for dependency, source in zip(task.plan.dependencies, task.sources, strict=True):
        if source is None:
            if (task.id, dependency.agent) in bound:
                yield bound[task.id, dependency.agent]
        elif source in task.pending:
            yield source.id


def _cycle(
    start: TaskId,
    goals: Iterable[TaskId],
    sources: Callable[[TaskId], Iterable[TaskId]],
    line: Callable[[AgentId], Iterable[TaskId]],
) -> list[AgentId]:
    """Return the agents on a shortest way from the start to a goal and back to the start."""
    targets = set(goals)
    ahead: dict[AgentId, dict[TaskId, TaskId]] = {}
    came_from: dict[TaskId, TaskId | None] = {start: None}
    open_ends = deque([start] if targets else [])
    while open_ends:
        task = open_ends.popleft()
        if task in targets:
            return _way_back(task, came_from)
        agent = agent_of(task)
        if agent not in ahead:
            tasks = list(line(agent))
            ahead[agent] = dict(zip(tasks[1:], tasks, strict=False))
        for source in (*sources(task), ahead[agent].get(task)):
            if source is not None and source not in came_from:
                came_from[source] = task
                open_ends.append(source)
    return []


def _way_back(goal: TaskId, came_from: dict[TaskId, TaskId | None]) -> list[AgentId]:
    """Return the way from the start to the goal and to the start again, as the agents on it."""
    way: list[TaskId] = []
    step: TaskId | None = goal
    while step is not None:
        way.append(step)
        step = came_from[step]
    return _agents_on([way[-1], *way])


def _agents_on(way: list[TaskId]) -> list[AgentId]:
    """Return the agents on a cycle that is given from its end to its beginning."""
    agents = [agent for agent, _ in groupby(map(agent_of, reversed(way)))]
    return agents if len(agents) > 1 else agents * 2
