"""Where a program finds our tools, in the file that many of them read: private, and gone with the task."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from teambot_tui.engine.ports import Request, ToolServer


class ToolConfig(NamedTuple):
    """The file, and the server that it leads to."""

    path: str
    server: ToolServer


@asynccontextmanager
async def tool_config(request: Request) -> AsyncIterator[ToolConfig | None]:
    """Make the file for as long as the block lasts; there is none where there are no tools."""
    server = await request.tools() if request.tools else None
    if server is None:
        yield None
        return
    # A folder of its own that nobody else may enter: the file holds the agent's secret.
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="teambot-")
    try:
        path = Path(folder, "mcp.json")
        await asyncio.to_thread(path.write_text, _json(server))
        yield ToolConfig(str(path), server)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _json(server: ToolServer) -> str:
    entry = {
        "type": "http",
        "url": server.url,
        "httpUrl": server.url,  # what Qwen calls it, for which `url` is another protocol
        "headers": {"Authorization": f"Bearer {server.secret}"},
        "trust": True,  # to Qwen: do not ask, our tools ask the person themselves
    }
    return json.dumps({"mcpServers": {server.name: entry}})
