"""A model on this machine, in one child process for all agents: started on first use, ended with us."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.backends.chat_api import TransientError
from teambot_tui.agents.backends.openai import OpenAI
from teambot_tui.agents.keys import FixedKey
from teambot_tui.agents.models import TINY, path_of
from teambot_tui.agents.process import Process
from teambot_tui.engine.ports import BackendError
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Request, Update

_MISSING: Final = "models run on xllamacpp, which is not installed: pip install 'teambot-tui[local]'"
_SCRIPT: Final = Path(__file__).with_name("local_server.py")
_LOADING: Final = 300.0  # seconds
_GRACE: Final = 1.0  # seconds from a broken connection to the news that the process has ended


@dataclass(frozen=True, slots=True)
class _LocalServer:
    process: Process
    chat: OpenAI
    stack: AsyncExitStack


class Local:
    """A model from a GGUF file; without `model_path`, the tiny one that `teambot models pull` fetches."""

    def __init__(
        self,
        model_path: str | Path | None = None,
        *,
        context_limit: int = 8192,
        silence_timeout: float = 600.0,
    ) -> None:
        self._given = Path(model_path) if model_path is not None else None
        self._context_limit = context_limit
        self._silence_timeout = silence_timeout
        self._server: _LocalServer | None = None
        self._starting = asyncio.Lock()
        self._turn = asyncio.Lock()

    @property
    def description(self) -> str:
        """What it is, in one line for the user."""
        return f"{self._given.name}, on this machine" if self._given else TINY.description

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Let the model answer; whatever model the request names, there is only this one.

        Raises:
            BackendError: the model is missing or cannot be loaded, or its process fails.
        """
        # One after the other: together they would share the context, and waiting is not silence.
        async with self._turn:
            server = await self._running()
            try:
                async with aclosing(server.chat.run(replace(request, model="local"))) as updates:
                    async for update in updates:
                        yield update
            except TransientError as error:
                if await _has_ended(server.process):
                    raise BackendError(f"the process of the local model ended meanwhile: {error}") from error
                raise

    async def forget(self, agent: AgentId) -> None:
        """Let the agent's next task begin without memory of the earlier ones."""
        if self._server is not None:
            await self._server.chat.forget(agent)

    async def aclose(self) -> None:
        """End the process."""
        async with self._starting:
            await self._end()

    async def _running(self) -> _LocalServer:
        async with self._starting:
            if self._server is not None and self._server.process.returncode is not None:
                await self._end()
            if self._server is None:
                self._server = await self._start(await asyncio.to_thread(self._model))
            return self._server

    async def _end(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await server.stack.aclose()

    def _model(self) -> Path:
        """Return the file, once it is sure that there is something to run it.

        Raises:
            BackendError: something is missing; the text says how to get it.
        """
        if find_spec("xllamacpp") is None:
            raise BackendError(_MISSING)
        if self._given is None:
            model, fix = path_of(TINY, os.environ), "fetch it with: teambot models pull"
        else:
            model, fix = self._given.expanduser().absolute(), "correct model_path"
        if not model.is_file():
            raise BackendError(f"there is no model {model}: {fix}")
        return model

    async def _start(self, model: Path) -> _LocalServer:
        key = secrets.token_urlsafe(32)
        start = {"model": str(model), "key": key, "context": self._context_limit, "tiny": self._given is None}
        # Without -P the folder of the script would be searched before the standard library.
        process = Process([sys.executable, "-P", str(_SCRIPT)], directory=model.parent)
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(process)
            except OSError as error:
                raise BackendError(f"the local model does not start: {error.strerror}") from error
            process.write(json.dumps(start).encode() + b"\n")
            address = await _first_line(process)
            if not address:
                words = process.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise BackendError(
                    f"{model} cannot be loaded; is it a whole GGUF file? It says: {one_line(words, 200)}"
                )
            chat = OpenAI(
                f"{address}/v1",
                key=FixedKey(key),
                context_limit=self._context_limit,
                silence_timeout=self._silence_timeout,
                retries=0,
                agents_md=False,  # it would fill the context of so small a model
                may_be_cut=self._given is None,  # the tiny one hardly knows when to stop
            )
            stack.push_async_callback(chat.aclose)
            return _LocalServer(process, chat, stack.pop_all())
        raise AssertionError("the stack lets no error pass")


async def _first_line(process: Process) -> str:
    """Return the line that the process begins with, or nothing if it ended without one."""
    line = b""
    try:
        async with asyncio.timeout(_LOADING):
            async for piece in process:
                line += piece
                if b"\n" in line:
                    return line.partition(b"\n")[0].decode("ascii", "replace")
    except TimeoutError as error:
        raise BackendError(f"the local model was not loaded within {_LOADING:g} s") from error
    return ""


async def _has_ended(process: Process) -> bool:
    try:
        async with asyncio.timeout(_GRACE):
            async for _ in process:
                pass
    except TimeoutError:
        return False
    return True
