"""What the parser returns: statements as plain values that know which characters they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Span(NamedTuple):
    """The characters `start` up to, not including, `end` of the submitted text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Words:
    """Text that is sent as it stands; escapes are already resolved."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """`$agent`: that agent's output belongs here."""

    agent: str
    span: Span


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block with its fences; nothing in it is syntax."""

    text: str
    span: Span


Part: TypeAlias = Words | Code | Reference
"""A prompt is a sequence of parts."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An agent named after `@`, by its id: aliases are resolved by the parser."""

    agent: str
    span: Span


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a pipeline: the same task for one or several agents.

    No mentions: the default agent. No parts: an empty task, which stands for the output handed to it.
    """

    mentions: tuple[Mention, ...]
    model: str | None
    parts: tuple[Part, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages joined by `->`; a single task is a pipeline of one stage."""

    stages: tuple[Stage, ...]
    background: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Command:
    """`/name arguments`."""

    name: str
    arguments: str
    span: Span


Statement: TypeAlias = Pipeline | Command
