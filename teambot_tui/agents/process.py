"""The one host for child processes: nothing a child does can hurt us, and nothing of it outlives its block.

A child leads its own session and is ended as a group, first asked, then killed; what left the group is
found by a mark in its environment (Linux). A child is over when it has exited, not when its pipes close:
a grandchild may hold those open for ever.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from contextlib import asynccontextmanager, suppress
from logging import getLogger
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING, Final, Self, cast

from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

logger = getLogger(__name__)

_PASSED_ON: Final = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|SSL_CERT_FILE|SSL_CERT_DIR"
)
_MARK: Final = "TEAMBOT_PROCESS"
_PROC: Final = Path("/proc")  # Linux only; elsewhere a child that leaves its group is not found

_STDIN, _STDOUT, _STDERR = range(3)
_BUFFER_LIMIT: Final = 1024 * 1024  # bytes that may wait for the reader; also the most a pipe can hold
_TAIL_LIMIT: Final = 8 * 1024
_GRACE: Final = 0.25  # seconds in which output may still come after the exit
_POLL: Final = 0.02  # seconds
_KERNEL_LIMIT: Final = 5.0  # seconds for what takes the kernel milliseconds: it will not happen any more
_SILENCE_TICKS: Final = 20

_live: dict[str, _Group] = {}
"""The group of every child that has not ended, by its mark."""


class SilenceError(BackendError):
    """Nothing was heard from a child for too long."""


def kill_all() -> None:
    """Kill every child that is still alive and all it started, at once and from any thread."""
    # No lock: a signal handler may call this while the thread it interrupts would hold it.
    live = _live.copy()
    for group in live.values():
        group.signal(signal.SIGKILL)
    _kill_marked(live)


def _environment(names: Iterable[str], mark: str) -> dict[str, str]:
    """What a child may know of our environment: the harmless, the named, and its own mark."""
    known = {*names, *filter(_PASSED_ON.fullmatch, os.environ)}
    passed_on = {name: value for name, value in os.environ.items() if name in known}
    # A teambot that itself runs as somebody's child keeps that mark, so that its starter finds ours too.
    marks = f"{os.environ.get(_MARK, '')} {mark}".strip()
    return {"TERM": "dumb", "NO_COLOR": "1", **passed_on, _MARK: marks}


def _marked(marks: Iterable[str]) -> list[int]:
    """The processes whose environment holds one of the marks; a zombie has no environment any more."""
    wanted = [mark.encode() for mark in marks]
    found = []
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            with suppress(OSError):  # it ended meanwhile, or is another user's
                environment = (entry / "environ").read_bytes()
                if any(mark in environment for mark in wanted):
                    found.append(int(entry.name))
    return found


def _kill_marked(marks: Iterable[str]) -> None:
    """Kill until nobody carries a mark: while we look, a process can start another one."""
    give_up = time.monotonic() + _KERNEL_LIMIT
    while strays := _marked(marks):
        for stray in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        if time.monotonic() > give_up:
            logger.warning("processes that cannot be killed: %s", strays)
            return
        time.sleep(_POLL)


class _Group:
    """A process group, never signalled again once it was seen empty: its number may be another's by then."""

    def __init__(self) -> None:
        self.leader: int | None = None

    def signal(self, number: int) -> bool:
        """Signal the group and tell whether somebody was there to hear it."""
        leader = self.leader  # read once: other threads signal too
        try:
            if leader is not None:
                os.killpg(leader, number)
        except (ProcessLookupError, PermissionError):
            leader = self.leader = None
        return leader is not None


