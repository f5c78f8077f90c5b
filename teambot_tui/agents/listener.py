"""What a child process says, whether it is silent, and when all of it has been heard."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.agents.groups import Group

STDIN, STDOUT, STDERR = range(3)
_BUFFER_LIMIT: Final = 1024 * 1024  # bytes that may wait for the reader; also the most a pipe can hold
_TAIL_LIMIT: Final = 8 * 1024
_GRACE: Final = 0.25  # seconds in which output may still come after the exit
_SILENCE_TICKS: Final = 20


class Silence:
    """Tells when nothing was heard for too long; whoever waits for our own answer is not silent."""

    def __init__(self, report: Callable[[], None]) -> None:
        self.limit: float | None = None
        self.broken = False
        self._report = report
        self._quiet_ticks = 0
        self._timer: asyncio.TimerHandle | None = None

    def expect(self, within: float | None) -> None:
        """Give up after so many seconds without a sound from now on, or never."""
        self.stop()
        self.limit = within
        self.heard()
        self._tick()

    def heard(self) -> None:
        """There was a sound."""
        self._quiet_ticks = 0
        self.broken = False

    def stop(self) -> None:
        """Listen no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        if self.limit is None:
            return
        # Ticks, not a clock: when we were suspended ourselves, one tick passes and then the pipes are read.
        self._quiet_ticks += 1
        if self._quiet_ticks > _SILENCE_TICKS:
            self.broken = True
            self._report()
        self._timer = asyncio.get_running_loop().call_later(self.limit / _SILENCE_TICKS, self._tick)


class Listener(asyncio.SubprocessProtocol):
    """What the child said, whether it is silent, and when all of it has been heard."""

    def __init__(self, group: Group, silence: float | None, *, errors_apart: bool = True) -> None:
        self.errors = b""
        self.returncode: int | None = None
        self.over = False
        self.changed = asyncio.Event()
        self.silence = Silence(self.changed.set)
        self.exited = asyncio.Event()
        self.lost = asyncio.Event()
        self.transport: asyncio.SubprocessTransport | None = None
        self._group = group
        self._first_limit = silence
        self._output = bytearray()
        self._open = {STDOUT, STDERR} if errors_apart else {STDOUT}
        self._held = False
        self._collecting = False
        self._discarding = False
        self._grace: asyncio.TimerHandle | None = None

    def take(self) -> bytes:
        """Give away what has arrived and let the child go on writing."""
        data = bytes(self._output)
        self._output.clear()
        if self._held and not self._collecting:
            self._held = False
            self.silence.heard()
            self.pipe(STDOUT).resume_reading()
        return data

    def discard(self) -> None:
        """Read on without keeping anything, so that a child which is to end does not hang in a write."""
        self._discarding = True
        self._stop_timers()
        self.take()

    def pipe(self, fd: int) -> asyncio.Transport:
        """Our end of one of the child's standard streams."""
        assert self.transport is not None
        return cast("asyncio.Transport", self.transport.get_pipe_transport(fd))

    def finish(self) -> None:
        """Nothing more will be heard."""
        self._stop_timers()
        self.over = True
        self.changed.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.SubprocessTransport", transport)
        self._group.begin(self.transport.get_pid())
        self.silence.expect(self._first_limit)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.silence.heard()
        if fd == STDERR:
            self.errors = (self.errors + data)[-_TAIL_LIMIT:]
        elif not self._discarding:
            self._output += data
            if len(self._output) > _BUFFER_LIMIT:
                self._held = True
                self.pipe(STDOUT).pause_reading()
            self.changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's name
        self._open.discard(fd)
        self._finish_if_heard()

    def process_exited(self) -> None:
        assert self.transport is not None
        self.returncode = self.transport.get_returncode()
        self.exited.set()
        self._stop_timers()
        if not self._discarding:
            self._grace = asyncio.get_running_loop().call_later(_GRACE, self._stop_reading)
        self._finish_if_heard()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's name
        self.finish()
        self.lost.set()

    def _finish_if_heard(self) -> None:
        if self.returncode is not None and not self._open and not self._discarding:
            self._group.signal(signal.SIGKILL)
            self.finish()

    def _stop_reading(self) -> None:
        # asyncio hands data on one step after it was read: that must arrive before what is collected.
        self._collecting = True
        for fd in self._open:
            self.pipe(fd).pause_reading()
        asyncio.get_running_loop().call_soon(self._collect)

    def _collect(self) -> None:
        """Somebody holds a pipe of the dead child: hear what is in it, and no more."""
        if self._discarding or self.over:
            return
        self._group.signal(signal.SIGKILL)
        for fd in self._open:
            pipe = self.pipe(fd)
            with suppress(BlockingIOError):  # nothing is in it
                if not pipe.is_closing():
                    contents = os.read(pipe.get_extra_info("pipe").fileno(), _BUFFER_LIMIT)
                    self.pipe_data_received(fd, contents)
        self.finish()

    def _stop_timers(self) -> None:
        self.silence.stop()
        if self._grace is not None:
            self._grace.cancel()
