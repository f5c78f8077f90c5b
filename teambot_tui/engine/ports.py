"""What the engine asks of the outside: an answer is an async iterator, and closing it stops the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from teambot_tui.engine.ids import AgentId, TaskId


@dataclass(frozen=True, slots=True)
class Given:
    """An output that was put into a prompt, and whose it is."""

    agent: AgentId
    text: str


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, of any length, as it arrived."""

    text: str


Update: TypeAlias = Text
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


@dataclass(frozen=True, slots=True)
class Member:
    """An agent of the team, as the engine sees it."""

    id: AgentId
    system: str
    model: str | None
    backend: Backend
