"""The texts of one task, for whoever looks at it: too large to be in every view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.engine.context import entries
from teambot_tui.engine.injection import compose, draft

if TYPE_CHECKING:
    from teambot_tui.engine.board import Board, Task
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.injection import Prompt


@dataclass(frozen=True, slots=True)
class TaskText:
    """The prompt of a task, what it has said, the sizes of its sources, and what it is told besides."""

    task: TaskId
    prompt: Prompt
    """As it was sent, or would be sent now, with words in the place of what is not there yet."""
    output: str = ""
    sizes: tuple[int, ...] = ()
    context: tuple[Entry, ...] = ()


def read_task(board: Board, name: TaskId, limit: int) -> TaskText:
    """Return the texts of a task."""
    task = board.tasks[name]
    sizes = tuple(0 if source is None else source.output.total for source in task.sources)
    return TaskText(name, _prompt(task, board, limit), task.output.text, sizes, entries(task, board))


def _prompt(task: Task, board: Board, limit: int) -> Prompt:
    if task.prompt is None or task.state in (State.QUEUED, State.WAITING):
        return draft(task, board, limit)
    # What others have said since then changes nothing about it.
    return replace(compose(task, board, limit), text=task.prompt)