class _Listener(asyncio.SubprocessProtocol):
    """What the child said, whether it is silent, and when all of it has been heard."""

    def __init__(self, group: _Group, silence: float | None) -> None:
        self.silence = silence
        self.errors = b""
        self.returncode: int | None = None
        self.silent = False
        self.over = False
        self.changed = asyncio.Event()
        self.exited = asyncio.Event()
        self.lost = asyncio.Event()
        self.transport: asyncio.SubprocessTransport | None = None
        self._group = group
        self._quiet_ticks = 0
        self._output = bytearray()
        self._open = {_STDOUT, _STDERR}
        self._held = False
        self._collecting = False
        self._discarding = False
        self._timer: asyncio.TimerHandle | None = None

    def take(self) -> bytes:
        """Give away what has arrived and let the child go on writing."""
        data = bytes(self._output)
        self._output.clear()
        if self._held and not self._collecting:
            self._held = False
            self._quiet_ticks = 0
            self.pipe(_STDOUT).resume_reading()
        return data

    def discard(self) -> None:
        """Read on without keeping anything, so that a child which is to end does not hang in a write."""
        self._discarding = True
        self._stop_timer()
        self.take()

    def pipe(self, fd: int) -> asyncio.Transport:
        """Our end of one of the child's standard streams."""
        assert self.transport is not None
        return cast("asyncio.Transport", self.transport.get_pipe_transport(fd))

    def finish(self) -> None:
        """Nothing more will be heard."""
        self._stop_timer()
        self.over = True
        self.changed.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.SubprocessTransport", transport)
        self._group.leader = self.transport.get_pid()
        self._tick()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._quiet_ticks = 0
        if fd == _STDERR:
            self.errors = (self.errors + data)[-_TAIL_LIMIT:]
        elif not self._discarding:
            self._output += data
            if len(self._output) > _BUFFER_LIMIT:
                self._held = True
                self.pipe(_STDOUT).pause_reading()
            self.changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's name
        self._open.discard(fd)
        self._finish_if_heard()

    def process_exited(self) -> None:
        assert self.transport is not None
        self.returncode = self.transport.get_returncode()
        self.exited.set()
        self._stop_timer()
        if not self._discarding:
            self._timer = asyncio.get_running_loop().call_later(_GRACE, self._stop_reading)
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

    def _tick(self) -> None:
        if self.silence is None:
            return
        # Ticks, not a clock: when we were suspended ourselves, one tick passes and then the pipes are read.
        self._quiet_ticks = 0 if self._held else self._quiet_ticks + 1
        if self._quiet_ticks > _SILENCE_TICKS:
            self.silent = True
            self.changed.set()
        else:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.silence / _SILENCE_TICKS, self._tick)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class Process:
    """A child process for the length of an `async with` block; iterating gives its output as it comes.

    `names` are the variables of our environment the child may see besides the harmless ones, `silence` the
    seconds after which a child that says nothing is given up, `patience` the seconds it has to end itself.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        names: Iterable[str] = (),
        silence: float | None = None,
        patience: float = 2.0,
    ) -> None:
        self._mark = os.urandom(16).hex()
        self._group = _Group()
        self._command = command
        self._directory = directory
        self._environment = _environment(names, self._mark)
        self._patience = patience
        self._listener = _Listener(self._group, silence)
        self._ending: asyncio.Task[None] | None = None

    @property
    def returncode(self) -> int | None:
        """The exit status, or the negative of the signal that killed it; nothing while it lives."""
        return self._listener.returncode

    @property
    def errors(self) -> bytes:
        """The tail of what the child wrote to its standard error."""
        return self._listener.errors

    async def __aenter__(self) -> Self:
        """Start the child.

        Raises:
            OSError: the system refuses to start it.
        """
        _live[self._mark] = self._group
        start = asyncio.create_task(self._start(), name=f"start of {self._command[0]}")
        try:
            await _to_its_end(start)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def write(self, data: bytes) -> None:
        """Give the child input, without waiting and whether it reads or not."""
        self._listener.pipe(_STDIN).write(data)

    def end_input(self) -> None:
        """Close the child's input after what was written."""
        self._listener.pipe(_STDIN).close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Wait for output.

        Raises:
            SilenceError: nothing was heard for too long.
        """
        listener = self._listener
        while True:
            listener.changed.clear()
            if data := listener.take():
                return data
            if listener.over:
                raise StopAsyncIteration
            if listener.silent:
                raise SilenceError(f"no output for {listener.silence:g} s")
            await listener.changed.wait()

    async def close(self) -> None:
        """End the child and all it started; when cancelled, first finish that. May be called again."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(), name=f"end of {self._command[0]}")
        await _to_its_end(self._ending)

    async def _start(self) -> None:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self._listener,
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=self._directory,
            env=self._environment,
            start_new_session=True,
        )

    async def _end(self) -> None:
        self._listener.discard()
        try:
            await self._ask_to_end()
            self._group.signal(signal.SIGKILL)
            async with _at_most(_KERNEL_LIMIT):  # /proc hangs when a process hangs in the kernel
                await asyncio.to_thread(_kill_marked, [self._mark])
        except (asyncio.CancelledError, RuntimeError):
            # The loop shuts down or no thread is to be had: there is no time left to be polite.
            self._group.signal(signal.SIGKILL)
            _kill_marked([self._mark])
        finally:
            _live.pop(self._mark, None)
            await self._let_go()

    async def _ask_to_end(self) -> None:
        if self._listener.transport is None:
            return
        stdin = self._listener.pipe(_STDIN)
        if stdin.get_write_buffer_size():
            stdin.abort()  # closing would wait until the child has read it all
        stdin.close()
        if self.returncode is None and self._group.signal(signal.SIGTERM):
            async with _at_most(self._patience):
                while await asyncio.to_thread(self._is_there):  # noqa: ASYNC110  no event tells it
                    await asyncio.sleep(_POLL)

    def _is_there(self) -> bool:
        # A zombie that nobody reaps stays in its group, but has no environment any more.
        return self._group.signal(0) and bool(not _PROC.is_dir() or _marked([self._mark]))

    async def _let_go(self) -> None:
        listener = self._listener
        if listener.transport is not None:
            try:
                async with _at_most(_KERNEL_LIMIT):
                    await listener.exited.wait()
            finally:
                # Only now: closing earlier would take the exit status from asyncio's own watcher.
                listener.transport.close()
                async with _at_most(_KERNEL_LIMIT):
                    await listener.lost.wait()
        listener.finish()


@asynccontextmanager
async def _at_most(seconds: float) -> AsyncIterator[None]:
    """Give what is awaited in the block up after that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            yield


async def _to_its_end(task: asyncio.Task[None]) -> None:
    """Wait for the task however often we are cancelled, and pass the cancellation on afterwards."""
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise
