"""A session's facts become captured outputs, each under one name that nobody else writes at the same time.

A task of a workflow is kept under its label, in its instance's scope, so that each iteration replaces the one
before; every other task under its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.facts import TaskStarted, TextProduced

if TYPE_CHECKING:
    from teambot_tui.engine.board import Board
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.store.outputs import Outputs


class Capturing:
    """Reads the facts of one session; only facts about a task may be shown to it."""

    def __init__(self, board: Board, outputs: Outputs) -> None:
        self._board = board
        self._outputs = outputs
        self._names: dict[TaskId, str] = {}
        self._writers: dict[str, TaskId] = {}

    def see(self, fact: Fact) -> None:
        """Keep what a fact says."""
        task: TaskId = fact.task  # type: ignore[union-attr]
        if isinstance(fact, TextProduced):
            if (name := self._names.get(task)) is not None:
                self._outputs.append(name, fact.text)
        elif isinstance(fact, TaskStarted):
            self._outputs.begin(self._begin(task))
        elif (name := self._names.pop(task, None)) is not None:
            del self._writers[name]
            self._outputs.end(name)

    def _begin(self, task: TaskId) -> str:
        if task in self._names:  # it is tried again
            return self._names[task]
        plan = self._board.tasks[task].plan
        name = str(task) if plan.label is None else plan.scope + plan.label
        if name in self._writers:  # an earlier one of the same label, brought back
            name = str(task)
        self._names[task] = name
        self._writers[name] = task
        return name
