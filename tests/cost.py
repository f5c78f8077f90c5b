"""What work costs is compared with other work of the same run: no aim is a number of seconds."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOO_STEEP = 8.0
"""Four times the size costs four times as much when growth is linear, sixteen times when it is quadratic."""

_TRIES = (1, 3, 9)
"""A busy machine may spoil a run: what is measured again, more often, is measured better."""


def least(work: Callable[[], object], runs: int = 1, clock: Callable[[], float] = process_time) -> float:
    """Return the processor's seconds that the cheapest of some runs took."""
    times = []
    for _ in range(runs):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def is_linear(
    work: Callable[[int], object], size: int, clock: Callable[[], float] = process_time, slack: float = 0.005
) -> bool:
    """Tell whether the whole size costs no more than linear growth from a quarter of it allows."""
    # What a collection of garbage costs depends on all that is alive.
    gc.disable()
    try:
        return any(
            least(lambda: work(size), runs, clock)
            < TOO_STEEP * least(lambda: work(size // 4), runs, clock) + slack
            for runs in _TRIES
        )
    finally:
        gc.enable()


def is_cheap(work: Callable[[], object], counts: int) -> bool:
    """Tell whether work costs no more than counting to a million so many times does on this machine, now."""
    return any(least(work, runs) < counts * least(count_to_a_million, runs + 2) for runs in _TRIES[:2])


@contextmanager
def cheap(counts: int) -> Iterator[None]:
    """Assert that the block costs no more than counting to a million so many times does."""
    begin = process_time()
    yield
    spent = process_time() - begin
    assert spent < counts * least(count_to_a_million, 3), f"{spent:.1f} s"


def count_to_a_million() -> None:
    """Do what everything else is compared with."""
    for _ in range(1_000_000):
        pass
