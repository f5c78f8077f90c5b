"""Statements as the tests write them: without places, with plain strings for words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teambot_tui.language.nodes import Code, Command, Mention, Pipeline, Reference, Span, Stage, Words
from teambot_tui.language.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.language.nodes import Part, Statement

NOWHERE = Span(0, 0)


def ref(agent: str) -> Reference:
    return Reference(agent, NOWHERE)


def code(text: str) -> Code:
    return Code(text, NOWHERE)


def stage(agents: str, *parts: str | Part, model: str | None = None) -> Stage:
    """A stage of the agents in a comma-separated list; an empty list is the default agent."""
    return Stage(
        tuple(Mention(agent, NOWHERE) for agent in agents.split(",") if agent),
        model,
        tuple(Words(part, NOWHERE) if isinstance(part, str) else part for part in parts),
        NOWHERE,
    )


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


def _statement(statement: Statement) -> Statement:
    if isinstance(statement, Command):
        return replace(statement, span=NOWHERE)
    return replace(statement, stages=tuple(map(_stage, statement.stages)), span=NOWHERE)


def _stage(each: Stage) -> Stage:
    return Stage(
        tuple(replace(mention, span=NOWHERE) for mention in each.mentions),
        each.model,
        tuple(replace(part, span=NOWHERE) for part in each.parts),
        NOWHERE,
    )
