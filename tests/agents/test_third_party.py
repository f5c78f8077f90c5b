"""An ACP agent that we did not write: OpenCode, talking to a model server on loopback that the test gates."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from tests.agents.conformance import listen, request, until_text
from tests.agents.test_process import carriers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.third_party,
    pytest.mark.skipif(shutil.which("opencode") is None, reason="opencode is not on PATH"),
]
PATIENCE = 120.0
"""Seconds for a program that is not ours to start."""


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    mark = f"test-{os.urandom(8).hex()}"
    monkeypatch.setenv("TEAMBOT_PROCESS", mark)
    yield
    assert psutil.Process().children(recursive=True) == []
    assert carriers(mark) == []
    assert capfd.readouterr() == ("", "")


class Model:
    """An OpenAI-compatible server: it says "one ", waits until it is told, and says "two"."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.prompts: list[str] = []
        self.port = 0

    async def __aenter__(self) -> Model:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self.go_on.set()
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split()[0])
            body = json.loads(await reader.readexactly(length))
            self.prompts.append(json.dumps(body))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            if body.get("tools"):
                await self._say(writer, {"role": "assistant", "content": "one "})
                await self.go_on.wait()
                await self._say(writer, {"content": "two"})
            else:  # it wants a title for its list of sessions
                await self._say(writer, {"role": "assistant", "content": "title"})
            await self._say(writer, {}, "stop")
            writer.write(b"data: [DONE]\n\n")
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _say(self, writer: asyncio.StreamWriter, delta: object, reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "tiny",
            "choices": [choice],
        }
        writer.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await writer.drain()


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    async with Model() as model:
        yield model


@pytest.fixture
async def opencode(tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Acp]:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("OPENCODE_DISABLE_MODELS_FETCH", "1")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"http://127.0.0.1:{model.port}/v1", "apiKey": "none"},
        "models": {"tiny": {"name": "Tiny"}},
    }
    settings = {
        "provider": {"loopback": provider},
        "model": "loopback/tiny",
        "autoupdate": False,
        "share": "disabled",
    }
    (tmp_path / "opencode.json").write_text(json.dumps(settings))
    backend = Acp(
        AcpOptions(
            command=["opencode", "acp"],
            env=["OPENCODE_DISABLE_MODELS_FETCH"],
            start_timeout=PATIENCE,
            silence_timeout=PATIENCE,
        )
    )
    yield backend
    await backend.aclose()


async def test_it_streams_and_remembers(opencode: Acp, model: Model, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        updates = opencode.run(request(tmp_path, "Say it in two pieces", system="You are pm."))
        assert await until_text(updates) == "one "
        model.go_on.set()
        heard = await listen(updates)
        assert (heard.text, heard.error) == ("two", None)
        heard = await listen(opencode.run(request(tmp_path, "And again", model="loopback/tiny")))
        assert (heard.text, heard.error) == ("one two", None)
    assert "You are pm." in model.prompts[-1]
    assert "Say it in two pieces" in model.prompts[-1]


async def test_it_is_cancelled_within_a_second_and_goes_on(
    opencode: Acp, model: Model, tmp_path: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        updates = opencode.run(request(tmp_path, "Say it in two pieces"))
        assert await until_text(updates) == "one "
        begin = asyncio.get_running_loop().time()
        await updates.aclose()
        assert asyncio.get_running_loop().time() - begin < 1.2
        model.go_on.set()
        heard = await listen(opencode.run(request(tmp_path, "And again")))
        assert (heard.text, heard.error) == ("one two", None)
