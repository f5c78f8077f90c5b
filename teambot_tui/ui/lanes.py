"""What a timeline shows: what each agent did when, on a scale that leaves out when nobody did anything."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.spans import Spent
from teambot_tui.ui.widgets.graph_items import critical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.spans import TimeSpan
    from teambot_tui.engine.views import TaskView

_LONGEST_PAUSE: Final = 10.0
_PAUSE_SHARE: Final = 0.05
"""A pause of so many seconds, and of such a part of the whole, is left out."""
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


@dataclass(frozen=True, slots=True)
class Bar:
    """What a task did for some time."""

    view: TaskView
    span: TimeSpan
    end: float
    is_critical: bool

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return self.end - self.span.start


@dataclass(slots=True)
class AgentRow:
    """An agent and what it did, in order."""

    agent: AgentId
    bars: list[Bar] = field(default_factory=list)
    tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a time is, in seconds since the first one during which somebody did something."""

    starts: tuple[float, ...]
    before: tuple[float, ...]
    """How many seconds come before each start."""
    total: float

    def at(self, time: float) -> float:
        """Return how many of the seconds that count are before this time."""
        number = bisect_right(self.starts, time) - 1
        if number < 0:
            return 0.0
        following = self.before[number + 1] if number + 1 < len(self.before) else self.total
        return min(self.before[number] + time - self.starts[number], following)

    def ticks(self, room: int) -> list[float]:
        """Return the round times that have at least so much of the whole between them: one in `room`."""
        least = self.total / max(1, room)
        step = next((each for each in _STEPS if each >= least), _STEPS[-1] * (1 + int(least / _STEPS[-1])))
        return [float(second) for second in range(0, int(self.total) + 1, step)]


@dataclass(frozen=True, slots=True)
class TimeTable:
    """Everything a timeline shows."""

    lanes: tuple[AgentRow, ...]
    scale: Scale
    critical_seconds: float
    needed_seconds: float
    """How long agents needed the person."""
    longest_wait: Bar | None


def time_table(tasks: Sequence[TaskView], now: float) -> TimeTable:
    """Return what these tasks did."""
    bright, seconds = critical(tasks, now)
    lanes: dict[AgentId, AgentRow] = {}
    needed = 0.0
    longest: Bar | None = None
    for view in tasks:
        lane = lanes.get(view.agent)
        if lane is None:
            lane = lanes[view.agent] = AgentRow(view.agent)
        if (usage := view.doing.usage) is not None:
            lane.tokens += usage.tokens
            if usage.cost is not None:
                lane.cost = (lane.cost or 0.0) + usage.cost
        for span in view.spans:
            bar = Bar(view, span, max(span.start, now if span.end is None else span.end), view.task in bright)
            lane.bars.append(bar)
            if span.spent is Spent.NEEDING_YOU:
                needed += bar.seconds
            elif (
                span.spent is Spent.WAITING
                and span.agents
                and bar.seconds > (longest.seconds if longest else 0)
            ):
                longest = bar
    scale = _scale([(bar.span.start, bar.end) for lane in lanes.values() for bar in lane.bars])
    return TimeTable(tuple(lanes.values()), scale, seconds, needed, longest)


def _scale(times: list[tuple[float, float]]) -> Scale:
    merged: list[list[float]] = []
    for start, end in sorted(times):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    whole = sum(end - start for start, end in merged)
    joined: list[list[float]] = []
    for start, end in merged:
        if joined and start - joined[-1][1] <= max(_LONGEST_PAUSE, whole * _PAUSE_SHARE):
            joined[-1][1] = end
        else:
            joined.append([start, end])
    before: list[float] = []
    total = 0.0
    for start, end in joined:
        before.append(total)
        total += end - start
    return Scale(tuple(start for start, _ in joined), tuple(before), max(total, 1.0))


def names_of(agents: Sequence[str]) -> str:
    """Return agents as they are named where one waits for them."""
    return ", ".join(f"@{agent}" for agent in agents)


def waited_for(view: TaskView) -> tuple[TaskId | AgentId, ...]:
    """Return for whom a task has waited, each once."""
    return tuple(dict.fromkeys(agent for span in view.spans for agent in span.agents))
