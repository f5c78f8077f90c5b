"""The screen in a browser: served to this person only, and gone when the page or the server is."""

from __future__ import annotations

import asyncio
import base64
import http.client
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import asynccontextmanager, closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

import psutil
import pytest
from click.testing import CliRunner

from teambot_tui.cli import main
from tests.headless.test_bad_weather import agents
from tests.hostile_folder import TEAMBOT, plant_modules, what_was_run
from tests.leftovers import HIDES_AND_STAYS, assert_gone, processes_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from aiohttp import ClientWebSocketResponse

pytest.importorskip("textual_serve", reason="textual-serve is not installed: pip install 'teambot-tui[web]'")

from aiohttp import ClientSession, ClientTimeout, CookieJar, WSMsgType, WSServerHandshakeError, web
from aiohttp.test_utils import TestServer

from teambot_tui.ui.web import command

_CHROMIUM = shutil.which("chromium")
_PATIENCE: Final = 60.0
_POLL: Final = 0.1
_NO_PAGE_YET: Final = "Cannot find default execution context"  # says Chromium while it opens the address
_A_FULL_SCREEN: Final = 40_000  # bytes of PNG; the page before anything is drawn has a quarter of it


class Served:
    """A server, as those around it see it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"Open ((http://127\.0\.0\.1:\d+)/([\w-]{20,})/)\n", line)
        assert found, line
        self.address, self.origin, self.key = found.groups()

    def pages(self) -> list[psutil.Process]:
        """The processes behind the open pages."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if "teambot_tui" in child.cmdline()[1:]]


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """An environment in which nobody's settings are found."""
    return {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}


@pytest.fixture
def served(tmp_path: Path, surroundings: dict[str, str]) -> Iterator[Served]:
    with serving(tmp_path, surroundings) as server:
        yield server


@contextmanager
def serving(folder: Path, environ: dict[str, str], *arguments: str) -> Iterator[Served]:
    options = ["--web", "--backend", "echo", *arguments]
    with subprocess.Popen(
        [TEAMBOT, *options],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            server = Served(process)
            yield server
        finally:
            ours = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            process.terminate()
            try:
                process.wait(_PATIENCE)
            finally:
                process.kill()
                for left in ours:
                    if left.is_running():
                        left.kill()


def status(url: str, **headers: str) -> int:
    """Return how the server answers."""
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=_PATIENCE
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_command_of_a_page_survives_a_shell() -> None:
    arguments = ["--backend", "a b; touch 'x' $(y)", "--ascii"]
    assert shlex.split(command(arguments)) == [sys.executable, "-P", "-m", "teambot_tui", *arguments]


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "teambot_tui.ui.web", raising=False)
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    result = CliRunner().invoke(main, ["--web"])
    assert result.exit_code == 2, result.output
    assert "pip install 'teambot-tui[web]'" in result.output


def test_settings_that_cannot_be_used_are_told_before_a_page_is_opened() -> None:
    result = CliRunner().invoke(main, ["--web", "--backend", "nonsense"])
    assert result.exit_code == 2, result.output
    assert "nonsense" in result.output


def test_a_port_in_use_is_an_error(served: Served) -> None:
    port = served.origin.rpartition(":")[2]
    result = CliRunner().invoke(main, ["--web", "--backend", "echo", "--port", port])
    assert result.exit_code == 2, result.output
    assert f"--port {port} cannot be used" in result.output


@pytest.mark.parametrize(
    "path", ["/", "/?key=wrong", "/wrong/", "/%C3%A9/", "/ws", "/wrong/ws", "/static/js/textual.js"]
)
def test_nobody_comes_in_without_the_key(served: Served, path: str) -> None:
    assert status(served.origin + path) == 403
    assert status(served.origin + path, Cookie=f"key={served.key}; teambot={served.key}") == 403
    assert not served.pages()


def test_a_request_without_a_path_is_refused(served: Served) -> None:
    connection = http.client.HTTPConnection(served.origin.removeprefix("http://"), timeout=_PATIENCE)
    with closing(connection):
        connection.request("OPTIONS", "*")
        assert connection.getresponse().status == 403


