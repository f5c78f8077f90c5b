"""`concurrency`: how many instances of a task may run at once.

A task that has fewer places than there are instances has that many lines. Whoever comes takes the end of a
line, the shortest, and starts after the one before it there, however that ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.ids import TaskId

if TYPE_CHECKING:
    from teambot_tui.engine.board import Board
    from teambot_tui.workflows.selection import Selection


class Turns:
    """The lines of one `up`; who stands in them is named by its label until it has an id."""

    def __init__(self, selection: Selection) -> None:
        self._lines: dict[str, list[list[str]]] = {
            task.name: [[] for _ in range(task.concurrency)]
            for task in selection.tasks
            if 0 < task.concurrency < selection.parallelism
        }
        self._line_of: dict[str, list[str]] = {}

    def take(self, task: str, label: str, board: Board) -> str | None:
        """Let an instance of a task stand in line; return after whom it may start, if after anybody."""
        if task not in self._lines:
            return None
        lines = self._lines[task]
        for line in lines:
            line[:] = [
                each for each in line if TaskId(each) not in board.tasks or not _has_ended(each, board)
            ]
        line = min(lines, key=len)
        before = line[-1] if line else None
        line.append(label)
        self._line_of[label] = line
        return before

    def settle(self, label: str, task: TaskId) -> None:
        """Call who stood in line under a label by its id from now on."""
        if (line := self._line_of.pop(label, None)) is not None:
            line[line.index(label)] = task


def _has_ended(name: str, board: Board) -> bool:
    task = board.tasks.get(TaskId(name))
    return task is not None and task.ended is not None
