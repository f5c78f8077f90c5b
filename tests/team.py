"""Agents for tests: each says what it does, and none of them sleeps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from teambot_tui.agents.backends.echo import Echo
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import BackendError, Member, Permission, Text
from teambot_tui.engine.session import Session
from teambot_tui.engine.status import Statuses

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.ports import Backend, Request, Update, Verdict

TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")


class Gate:
    """Answers with its prompt, or with what it is told to say, once the test opens the gate for the task."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.closed: list[str] = []
        self._answers: dict[str, asyncio.Future[str | None]] = {}

    def answer(self, task: str, text: str | None = None) -> None:
        """Let a task complete."""
        self._answer(task).set_result(text)

    def fail(self, task: str, reason: str = "out of ideas") -> None:
        """Let a task fail."""
        self._answer(task).set_exception(BackendError(reason))

    def prompt(self, task: str) -> str:
        """Return what a task was sent."""
        return next(request.prompt for request in self.requests if request.task == task)

    @property
    def started(self) -> list[str]:
        """The tasks that have started, in order."""
        return [request.task for request in self.requests]

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        self.requests.append(request)
        try:
            text = await self._answer(request.task)
            yield Text(request.prompt if text is None else text)
        finally:
            del self._answers[request.task]
            self.closed.append(request.task)

    def _answer(self, task: str) -> asyncio.Future[str | None]:
        if task not in self._answers:
            self._answers[task] = asyncio.get_running_loop().create_future()
        return self._answers[task]


class Busy(Gate):
    """Reports what it is told to, piece by piece, asks leave, and completes when it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.verdicts: list[tuple[str, str, Verdict]] = []
        """What was answered to whom: the task, the request, the verdict."""
        self.words: list[str] = []
        """What the person said besides."""
        self.forgotten: list[str] = []
        self._lines: dict[str, asyncio.Queue[Update | Exception | None]] = {}

    def tell(self, task: str, *updates: Update) -> None:
        """Let a task report something and go on."""
        for update in updates:
            self._line(task).put_nowait(update)

    def ask(
        self, task: str, detail: str, *, request: str = "1", tool: str = "Run", kind: str = "execute"
    ) -> None:
        """Let a task ask leave for something."""

        def answered(verdict: Verdict, words: str = "") -> None:
            self.verdicts.append((task, request, verdict))
            if words:
                self.words.append(words)

        self.tell(task, Permission(request, tool, kind, detail, answered))

    def answer(self, task: str, text: str | None = None) -> None:
        """Let a task say its last words and complete."""
        self.tell(task, Text(text or ""))
        self._line(task).put_nowait(None)

    def fail(self, task: str, reason: str = "out of ideas") -> None:
        """Let a task fail."""
        self._line(task).put_nowait(BackendError(reason))

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        self.requests.append(request)
        while (update := await self._line(request.task).get()) is not None:
            if isinstance(update, Exception):
                raise update
            yield update

    async def forget(self, agent: AgentId) -> None:
        self.forgotten.append(agent)

    async def aclose(self) -> None:
        """Keep nothing."""

    def _line(self, task: str) -> asyncio.Queue[Update | Exception | None]:
        return self._lines.setdefault(task, asyncio.Queue())


class Broken:
    """Raises what it is given."""

    def __init__(self, error: Exception, after: str = "") -> None:
        self._error = error
        self._after = after

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        if self._after:
            yield Text(self._after)
        raise self._error


def session_of(
    backend: Backend | None = None,
    *,
    others: Mapping[str, Backend] | None = None,
    policy: Policy | None = None,
    default_agent: str | None = None,
    promoted: Iterable[AgentId] = (),
) -> Session:
    """Return a session of the default team on one backend, some members on others."""
    shared = backend or Echo()
    return Session(
        [Member(AgentId(name), f"You are {name}.", None, (others or {}).get(name, shared)) for name in TEAM],
        default_agent=AgentId(default_agent) if default_agent else None,
        policy=policy,
        promoted=promoted,
    )


class Watch:
    """Keeps every fact and every status line that was ever true."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.lines: list[str] = []
        self._statuses = Statuses()

    def see(self, fact: Fact) -> None:
        self.facts.append(fact)
        if changed := self._statuses.update(fact):
            self.lines.append(str(changed))

    def status(self, agent: str) -> str:
        """Return an agent's status line."""
        return str(self._statuses[AgentId(agent)])

    def of(self, kind: type[Fact]) -> list[Fact]:
        """Return the facts of a kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]


async def settle() -> None:
    """Let everything that can happen without the outside happen."""
    for _ in range(20):
        await asyncio.sleep(0)
