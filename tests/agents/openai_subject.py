"""The chat backend as a subject of the suite that every backend passes, with a real server behind it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.backends.http import HttpClient  # noqa: F401  importing takes memory of its own
from teambot_tui.agents.backends.openai import OpenAI
from tests.agents.conformance import Behaviour
from tests.agents.http_server import ChatServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from teambot_tui.engine.ports import Backend
    from tests.agents.conformance import Go

MODELS: Final = {
    Behaviour.STREAM: "slow",
    Behaviour.ORDER: "numbers",
    Behaviour.HANG: "hang",
    Behaviour.ERROR: "ideas",
    Behaviour.DEATH: "death",
    Behaviour.FLOOD: "flood",
    Behaviour.GARBAGE: "nonsense",
}
"""The model of the test server for each behaviour."""


class OpenAISubject:
    """A server on loopback that behaves as it is told by the name of the model."""

    asks = False
    moment = 2.0

    @asynccontextmanager
    async def backend(
        self, behaviour: Behaviour, go: Go, silence: float
    ) -> AsyncIterator[tuple[Backend, str]]:
        """Start a server and build the backend for it, and a prompt."""
        async with ChatServer(go.told) as server:
            backend = OpenAI(server.base_url, model=MODELS[behaviour], silence_timeout=silence)
            try:
                yield backend, "go"
            finally:
                await backend.aclose()
