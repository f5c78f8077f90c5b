"""What the agents have used, and how much they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.ports import Usage

if TYPE_CHECKING:
    from teambot_tui.engine.ids import TaskId

_NOTHING = Usage()


class Spending:
    """Sums up what tasks report; a report says what its task has used so far, in all."""

    def __init__(self, cost_limit: float | None, token_limit: int | None) -> None:
        self.cost_limit = cost_limit
        self.token_limit = token_limit
        self.cost = 0.0
        self.tokens = 0
        self._last: dict[TaskId, Usage] = {}

    def add(self, task: TaskId, usage: Usage) -> None:
        """Take in a report."""
        before = self._last.get(task, _NOTHING)
        self.cost += max(0.0, (usage.cost or 0.0) - (before.cost or 0.0))
        self.tokens += max(0, usage.tokens - before.tokens)
        self._last[task] = usage

    def begin_again(self, task: TaskId) -> None:
        """What the task reports from now on comes on top."""
        self._last.pop(task, None)

    @property
    def exhausted(self) -> bool:
        """Whether what was allowed is used up."""
        return (self.cost_limit is not None and self.cost >= self.cost_limit) or (
            self.token_limit is not None and self.tokens >= self.token_limit
        )
