"""The same screen in a browser, for this machine and this person only.

Whoever can open the page can let agents start programs. So it is bound to the loopback address, asks for a
key that only the printed address has, and answers no other page: neither one that sends an `Origin` of its
own, nor one whose name was made to point at us. Each open page is a session of its own and ends with it.
"""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from typing import TYPE_CHECKING, Final

from aiohttp import web
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
    """Return the command of a page, for a shell."""
    return shlex.join([sys.executable, "-m", "teambot_tui", *arguments])


class _Server(Server):
    """Lets in who has the key."""

    def __init__(self, served: str, port: int) -> None:
        super().__init__(served, HOST, port, title="teambot")
        self._host = f"{HOST}:{port}"
        self._origin = f"http://{self._host}"
        self.public_url = self._origin
        self._cookie = f"teambot-{port}"
        self._key = secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """What to open in the browser."""
        return f"{self._origin}/?key={self._key}"

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: we have announced ourselves."""

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._admit)
        return app

    @web.middleware
    async def _admit(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.host != self._host or request.headers.get("Origin", self._origin) != self._origin:
            raise web.HTTPForbidden(text="This is for this machine only.")
        if request.path == "/" and self._is_key(request.query.get("key", "")):
            # The key goes where no other page, no history and no `Referer` shows it.
            welcome = web.HTTPSeeOther("/")
            welcome.set_cookie(self._cookie, self._key, httponly=True, samesite="Strict")
            raise welcome
        if not self._is_key(request.cookies.get(self._cookie, "")):
            raise web.HTTPForbidden(text="Open the address that teambot has printed.")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers["Content-Security-Policy"] = _NOTHING_FROM_ELSEWHERE.format(host=self._host)
        return answer

    def _is_key(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self._key.encode())
