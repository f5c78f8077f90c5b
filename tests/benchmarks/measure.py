"""How things are measured: each against a baseline, turn by turn, and only the best round of each counts.

Other programs share the machine and only ever make a round slower, so the fastest one says most; and since
the rounds of both sides take turns, a slow minute hurts both. What is timed never waits, so its time is the
processor's, which does not run while another program does.
"""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Measured: TypeAlias = "Callable[[], float]"
"""Does something once and returns what it cost; a timed one takes the time itself, without its setting up."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    rounds: int
    tasks: tuple[int, ...]
    """The sizes of the graphs of tasks, in ascending order."""
    text: tuple[int, int]
    """The two sizes, in bytes, between which the growth of the parser is looked at."""
    repeats: int
    """How often what takes microseconds is repeated within a round."""
    agents: tuple[int, ...] = (6, 24)
    """How many agents talk on a screen."""
    warm_up: float = 1.5
    """How long a screen is left alone before it is watched, in seconds."""
    seconds: float = 1.0
    """How long a screen is watched."""
    screens: int = 1
    """How often."""
    megabytes: float = 1.0
    """How much an agent says that says too much."""


FULL = Scale(
    rounds=6,
    tasks=(6, 1_000, 100_000),
    text=(64 * 1024, 1024 * 1024),
    repeats=10_000,
    seconds=10.0,
    screens=2,
    megabytes=100.0,
)
QUICK = Scale(
    rounds=2,
    tasks=(6, 1_000, 4_000),
    text=(16 * 1024, 128 * 1024),
    repeats=1_000,
    seconds=4.0,
    megabytes=20.0,
)
TINY = Scale(rounds=1, tasks=(6, 30), text=(1024, 4096), repeats=20, agents=(6,), warm_up=0.2, seconds=0.5)


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of a table: what something costs, what its baseline costs, and whether that is as wanted."""

    subject: str
    cost: str
    baseline: str
    ratio: float
    aim: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        """Whether the aim is met; nothing where there is none."""
        return "" if self.met is None else "ok" if self.met else "MISSED"


def at_most(subject: str, cost: str, baseline: str, ratio: float, limit: float) -> Figure:
    """Return a figure whose ratio is not to be more than a limit."""
    return Figure(subject, cost, baseline, ratio, f"≤ {limit:g}", ratio <= limit)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the garbage collector away while something is timed."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def repeated(action: Callable[[], object], repeats: int) -> Measured:
    """Return a measurement of what the action costs once, in seconds."""

    def measured() -> float:
        with undisturbed():
            begin = time.process_time()
            for _ in range(repeats):
                action()
            return (time.process_time() - begin) / repeats

    return measured


def best(rounds: int, *measured: Measured) -> list[float]:
    """Return the best result of each; they take turns."""
    results = [[each() for each in measured] for _ in range(rounds)]
    return [min(column) for column in zip(*results, strict=True)]


def in_time(seconds: float) -> str:
    """Write a duration with the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
