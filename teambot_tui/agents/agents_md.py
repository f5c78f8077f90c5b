"""What a project tells every agent in its AGENTS.md, for backends whose agents do not read it themselves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.files import UnreadableError, read_whole
from teambot_tui.engine.headings import as_data
from teambot_tui.engine.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.engine.ports import Request

_NAME: Final = "AGENTS.md"
_LIMIT: Final = 32 * 1024
_HEADING: Final = f"=== Instructions of the Project ({_NAME}) ==="


async def with_agents_md(request: Request) -> Request:
    """Return the request, its system text followed by the project's instructions, if it has any."""
    found = await asyncio.to_thread(_read, request.directory)
    if not found:
        return request
    return replace(request, system="\n\n".join(filter(None, (request.system, f"{_HEADING}\n{found}"))))


def _read(directory: Path) -> str:
    """Return the nearest instructions, in the directory or above it as far as its repository goes."""
    here = directory.absolute()
    folders = [here, *here.parents]
    root = next((folder for folder in folders if (folder / ".git").exists()), here)
    for folder in folders[: folders.index(root) + 1]:
        path = folder / _NAME
        try:
            if path.resolve().is_relative_to(root.resolve()):
                return _bounded(printable(read_whole(path).decode("utf-8", "replace")).strip())
        except (FileNotFoundError, UnreadableError, OSError, RuntimeError):
            continue
    return ""


def _bounded(text: str) -> str:
    left_out = len(text) - _LIMIT
    kept = as_data(text[:_LIMIT])
    return kept if left_out <= 0 else f"{kept}\n({left_out} more characters of {_NAME} are left out)"
