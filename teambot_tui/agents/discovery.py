"""Which of the known agents and servers are here: by looking only, nothing is logged in, sent or paid for.

Programs are looked up on PATH, which takes no time; a server is one that takes a connection at once. Whether
somebody is logged in is told by the presence of a variable or a file, whose content is nobody's business.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.presets import PRESETS, SERVERS
from teambot_tui.agents.process import Process
from teambot_tui.engine.ports import BackendError
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teambot_tui.agents.presets import Login, Preset, Server

_CONNECT_LIMIT: Final = 0.3  # seconds, for a server on this machine
_VERSION_LIMIT: Final = 10.0  # seconds
_LONGEST_ANSWER: Final = 4096
_EXTRAS: Final = {
    "acp": ("acp", "acp"),
    "openai": ("http", "httpx2"),
    "local": ("local", "httpx2", "xllamacpp"),
}
"""The extra that a type of backend needs, and the modules it brings."""
_VERSION: Final = re.compile(r"\d+(?:\.\d+)+(?:[-+][\w.+-]*\w)?")


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A backend that could be used, and how that is known."""

    name: str
    title: str
    how: str


def agents_on_path() -> list[FoundProgram]:
    """Return the known agents that are installed and can be spoken to, the ones to offer first first."""
    return [
        FoundProgram(preset.name, preset.title, path)
        for preset in PRESETS.values()
        if not missing_extra(preset.type) and (path := preset.path())
    ]


def missing_extra(backend_type: str) -> str:
    """Return the command that installs what this type of backend needs, if that is not there."""
    extra, *modules = _EXTRAS.get(backend_type, ("",))
    missing = any(find_spec(module) is None for module in modules)
    return f"pip install 'teambot-tui[{extra}]'" if missing else ""


async def servers_here(servers: Iterable[Server] = tuple(SERVERS.values())) -> list[FoundProgram]:
    """Return the known servers that take a connection."""
    servers = tuple(servers)
    answers = await asyncio.gather(*(_answers(server.port) for server in servers))
    return [
        FoundProgram(server.name, server.title, server.address)
        for server, is_there in zip(servers, answers, strict=True)
        if is_there
    ]


async def _answers(port: int) -> bool:
    with suppress(OSError):  # a time-out too
        async with asyncio.timeout(_CONNECT_LIMIT):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return True
    return False


async def version_of(preset: Preset, path: str) -> str:
    """Return what the program says its version is, or nothing if it does not say so soon."""
    if not preset.version:
        return ""
    said = b""
    # Not in the project: what lies there is not to have a say in this.
    process = Process([path, *preset.version], directory=Path("/"), patience=0.2)
    with suppress(OSError, BackendError):
        async with asyncio.timeout(_VERSION_LIMIT), process:
            process.end_input()
            async for chunk in process:
                said = (said + chunk)[:_LONGEST_ANSWER]
    found = _VERSION.search(said.decode("utf-8", "replace"))
    return one_line(found[0], 40) if found else ""


def login_seen(login: Login, environ: Mapping[str, str]) -> str:
    """Say what tells that somebody is logged in, without its content; nothing if nothing does."""
    for variable in login.variables:
        if environ.get(variable):
            return f"{variable} is set"
    for variable, default, name in login.files:
        folder = environ.get(variable) if variable else None
        path = Path(folder) if folder else Path(environ.get("HOME", "/")) / default
        with suppress(OSError, ValueError):
            if (path / name).is_file():
                return f"{path / name} is there"
    return ""
