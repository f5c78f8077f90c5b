"""Keys of servers: read when they are needed, from a variable or a program, and never part of a message."""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING, Final, Protocol

from teambot_tui.agents.process import Process, SilenceError
from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_USABLE: Final = re.compile(r"[!-~]{1,8192}")
"""What a header can carry: a line end in a key would begin another header."""
_LARGEST_OUTPUT: Final = 64 * 1024
_PATIENCE: Final = 60.0  # seconds; the program may ask the user to unlock something


class ApiKey(Protocol):
    """Where the key of a server comes from."""

    origin: str
    """In words, for the user who has to mend it."""

    async def read(self, directory: Path) -> str:
        """Return the key, an empty text if there is to be none.

        Raises:
            BackendError: it cannot be had; the text says what to do.
        """
        ...

    def refuse(self) -> None:
        """The server did not take it: look again the next time."""
        ...


class NoKey:
    """For servers that ask for none."""

    origin = ""

    async def read(self, directory: Path) -> str:  # noqa: ARG002  the shape of a key
        """There is none."""
        return ""

    def refuse(self) -> None:
        """There is nothing to look for."""


class FixedKey:
    """A key that we made up ourselves."""

    origin = "our own key"

    def __init__(self, key: str) -> None:
        self._key = key

    async def read(self, directory: Path) -> str:  # noqa: ARG002  the shape of a key
        """Return it."""
        return self._key

    def refuse(self) -> None:
        """It stays what it is."""


class VariableKey:
    """A key in an environment variable."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.origin = f"the environment variable {name}"

    async def read(self, directory: Path) -> str:  # noqa: ARG002  the shape of a key
        """Return the variable's value."""
        key = os.environ.get(self._name, "").strip()
        if not key:
            raise BackendError(f"set the environment variable {self._name} to the key of the server")
        return _usable(key, self.origin)

    def refuse(self) -> None:
        """It is read again every time."""


class CommandKey:
    """A key that a program prints; it runs once and the key is kept in memory until a server refuses it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._key = ""
        self._asking = asyncio.Lock()
        self.origin = f"the key that {command[0]} prints"

    async def read(self, directory: Path) -> str:
        """Run the program, once for all who ask at the same time."""
        async with self._asking:
            if not self._key:
                self._key = _usable(await self._ask(directory), self.origin)
            return self._key

    def refuse(self) -> None:
        """The program is asked again."""
        self._key = ""

    async def _ask(self, directory: Path) -> str:
        program = self._command[0]
        output = b""
        process = Process(self._command, directory=directory, silence=_PATIENCE)
        try:
            async with process:
                process.end_input()
                async for piece in process:
                    output += piece
                    if len(output) > _LARGEST_OUTPUT:
                        break
        except OSError as error:
            raise BackendError(
                f"{program}, which prints the key, does not start: {error.strerror}"
            ) from error
        except SilenceError as error:
            raise BackendError(f"{program}, which prints the key, was stopped: {error}") from error
        if process.returncode != 0:
            # What it wrote may hold the key, so not a word of it is shown.
            raise BackendError(f"{program} printed no key, it failed: run it by hand to see why")
        return output.decode("utf-8", "replace").strip()


def _usable(key: str, origin: str) -> str:
    if not _USABLE.fullmatch(key):
        raise BackendError(f"{origin} is no key: a key is one word of plain characters")
    return key
