"""The same screen in a browser, for this machine and this person only.

Whoever can open the page can let agents start programs. So it is bound to the loopback address and answers
only below a path that nobody can guess, which is in the printed address and nowhere else: a cookie would go
to every other server of this machine, because cookies ignore ports. Other pages are refused: those that send
an `Origin` of their own, and those whose host name was made to point at us. Each open page is a session of
its own and ends with it.
"""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from typing import TYPE_CHECKING, Final

from aiohttp import hdrs, web
from textual_serve.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

HOST: Final = "127.0.0.1"

_PATIENCE: Final = 1.0  # seconds that open pages have to end; a session whose page is gone ends by itself
_NOTHING_FROM_ELSEWHERE: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'"
)


def serve(arguments: Sequence[str], port: int, announce: Callable[[str], object]) -> None:
    """Show `teambot` with these arguments to whoever opens the announced address, until interrupted.

    Raises:
        OSError: the port cannot be used.
    """
    with socket.create_server((HOST, port)) as listening:
        server = _Server(command(arguments), listening.getsockname()[1])
        announce(server.address)
        web.run_app(
            server._make_app(),
            sock=listening,
            print=None,
            access_log=None,
            shutdown_timeout=_PATIENCE,
        )


def command(arguments: Sequence[str]) -> str:
    """Return the command of a page, for a shell; `-P` keeps modules of the current directory out of it."""
    return shlex.join([sys.executable, "-P", "-m", "teambot_tui", *arguments])


class _Server(Server):
    """Answers to whoever knows the key."""

    def __init__(self, served: str, port: int) -> None:
        super().__init__(served, HOST, port, title="teambot")
        self._host = f"{HOST}:{port}"
        self._origin = f"http://{self._host}"
        self.public_url = self._origin
        self._key = secrets.token_urlsafe(24)
        self._headers = {
            "Content-Security-Policy": _NOTHING_FROM_ELSEWHERE.format(host=self._host),
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
        }

    @property
    def address(self) -> str:
        """What to open in the browser."""
        return f"{self._origin}/{self._key}/"

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: we have announced ourselves."""

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._admit])
        app.add_subapp(f"/{self._key}/", await super()._make_app())
        # The page asks for a download by its origin; what it names is a key of its own, good for once.
        app.router.add_get("/download/{key}", self.handle_download)
        return app

    @web.middleware
    async def _admit(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is None and hdrs.UPGRADE not in request.headers:  # a browser tells it with every websocket
            origin = self._origin
        if request.host != self._host or origin != self._origin:
            raise web.HTTPForbidden(text="This is for this machine only.")
        first, _, _ = request.path.removeprefix("/").partition("/")
        if first != "download" and not secrets.compare_digest(first.encode(), self._key.encode()):
            raise web.HTTPForbidden(text="Open the address that teambot has printed.")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update(self._headers)
        return answer
