"""What the parser returns: statements as plain values that know which characters they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from teambot_tui.language.span import Span as Span  # noqa: PLC0414, TC001  part of every value, and taken from here


@dataclass(frozen=True, slots=True)
class Words:
    """Text that is sent as it stands; escapes are already resolved."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """`$agent`: that agent's output belongs here, or another part of its task: `$agent.diff`."""

    agent: str
    span: Span
    part: str = ""
    """What stands behind the dot; nothing and `output` mean the same."""

    @property
    def literal(self) -> str:
        """The text it was written as."""
        return f"${self.agent}.{self.part}" if self.part else f"${self.agent}"


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block with its fences; nothing in it is syntax."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Variable:
    """`{name}`: the output that was captured under this name belongs here, if the name is known."""

    name: str
    span: Span

    @property
    def literal(self) -> str:
        """The text it is where the name means nothing."""
        return f"{{{self.name}}}"


@dataclass(frozen=True, slots=True)
class Directive:
    """`{{kind: argument}}`; the kind is `output`, `input`, `include` or `stdin`, which has no argument."""

    kind: str
    argument: str
    span: Span
    literal: str
    """The text it was written as."""


Part: TypeAlias = Words | Code | Reference | Variable | Directive
"""A prompt is a sequence of parts."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An agent named after `@` or in an exact call, by its id: aliases are resolved by the parser."""

    agent: str
    span: Span


@dataclass(frozen=True, slots=True)
class Option:
    """`--name value`: what holds for one task. No value: switched off by `--no-name`."""

    name: str
    value: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Capture:
    """`:name` behind an exact call: the variable that receives its output."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a pipeline: the same task for one or several agents.

    No mentions: the default agent. No parts: an empty task, which stands for the output handed to it.
    Exact: a call of one agent, whose parts are all that it is told, with the blanks around them.
    """

    mentions: tuple[Mention, ...]
    options: tuple[Option, ...]
    parts: tuple[Part, ...]
    span: Span
    exact: bool = False
    capture: Capture | None = None

    def option(self, name: str) -> Option | None:
        """Return the option of this name, if the stage has it."""
        return next((option for option in self.options if option.name == name), None)


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


@dataclass(frozen=True, slots=True)
class Field:
    """`key: "value"` in a definition; escapes are resolved, and the spans include the quotes."""

    key: str
    value: str
    key_span: Span
    value_span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """`$name := {…}`: a temporary agent; the fields as they were written, none twice."""

    name: str
    name_span: Span
    fields: tuple[Field, ...]
    span: Span

    @property
    def base(self) -> str:
        """The agent or built-in base that it is made of, as it was written."""
        return self.field("base").value

    @property
    def prompt(self) -> str:
        """What it is told before every instruction."""
        return self.field("prompt").value

    @property
    def model(self) -> str | None:
        """The model it asks for, if any."""
        return next((field.value for field in self.fields if field.key == "model"), None)

    def field(self, key: str) -> Field:
        """Return a field that every definition has."""
        return next(field for field in self.fields if field.key == key)


Statement: TypeAlias = Pipeline | Command | Definition