@pytest.mark.parametrize("path", ["", "ws", "static/js/textual.js"])
def test_no_other_page_comes_in(served: Served, path: str) -> None:
    port = served.origin.rpartition(":")[2]
    foreign: list[dict[str, str]] = [
        *({"Origin": origin} for origin in ("http://evil.example", "null", "http://127.0.0.1:1")),
        {"Origin": f"http://localhost:{port}"},
        *({"Host": host} for host in ("evil.example", f"evil.example:{port}", f"localhost:{port}")),
        {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
    ]
    for headers in foreign:
        assert status(served.address + path, **headers) == 403, headers
    assert not served.pages()


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "null"}, {"Host": "evil.example"}]
)
async def test_a_websocket_tells_that_it_comes_from_our_page(served: Served, headers: dict[str, str]) -> None:
    async with ClientSession(timeout=ClientTimeout(_PATIENCE)) as browser:
        with pytest.raises(WSServerHandshakeError) as refused:
            await browser.ws_connect(f"{served.address}ws", headers=headers)
    assert refused.value.status == 403
    assert not served.pages()


async def test_another_server_of_this_machine_is_not_told_the_key(served: Served) -> None:
    told: list[str] = []

    async def listen(request: web.BaseRequest) -> web.StreamResponse:
        told.append(f"{request.path_qs} {request.headers}")
        return web.Response()

    other = TestServer(web.Application(), host="127.0.0.1")
    other.app.router.add_get("/{rest:.*}", listen)
    async with browsing_by_hand() as browser:
        async with browser.get(served.address) as page:
            assert page.status == 200
            assert not page.cookies
            assert page.headers["Referrer-Policy"] == "no-referrer"
            assert page.headers["Cache-Control"] == "no-store"
        async with other:
            for host in ("127.0.0.1", "localhost"):
                await browser.get(f"http://{host}:{other.port}/")
    assert len(told) == 2
    assert served.key not in "".join(told)


async def test_a_page_is_a_session_and_ends_with_it(served: Served) -> None:
    async with browsing_by_hand() as browser:
        async with browser.get(served.address) as page:
            assert page.status == 200
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            text = await page.text()
        assert f"ws:{served.address.removeprefix('http:')}ws" in text
        for loaded in re.findall(rf'"({re.escape(served.origin)}[^"]+)"', text):
            async with browser.get(loaded) as part:
                assert part.status == 200, loaded
        drawn, behind = await draw(browser, served)
        assert "Worth typing" in drawn
    assert not psutil.wait_procs([behind], _PATIENCE)[1]


async def test_a_page_runs_nothing_of_the_directory_it_is_in(
    tmp_path: Path, surroundings: dict[str, str]
) -> None:
    plant_modules(tmp_path)
    with serving(tmp_path, surroundings) as served:
        async with browsing_by_hand() as browser:
            await draw(browser, served)
    assert what_was_run(tmp_path) == []


def browsing_by_hand() -> ClientSession:
    """Return a client that keeps cookies as a browser does, those of an address too."""
    return ClientSession(cookie_jar=CookieJar(unsafe=True), timeout=ClientTimeout(_PATIENCE))


@asynccontextmanager
async def page_of(served: Served, browser: ClientSession) -> AsyncIterator[ClientWebSocketResponse]:
    """Open a page, and leave it."""
    async with browser.ws_connect(f"{served.address}ws?width=80&height=24", origin=served.origin) as socket:
        yield socket


async def read_until(socket: ClientWebSocketResponse, words: str) -> str:
    """Read what is drawn until there are these words."""
    drawn = ""
    while words not in drawn:
        message = await socket.receive(_PATIENCE)
        assert message.type in (WSMsgType.TEXT, WSMsgType.BINARY), message
        drawn += message.data.decode() if message.type is WSMsgType.BINARY else ""
    return drawn


async def draw(browser: ClientSession, served: Served) -> tuple[str, psutil.Process]:
    """Open a page until the screen is there; return it, and the process behind it."""
    async with page_of(served, browser) as socket:
        drawn = await read_until(socket, "Worth typing")
        [behind] = served.pages()
    return drawn, behind


