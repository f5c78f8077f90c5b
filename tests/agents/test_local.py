"""A model on this machine: what is missing is told, and with the real one there is a real answer."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.backends.local import Local
from teambot_tui.agents.groups import guard
from teambot_tui.agents.models import TINY, path_of
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import BackendError, Stateful, Text, Usage
from tests.agents.test_openai import request
from tests.agents.test_process import SAFETY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from teambot_tui.engine.ports import Update

needs_library = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed")
MODEL = path_of(TINY, os.environ)
"""Where `teambot models pull` puts it; in a test the environment is another one."""
needs_model = pytest.mark.skipif(not MODEL.is_file(), reason="run teambot models pull first")


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    guard.dismiss()
    assert psutil.Process().children(recursive=True) == []


async def everything(backend: Local, directory: Path, prompt: str) -> list[Update]:
    async with (
        asyncio.timeout(4 * SAFETY),
        aclosing(backend.run(request(directory, None, prompt))) as updates,
    ):
        return [update async for update in updates]


async def failure(backend: Local, directory: Path) -> str:
    with pytest.raises(BackendError) as caught:
        await everything(backend, directory, "plan")
    await backend.forget(AgentId("pm"))
    await backend.aclose()
    return str(caught.value)


async def test_without_the_library_the_way_to_get_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert (await failure(Local(), tmp_path)).endswith("pip install 'teambot-tui[local]'")


@needs_library
async def test_without_the_model_the_way_to_get_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAMBOT_HOME", str(tmp_path))
    assert await failure(Local(), tmp_path) == (
        f"there is no model {tmp_path}/models/{TINY.file}: fetch it with: teambot models pull"
    )
    assert await failure(Local(tmp_path / "x.gguf"), tmp_path) == (
        f"there is no model {tmp_path}/x.gguf: correct model_path"
    )


@needs_library
async def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(bytes(range(256)))
    error = await failure(Local(file), tmp_path)
    assert error.startswith(f"{file} cannot be loaded; is it a whole GGUF file? It says: ")


def test_it_says_what_it_is() -> None:
    assert "tiny demo model" in Local().description
    assert Local("/models/big.gguf").description == "big.gguf, on this machine"
    assert isinstance(Local(), Stateful)


@pytest.mark.local_model
@needs_library
@needs_model
async def test_a_real_model_answers_can_be_stopped_and_comes_back_after_its_death(tmp_path: Path) -> None:
    # Long timeouts and one test for all: the model has to be loaded, on a machine that does other things.
    backend = Local(MODEL)
    try:
        # What so small a model says is anybody's guess; that it speaks, and word by word, is not.
        updates = await everything(backend, tmp_path, "Tell me in two sentences about France.")
        words = [update.text for update in updates if isinstance(update, Text)]
        assert len(words) > 3
        assert any(map(str.isalpha, "".join(words)))
        assert isinstance(updates[-1], Usage)
        assert updates[-1].input_tokens > 0

        children = psutil.Process().children()  # the guard is one, too
        (child,) = [each for each in children if each.cmdline()[-1].endswith("local_server.py")]
        assert child.nice() >= 10
        (listening,) = [spot for spot in child.net_connections() if spot.status == psutil.CONN_LISTEN]
        assert listening.laddr.ip == "127.0.0.1"

        async with asyncio.timeout(4 * SAFETY):
            story = backend.run(request(tmp_path, None, "Tell a very long story."))
            assert isinstance(await anext(story), Text)
            await story.aclose()
            story = backend.run(request(tmp_path, None, "Tell a very long story."))
            assert isinstance(await anext(story), Text)
            child.kill()
            with pytest.raises(BackendError, match="the process of the local model ended meanwhile"):
                async for _ in story:
                    pass
        assert await everything(backend, tmp_path, "Say yes.")
    finally:
        await backend.aclose()
