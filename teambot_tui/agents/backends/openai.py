"""Any server that speaks OpenAI's chat API, over the network or on this machine.

Closing the answer closes the connection, so that the server stops too. An attempt is repeated only while
nothing of the answer has been seen. A turn is remembered only when it was completed. An answer that was cut
off at a limit fails, unless that may be: other agents would take the half for the whole.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from http import HTTPStatus
from itertools import count
from logging import getLogger
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.agents_md import with_agents_md
from teambot_tui.agents.backends import chat_api
from teambot_tui.agents.backends.chat_api import (
    WRONG_PLACE,
    Events,
    TransientError,
    offer,
    refusal,
    unknown_model,
)
from teambot_tui.agents.backends.conversation import Conversation
from teambot_tui.agents.failures import KEPT
from teambot_tui.agents.keys import CommandKey, NoKey, VariableKey
from teambot_tui.engine.ports import BackendError, Text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
    from pathlib import Path

    from teambot_tui.agents.backends.conversation import Message
    from teambot_tui.agents.backends.http import HttpClient, Response
    from teambot_tui.agents.keys import ApiKey
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Request, Update

logger = getLogger(__name__)

_MISSING: Final = "servers are spoken to by httpx2, which is not installed: pip install 'teambot-tui[http]'"
_CUT: Final = " […]"
_NOT_UNDERSTOOD: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
_ENDINGS: Final = {
    "length": "the answer was cut off: it reached the length limit of the server or the model",
    "content_filter": "the server's content filter stopped the answer",
}


class OpenAI:
    """A server with a chat API at `base_url`, which usually ends in /v1.

    The key comes from the variable `api_key_env` or from what the program `api_key_command` prints.
    `context_limit` is the model's context in tokens: as much of an agent's earlier tasks is sent along as
    may fit. `retries` is how often an attempt is repeated after a failure that may pass. `may_be_cut` lets
    an answer that reached a limit count as one; it then ends in […].
    """

    def __init__(
        self,
        base_url: str,
        *,
        model: str | None = None,
        api_key_env: str | None = None,
        api_key_command: Sequence[str] = (),
        context_limit: int = 32_768,
        silence_timeout: float = 600.0,
        connect_timeout: float = 10.0,
        retries: int = 3,
        agents_md: bool = True,
        key: ApiKey | None = None,
        may_be_cut: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._key = key or _key(api_key_env, api_key_command)
        self._context_limit = context_limit
        self._may_be_cut = may_be_cut
        self._silence_timeout = silence_timeout
        self._connect_timeout = connect_timeout
        self._retries = retries
        self._agents_md = agents_md
        self._sleep = sleep
        self._conversations: dict[AgentId, Conversation] = {}
        self._client: HttpClient | None = None
        self._connecting = asyncio.Lock()
        self._asks_for_usage = True

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Send the prompt after what the agent remembers, and report the answer as it comes.

        Raises:
            BackendError: the server cannot be reached, refuses, fails, falls silent, or cuts the answer off.
        """
        if self._agents_md:
            request = await with_agents_md(request)
        conversation = self._conversations.setdefault(request.agent, Conversation(self._context_limit))
        answer = conversation.new_answer()
        messages = conversation.messages(request.system, request.prompt)
        model = request.model or self._model or await self._only_model(request)
        async with aclosing(self._attempts(model, messages, request.directory)) as updates:
            async for update in updates:
                if isinstance(update, Text):
                    answer.append(update.text)
                yield update
        conversation.remember(request.prompt, answer)

    async def models(self, directory: Path) -> tuple[str, ...]:
        """Return the models that the server offers; `directory` is where a program for the key would run.

        Raises:
            BackendError: it cannot be reached, or tells none.
        """
        key = await self._key.read(directory)
        client = await self._connected()
        async with client.request("GET", "/models", key) as response:
            content = await response.content()
            if response.status != HTTPStatus.OK:
                raise self._refusal(response, content, key)
        names = chat_api.read_models(content)
        if names is None:
            raise BackendError(f"{client.origin} sends no list of models: {WRONG_PLACE}")
        return names

    async def forget(self, agent: AgentId) -> None:
        """Let the agent's next task begin without memory, also of the task it works on now."""
        self._conversations.pop(agent, None)

    async def aclose(self) -> None:
        """Close all connections and forget everything."""
        self._conversations.clear()
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _connected(self) -> HttpClient:
        async with self._connecting:
            if self._client is None:
                # Importing and reading certificates would hold up everybody else.
                self._client = await asyncio.to_thread(self._new_client)
            return self._client

    def _new_client(self) -> HttpClient:
        try:
            from teambot_tui.agents.backends.http import HttpClient  # noqa: PLC0415  an extra, on first use
        except ModuleNotFoundError as error:
            raise BackendError(_MISSING) from error
        return HttpClient(
            self._base_url, connect_timeout=self._connect_timeout, silence_timeout=self._silence_timeout
        )

    async def _only_model(self, request: Request) -> str:
        offered = await self.models(request.directory)
        if len(offered) == 1:
            return offered[0]
        raise BackendError(
            f"@{request.agent} needs a model: write @{request.agent} --model NAME …, or set model = "
            f'"NAME" for the backend or the agent. {offer(self._base_url, offered)}'
        )

    async def _attempts(
        self, model: str, messages: list[Message], directory: Path
    ) -> AsyncGenerator[Update, None]:
        begun = False
        for attempt in count():
            try:
                async with aclosing(self._attempt(model, messages, directory)) as updates:
                    async for update in updates:
                        begun = True
                        yield update
            except TransientError as error:
                wait = error.wait(attempt)
                if begun or wait is None or attempt >= self._retries:
                    raise TransientError(f"{error}{KEPT if begun else ''}") from error
                logger.debug("attempt %d failed, the next in %.1f s: %s", attempt + 1, wait, error)
            except BackendError as error:
                raise BackendError(f"{error}{KEPT if begun else ''}") from error
            else:
                return
            await self._sleep(wait)

    async def _attempt(
        self, model: str, messages: list[Message], directory: Path
    ) -> AsyncGenerator[Update, None]:
        key = await self._key.read(directory)
        client = await self._connected()
        usage = self._asks_for_usage
        body = chat_api.body(model, messages, usage=usage)
        async with client.request("POST", "/chat/completions", key, body) as response:
            if response.status == HTTPStatus.OK:
                finish = ""
                async with aclosing(_chunks(response)) as chunks:
                    async for chunk in chunks:
                        finish = finish or chunk.finish
                        for update in chunk.updates:
                            yield update
                if finish == "length" and self._may_be_cut:
                    yield Text(_CUT)
                elif finish in _ENDINGS:
                    raise BackendError(_ENDINGS[finish])
                return
            content = await response.content()
        if usage and response.status in _NOT_UNDERSTOOD and "stream_options" in content:
            self._asks_for_usage = False  # the server does not know it
            async with aclosing(self._attempt(model, messages, directory)) as updates:
                async for update in updates:
                    yield update
            return
        if response.status == HTTPStatus.NOT_FOUND:
            await self._refuse_unknown(model, directory)
        raise self._refusal(response, content, key)

    async def _refuse_unknown(self, model: str, directory: Path) -> None:
        try:
            offered = await self.models(directory)
        except BackendError:
            return  # then it was not the model that was not found
        if model not in offered:
            raise unknown_model(model, self._base_url, offered)

    def _refusal(self, response: Response, content: str, key: str) -> BackendError:
        if response.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            self._key.refuse()
        return refusal(response, content, self._key.origin if key else "")


