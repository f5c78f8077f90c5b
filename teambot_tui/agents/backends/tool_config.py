"""Where a program finds our tools, in the file that many of them read: private, and gone with the task."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from teambot_tui.engine.ports import Request, ToolServer


@asynccontextmanager
async def tool_config(request: Request) -> AsyncIterator[str]:
    """Make the file for as long as the block lasts; its path is empty where there are no tools."""
    server = await request.tools() if request.tools else None
    if server is None:
        yield ""
        return
    # A folder of its own that nobody else may enter: the file holds the agent's secret.
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="teambot-")
    try:
        path = Path(folder, "mcp.json")
        await asyncio.to_thread(path.write_text, _json(server))
        yield str(path)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _json(server: ToolServer) -> str:
    headers = {"Authorization": f"Bearer {server.secret}"}
    return json.dumps(
        {"mcpServers": {"teambot": {"type": "http", "url": server.url, "headers": headers, "tools": ["*"]}}}
    )
