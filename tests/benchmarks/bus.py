"""What it costs to tell a fact to everyone."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from teambot_tui.engine.bus import Bus
from teambot_tui.engine.facts import TaskQueued
from teambot_tui.engine.ids import TaskId
from tests.benchmarks.measure import Figure, at_most, best, in_time, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.facts import Fact
    from tests.benchmarks.measure import Scale

SUBSCRIBERS = (1, 10, 100)
LIMIT = 3.0
_TASK = TaskId("pm#1")


class _Reader:
    def __init__(self) -> None:
        self.last: Fact | None = None

    def see(self, fact: Fact) -> None:
        self.last = fact


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure the bus."""
    for count in SUBSCRIBERS:
        yield _publishing(count, scale)


def _publishing(count: int, scale: Scale) -> Figure:
    bus = Bus()
    fact = TaskQueued(0.0, _TASK)
    handlers = [_Reader().see for _ in range(count)]

    def call_each() -> None:
        for handler in handlers:
            handler(fact)

    repeats = max(1, scale.repeats // count)
    with ExitStack() as subscriptions:
        for handler in handlers:
            subscriptions.enter_context(bus.subscribe(handler))
        ours, direct = best(
            scale.rounds * 3,
            repeated(lambda: bus.publish(fact), repeats),
            repeated(call_each, repeats),
        )
    return at_most(
        f"a fact to {count} subscriber{'s' * (count > 1)}",
        in_time(ours),
        f"calling them {in_time(direct)}",
        ours / direct,
        LIMIT,
    )