async def _chunks(response: Response) -> AsyncGenerator[chat_api.Chunk, None]:
    """Understand the body of a good response."""
    begun = finished = False
    try:
        async with aclosing(_events(response)) as events:
            async for event in events:
                if event.strip() == chat_api.DONE:
                    return
                chunk = chat_api.read_chunk(response.without_key(event))
                begun = True
                finished = finished or bool(chunk.finish)
                yield chunk
    except TransientError:
        if not finished:  # otherwise nothing but the usage can be missing
            raise
    if not begun:
        raise BackendError(f"{response.origin} sends nothing that we understand: {WRONG_PLACE}")
    if not finished:
        raise TransientError(f"{response.origin} ended its answer in the middle")


async def _events(response: Response) -> AsyncGenerator[str, None]:
    """Cut a body into events, whether it is streamed or not."""
    kind = response.header("content-type").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise BackendError(f"{response.origin} answers with a web page: {WRONG_PLACE}")
    if kind == "application/json":
        yield await response.content()
        return
    events = Events()
    async with aclosing(response.pieces()) as pieces:
        async for piece in pieces:
            for event in events.feed(piece):
                yield event
    for event in events.finish():
        yield event


def _key(variable: str | None, command: Sequence[str]) -> ApiKey:
    if command:
        return CommandKey(command)
    return VariableKey(variable) if variable else NoKey()