async def test_a_page_does_not_outlive_a_killed_server(served: Served) -> None:
    async with browsing_by_hand() as browser, page_of(served, browser) as socket:
        await socket.receive(_PATIENCE)
        [behind] = served.pages()
        served.process.send_signal(signal.SIGKILL)
        assert not psutil.wait_procs([behind], _PATIENCE)[1]


@pytest.mark.skipif(sys.platform != "linux", reason="a daemon is found in /proc only")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT, signal.SIGABRT])
async def test_a_page_that_is_killed_leaves_nobody(
    tmp_path: Path, surroundings: dict[str, str], number: signal.Signals
) -> None:
    settings = tmp_path / ".config" / "teambot" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(agents(pm=HIDES_AND_STAYS))
    with serving(tmp_path, surroundings, "--backend", "pm") as served:
        async with browsing_by_hand() as browser, page_of(served, browser) as socket:
            await read_until(socket, "Worth typing")
            [behind] = served.pages()
            await socket.send_json(["stdin", "@pm Hide\r"])
            kept = tmp_path / ".teambot" / "outputs"
            while len(processes := processes_in(text_below(kept))) < 2:  # noqa: ASYNC110  nobody tells us
                await asyncio.sleep(_POLL)
            processes += behind.children(recursive=True)
            behind.send_signal(number)
            await asyncio.to_thread(assert_gone, [behind, *processes])


def text_below(folder: Path) -> str:
    """Return what is in all files of a folder."""
    return "".join(file.read_text() for file in folder.rglob("*.txt"))


@pytest.mark.skipif(_CHROMIUM is None, reason="chromium is not installed")
async def test_a_browser_shows_it(served: Served, tmp_path: Path) -> None:
    async with browsing(served.address, tmp_path / "browser") as browser:
        await browser.until("document.body.classList.contains('-first-byte')")
        assert len(served.pages()) == 1
        before, picture = b"", b""
        while len(picture) < _A_FULL_SCREEN or picture != before:
            await asyncio.sleep(_POLL)
            before, picture = picture, base64.b64decode((await browser.ask("Page.captureScreenshot"))["data"])
    (tmp_path / "page.png").write_bytes(picture)


class Browser:
    """A page of a browser, asked through its debugging socket."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._asked = 0

    async def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Let the page do something, and return what came of it."""
        answer = await self._answer(method, **parameters)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def until(self, expression: str) -> None:
        """Wait until something holds on the page."""
        async with asyncio.timeout(_PATIENCE):
            holds: dict[str, Any] = {}
            while not holds.get("value"):
                await asyncio.sleep(_POLL)
                answer = await self._answer("Runtime.evaluate", expression=expression)
                if answer.get("error", {}).get("message") == _NO_PAGE_YET:
                    continue
                assert "error" not in answer, answer
                holds = answer["result"]["result"]

    async def _answer(self, method: str, **parameters: object) -> dict[str, Any]:
        self._asked += 1
        await self._socket.send_json({"id": self._asked, "method": method, "params": parameters})
        while True:
            answer: dict[str, Any] = await self._socket.receive_json(timeout=_PATIENCE)
            if answer.get("id") == self._asked:
                return answer


@asynccontextmanager
async def browsing(address: str, profile: Path) -> AsyncIterator[Browser]:
    """Open an address in a browser of its own."""
    flags = (
        "headless no-sandbox disable-gpu disable-background-networking disable-component-update disable-sync"
    )
    arguments = [f"--{flag}" for flag in flags.split()]
    arguments += ["--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    process = await asyncio.create_subprocess_exec(
        str(_CHROMIUM),
        *arguments,
        "--window-size=1280,800",
        address,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(3 * _PATIENCE), ClientSession() as client:
            ready = profile / "DevToolsActivePort"
            while not (ready.exists() and ready.read_text().count("\n")):  # noqa: ASYNC110  nobody tells us
                await asyncio.sleep(_POLL)
            port = ready.read_text().split()[0]
            async with client.get(f"http://127.0.0.1:{port}/json/list") as listed:
                [page] = [each for each in await listed.json() if each["type"] == "page"]
            async with client.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Browser(socket)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
