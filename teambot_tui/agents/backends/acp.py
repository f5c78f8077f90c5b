"""Any agent that speaks the Agent Client Protocol: one process and one session for each member of the team.

An agent therefore remembers its earlier tasks, until it is told to forget them. The SDK is imported when the
first task starts, in a thread, because that takes half a second.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from teambot_tui.agents.backends.acp_session import AcpSession
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Request, Update


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpOptions:
    """How an agent is started and what it may do.

    `env` are the variables it sees besides the harmless ones, each with its value or None for ours. `login`
    says what to do without a login. `files` and `terminal` let it work through us, `fresh` lets it forget
    after each task.
    """

    command: Sequence[str]
    env: Mapping[str, str | None] = field(default_factory=dict)
    mode: str | None = None
    silence_timeout: float = 600.0
    start_timeout: float = 60.0
    files: bool = False
    terminal: bool = False
    fresh: bool = False
    login: str | None = None


class Acp:
    """A program that speaks ACP, started once for each agent that runs on it."""

    def __init__(self, options: AcpOptions) -> None:
        self._options = options
        self._sessions: dict[AgentId, AcpSession] = {}
        self._to_forget: set[AgentId] = set()
        self._busy: defaultdict[AgentId, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def models(self, directory: Path) -> tuple[str, ...]:  # noqa: ARG002  a session has its own
        """The models that are offered; none are known before the first task."""
        return next((session.models for session in self._sessions.values() if session.models), ())

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Give the task to the agent's session and report what happens in it.

        Raises:
            BackendError: The agent cannot be started, fails, or falls silent.
        """
        async with self._busy[request.agent]:
            session = await self._ready(request)
            await session.choose(request.model)
            async with aclosing(session.turn(request)) as updates:
                async for update in updates:
                    yield update

    async def forget(self, agent: AgentId) -> None:
        """Let the agent's next task begin a new session."""
        self._to_forget.add(agent)

    async def aclose(self) -> None:
        """End every process."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in sessions))

    async def _ready(self, request: Request) -> AcpSession:
        """Return the agent's session, started or begun anew where that is needed."""
        agent = request.agent
        session = self._sessions.get(agent)
        forgets = self._options.fresh or agent in self._to_forget
        self._to_forget.discard(agent)
        if session is None or not session.alive or session.directory != request.directory:
            return await self._start(request, session.id if session is not None and not forgets else None)
        if forgets:
            try:
                await session.begin_anew()
            except BaseException:
                self._to_forget.add(agent)
                raise
        return session

    async def _start(self, request: Request, resumed: str | None) -> AcpSession:
        make = await asyncio.to_thread(_session_type)
        old = self._sessions.pop(request.agent, None)
        if old is not None:
            await old.close()
        session = make(self._options, request.directory, request.tools)
        await session.start(resumed)
        self._sessions[request.agent] = session
        return session


def _session_type() -> type[AcpSession]:
    try:
        found: type[AcpSession] = import_module("teambot_tui.agents.backends.acp_session").AcpSession
    except ModuleNotFoundError as error:
        raise BackendError("ACP agents need an extra: pip install 'teambot-tui[acp]'") from error
    return found
