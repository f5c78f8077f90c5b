"""What holds for every text, whatever is in it."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from teambot_tui.language import StatementError, parse
from teambot_tui.language.names import ALIASES, FIELDS, is_agent_id, is_variable
from teambot_tui.language.nodes import (
    Code,
    Command,
    Definition,
    Directive,
    Part,
    Pipeline,
    Reference,
    Span,
    Stage,
    Statement,
    Variable,
    Words,
)
from teambot_tui.language.options import OPTIONS
from teambot_tui.language.parser import parse_prompt
from tests.language.build import parsed, task
from tests.language.test_fences import fences_of
from tests.language.weather import submissions, texts_of_marks

ID = r"[a-z][a-z0-9]*+(?:-[a-z0-9]++)*+(?![A-Za-z0-9_])"
NAME = rf"(?:{'|'.join(ALIASES)}|{ID})(?![A-Za-z0-9_])"

often = settings(max_examples=500)
now_and_then = settings(max_examples=300)
sometimes = settings(max_examples=200)


def attempt(source: str, *, references: bool = True) -> tuple[Statement, ...] | StatementError:
    try:
        return parse(source, references=references)
    except StatementError as error:
        return error


def check(source: str) -> None:
    for references in (True, False):
        result = attempt(source, references=references)
        if isinstance(result, StatementError):
            check_error(result, source)
        else:
            check_places(result, source)


def check_error(error: StatementError, source: str) -> None:
    assert error.source == source
    assert 0 <= error.span.start <= error.span.end <= len(source)
    assert error.message
    assert error.hint
    assert error.line >= 1
    assert error.column >= 1
    line, caret = error.pointer().split("\n")
    assert (line + caret).isprintable()
    assert set(caret.lstrip(" ")) == {"^"}
    assert f"line {error.line}, column {error.column}: " in str(error)


def check_places(statements: tuple[Statement, ...], source: str) -> None:
    assert statements
    assert in_order([each.span for each in statements], Span(0, len(source)))
    for before, after in pairwise(statements):
        assert before.span.end == after.span.start
    assert statements[-1].span.end == len(source)
    for statement in statements:
        if isinstance(statement, Command):
            assert set(statement.arguments) <= set(source)
            assert statement.arguments == statement.arguments.strip()
            continue
        if isinstance(statement, Definition):
            check_definition(statement, source)
            continue
        assert statement.stages[0].span.start == statement.span.start
        assert in_order([stage.span for stage in statement.stages], statement.span)
        for stage in statement.stages:
            check_stage(stage, source)


def check_definition(definition: Definition, source: str) -> None:
    spans = [span for field in definition.fields for span in (field.key_span, field.value_span)]
    assert in_order([definition.name_span, *spans], definition.span)
    assert source[slice(*definition.name_span)] == f"${definition.name}"
    assert is_agent_id(definition.name)
    keys = [field.key for field in definition.fields]
    assert set(keys) <= set(FIELDS)
    assert len(set(keys)) == len(keys)
    assert definition.base.strip()
    assert definition.prompt.strip()
    for field in definition.fields:
        assert source[slice(*field.key_span)].strip('"') == field.key
        written = source[slice(*field.value_span)]
        assert written[0] == written[-1] == '"'
        if "\\" not in written:
            assert written == f'"{field.value}"'


def check_stage(stage: Stage, source: str) -> None:
    assert in_order([each.span for each in (*stage.mentions, *stage.parts)], stage.span)
    if stage.capture:
        assert stage.exact
        assert source[slice(*stage.capture.span)] == stage.capture.name
        assert is_variable(stage.capture.name)
        assert in_order([*(part.span for part in stage.parts), stage.capture.span], stage.span)
    for option in stage.options:
        assert re.match(
            rf"--(?:no-)?{option.name}|-{OPTIONS[option.name].letter}", source[slice(*option.span)]
        )
        assert option.value is None or OPTIONS[option.name].value.fullmatch(option.value)
    assert len({option.name for option in stage.options}) == len(stage.options)
    behind = stage.parts if stage.exact else ()
    before = () if stage.exact else stage.parts
    assert in_order([each.span for each in (*stage.mentions, *behind, *stage.options, *before)], stage.span)
    for mention in stage.mentions:
        name = source[mention.span.start : mention.span.end].removeprefix("$" if stage.exact else "@")
        assert ALIASES.get(name, name) == mention.agent
        assert is_agent_id(mention.agent)
    assert len({mention.agent for mention in stage.mentions}) == len(stage.mentions)
    check_parts(stage.parts, source)
    if stage.exact:
        assert len(stage.mentions) == 1
        assert source[stage.parts[0].span.start - 1] == source[stage.parts[-1].span.end] == '"'
        assert text_of(stage).strip()
    elif stage.parts:
        first, last = stage.parts[0], stage.parts[-1]
        assert not isinstance(first, Words) or not first.text[0].isspace()
        assert not isinstance(last, Words) or not last.text[-1].isspace()
        assert re.fullmatch(r"\s*&?\s*", source[last.span.end : stage.span.end])


def check_parts(parts: tuple[Part, ...], source: str) -> None:
    for before, after in pairwise(parts):
        assert before.span.end == after.span.start
        assert not (isinstance(before, Words) and isinstance(after, Words))
    for part in parts:
        came_from = source[part.span.start : part.span.end]
        match part:
            case Reference(agent):
                assert came_from == part.literal
                assert is_agent_id(agent)
            case Code(text):
                assert came_from == text
                assert text.startswith("```")
            case Words(text):
                assert text
                assert without_slashes(text) in (
                    without_slashes(came_from),
                    without_slashes(came_from.replace("\\\\", "").replace("\\n", "\n")),
                )
                assert len(text) <= len(came_from)
            case Variable(name):
                assert came_from == part.literal == f"{{{name}}}"
                assert is_variable(name)
            case Directive(kind, argument):
                assert came_from == part.literal
                assert kind in ("output", "input", "include", "stdin")
                assert bool(argument) == (kind != "stdin")
                assert argument == argument.strip()


def without_slashes(text: str) -> str:
    return text.replace("\\", "")


def in_order(spans: list[Span], whole: Span) -> bool:
    edges = [whole.start, *(edge for span in spans for edge in span), whole.end]
    return edges == sorted(edges)


@sometimes
@given(st.text(st.characters()))
def test_any_text_gives_statements_or_the_one_error(source: str) -> None:
    check(source)


@often
@given(submissions)
def test_any_mixture_of_marks_gives_statements_or_the_one_error(source: str) -> None:
    check(source)


@now_and_then
@given(submissions)
def test_without_references_only_they_become_text(source: str) -> None:
    with_them, without = attempt(source), attempt(source, references=False)
    if isinstance(with_them, StatementError) or isinstance(without, StatementError):
        assert str(with_them) == str(without)
        return
    assert [tell(each) for each in with_them] == [tell(each) for each in without]


@sometimes
@given(submissions)
def test_any_text_is_a_prompt(text: str) -> None:
    parts = parse_prompt(text)
    check_parts(parts, text)
    assert sum(part.span.end - part.span.start for part in parts) == len(text)
    assert not any(isinstance(part, Reference) for part in parse_prompt(text, references=False))


def tell(statement: Statement) -> object:
    if not isinstance(statement, Pipeline):
        return statement
    return statement.background, [
        (stage.mentions, stage.options, text_of(stage), stage.span, stage.exact, stage.capture)
        for stage in statement.stages
    ]


def text_of(stage: Stage) -> str:
    return "".join(map(text_of_part, stage.parts))


def text_of_part(part: Part) -> str:
    match part:
        case Words(text) | Code(text):
            return text
        case Reference() | Variable() | Directive():
            return part.literal


@sometimes
@given(submissions.filter(lambda source: "```" not in source))
def test_a_statement_does_not_change_by_what_follows(source: str) -> None:
    alone = attempt(source)
    assume(not isinstance(alone, StatementError))
    assert not isinstance(alone, StatementError)
    last = alone[-1]
    if isinstance(last, Pipeline):
        assume(not source.rstrip().endswith("->"))
    assert parsed(f"{source}\n@writer Go") == [*parsed(source), task("writer", "Go")]


# Escaping: what a person would do to send a text as it is.


def escaped(text: str) -> str:
    """The statement that gives @pm exactly this text, which has no blanks around it."""
    text = ("\n" if re.match(r"```|\\*-", text) else " ") + text
    pieces: list[str] = []
    position = 0
    for begin, end in fences_of(text):
        pieces += (without_syntax(text[position:begin]), text[begin:end])
        position = end
    last = re.sub(r"(?<=\s)(\\*)&\Z", r"\1\1\\&", without_syntax(text[position:]))
    return "@pm" + "".join((*pieces, last))


def without_syntax(text: str) -> str:
    text = re.sub(r"(\\*)([${])", r"\1\1\\\2", text)
    text = re.sub(rf'(\\*)->(?=\s*{ID}:")', r"\1\1\\->", text)
    text = re.sub(r"(?<=\n)(\\*)(?=/[A-Za-z][A-Za-z-]*(?:\s|\Z))", r"\1\1\\", text)
    return re.sub(rf"(->\s*|(?<=\n))(\\*)@(?={NAME})", r"\1\2\2\\@", text)


EXACT_CALL_IN_COLUMN_1 = re.compile(rf'^{ID}:"', re.MULTILINE)


def check_escaping(text: str) -> None:
    text = text.strip()
    assume(text)
    assume(not EXACT_CALL_IN_COLUMN_1.search(text))
    (statement,) = parse(escaped(text))
    assert isinstance(statement, Pipeline)
    assert not statement.background
    (stage,) = statement.stages
    assert [mention.agent for mention in stage.mentions] == ["pm"]
    assert not stage.options
    assert all(isinstance(part, Words | Code) for part in stage.parts)
    assert text_of(stage) == text


@sometimes
@given(st.text(st.characters(), min_size=1))
def test_any_text_can_be_escaped(text: str) -> None:
    check_escaping(text)


@often
@given(texts_of_marks)
@example("a\n\\@ba")
@example("a ->\n@ba")
@example("a -> \\\\@ba")
@example("a \\\\&")
def test_any_mixture_of_marks_can_be_escaped(text: str) -> None:
    check_escaping(text)
