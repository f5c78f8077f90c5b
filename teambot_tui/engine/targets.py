"""Which task is meant by what a person names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.language.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.board import Board, Task


def task_to_retry(board: Board, agent: str) -> Task:
    """Return the failure that stands in the way of `$agent`, else its newest task that can be retried.

    Raises:
        RefusedError: there is none.
    """
    lane = board.lanes.get(AgentId(agent))
    if lane and lane.latest and lane.latest.state is State.FAILED:
        return lane.latest
    ended = (State.FAILED, State.CANCELLED, State.SKIPPED)
    for task in reversed(board.tasks.values()):
        if task.agent == agent and task.state in ended:
            return task
    raise RefusedError(f"@{agent} has nothing to retry.")


def find_task(board: Board, target: str, agents: Sequence[str]) -> Task:
    """Return the task with an id, or the newest for `last`.

    Raises:
        RefusedError: there is none; `agents` are other names that may have been meant.
    """
    tasks = board.tasks
    if target == "last" and tasks:
        return next(reversed(tasks.values()))
    if TaskId(target) in tasks:
        return tasks[TaskId(target)]
    near = did_you_mean(target, (*agents, *tasks))
    hint = f" Did you mean {near}?" if near else ""
    raise RefusedError(f"There is no task or agent {target}.{hint}")
