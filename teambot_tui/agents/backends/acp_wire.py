"""Messages as lines over a process: what is none is dropped, and nothing an agent sends breaks us.

The SDK's connection answers what it cannot read with a line in the root logger, which draws on the screen;
so it is given only requests and responses of the right shape. Notifications never reach it: they go to a
listener, in the order they came.
"""

from __future__ import annotations

import asyncio
import json
from logging import getLogger
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.process import SilenceError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from teambot_tui.agents.process import Process

logger = getLogger(__name__)

_LONGEST_LINE: Final = 64 * 1024 * 1024  # bytes


class Wire:
    """A transport for the connection, over a process that somebody else starts and ends.

    `hear` receives the notifications, `room` is awaited before each message is read.
    """

    def __init__(
        self,
        process: Process,
        hear: Callable[[str, dict[str, Any]], None],
        room: Callable[[], Awaitable[None]],
    ) -> None:
        self.ended = False
        self.silence: SilenceError | None = None
        self._process = process
        self._hear = hear
        self._room = room
        self._messages = self._read()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message; to an agent that is gone it is lost, and reading tells so."""
        if not self.ended and self._process.returncode is None:
            # What goes back to the agent of its own invalid parameters may be anything.
            self._process.write(json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """Wait for the next request or response; nothing when there will be no more."""
        # The connection acts on a request in a task of its own: let it begin before the next is read.
        await asyncio.sleep(0)
        async for message in self._messages:
            if "method" in message and "id" not in message:
                self._tell(message)
            else:
                return message
        return None

    async def close(self) -> None:
        """Send nothing more."""
        self.ended = True

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            self._hear(message["method"], message["params"])
        except Exception as error:
            logger.debug("a notification of an agent was dropped", exc_info=error)

    async def _read(self) -> AsyncGenerator[dict[str, Any], None]:
        pieces: list[bytes] = []
        length = 0
        try:
            async for chunk in self._process:
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    length += len(end)
                    message = _message(b"".join([*pieces, end])) if length <= _LONGEST_LINE else None
                    if message is not None:
                        await self._room()
                        yield message
                    elif length:
                        # Not its text: nobody knows what is in it.
                        logger.debug("dropped a line of %s bytes that is no message", length)
                    pieces.clear()
                    length = 0
                length += len(rest)
                if length <= _LONGEST_LINE:
                    pieces.append(rest)
                else:
                    pieces.clear()
        except SilenceError as error:
            self.silence = error
        finally:
            self.ended = True


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    return _call(message) if "method" in message else _response(message)


def _call(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params")
    if not isinstance(message["method"], str) or type(message.get("id", 0)) not in (int, str):
        return None
    # The SDK would hand on what is in _meta as if it were parameters.
    known = (
        {key: value for key, value in params.items() if key != "_meta"} if isinstance(params, dict) else {}
    )
    return {**message, "params": known}


def _response(message: dict[str, Any]) -> dict[str, Any] | None:
    number = message.get("id")
    if isinstance(number, str) and number.isdecimal() and len(number) < 10:
        number = int(number)
    if type(number) is not int:
        return None
    error = message.get("error")
    if "result" not in message and not isinstance(error, dict):
        message["error"] = {"message": str(error)}
    return {**message, "id": number}
