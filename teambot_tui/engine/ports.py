"""What the engine asks of the outside: an answer is an async iterator, and closing it stops the work."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from teambot_tui.engine.values import value

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
    from pathlib import Path

    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.ids import AgentId, TaskId


@value
class Given:
    """An output that was put into a prompt, and whose it is."""

    agent: AgentId
    text: str


class Attention:
    """Tells whoever listens when an agent begins to wait for a tool of ours, and when it no longer does."""

    def __init__(self) -> None:
        self.listener: Callable[[bool], None] | None = None

    @contextmanager
    def waited_for(self) -> Iterator[None]:
        """The agent waits."""
        listener = self.listener  # there may be another by the time this one waits no longer
        if listener is None:
            yield
            return
        listener(True)
        try:
            yield
        finally:
            listener(False)


@dataclass(frozen=True, slots=True)
class ToolServer:
    """Where an agent finds the tools we offer it (MCP over HTTP), and the secret it must show there.

    `name` is what the agent calls the server: nobody can know it before the session, so that no other server
    is taken for it. Who waits for one of its tools is not silent: `attention` tells when that is. `tools` are
    their names, each with those that its arguments may be given by.
    """

    name: str
    url: str
    secret: str = field(repr=False)
    attention: Attention = field(default_factory=Attention, compare=False)
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)


class ToolProvider(Protocol):
    """Offers agents tools of ours."""

    async def server_for(self, agent: AgentId) -> ToolServer | None:
        """Return where the agent finds its tools; nothing if they cannot be offered here."""
        ...

    async def aclose(self) -> None:
        """Offer nothing any more."""
        ...


@value
class Request:
    """One task for a backend: `prompt` is the whole text to send, `system` says who the agent is.

    `instruction` is what the person asked in their own words and `given` are the outputs that were put
    into the prompt, for backends that want them apart.
    """

    task: TaskId
    agent: AgentId
    prompt: str
    system: str
    model: str | None
    directory: Path
    instruction: str
    given: tuple[Given, ...]
    tools: Callable[[], Awaitable[ToolServer | None]] | None = None
    """Tells where the agent finds our tools, for backends whose agents can use them."""
    read_only: bool = False
    """Whether the agent is to change nothing: a backend holds its agent to that, as far as it can be held."""
    allowed_tools: tuple[str, ...] = ()
    """The agent's own tools that it may use, for backends that can say so; without any, all."""
    max_turns: int | None = None
    """How many turns it may take, for backends that can say so."""


@value
class Text:
    """A piece of the answer, of any length, as it arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what the agent thinks before it answers."""

    text: str


class ToolState(StrEnum):
    """How far a tool call is; the last two are final."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Something the agent does besides talking; the same `id` again tells how it goes on.

    `kind` is one of read, search, edit, delete, move, execute, fetch, think, other; `detail` is the exact
    command, path or diff.
    """

    id: str
    title: str
    kind: str
    state: ToolState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of an agent's own plan."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What the agent intends to do, whole; a later plan replaces it."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a task has used so far, in all; `cost` is in US dollars, None where the agent does not say.

    `context` are the tokens that the agent's context holds now, where it says so: they are no measure of what
    was spent.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    context: int | None = None

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person should know about the agent, in a sentence without a subject."""

    text: str


class Verdict(StrEnum):
    """The answer to an agent that asks permission."""

    ALLOW = "allow"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Answered:
    """A verdict, and what the person tells the agent besides."""

    verdict: Verdict
    words: str = ""


class Reply(Protocol):
    """How an agent that asks permission is answered."""

    def __call__(self, verdict: Verdict, words: str = "") -> None:
        """Let it go on with the verdict, and tell it the person's words."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Permission:
    """The agent asks before it does something; it waits until `answer` is called, at most once.

    What it waits for is told apart by `id` within the task; `tool` and `kind` are as for a tool call, and
    `detail` is all that the agent would do, every command, argument and change. They are as they came: what
    is not harmless in them is made visible where they are shown.

    `exact` tells requests apart that read the same; `acts` is whether it carries a command or a change,
    whatever its kind says.
    """

    id: str
    tool: str
    kind: str
    detail: str
    answer: Reply
    exact: str = ""
    acts: bool = False


Activity: TypeAlias = Thought | ToolCall | Plan | Usage | Notice
"""What an agent does besides answering."""

Update: TypeAlias = Text | Activity | Permission
"""What a backend may report while it works."""


class BackendError(Exception):
    """A failure that a backend understood; the message goes to the user as it is."""


class Backend(Protocol):
    """Anything that can work on a request.

    Closing the generator cancels the work and leaves no process behind. It may raise anything.
    """

    def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Work on the request and report as the answer grows."""
        ...


@runtime_checkable
class Stateful(Protocol):
    """A backend that keeps something between tasks: a conversation, a process."""

    async def forget(self, agent: AgentId) -> None:
        """End what it keeps for the agent: its next task begins without memory of the earlier ones."""
        ...

    async def aclose(self) -> None:
        """End whatever it keeps; no agent runs on it any more, but one may again later."""
        ...


@runtime_checkable
class Suspendable(Stateful, Protocol):
    """A backend that keeps something for each agent which costs even while the agent is idle: a process."""

    async def suspend(self, agent: AgentId) -> None:
        """End that unless the agent is at work; its next task goes on where it was, if that is possible."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A backend that can tell which models it has."""

    async def models(self, directory: Path) -> tuple[str, ...]:
        """Return their names, none if they are not known yet; it may raise anything."""
        ...


class Permissions(StrEnum):
    """What becomes of an agent's requests before the person sees them."""

    ASK = "ask"
    ALLOW_READS = "allow-reads"
    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Member:
    """An agent of the team, as the engine sees it.

    `exact_system` takes the place of `system` in an exact call, whose prompt says itself who the agent is.
    """

    id: AgentId
    system: str
    model: str | None
    backend: Backend
    permissions: Permissions = Permissions.ASK
    exact_system: str | None = None
    allowed_tools: tuple[str, ...] = ()
    max_turns: int | None = None


Recruiter: TypeAlias = "Callable[[AgentDefined], Member]"
"""Makes a member of an agent that joins for this session."""
