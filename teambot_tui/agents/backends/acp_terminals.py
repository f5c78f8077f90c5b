"""Programs that an agent lets us run: without a shell, in the one process host, with bounded output.

They end when the agent says so, and at the latest with the task.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.backends.acp_files import FileRefusedError
from teambot_tui.agents.failures import signal_name, why_it_did_not_start
from teambot_tui.agents.process import Process, SilenceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_OUTPUT_LIMIT: Final = 1024 * 1024  # bytes
_MOST: Final = 16


class Terminal:
    """A program with the last of what it printed."""

    def __init__(self, process: Process, limit: int) -> None:
        self.truncated = False
        self._process = process
        self._limit = limit
        self._output = b""
        self._reading = asyncio.create_task(self._read(), name="terminal of an agent")

    @property
    def output(self) -> str:
        """The last of what was printed, never half a character of it at the beginning."""
        kept = self._output
        if self.truncated:
            kept = kept.lstrip(bytes(range(0x80, 0xC0)))
        return kept.decode("utf-8", "replace")

    @property
    def exit(self) -> tuple[int | None, str | None] | None:
        """The exit status or the name of the signal, once it is over."""
        status = self._process.returncode
        if not self._reading.done() or status is None:
            return None
        return (status, None) if status >= 0 else (None, signal_name(-status))

    async def wait(self) -> tuple[int | None, str | None]:
        """Wait until it is over."""
        await asyncio.wait([self._reading])
        return self.exit or (None, None)

    async def close(self, patience: float | None = None) -> None:
        """End it."""
        await self._process.close(patience)
        await asyncio.wait([self._reading])

    async def _read(self) -> None:
        try:
            with suppress(SilenceError):
                async for chunk in self._process:
                    grown = self._output + chunk
                    self.truncated |= len(grown) > self._limit
                    self._output = grown[-self._limit :] if self._limit else b""
        finally:
            await self._process.close()


class Terminals:
    """The terminals of one agent, by id."""

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._open: dict[str, Terminal] = {}
        self._made = 0

    async def create(
        self, command: Sequence[str], directory: Path, variables: Mapping[str, str], limit: int | None
    ) -> str:
        """Start a program and return the id of its terminal.

        Raises:
            FileRefusedError: It cannot be started, or too many run.
        """
        if len(self._open) >= _MOST:
            raise FileRefusedError(f"at most {_MOST} terminals may be open: release one first")
        if any("\0" in word for word in (*command, *variables, *variables.values())):
            raise FileRefusedError("a command cannot contain a NUL character")
        process = Process(
            command, directory=directory, variables=variables, silence=self._silence, errors_apart=False
        )
        try:
            await process.start()
        except OSError as error:
            raise FileRefusedError(why_it_did_not_start(command[0], error, directory)) from error
        except ValueError as error:
            raise FileRefusedError(f"{command[0]} does not start: {error}") from error
        process.end_input()
        self._made += 1
        identity = f"terminal-{self._made}"
        kept = _OUTPUT_LIMIT if limit is None else min(limit, _OUTPUT_LIMIT)
        self._open[identity] = Terminal(process, kept)
        return identity

    def __getitem__(self, identity: str) -> Terminal:
        """Return an open terminal.

        Raises:
            FileRefusedError: There is none of that id.
        """
        if identity not in self._open:
            raise FileRefusedError(f"there is no terminal {identity}")
        return self._open[identity]

    async def release(self, identity: str) -> None:
        """End a terminal and forget it.

        Raises:
            FileRefusedError: There is none of that id.
        """
        terminal = self[identity]
        del self._open[identity]
        await terminal.close()

    async def close(self, patience: float | None = None) -> None:
        """End all of them."""
        terminals = list(self._open.values())
        self._open.clear()
        await asyncio.gather(*(terminal.close(patience) for terminal in terminals))
