"""The one host for child processes: nothing a child does can hurt us, and nothing of it outlives its block.

A child leads its own session and is ended as a group, first asked, then killed; what left the group is
found by its mark (Linux), whatever it has done to hide. If we are killed ourselves, the guard does the same.
A child is over when it has exited, not when its pipes close: a grandchild may hold those open for ever.
"""

from __future__ import annotations

import asyncio
import atexit
import signal
from contextlib import asynccontextmanager, suppress
from functools import partial
from subprocess import PIPE, STDOUT
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from teambot_tui.agents.groups import (
    KERNEL_LIMIT,
    Group,
    environment,
    guard,
    is_there,
    kill_marked,
    new_mark,
)
from teambot_tui.agents.guard import POLL, marked
from teambot_tui.agents.listener import STDIN, Listener
from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Mapping, Sequence
    from pathlib import Path

_SHUTDOWN_LIMIT: Final = 0.5
"""Seconds that a child has to start after all while the loop shuts down."""
_live: dict[int, Group] = {}
"""The group of every child that has not ended, by its mark."""


@asynccontextmanager
async def at_most(seconds: float) -> AsyncIterator[None]:
    """Give what is awaited in the block up after that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            yield


async def to_its_end(task: asyncio.Task[None]) -> None:
    """Wait for the task however often we are cancelled, and pass the cancellation on afterwards."""
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise


atexit.register(guard.dismiss)


class SilenceError(BackendError):
    """Nothing was heard from a child for too long."""


def kill_all() -> None:
    """Kill every child that is still alive and all it started, at once and from any thread."""
    # No lock: a signal handler may call this while the thread it interrupts would hold it.
    if live := _live.copy():
        for group in live.values():
            group.signal(signal.SIGKILL)
        kill_marked(live)


class Process:
    """A child process, for the length of an `async with` block or until closed; iterating gives its output.

    `variables` are what the child sees besides the harmless ones: a value of its own, or None for ours.
    `silence` is the seconds after which a child that says nothing is given up, `patience` the seconds it has
    to end itself. Unless `errors_apart`, what it writes to its standard error is part of its output.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        variables: Mapping[str, str | None] = MappingProxyType({}),
        silence: float | None = None,
        patience: float = 2.0,
        errors_apart: bool = True,
    ) -> None:
        self._mark = new_mark()
        self._group = Group()
        self._command = command
        self._directory = directory
        self._environment = environment(variables, self._mark)
        self._patience = patience
        self._errors_apart = errors_apart
        self._listener = Listener(self._group, silence, errors_apart=errors_apart)
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
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Start the child, which somebody must then close.

        Raises:
            OSError: the system refuses to start it.
        """
        _live[self._mark] = self._group
        start = asyncio.create_task(self._spawn(), name=f"start of {self._command[0]}")
        try:
            await to_its_end(start)
        except BaseException:
            await self.close()
            raise

    def write(self, data: bytes) -> None:
        """Give the child input, without waiting and whether it reads or not."""
        self._listener.pipe(STDIN).write(data)

    def end_input(self) -> None:
        """Close the child's input after what was written."""
        self._listener.pipe(STDIN).close()

    def expect_output(self, within: float | None) -> None:
        """Give the child up after so many seconds of silence from now on, or never."""
        if self.returncode is None:
            self._listener.silence.expect(within)

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
            if listener.silence.broken:
                raise SilenceError(f"no output for {listener.silence.limit:g} s")
            await listener.changed.wait()

    async def close(self, patience: float | None = None) -> None:
        """End the child and all it started; when cancelled, first finish that. May be called again.

        `patience` replaces the one it was made with.
        """
        if self._ending is None:
            self._patience = self._patience if patience is None else patience
            self._ending = asyncio.create_task(self._end(), name=f"end of {self._command[0]}")
        await to_its_end(self._ending)

    async def _spawn(self) -> None:
        guard.start()
        start = partial(
            asyncio.get_running_loop().subprocess_exec,
            lambda: self._listener,
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE if self._errors_apart else STDOUT,
            cwd=self._directory,
            env=self._environment,
            start_new_session=True,
        )
        spawning = asyncio.ensure_future(_Marked(start, self._mark))
        try:
            await asyncio.shield(spawning)
        except asyncio.CancelledError:
            # Only a loop that shuts down cancels us. It cancels whoever connects the pipes too, and without
            # them asyncio never sees the end of the child that it kills now.
            await asyncio.wait([spawning], timeout=_SHUTDOWN_LIMIT)
            spawning.cancel()
            await asyncio.wait([spawning])
            raise

    async def _end(self) -> None:
        self._listener.discard()
        transport = self._listener.transport
        child = None if transport is None else transport.get_pid()
        try:
            await self._ask_to_end()
            self._group.signal(signal.SIGKILL)
            async with at_most(KERNEL_LIMIT):  # /proc hangs when a process hangs in the kernel
                await asyncio.to_thread(kill_marked, [self._mark], child)
        except (asyncio.CancelledError, RuntimeError):
            # The loop shuts down or no thread is to be had: there is no time left to be polite.
            self._group.signal(signal.SIGKILL)
            kill_marked([self._mark], child)
        finally:
            _live.pop(self._mark, None)
            await self._let_go()

    async def _ask_to_end(self) -> None:
        if self._listener.transport is None:
            return
        stdin = self._listener.pipe(STDIN)
        if stdin.get_write_buffer_size():
            stdin.abort()  # closing would wait until the child has read it all
        stdin.close()
        if self.returncode is None and self._group.signal(signal.SIGTERM):
            async with at_most(self._patience):
                while await asyncio.to_thread(is_there, self._group):  # noqa: ASYNC110  no event tells it
                    await asyncio.sleep(POLL)

    async def _let_go(self) -> None:
        listener = self._listener
        if listener.transport is not None:
            try:
                async with at_most(KERNEL_LIMIT):
                    await listener.exited.wait()
            finally:
                # Only now: closing earlier would take the exit status from asyncio's own watcher.
                listener.transport.close()
                guard.forget_group(listener.transport.get_pid())
                async with at_most(KERNEL_LIMIT):
                    await listener.lost.wait()
        listener.finish()


class _Marked:
    """The start of a child, which is made in the first step: up to there everything started is marked."""

    def __init__(self, start: Callable[[], Coroutine[object, object, object]], mark: int) -> None:
        self._start = start
        self._mark = mark

    def __await__(self) -> Generator[object, object, None]:
        steps = self._start().__await__()
        try:
            with marked(self._mark):
                awaited = next(steps)
            while True:
                try:
                    answer = yield awaited
                except BaseException as error:  # noqa: BLE001  it is passed on, as `yield from` would
                    awaited = steps.throw(error)
                else:
                    awaited = steps.send(answer)
        except StopIteration:
            return
