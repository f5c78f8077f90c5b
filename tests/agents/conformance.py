"""What every backend must do, whatever runs behind it: the behaviours it is put through, and who is tested.

A backend joins by a `Subject` that builds it so that what runs behind it behaves in a named way. Subjects
are listed in `SUBJECTS` of `test_conformance.py`.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import BackendError, Request, Text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from teambot_tui.engine.ports import Backend, Update

SAFETY = 120.0
"""Seconds after which a test that hangs fails; no test needs them."""
SOON = 20.0
"""Seconds in which even a very busy machine does what takes a quiet one less than one."""
FLOOD = 10 * 1024 * 1024


class Behaviour(StrEnum):
    """How what runs behind a backend behaves."""

    STREAM = "stream"
    """Says "one ", waits until it is told to go on, says "two" and ends."""
    ORDER = "order"
    """Says the numbers from 0 to 999, each on a line and in a piece of its own."""
    HANG = "hang"
    """Says "ready" and then nothing; it ends when it is asked to."""
    ERROR = "error"
    """Says "half" and fails with the words "out of ideas"."""
    DEATH = "death"
    """Says "half" and is gone."""
    FLOOD = "flood"
    """Says `FLOOD` times "x", as fast as it can."""
    GARBAGE = "garbage"
    """Sends whatever does not belong there, in between says "fine", and ends well."""
    ASK = "ask"
    """Asks permission to execute "rm -rf build"; says "allowed", or says or fails because it was "denied"."""


class Go:
    """Lets what waits go on: children read `path`, servers in this process await `told`."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.told = asyncio.Event()
        self._pipe = os.open(path, os.O_RDWR)

    def tell(self) -> None:
        """Go on."""
        self.told.set()
        os.write(self._pipe, b"!")

    def close(self) -> None:
        """Nobody waits any more."""
        os.close(self._pipe)


class Subject(Protocol):
    """A backend to be tested."""

    asks: bool
    """Whether it can ask permission."""
    moment: float
    """Seconds of silence that it needs at no time, unless it waits for something."""

    def backend(
        self, behaviour: Behaviour, go: Go, silence: float
    ) -> AbstractAsyncContextManager[tuple[Backend, str]]:
        """Build the backend, and the prompt that makes it behave so.

        It gives up after so many seconds of `silence`. Leaving the block closes it.
        """
        ...


@dataclass
class Heard:
    """What a backend reported, and how it failed if it did."""

    updates: list[Update] = field(default_factory=list)
    error: str | None = None

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(update.text for update in self.updates if isinstance(update, Text))


def request(
    directory: Path, prompt: str, *, agent: str = "pm", system: str = "", model: str | None = None
) -> Request:
    """Make a task for a backend."""
    return Request(
        task=TaskId(f"{agent}#1"),
        agent=AgentId(agent),
        prompt=prompt,
        system=system,
        model=model,
        directory=directory,
        instruction=prompt,
        given=(),
    )


async def listen(updates: AsyncGenerator[Update, None]) -> Heard:
    """Hear a backend to its end."""
    heard = Heard()
    try:
        async with asyncio.timeout(SAFETY):
            async for update in updates:
                heard.updates.append(update)
    except BackendError as error:
        heard.error = str(error)
    finally:
        await updates.aclose()
    return heard


async def until_text(updates: AsyncGenerator[Update, None]) -> str:
    """Wait for the next piece of the answer."""
    async with asyncio.timeout(SAFETY):
        async for update in updates:
            if isinstance(update, Text) and update.text:
                return update.text
    raise AssertionError("it ended without a word")
