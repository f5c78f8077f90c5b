"""One agent program at work: its process, the connection to it, and the session in which it remembers.

Starting has a deadline, a turn has a silence limit, and a turn that is given up has a moment to end: after
that the process is ended, and whoever needs the agent again starts another one.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.metadata import version
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from acp import PROTOCOL_VERSION, RequestError
from acp.client.connection import ClientSideConnection
from acp.schema import (
    ClientCapabilities,
    ConfigOptionUpdate,
    FileSystemCapabilities,
    Implementation,
    LoadSessionResponse,
    NewSessionResponse,
    TextContentBlock,
)
from pydantic import ValidationError

from teambot_tui.agents.backends.acp_choices import ModelList, choices, find, model_list, option_for
from teambot_tui.agents.backends.acp_client import AgentClient
from teambot_tui.agents.backends.acp_habits import Habits, habits_of
from teambot_tui.agents.backends.acp_own_tools import OwnTools
from teambot_tui.agents.backends.acp_turn import Turn
from teambot_tui.agents.backends.acp_usage import Meter
from teambot_tui.agents.backends.acp_wire import Wire
from teambot_tui.agents.backends.json_lines import complaint
from teambot_tui.agents.failures import KEPT, SHOWN_CHARACTERS, encodable, how_it_ended, why_it_did_not_start
from teambot_tui.agents.process import Process, to_its_end
from teambot_tui.engine.ports import BackendError, ToolState
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Sequence

    from acp.interfaces import Client as AcpClient
    from acp.schema import PromptResponse, SessionConfigOptionSelect

    from teambot_tui.agents.backends.acp import AcpOptions
    from teambot_tui.engine.ports import Request, ToolServer, Update

Done = TypeVar("Done")

_GRACE: Final = 0.7  # seconds for an agent to end a turn that is given up
_HURRY: Final = 0.1  # seconds for a process to end when it did not
_PERSONA: Final = "\n\n=== Who You Are ===\n{}"
_NOT_LOGGED_IN: Final = -32000
_LONGEST_NAME: Final = 60
_GOES_ON: Final = ("end_turn", "cancelled")  # some end their turn so when they are denied something
_ENDS: Final = {
    "end_turn": "ended its turn without a word after it was denied permission",
    "max_tokens": "stopped because it reached its limit of tokens",
    "max_turn_requests": "stopped because it reached its limit of requests in a turn",
    "refusal": "refused to go on",
}


class AcpSession:
    """A process that speaks ACP, from its start to its end."""

    def __init__(self, options: AcpOptions, request: Request) -> None:
        """Prepare for the first request; it serves others that it suits."""
        self.directory = directory = request.directory
        self.id: str | None = None
        self._options = options
        self._tools = request.tools
        self._read_only = request.read_only
        self._meta = _claude_options(request) if options.claude_options else {}
        self._mcp_servers: list[dict[str, Any]] = []
        self._server: ToolServer | None = None
        self._name = PurePath(options.command[0]).name
        self._process = Process(options.command, directory=directory, variables=options.env)
        self._wire = Wire(self._process, self._hear, self._room)
        self._client = AgentClient(
            directory,
            files=options.files,
            terminal=options.terminal,
            silence=options.silence_timeout,
            waits=self._hold_silence,
        )
        self._connection: ClientSideConnection | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._habits = Habits()
        self._meter = Meter()
        self._config: Sequence[Any] = ()
        self._models: ModelList | None = None
        self._first_model: str | None = None
        self._modes: dict[str, str] = {}
        self._mode: str | None = None
        self._told: str | None = None
        self._has_worked = False
        self.lost_memory = False
        """Whether it took the place of one that had worked, and could not load its session."""
        self._loads = False
        self._ways_to_log_in: list[str] = []

    @property
    def alive(self) -> bool:
        """Whether it can take another task."""
        return self._connection is not None and not self._wire.ended and self._process.returncode is None

    def suits(self, request: Request) -> bool:
        """Whether it works where, and is held to what, the request asks for."""
        return (self.directory, self._read_only) == (request.directory, request.read_only)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the agent offers, as far as it tells."""
        known = self._known_models()
        return tuple(known.offered) if known else ()

    async def start(self, old: AcpSession | None) -> None:
        """Start the process and a session, the old one if the agent can load it.

        Raises:
            BackendError: It cannot be started, or not in time.
        """
        try:
            await self._in_time(self._start(old))
        except BaseException:
            await self.close(_HURRY)
            raise

    async def begin_anew(self) -> None:
        """Begin a session that remembers nothing.

        Raises:
            BackendError: The agent cannot, or not in time.
        """
        await self._in_time(self._new_session())

    async def choose(self, model: str | None) -> bool:
        """Let the next turn run on a model; without one, on that with which the session began.

        Returns:
            Whether it does; if not, another process that loads this session can.

        Raises:
            BackendError: The agent does not offer it.
        """
        return await self._in_time(self._choose(model))

    async def turn(self, request: Request) -> AsyncGenerator[Update, None]:
        """Give the agent a task and report what it does.

        Raises:
            BackendError: It fails, falls silent, or stops before the end.
        """
        self._meter.begin()
        self._has_worked = True
        turn = self._client.turn = Turn(self._meter, self._habits)
        self._client.own_tools = OwnTools(self._server) if self._server else None
        self._process.expect_output(self._options.silence_timeout)
        answering = self._prompt(turn, self._blocks(request))
        try:
            while not answering.done():
                for update in await turn.updates():
                    yield update
                if answering.done() and (words := self._untold(turn, answering)):
                    answering = self._prompt(turn, [TextContentBlock(type="text", text=encodable(words))])
            failure = self._end_turn(turn, answering)
            if failure is None:
                self._told = request.system
            for update in turn.take():
                yield update
            if failure is not None:
                raise failure
        finally:
            await to_its_end(asyncio.create_task(self._leave(turn, answering), name=f"end of {self._name}"))

    def _prompt(self, turn: Turn, blocks: list[Any]) -> asyncio.Task[PromptResponse]:
        assert self._connection is not None
        assert self.id is not None
        work = self._connection.prompt(session_id=self.id, prompt=blocks)
        answering = asyncio.create_task(work, name=f"turn of {self._name}")
        answering.add_done_callback(lambda _: turn.wake())
        return answering

    def _untold(self, turn: Turn, answering: asyncio.Task[PromptResponse]) -> str:
        """Return what the person said with a rejection, which the protocol has room for only in a prompt.

        An agent that failed, or whose turn may not go on, is told nothing more.
        """
        if answering.exception() is not None or answering.result().stop_reason not in _GOES_ON:
            return ""
        if words := turn.go_on():
            self._meter.end(answering.result())
            self._meter.go_on()
        return words

    async def close(self, patience: float | None = None) -> None:
        """End the process and all it started; when cancelled, first finish that. May be called again."""
        await to_its_end(asyncio.create_task(self._close(patience), name=f"end of {self._name}"))

    async def _close(self, patience: float | None) -> None:
        await asyncio.gather(self._process.close(patience), self._client.terminals.close(patience))
        if self._connection is not None:
            await self._connection.close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    async def _start(self, old: AcpSession | None) -> None:
        try:
            await self._process.start()
        except OSError as error:
            why = why_it_did_not_start(self._options.command[0], error, self.directory)
            raise BackendError(why) from error
        self._keeper = asyncio.create_task(self._keep(), name=f"keeper of {self._name}")
        # What the SDK does not know as stable it would answer with a warning on the screen.
        client = cast("AcpClient", self._client)
        self._connection = ClientSideConnection(client, self._wire, use_unstable_protocol=True)
        options = self._options
        agent = await self._connection.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(
                fs=FileSystemCapabilities(read_text_file=options.files, write_text_file=options.files),
                terminal=options.terminal,
            ),
            client_info=Implementation(name="teambot", title="TeamBot", version=version("teambot-tui")),
        )
        names = [method.id for method in agent.auth_methods or ()]
        if agent.agent_info is not None:
            told = agent.agent_info.title or agent.agent_info.name
            self._name = one_line(told, _LONGEST_NAME) or self._name
            names.append(agent.agent_info.name)
        self._habits = habits_of(names)
        if agent.protocol_version != PROTOCOL_VERSION:
            versions = f"{agent.protocol_version} of the protocol and we speak {PROTOCOL_VERSION}"
            raise BackendError(f"{self._name} speaks version {versions}: try another release of it")
        self._ways_to_log_in = [method.name for method in agent.auth_methods or ()]
        self._loads = bool(agent.agent_capabilities and agent.agent_capabilities.load_session)
        http = agent.agent_capabilities and agent.agent_capabilities.mcp_capabilities
        if self._tools is not None and http and http.http and (server := await self._tools()) is not None:
            self._server = server
            self._mcp_servers = [_mcp_server(server)]
            server.attention.listener = self._client.count_wait
        if old is None or not self._loads or not await self._load(old):
            self.lost_memory = old is not None and old._has_worked
            await self._new_session()

    async def _keep(self) -> None:
        """End the process also when nobody closes us and the loop shuts down."""
        try:
            await asyncio.Event().wait()
        finally:
            await self._process.close()

    async def _load(self, old: AcpSession) -> bool:
        """Go on with an old session. What the agent tells of it meanwhile is not new: no turn hears it."""
        if old.id is None:
            return False
        self.id = old.id  # what was used so far may be told before the answer
        self._meter = Meter(sums=self._habits.sums) if self._habits.counts_from_zero else old._meter
        try:
            offer = await self._ask("session/load", sessionId=old.id, **self._place())
            loaded = LoadSessionResponse.model_validate(offer)
        except (RequestError, ValidationError):
            self.id = None
            return False
        self._told, self._has_worked = old._told, old._has_worked
        self._models = model_list(offer)
        await self._enter(old.id, loaded)
        self._first_model = old._first_model or self._first_model
        return True

    async def _new_session(self) -> None:
        offer = await self._ask("session/new", **self._place())
        made = NewSessionResponse.model_validate(offer)
        self._models = model_list(offer)
        self._told = None
        self._meter = Meter(sums=self._habits.sums)
        await self._enter(made.session_id, made)

    async def _enter(self, session: str, offer: NewSessionResponse | LoadSessionResponse) -> None:
        self.id = self._client.session = session
        self._config = offer.config_options or ()
        known = self._known_models()
        self._first_model = known.current if known else None
        self._modes = {mode.id: mode.name for mode in offer.modes.available_modes} if offer.modes else {}
        self._mode = offer.modes.current_mode_id if offer.modes else None
        if self._read_only and self._options.read_only_mode:
            try:
                await self._set_mode(self._options.read_only_mode)
            except BackendError as error:
                why = f"{error}; correct read_only_mode of its backend"
                raise BackendError(f'permissions = "deny" cannot be kept: {why}') from error
        elif self._options.mode:
            await self._set_mode(self._options.mode)

    async def _set_mode(self, wanted: str) -> None:
        assert self._connection is not None
        assert self.id is not None
        option = option_for("mode", self._config)
        if option is not None:
            await self._set(option, find("mode", wanted, choices(option), self._name))
            return
        mode = find("mode", wanted, self._modes, self._name)
        if mode != self._mode:
            await self._connection.set_session_mode(session_id=self.id, mode_id=mode)

    def _known_models(self) -> ModelList | None:
        option = option_for("model", self._config)
        return ModelList(option.current_value, choices(option)) if option else self._models

    async def _choose(self, model: str | None) -> bool:
        known = self._known_models()
        if known is None:
            if model is None:
                return True
            way_out = "leave the model out, or give it in its command"
            raise BackendError(f"{self._name} does not let us choose its model: {way_out}")
        first = self._first_model or known.current
        wanted = find("model", model, {first: first, **known.offered}, self._name) if model else first
        if wanted == known.current:
            return True
        try:
            await self._set_model(wanted)
        except RequestError:
            if wanted in known.offered or not self._loads:
                raise
            return False  # codex: the model it began with is no longer offered once it was left
        return True

    async def _set_model(self, model: str) -> None:
        option = option_for("model", self._config)
        if option is not None:
            await self._set(option, model)
        elif self._models is not None:
            await self._ask("session/set_model", sessionId=self.id, modelId=model)
            self._models.current = model

    async def _set(self, option: SessionConfigOptionSelect, value: str) -> None:
        assert self._connection is not None
        assert self.id is not None
        if value == option.current_value:
            return
        try:
            answer = await self._connection.set_config_option(
                config_id=option.id, session_id=self.id, value=value
            )
        except ValidationError:  # it does not tell its options afterwards, but has set this one
            option.current_value = value
        else:
            self._config = answer.config_options

    async def _ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request as it is: the SDK drops what it does not know, such as a list of models."""
        assert self._connection is not None
        answer = await self._connection._conn.send_request(method, params)
        return answer if isinstance(answer, dict) else {}

    def _place(self) -> dict[str, Any]:
        """Where a session works and which tools of ours it has, in the words of the protocol."""
        return {"cwd": str(self.directory.absolute()), "mcpServers": self._mcp_servers, **self._meta}

    async def _in_time(self, work: Coroutine[Any, Any, Done]) -> Done:
        limit = self._options.start_timeout
        try:
            async with asyncio.timeout(limit):
                return await work
        except TimeoutError as error:
            await self.close(_HURRY)
            raise BackendError(f"{self._name} was not ready within {limit:g} s") from error
        except (RequestError, ConnectionError, ValidationError) as error:
            raise self._failure(error, "") from error

    def _blocks(self, request: Request) -> list[Any]:
        """The prompt as it is, then the persona, once and again if it has changed.

        Agents name their own session after the words that come first.
        """
        texts = [encodable(request.prompt)]
        if request.system and request.system != self._told:
            texts.append(_PERSONA.format(encodable(request.system)))
        return [TextContentBlock(type="text", text=text) for text in texts]

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        update = params.get("update")
        if method != "session/update" or not isinstance(update, dict) or params.get("sessionId") != self.id:
            return
        turn = self._client.turn
        if turn is not None and not turn.abandoned:
            turn.hear(update)
            if self._client.own_tools is not None:
                self._client.own_tools.hear(update)
        elif update.get("sessionUpdate") == "usage_update":
            self._meter.note(update)
        if update.get("sessionUpdate") == "config_option_update":
            with suppress(ValidationError):
                self._config = ConfigOptionUpdate.model_validate(update).config_options

    async def _room(self) -> None:
        if self._client.turn is not None:
            await self._client.turn.room()

    def _hold_silence(self, waits: bool) -> None:
        in_turn = self._client.turn is not None
        self._process.expect_output(self._options.silence_timeout if in_turn and not waits else None)

    def _end_turn(self, turn: Turn, answering: asyncio.Task[PromptResponse]) -> BackendError | None:
        """Put what the end of a turn brings, and tell what was wrong with it."""
        error = answering.exception()
        if error is not None:
            turn.release(str(error))
            turn.close_tools(ToolState.FAILED)
            failure = self._failure(error, KEPT if turn.spoke else "")
            failure.__cause__ = error
            return failure
        response = answering.result()
        usage = self._meter.end(response)
        reason = turn.failure(used=usage is not None and usage.tokens > 0)
        if usage is not None and (reason is None or not self._habits.repeats):
            turn.report(usage)
        turn.release()
        note = KEPT if turn.spoke else ""
        if reason is not None:
            turn.close_tools(ToolState.FAILED)
            return BackendError(f"{self._name} failed: {reason[:SHOWN_CHARACTERS]}{note}")
        if response.stop_reason == "end_turn" and not turn.speechless:
            turn.close_tools(ToolState.DONE)
            return None
        turn.close_tools(ToolState.FAILED)
        after = " after it was denied permission" if turn.denied else ""
        why = _ENDS.get(response.stop_reason, f"cancelled its turn{after}")
        return BackendError(f"{self._name} {why}{note}")

    async def _leave(self, turn: Turn, answering: asyncio.Task[PromptResponse]) -> None:
        """Let a turn end, by force if need be, and nothing of it remain."""
        given_up = not answering.done()
        turn.abandon()
        if given_up and self._connection is not None and self.id is not None:
            with suppress(ConnectionError):
                await self._connection.cancel(session_id=self.id)
        await asyncio.gather(
            asyncio.wait([answering], timeout=_GRACE),
            self._client.terminals.close(_HURRY if given_up else None),
        )
        self._client.turn = None
        self._process.expect_output(None)
        if not answering.done():
            answering.cancel()
            await asyncio.wait([answering])
            await self.close(_HURRY)
        elif not answering.cancelled():
            answering.exception()  # retrieved, whoever wants to know
        if self._wire.ended:
            await self.close(_HURRY)

    def _failure(self, error: BaseException, note: str) -> BackendError:
        name = self._name
        if isinstance(error, RequestError):
            if error.code == _NOT_LOGGED_IN:
                return BackendError(f"{name} is not logged in: {self._how_to_log_in()}")
            return BackendError(f"{name} failed: {complaint(str(error))}{_details(error.data)}{note}")
        if self._wire.silence is not None:
            return BackendError(f"{name} was stopped: {self._wire.silence}{note}")
        if isinstance(error, ConnectionError) and self._process.returncode is not None:
            return BackendError(f"{name} {how_it_ended(self._process)}{note}")
        if isinstance(error, ConnectionError):
            return BackendError(f"{name} ended the connection{note}")
        return BackendError(f"{name} gave an answer that does not fit the protocol{note}")

    def _how_to_log_in(self) -> str:
        if self._options.login:
            return self._options.login
        ways = f" ({', '.join(self._ways_to_log_in)})" if self._ways_to_log_in else ""
        return f"start {self._options.command[0]} in a terminal and log in there{ways}"


def _claude_options(request: Request) -> dict[str, Any]:
    """What Claude's adapter takes besides the protocol: the tools that the agent may use, and its turns."""
    given = {"tools": list(request.allowed_tools), "maxTurns": request.max_turns}
    options = {name: value for name, value in given.items() if value}
    return {"_meta": {"claudeCode": {"options": options}}} if options else {}


def _mcp_server(server: ToolServer) -> dict[str, Any]:
    """Where the agent finds our tools, in the words of the protocol."""
    shown = {"name": "Authorization", "value": f"Bearer {server.secret}"}
    return {"type": "http", "name": server.name, "url": server.url, "headers": [shown]}


def _details(data: object) -> str:
    """What an agent tells about an error besides its message."""
    match data:
        case str(text) | {"details": str(text)} | {"message": str(text)} if text:
            return f": {complaint(text)}"
    return ""
