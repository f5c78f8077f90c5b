"""What is rendered parses to the same statements, and reads like what a person would have typed."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from teambot_tui.language import StatementError, parse
from teambot_tui.language.render import render
from tests.language.build import (
    call,
    code,
    command,
    define,
    parsed,
    pipe,
    ref,
    stage,
    task,
    var,
    without_places,
)
from tests.language.test_properties import EXACT_CALL_IN_COLUMN_1
from tests.language.weather import submissions, texts_of_calls, texts_of_marks

TICKS = "```"


@pytest.mark.parametrize(
    "text",
    [
        "@pm Create a plan",
        "@pm,ba Analyse",
        "@pm --model opus Plan",
        "@pm Plan\n-> @builder-1 Build\n-> @reviewer",
        "@pm\n-> @ba Summarise",
        "@pm,ba --model opus Plan $pm's idea &",
        "Plan the release &",
        "@pm a\n@ba b\n/help\n/context key value",
        f"@pm\n{TICKS}py\nx -> @ba &\n{TICKS}\n&",
        f"@pm Fix\n{TICKS}\n$x\n{TICKS}\n-> @ba\n{TICKS}\n@ba\n{TICKS}",
        f"/context\n{TICKS}\n@pm\n{TICKS}\n@ba b",
        f"/context {TICKS}\n@pm a\n@ba b",
        f'/context\n{TICKS}\nba:"x"',
        f'/context {TICKS}\n{TICKS}\nba:"x"',
        f"/context a\n{TICKS}\n@pm",
        "@pm costs \\$pm, $5, $$, C:\\dir, {x}, a@b.com, R&D",
        "@pm a \\&",
        "@pm a & b",
        "@pm a & &",
        "@pm a \\->\n@ba b",
        "@pm a ->",
        "@pm fn() -> int",
        "@pm\n-m is an option",
        "@pm a -> \\@ba b",
        "\\@pm is late",
        "\\/help is great",
        "/context a\n\\@pm\n\\/help\n\\$x := 1\n$5",
        "/context $pm",
        '@pm a \\-> ba:"x"',
        '@pm a \\-> $ba:"x"',
        '@pm a -> \\$ba:"x"',
        "@pm {x}, ${x}, \\{x}, $\\{x}, {{x}}, {X}, {{{x}}}",
        "@pm {{output:ba}} {{ include: a -> @ba $pm.md }} {{STDIN}} \\{{STDIN}}",
        '$ba:"Plan it"',
        '$ba:"Fix {issues} of $pm, {{output:pm}}":fixes\n-> @pm Check\n-> $x:"go" &',
        '$ba:" a \\"b\\" C:\\\\dir & \n-> @pm ":x',
        f'$ba:"a\n{TICKS}\nprint("$pm")\n{TICKS} b"',
        f'$ba:"a\\n{TICKS} b"',
        '$ba:"\\$pm \\{x} \\{{STDIN}} \\$$pm ${x} \\\\$pm"',
        '$x := {base: "plan", prompt: "Say \\"{x}\\",\nthen $pm}", model: "opus"}\n@x go\n/help',
        f'$x := {{prompt: "a\\n{TICKS}", base: "b"}}\n$y := {{base: "x", prompt: "c"}}\n$y:"go" &',
        '@pm a \\->\n$ba:"x"',
        '@pm a ->\n$x := {base: "plan", prompt: "b"}',
        f'/context a\n$x:"y"\n@pm\n{TICKS}\n{TICKS}',
    ],
)
def test_what_is_written_plainly_is_rendered_as_it_was(text: str) -> None:
    assert render(parse(text)) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("  @pm, @ba   Plan  ", "@pm,ba Plan"),
        ("@project_manager x->@technical_writer", "@pm x\n-> @writer"),
        ("@pm -m=opus x", "@pm --model opus x"),
        ("/help   me ", "/help me"),
        ("@pm \\-> @ba", "@pm -> \\@ba"),
        ("@pm a\n\n\n@ba b", "@pm a\n@ba b"),
        ('pm:"a"&', '$pm:"a" &'),
        ('pm:"\\d\\n":x->\n\nba:"b"', '$pm:"\\\\d\n":x\n-> $ba:"b"'),
        ("@pm \\${x} \\\\{x}", "@pm $\\{x} \\\\{x}"),
        (
            '$x:={ "base" : "Plan" , prompt:"a\\nb\\q" , }',
            '$x := {base: "Plan", prompt: "a\nb\\\\q"}',
        ),
    ],
)
def test_rendered_text_is_tidy(source: str, text: str) -> None:
    assert render(parse(source)) == text
    assert parsed(text) == parsed(source)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (task("pm", "a ", ref("ba"), "."), "@pm a $ba."),
        (task("pm", "\\", ref("ba")), "@pm \\\\$ba"),
        (task("pm", "$", ref("ba")), "@pm \\$$ba"),
        (task("pm", "a\n/help", ref("ba")), "@pm a\n/help$ba"),
        (task("", "&"), "\\&"),
        (task("", "\\@"), "\\\\\\@"),
        (task("pm", ref("ba"), "&"), "@pm $ba&"),
        (task("pm", code("```\n&")), "@pm\n```\n&"),
        (pipe(stage("pm"), stage("ba"), background=True), "@pm\n-> @ba &"),
        (command("help", "@pm"), "/help @pm"),
        (task("pm", "$", var("x")), "@pm ${x}"),
        (task("pm", "\\$", var("x")), "@pm \\\\${x}"),
        (task("pm", "{{output:", ref("ba"), "}}"), "@pm \\{{output:$ba}}"),
        (pipe(call("pm", "{{output:", ref("ba"), '}}"'), background=True), '$pm:"\\{{output:$ba}}\\"" &'),
        (pipe(call("pm", "a &", capture="x")), '$pm:"a &":x'),
    ],
)
def test_values(statement: object, text: str) -> None:
    assert [statement] == parsed(text)
    assert render(parse(text)) == text


def test_nothing() -> None:
    assert render(()) == ""


def check_round_trip(source: str) -> None:
    for references in (True, False):
        try:
            statements = parse(source, references=references)
        except StatementError:
            return
        text = render(statements)
        assert parsed(text, references=references) == without_places(statements)
        assert render(parse(text)) == text


@settings(max_examples=200)
@given(st.text(st.characters()))
def test_any_text_comes_back(source: str) -> None:
    check_round_trip(source)


@settings(max_examples=600)
@given(submissions)
@example("@pm a & &")
@example("@pm a ->\n\\@ba")
@example("@pm a\n/help$pm")
@example('@pm \\-> $ba:"x"')
def test_any_mixture_of_marks_comes_back(source: str) -> None:
    check_round_trip(source)


@settings(max_examples=300)
@given(texts_of_marks, st.booleans(), st.sampled_from(("pm", "")))
def test_words_that_were_never_parsed_are_rendered_as_text(text: str, background: bool, agent: str) -> None:
    text = text.strip("\ufeff").strip() if agent else text.strip().strip("\ufeff").strip()
    assume(text)
    assume(TICKS not in text)
    assume(text[0] != "\ufeff" or agent)
    assume(not EXACT_CALL_IN_COLUMN_1.search(text))
    statement = task(agent, text, background=background)
    assert parsed(render([statement])) == [statement]


@settings(max_examples=200)
@given(texts_of_marks)
def test_arguments_that_were_never_parsed_are_rendered_as_text(text: str) -> None:
    text = text.strip()
    assume(not EXACT_CALL_IN_COLUMN_1.search(text))
    statement = command("context", text)
    assert parsed(render([statement])) == [statement]


@settings(max_examples=150)
@given(texts_of_calls, texts_of_calls, texts_of_calls)
def test_strings_that_were_never_parsed_are_rendered_as_text(base: str, prompt: str, told: str) -> None:
    assume(base.strip() and prompt.strip() and told.strip())
    definition = define("x", base=base, prompt=prompt)
    call_of_it = pipe(call("x", told, capture="y"))
    assert parsed(render([definition, call_of_it])) == [definition, call_of_it]
