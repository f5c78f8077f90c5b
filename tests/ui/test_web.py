"""The screen in a browser: served to this person only, and gone when the page or the server is."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final

import psutil
import pytest
from click.testing import CliRunner

from teambot_tui.cli import main

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from aiohttp import ClientWebSocketResponse

pytest.importorskip("textual_serve", reason="textual-serve is not installed: pip install 'teambot-tui[web]'")

from aiohttp import ClientSession, ClientTimeout, CookieJar, WSMsgType

from teambot_tui.ui.web import command

_CHROMIUM = shutil.which("chromium")
_PATIENCE: Final = 60.0
_POLL: Final = 0.1
_A_FULL_SCREEN: Final = 40_000  # bytes of PNG; the page before anything is drawn has a quarter of it


class Served:
    """A server, as those around it see it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"Open ((http://127\.0\.0\.1:\d+)/\?key=[\w-]{20,})\n", line)
        assert found, line
        self.address, self.origin = found.groups()

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
        [sys.executable, "-u", "-m", "teambot_tui", *options],
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
    assert shlex.split(command(arguments)) == [sys.executable, "-m", "teambot_tui", *arguments]


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


@pytest.mark.parametrize("path", ["/", "/?key=wrong", "/?key=%C3%A9", "/ws", "/static/js/textual.js"])
def test_nobody_comes_in_without_the_key(served: Served, path: str) -> None:
    assert status(served.origin + path) == 403
    assert not served.pages()


def test_no_other_page_comes_in(served: Served) -> None:
    assert status(served.address, Origin="http://evil.example") == 403
    assert status(served.address, Origin="null") == 403
    assert status(served.address, Host="evil.example") == 403


async def test_a_page_is_a_session_and_ends_with_it(served: Served) -> None:
    async with ClientSession(cookie_jar=CookieJar(unsafe=True), timeout=ClientTimeout(_PATIENCE)) as browser:
        async with browser.get(served.address) as page:
            assert page.status == 200
            assert "key" not in page.url.query
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            assert f"ws:{served.origin.removeprefix('http:')}/ws" in await page.text()
        drawn = ""
        async with browser.ws_connect(f"{served.origin}/ws?width=80&height=24") as socket:
            while "Worth typing" not in drawn:
                message = await socket.receive(_PATIENCE)
                assert message.type in (WSMsgType.TEXT, WSMsgType.BINARY), message
                drawn += message.data.decode() if message.type is WSMsgType.BINARY else ""
            [behind] = served.pages()
    assert not psutil.wait_procs([behind], _PATIENCE)[1]


async def test_a_page_does_not_outlive_a_killed_server(served: Served) -> None:
    async with ClientSession(cookie_jar=CookieJar(unsafe=True), timeout=ClientTimeout(_PATIENCE)) as browser:
        await browser.get(served.address)
        async with browser.ws_connect(f"{served.origin}/ws") as socket:
            await socket.receive(_PATIENCE)
            [behind] = served.pages()
            served.process.send_signal(signal.SIGKILL)
            assert not psutil.wait_procs([behind], _PATIENCE)[1]


@pytest.mark.skipif(_CHROMIUM is None, reason="chromium is not installed")
async def test_a_browser_shows_it(served: Served, tmp_path: Path) -> None:
    async with browsing(served.address, tmp_path / "browser") as browser:
        await browser.until("document.body.classList.contains('-first-byte')")
        assert len(served.pages()) == 1
        await browser.until("location.search === ''")
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
        self._asked += 1
        await self._socket.send_json({"id": self._asked, "method": method, "params": parameters})
        while True:
            answer = await self._socket.receive_json(timeout=_PATIENCE)
            if answer.get("id") == self._asked:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    async def until(self, expression: str) -> None:
        """Wait until something holds on the page."""
        async with asyncio.timeout(_PATIENCE):
            holds: dict[str, Any] = {}
            while not holds.get("value"):
                await asyncio.sleep(_POLL)
                holds = (await self.ask("Runtime.evaluate", expression=expression))["result"]


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
