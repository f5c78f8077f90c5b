"""What cancelling would do beside what is cancelled, so that it can be said before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.targets import find_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.session import Session
    from teambot_tui.engine.workflow_progress import Workflows


@dataclass(frozen=True, slots=True)
class Consequences:
    """The tasks that would be cancelled, those that would end with them, and what becomes of workflows."""

    tasks: tuple[TaskId, ...]
    skipped: tuple[TaskId, ...]
    workflows: str = ""

    @property
    def words(self) -> str:
        """Say what cancelling them does: `cancels builder-1#2; skips reviewer#1`."""
        skips = f"; skips {', '.join(self.skipped)}" if self.skipped else ""
        return f"cancels {', '.join(self.tasks)}{skips}{self.workflow_clause}"

    @property
    def workflow_clause(self) -> str:
        """Say what becomes of workflows, behind something else."""
        return f"; {self.workflows}" if self.workflows else ""


def consequences_of(session: Session, workflows: Workflows, target: str | Sequence[TaskId]) -> Consequences:
    """Return what cancelling an agent, a task, some tasks or `all` would do.

    Raises:
        RefusedError: there is no such task or agent.
    """
    board, agents = session.board, session.roster.agents
    if target == "all":
        # In the order of the team, as everywhere.
        tasks = tuple(task for agent in agents for task in _queue(board, agent))
    elif not isinstance(target, str):
        tasks = tuple(task for task in target if board.tasks[task].ended is None)
    elif target in agents:
        tasks = _queue(board, AgentId(target))
    else:
        found = find_task(board, target, agents)
        tasks = (found.id,) if found.ended is None else ()
    skipped = _skipped_with(board, tasks)
    return Consequences(tasks, skipped, workflows.falls_with((*tasks, *skipped)))


def _queue(board: Board, agent: AgentId) -> tuple[TaskId, ...]:
    lane = board.lanes.get(agent)
    return tuple(lane.queue) if lane else ()


def _skipped_with(board: Board, names: Iterable[TaskId]) -> tuple[TaskId, ...]:
    """Return what else would be cancelled, or skipped, if these tasks were cancelled."""
    ends = {board.tasks[name]: State.CANCELLED for name in names}
    chosen = set(ends)
    line = list(ends)
    while line:
        source = line.pop()
        falling = {
            task: State.SKIPPED
            for task in source.dependents
            if source in task.pending and ends[source] not in task.pending[source]
        }
        if ends[source] is State.CANCELLED:
            falling |= {child: State.CANCELLED for child in source.children if child.ended is None}
        new = {task: end for task, end in falling.items() if task not in ends}
        ends |= new
        line += new
    return tuple(task.id for task in ends if task not in chosen)
