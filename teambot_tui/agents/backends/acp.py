"""Any agent that speaks the Agent Client Protocol: one process and one session for each member of the team.

An agent therefore remembers its earlier tasks, until it is told to forget them: then its process ends. One
that is suspended, or whose process died, is started again for its next task and loads its session if it can.
The SDK is imported when the first task starts, in a thread, because that takes half a second.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from teambot_tui.agents.agents_md import with_agents_md
from teambot_tui.engine.ports import BackendError, Notice

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from teambot_tui.agents.backends.acp_session import AcpSession
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Request, Update


_LOST = (
    "has lost its memory of earlier tasks: its process died, or was ended while idle (see idle_agents),"
    " and it cannot load an earlier conversation"
)


_LEFT = "it does not go back to the model it began with: name one with --model, or /forget-context it"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpOptions:
    """How an agent is started and what it may do.

    `env` are the variables it sees besides the harmless ones, each with its value or None for ours. `login`
    says what to do without a login. `read_only_mode` is the mode in which it changes nothing, or nothing
    without asking; it takes the place of `mode` where that is wanted. `files` and `terminal` let it work
    through us, `fresh` lets it forget after each task. `agents_md` tells it what the project's AGENTS.md
    says, and `claude_options` hands on which tools it may use and how many turns.
    """

    command: Sequence[str]
    env: Mapping[str, str | None] = field(default_factory=dict)
    mode: str | None = None
    read_only_mode: str | None = None
    silence_timeout: float = 600.0
    start_timeout: float = 60.0
    files: bool = False
    terminal: bool = False
    fresh: bool = False
    login: str | None = None
    agents_md: bool = False
    claude_options: bool = False


class Acp:
    """A program that speaks ACP, started once for each agent that runs on it."""

    def __init__(self, options: AcpOptions) -> None:
        self._options = options
        self._sessions: dict[AgentId, AcpSession] = {}
        self._told_of_loss: set[AgentId] = set()
        self._busy: defaultdict[AgentId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def models(self, directory: Path) -> tuple[str, ...]:  # noqa: ARG002  a session has its own
        """The models that are offered; none are known before the first task."""
        return next((session.models for session in self._sessions.values() if session.models), ())

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Give the task to the agent's session and report what happens in it.

        Raises:
            BackendError: The agent cannot be started, fails, or falls silent.
        """
        if self._options.agents_md:
            request = await with_agents_md(request)
        async with self._busy[request.agent]:
            session = await self._ready(request)
            try:
                if not await session.choose(request.model):
                    session = await self._start(request, session)
                    if not await session.choose(request.model):
                        raise BackendError(_LEFT)
                if session.lost_memory and request.agent not in self._told_of_loss:
                    self._told_of_loss.add(request.agent)
                    yield Notice(_LOST)
                async with aclosing(session.turn(request)) as updates:
                    async for update in updates:
                        yield update
            finally:
                if self._sessions.get(request.agent) is not session:  # it was to forget meanwhile
                    await session.close()

    async def forget(self, agent: AgentId) -> None:
        """End the agent's process, after the task it works on; its next one starts another."""
        session = self._sessions.pop(agent, None)
        self._told_of_loss.discard(agent)
        if session is not None and not self._busy[agent].locked():
            del self._busy[agent]
            await session.close()

    async def suspend(self, agent: AgentId) -> None:
        """End the agent's process unless it works; its next task starts another that goes on where it was."""
        session = self._sessions.get(agent)
        if session is not None and not self._busy[agent].locked():
            async with self._busy[agent]:
                await session.close()

    async def aclose(self) -> None:
        """End every process."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in sessions))

    async def _ready(self, request: Request) -> AcpSession:
        """Return the agent's session, started or begun again where that is needed."""
        session = self._sessions.get(request.agent)
        if session is None or not session.alive or not session.suits(request):
            return await self._start(request, session)
        if self._options.fresh:
            await session.begin_anew()
        return session

    async def _start(self, request: Request, old: AcpSession | None) -> AcpSession:
        make = await asyncio.to_thread(_session_type)
        if old is not None:
            await old.close()
        session = make(self._options, request)
        await session.start(None if self._options.fresh else old)
        if self._sessions.get(request.agent) is old:  # else it was to forget what it has just loaded
            self._sessions[request.agent] = session
        return session


def _session_type() -> type[AcpSession]:
    try:
        found: type[AcpSession] = import_module("teambot_tui.agents.backends.acp_session").AcpSession
    except ModuleNotFoundError as error:
        raise BackendError("ACP agents need an extra: pip install 'teambot-tui[acp]'") from error
    return found
