"""Statements as the tests write them: without places, with plain strings for words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teambot_tui.language.nodes import (
    Capture,
    Code,
    Command,
    Definition,
    Directive,
    Field,
    Mention,
    Option,
    Pipeline,
    Reference,
    Span,
    Stage,
    Variable,
    Words,
)
from teambot_tui.language.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.language.nodes import Part, Statement

NOWHERE = Span(0, 0)


def ref(agent: str, part: str = "") -> Reference:
    return Reference(agent, NOWHERE, part)


def var(name: str) -> Variable:
    return Variable(name, NOWHERE)


def directive(literal: str, kind: str, argument: str = "") -> Directive:
    return Directive(kind, argument, NOWHERE, literal)


def code(text: str) -> Code:
    return Code(text, NOWHERE)


def stage(agents: str, *parts: str | Part, model: str | None = None) -> Stage:
    """A stage of the agents in a comma-separated list; an empty list is the default agent."""
    return Stage(
        tuple(Mention(agent, NOWHERE) for agent in agents.split(",") if agent),
        _options(model),
        _parts(parts),
        NOWHERE,
    )


def call(agent: str, *parts: str | Part, capture: str | None = None, model: str | None = None) -> Stage:
    """An exact call."""
    return Stage(
        (Mention(agent, NOWHERE),),
        _options(model),
        _parts(parts),
        NOWHERE,
        exact=True,
        capture=Capture(capture, NOWHERE) if capture else None,
    )


def define(name: str, **fields: str) -> Definition:
    said = tuple(Field(key, value, NOWHERE, NOWHERE) for key, value in fields.items())
    return Definition(name, NOWHERE, said, NOWHERE)


def pipe(*stages: Stage, background: bool = False) -> Pipeline:
    return Pipeline(stages, background, NOWHERE)


def task(agents: str, *parts: str | Part, model: str | None = None, background: bool = False) -> Pipeline:
    return pipe(stage(agents, *parts, model=model), background=background)


def command(name: str, arguments: str = "") -> Command:
    return Command(name, arguments, NOWHERE)


def parsed(source: str, *, references: bool = True) -> list[Statement]:
    """The statements of a text, without places."""
    return without_places(parse(source, references=references))


def without_places(statements: Iterable[Statement]) -> list[Statement]:
    return [_statement(each) for each in statements]


def parts_without_places(parts: Iterable[Part]) -> list[Part]:
    return [replace(part, span=NOWHERE) for part in parts]


def _options(model: str | None) -> tuple[Option, ...]:
    return () if model is None else (Option("model", model, NOWHERE),)


def _parts(parts: Iterable[str | Part]) -> tuple[Part, ...]:
    return tuple(Words(part, NOWHERE) if isinstance(part, str) else part for part in parts)


def _statement(statement: Statement) -> Statement:
    match statement:
        case Command():
            return replace(statement, span=NOWHERE)
        case Definition():
            fields = (replace(each, key_span=NOWHERE, value_span=NOWHERE) for each in statement.fields)
            return replace(statement, name_span=NOWHERE, fields=tuple(fields), span=NOWHERE)
        case Pipeline():
            return replace(statement, stages=tuple(map(_stage, statement.stages)), span=NOWHERE)


def _stage(each: Stage) -> Stage:
    return replace(
        each,
        mentions=tuple(replace(mention, span=NOWHERE) for mention in each.mentions),
        options=tuple(replace(option, span=NOWHERE) for option in each.options),
        parts=tuple(parts_without_places(each.parts)),
        span=NOWHERE,
        capture=replace(each.capture, span=NOWHERE) if each.capture else None,
    )
