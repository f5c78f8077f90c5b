"""Ctrl+C as people know it: the first one asks everyone to stop, the second one stops at once."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from teambot_tui.agents.process import kill_all

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator
    from types import FrameType

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """How often the user has asked to stop."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def interrupts(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Iterator[Interrupts]:
    """Call `stop` in the loop at the first signal; at the second, kill every child and leave.

    The handlers are Python's own, not the loop's: they run even while a write to a full pipe blocks the loop.
    """
    seen = Interrupts()

    def interrupted(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  a handler's signature
        seen.count += 1
        if seen.count > 1:
            kill_all()
            os._exit(INTERRUPTED)
        loop.call_soon_threadsafe(stop)

    before = {number: signal.signal(number, interrupted) for number in _SIGNALS}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
