"""What it costs to tell a fact to everyone, and to keep it for a reader who is late."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from teambot_tui.engine.bus import Backlog, Bus
from teambot_tui.engine.facts import TaskQueued, TextProduced
from teambot_tui.engine.ids import TaskId
from tests.benchmarks.measure import Figure, at_most, best, in_time, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.facts import Fact
    from tests.benchmarks.measure import Scale

SUBSCRIBERS = (1, 10, 100)
LIMIT = 3.0
SPEAKERS = 6
MOST_WAITING = 100
_TASK = TaskId("pm#1")


class _Reader:
    def __init__(self) -> None:
        self.last: Fact | None = None

    def see(self, fact: Fact) -> None:
        self.last = fact


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure the bus and the backlog."""
    for count in SUBSCRIBERS:
        yield _publishing(count, scale)
    yield from _merging(scale)


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


def _merging(scale: Scale) -> Iterator[Figure]:
    """Let a reader find many pieces of text, of agents that speak in turn, as one of each."""
    tasks = [TaskId(f"agent-{number}#1") for number in range(SPEAKERS)]
    pieces = [TextProduced(0.0, tasks[each % SPEAKERS], "a few words ") for each in range(6 * scale.repeats)]

    def through_backlog() -> list[Fact]:
        backlog = Backlog()
        for piece in pieces:
            backlog.put(piece)
        return backlog.take()

    def by_hand() -> None:
        texts: dict[TaskId, list[str]] = {}
        for piece in pieces:
            texts.setdefault(piece.task, []).append(piece.text)
        for each in texts.values():
            "".join(each)

    ours, direct = (
        cost / len(pieces) for cost in best(scale.rounds, repeated(through_backlog, 1), repeated(by_hand, 1))
    )
    yield Figure(
        "a piece of text into a backlog", in_time(ours), f"append, join {in_time(direct)}", ours / direct
    )
    count = len(through_backlog())
    yield Figure(
        f"{SPEAKERS} agents in turn, {len(pieces):,} pieces, the reader stalled",
        f"{count} facts",
        f"{SPEAKERS} agents",
        count / SPEAKERS,
        f"≤ {MOST_WAITING} facts",
        count <= MOST_WAITING,
    )
