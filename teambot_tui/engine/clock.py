"""The session's one clock: seconds that never jump and never stand still, counted from the time of its start.

A wall clock is set, by a person or by the network, and most other clocks stop while the machine sleeps. This
one does neither, so that whatever is told from it has lasted as long as it says.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def since_boot() -> float:
    """Return the seconds since some moment in the past, those of sleep included where they are known."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":  # time.monotonic() stops there, but this one does not
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


def steady_clock(
    elapsed: Callable[[], float] = since_boot, wall: Callable[[], float] = time.time
) -> Callable[[], float]:
    """Return a clock that begins with Unix time and goes on as `elapsed` does, whatever happens to `wall`."""
    start = wall() - elapsed()
    return lambda: start + elapsed()
