"""OpenCode, an ACP agent that we did not write, with a model server on loopback and nothing else to talk to.

It lives in a home of its own, updates nothing and reaches no other host: nobody is at the port of its proxy.
"""

from __future__ import annotations

import json
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from tests.agents.conformance import SAFETY, Behaviour
from tests.agents.http_server import ChatServer
from tests.agents.openai_subject import MODELS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from teambot_tui.engine.ports import Backend
    from tests.agents.conformance import Go

MARKS: Final = [
    pytest.mark.third_party,
    pytest.mark.skipif(shutil.which("opencode") is None, reason="opencode is not on PATH"),
]
_NOBODY: Final = "http://127.0.0.1:9/"


def command(
    home: Path, server: ChatServer, model: str, permission: Mapping[str, str] | None = None
) -> list[str]:
    """The command that starts OpenCode on a model of the server; it asks permission for what is said."""
    home.mkdir(exist_ok=True)
    (home / "models.json").write_text("{}")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": server.base_url, "apiKey": "none"},
        "models": {name: {"name": name} for name in (model, "stream")},
    }
    settings = {
        "provider": {"loopback": provider},
        "enabled_providers": ["loopback"],
        "model": f"loopback/{model}",
        "small_model": "loopback/stream",  # it gives each session a title
        "permission": dict(permission or {}),
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
    }
    variables = {
        "HOME": str(home),
        **{f"XDG_{kind}_HOME": str(home) for kind in ("DATA", "CONFIG", "CACHE", "STATE")},
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_MODELS_PATH": str(home / "models.json"),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_PURE": "1",
        "npm_config_registry": _NOBODY,
        "npm_config_fetch_retries": "0",
        "HTTP_PROXY": _NOBODY,
        "HTTPS_PROXY": _NOBODY,
        "NO_PROXY": "127.0.0.1,localhost",
    }
    return ["env", *(f"{name}={value}" for name, value in variables.items()), "opencode", "acp"]


@asynccontextmanager
async def opencode(
    home: Path,
    server: ChatServer,
    model: str,
    permission: Mapping[str, str] | None = None,
    *,
    silence: float = SAFETY,
) -> AsyncIterator[Acp]:
    """OpenCode as the backend that users have, until the end of the block."""
    backend = Acp(
        AcpOptions(
            command=command(home, server, model, permission),
            start_timeout=SAFETY,
            silence_timeout=silence,
        )
    )
    try:
        yield backend
    finally:
        await backend.aclose()


class OpenCodeSubject:
    """OpenCode, which behaves as its model does; it dies by a command that its model asks for."""

    asks = True
    moment = 8.0

    @asynccontextmanager
    async def backend(
        self, behaviour: Behaviour, go: Go, silence: float
    ) -> AsyncIterator[tuple[Backend, str]]:
        """Start a model server and OpenCode on it."""
        own = {Behaviour.DEATH: "suicide", Behaviour.ASK: "ask", Behaviour.GARBAGE: "wild"}
        model = {**MODELS, **own}[behaviour]
        permission = {"bash": "ask" if behaviour is Behaviour.ASK else "allow"}
        async with (
            ChatServer(go.told) as server,
            opencode(go.path.with_name("home"), server, model, permission, silence=silence) as backend,
        ):
            yield backend, "go"
