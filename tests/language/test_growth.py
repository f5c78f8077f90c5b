"""Four times the text takes four times the work, whatever the text is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teambot_tui.language import StatementError, parse
from teambot_tui.language.nodes import Pipeline
from teambot_tui.language.parser import parse_prompt
from teambot_tui.language.render import render
from tests.cost import is_linear
from tests.language.build import call, code, parsed, pipe, ref, task

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.thorough

# Each of these is repeated until there is a megabyte of it.
LONG = ["a", "\n", "\\", "$", "->", "{", "```", "$pm ", "-> @ba y ", "->" + " " * 100]
# A quarter of that is enough for these.
MIDDLING = [
    *(" ", "-", "&", "& ", "/", "@", "$a-", "-a", "\u00a0", "\\{", "\\$", "\\-> ", "\n```", "\n/a/b"),
    *("@pm x\n", "/help\n", "{a}", '"', '\n$a:"x"'),
]
SHORT = [
    *(">", ",", "`", ":", "_", "世", "$pm", "$$a", "$A ", "\\-> @ba ", "\\\\$pm ", "\\@pm\n"),
    *("\n\\@pm", "\\\n", "->@ba", "-> \\@ba ", "->\n", "-> a", "-> $a", "->-", "\\->", " &", "\\& "),
    *("\\&\n", "a\\", "{{x}}", "@pm,", "@pm, ", "pm,", ", ", "@pm x &\n", "@pm -m opus x\n", "@ba\nx\n"),
    *("/help x\n", "\n\n```\n", "```\nx\n```\n", "\n@A", "\n$a", "\na:", "\n$a :", "\n  ", "\r\n"),
    *(
        " -m",
        " =",
        "\ufeff",
        "a-",
        "\n/a-",
        " ```a\n",
        " ````a\n```\n",
        "``` ",
        "a ```b",
        "\n````\n```\n",
        "$pm.diff",
    ),
    *(" ```", "```a -> @ba ", "```a\n-> @ba ", " --model", ' --model "a b"', " \\--model"),
]
# What calls and definitions consist of; each of these is also put into a string and between braces.
CALLS = [
    *("{", "{a}", "{a", "}", "{{ ", "{{output:", "{{include: a}}", "\\{{", "\\${", '"', '\\"', "\\n", '":a'),
    *('\n$a:"x"', '\n$a:"', ' -> $a:"x"', '-> a:"x":b &', '\na:"\n```\n', '"\n', '"\n```', '\n"', "\n```"),
    *(" ```a\n", "```a", "\n````\n```\n", "b\\n", " ```a\\n"),
    *("\n$a := {", '\n$a := {base: "x", prompt: "y"}', 'base: "', 'base: "x", ', '"base": ', '"base'),
]


def check_parse(text: str) -> None:
    try:
        parse(text)
    except StatementError as error:
        error.pointer()


def check_render(text: str) -> None:
    try:
        statements = parse(text)
    except StatementError:
        return
    assert render(statements)


def grows_linearly(
    function: Callable[[str], None], unit: str, size: int, *, before: str, after: str = ""
) -> bool:
    return is_linear(lambda size: function(before + unit * (size // len(unit)) + after), size)


@pytest.mark.parametrize("unit", LONG, ids=lambda unit: repr(unit[:10]))
def test_a_megabyte_of_one_thing(unit: str) -> None:
    assert grows_linearly(check_parse, unit, 1_000_000, before="@pm x ")


@pytest.mark.parametrize("unit", MIDDLING, ids=lambda unit: repr(unit[:10]))
def test_much_of_one_thing(unit: str) -> None:
    assert grows_linearly(check_parse, unit, 250_000, before="@pm x ")


def test_many_agents() -> None:
    for unit in ("pm,", "pm, ", "@pm,"):
        assert grows_linearly(check_parse, unit, 250_000, before="@", after="pm x")


@pytest.mark.parametrize("before", ["", "@pm x ->", "/help "])
def test_many_of_one_thing(before: str) -> None:
    for unit in (*LONG, *MIDDLING, *SHORT, *CALLS):
        assert grows_linearly(check_render, unit, 16_000, before=before, after="_"), unit


@pytest.mark.parametrize("before", ['pm:"', '$x := {base: "plan", prompt: "', "$x := {"])
def test_many_of_one_thing_in_a_string(before: str) -> None:
    for unit in CALLS:
        for after in ("_", '"}'):
            assert grows_linearly(check_render, unit, 16_000, before=before, after=after), unit


def test_the_measure_sees_what_is_not_linear() -> None:
    spent = 0.0

    def work(seconds: float) -> None:
        nonlocal spent
        spent += seconds

    def linear(power: float) -> bool:
        return is_linear(lambda size: work(size**power), 2_400, clock=lambda: spent)

    assert linear(1)
    assert linear(1.2)
    assert not linear(2)


def test_many_marks_need_no_recursion() -> None:
    many = 20_000
    assert parsed("@pm x" + "->" * many) == [task("pm", "x" + "->" * many)]
    assert parsed("@pm " + "$" * many) == [task("pm", "$" * many)]
    assert parsed("@pm " + "\\" * many) == [task("pm", "\\" * many)]
    assert parsed("@pm " + "\\" * many + "$pm") == [task("pm", "\\" * (many // 2), ref("pm"))]
    assert parsed("@pm " + "&" * many) == [task("pm", "&" * many)]
    assert parsed("@pm x\n" + "```\n" * many) == [
        task("pm", "x\n", *[part for _ in range(many // 2) for part in (code("```\n```"), "\n")][:-1])
    ]
    (pipeline,) = parse("@pm x " + "-> @ba " * (many // 10))
    assert isinstance(pipeline, Pipeline)
    assert len(pipeline.stages) == many // 10 + 1
    (pipeline,) = parse("@" + ",".join(f"a{number}" for number in range(many)) + " x")
    assert isinstance(pipeline, Pipeline)
    assert len(pipeline.stages[0].mentions) == many
    assert len(parse("@pm x\n" * (many // 10))) == many // 10
    assert len(parse('$a := {base: "x", prompt: "y"}\n' * many)) == many
    (pipeline,) = parse('a:"x":y' + '->\n$a:"{y}":y' * (many // 10))
    assert isinstance(pipeline, Pipeline)
    assert len(pipeline.stages) == many // 10 + 1
    assert parsed("@pm " + "{" * many) == [task("pm", "{" * many)]
    assert parsed('pm:"' + '\\"' * many + '"') == [pipe(call("pm", '"' * many))]
    assert len(parse_prompt("{{STDIN}}" * (many // 10))) == many // 10
