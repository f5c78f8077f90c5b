"""What the agents have used, and how much they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.ports import Usage

if TYPE_CHECKING:
    from teambot_tui.engine.ids import TaskId

_NOTHING = Usage()


def together(one: Usage, other: Usage) -> Usage:
    """Return the sum of what was used."""
    costs = [cost for cost in (one.cost, other.cost) if cost is not None]
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        sum(costs) if costs else None,
    )


def difference(before: Usage, now: Usage) -> Usage:
    """Return what a report adds to the one before it, which may be less than nothing; no cost adds none."""
    return Usage(
        now.input_tokens - before.input_tokens,
        now.output_tokens - before.output_tokens,
        None if now.cost is None else now.cost - (before.cost or 0.0),
    )


class Spending:
    """Sums up what tasks report: what each has used so far, in all; a report may correct the last one."""

    def __init__(self, cost_limit: float | None, token_limit: int | None) -> None:
        self.cost_limit = cost_limit
        self.token_limit = token_limit
        self.cost = 0.0
        self.tokens = 0
        self._last: dict[TaskId, Usage] = {}

    def add(self, task: TaskId, usage: Usage) -> None:
        """Take in a report."""
        before = self._last.get(task, _NOTHING)
        more = difference(before, usage)
        self.cost += more.cost or 0.0
        self.tokens += more.tokens
        self._last[task] = together(before, more)

    def begin_again(self, task: TaskId) -> None:
        """What the task reports from now on comes on top."""
        self._last.pop(task, None)

    @property
    def exhausted(self) -> bool:
        """Whether what was allowed is used up."""
        return (self.cost_limit is not None and self.cost >= self.cost_limit) or (
            self.token_limit is not None and self.tokens >= self.token_limit
        )
