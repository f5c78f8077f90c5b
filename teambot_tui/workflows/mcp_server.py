"""The team tools of the agents: an MCP server in this process, on a loopback port, a secret per agent.

It is started when the first agent that can use it starts. The SDK is imported only then; without it agents
simply have no such tools.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from contextlib import contextmanager, nullcontext, suppress
from logging import getLogger
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from teambot_tui.engine.ports import ToolServer
from teambot_tui.workflows.team_tools import TeamTools, TeamToolsError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.session import Session
    from teambot_tui.workflows.mcp_tools import TeamServer

logger = getLogger(__name__)

_PATH = "/mcp"
_PATIENCE = 2.0
_BEAT = 10.0  # seconds; clients give up after 60 and some after 30


_Receive: TypeAlias = "Callable[[], Awaitable[dict[str, Any]]]"
_Send: TypeAlias = "Callable[[dict[str, Any]], Awaitable[None]]"
_Asgi: TypeAlias = "Callable[[dict[str, Any], _Receive, _Send], Awaitable[None]]"


class McpTeamTools:
    """Offers the team tools of a session to its agents; every `beat` seconds it tells those who wait."""

    def __init__(self, session: Session, *, beat: float = _BEAT) -> None:
        self._team_tools = TeamTools(session)
        self._beat = beat
        self._servers: dict[AgentId, ToolServer] = {}
        self._callers: dict[str, AgentId] = {}
        self._starting: asyncio.Task[str | None] | None = None
        self._serving: asyncio.Task[None] | None = None
        self._server: Any = None
        self._tools: Mapping[str, frozenset[str]] = {}
        # Letters and digits are all that some agents allow. At random, because the agents' own questions
        # about this server are answered by us, and a project may define servers of any name.
        self._name = f"teambot{secrets.token_hex(4)}"

    async def server_for(self, agent: AgentId) -> ToolServer | None:
        """Return where the agent finds its tools; nothing if the SDK is not installed."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(), name="start of the MCP server")
        url = await asyncio.shield(self._starting)
        if url is None:
            return None
        if agent not in self._servers:
            server = ToolServer(self._name, url, secrets.token_urlsafe(32), tools=self._tools)
            self._servers[agent] = server
            self._callers[server.secret] = agent
        return self._servers[agent]

    async def aclose(self) -> None:
        """Stop listening."""
        if self._starting is not None:
            with suppress(asyncio.CancelledError):
                await self._starting
        if self._serving is None:
            return
        self._server.should_exit = True
        await asyncio.wait([self._serving], timeout=_PATIENCE)
        self._serving.cancel()
        await asyncio.gather(self._serving, return_exceptions=True)

    async def _start(self) -> str | None:
        try:
            server, uvicorn = await asyncio.to_thread(self._build)
        except ModuleNotFoundError as error:
            logger.info("agents get no tools of ours: %s is not installed", error.name)
            return None
        self._tools = await server.arguments()
        # Answers are streams of events: in a plain JSON answer there is no room for a beat.
        app = cast("_Asgi", server.streamable_http_app(streamable_http_path=_PATH, stateless_http=True))
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # who is told the address may connect before the server has begun
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            _GuardedApp(app, self._callers),
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._server.capture_signals = nullcontext  # signals are not its business
        self._serving = asyncio.create_task(self._serve(listener), name="the MCP server")
        return f"http://127.0.0.1:{port}{_PATH}"

    async def _serve(self, listener: socket.socket) -> None:
        try:
            await self._server.serve(sockets=[listener])
        finally:
            listener.close()

    def _build(self) -> tuple[TeamServer, Any]:
        import uvicorn  # noqa: PLC0415  imported only when an agent can use it

        from teambot_tui.workflows.mcp_tools import TeamServer, add_tools  # noqa: PLC0415

        with _root_logger_as_it_is():
            server = TeamServer(self._name, log_level="CRITICAL")
        for name in ("mcp", "uvicorn"):
            getLogger(name).propagate = False
            getLogger(name).addHandler(logging.NullHandler())
        add_tools(server, self._team_tools, self._caller, self._waited_for, self._beat)
        return server, uvicorn

    def _waited_for(self, agent: AgentId) -> AbstractContextManager[None]:
        return self._servers[agent].attention.waited_for()

    def _caller(self, authorization: str) -> AgentId:
        try:
            return self._callers[authorization.removeprefix("Bearer ")]
        except KeyError as error:
            raise TeamToolsError("Show the secret that you were given.") from error


@contextmanager
def _root_logger_as_it_is() -> Iterator[None]:
    """Keep the SDK from making all logs of the program go to the terminal."""
    root = getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


class _GuardedApp:
    """Lets only those in who show a secret."""

    def __init__(self, app: _Asgi, callers: dict[str, AgentId]) -> None:
        self._app = app
        self._callers = callers

    async def __call__(self, scope: dict[str, Any], receive: _Receive, send: _Send) -> None:
        if scope["type"] == "http":
            shown = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
            if shown.removeprefix("Bearer ") not in self._callers:
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b"Unauthorized"})
                return
        await self._app(scope, receive, send)
