"""What is sent as text though it looks like a slip is told, and what is meant as text is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teambot_tui.language import StatementError, parse
from teambot_tui.language.slips import Slip, find_slips
from tests.language.weather import submissions

TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")


def slips(source: str, variables: tuple[str, ...] = ()) -> tuple[Slip, ...]:
    return find_slips(source, parse(source), agents=TEAM, variables=variables)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('@pm a\n$Scanner := {base: "x"}', "$Scanner := is sent as text: a name is lowercase"),
        ('@pm a\nExplore:"look"', 'Explore:" is sent as text: an exact call is one lowercase name'),
        ('Explore:"look"', 'Explore:" is sent as text: an exact call is one lowercase name'),
        ('pm,ba:"x":v', 'pm,ba:" is sent as text: an exact call is one lowercase name'),
        ("pm:\u201cPlan it\u201d", "pm:\u201c is sent as text: an exact call is one lowercase name"),
        ("@pm Plan ->", "-> is sent as text: nothing follows it"),
        ("@ba use $project_manager", "$project_manager is sent as text: write $pm"),
        ("@ba use $PM", "$PM is sent as text: write $pm"),
        ("@ba use $Builder-1.", "$Builder-1 is sent as text: write $builder-1"),
        ("@pm Plan -> ba do it", "-> ba is sent as text: write -> @ba"),
        ("@pm Plan -> @Ba do it", "-> @Ba is sent as text: write -> @ba"),
        ("@pm Plan => @ba do it", "=> @ba is sent as text: write -> @ba"),
        ("@pm Plan \u2192 @ba do it", "\u2192 @ba is sent as text: write -> @ba"),
        ("@pm ask @ba later", "@ba is sent as text: only where a statement or a stage begins"),
        ("@pm Plan\n  @ba Check", "@ba is sent as text: only where a statement or a stage begins"),
        ("@pm use {{ouput:a}}", "{{ouput:a}} is sent as text: did you mean {{output: \u2026}}?"),
        ("@pm use {{output}}", "{{output}} is sent as text: did you mean {{output: \u2026}}?"),
        ("@pm use {{STDN}}", "{{STDN}} is sent as text: did you mean {{STDIN}}?"),
        ("!ls -l", "!ls -l is sent as text: nothing is run in a shell here"),
        ("@pm read @src/a.py", "@src/a.py is sent as text: {{include: src/a.py}} puts a file in"),
        ("@pm read @a.py", "@a.py is sent as text: {{include: a.py}} puts a file in"),
        ("--model opus Plan", "--model is sent as text: an option stands right after @agent: @pm --model"),
        ("-m opus Plan", "-m is sent as text: an option stands right after @agent: @pm -m"),
        ("@pm \u2014model opus Plan", "\u2014model is sent as text: write --model"),
        ("@pm --Model opus Plan", "--Model is sent as text: write --model"),
        ("@pm plan it&", "it& is sent as text: & stands alone, behind a blank"),
        ("@pm a\n```\nb", "the fence in line 2 is never closed: all behind it is text"),
    ],
)
def test_a_slip_is_told(source: str, message: str) -> None:
    (slip,) = slips(source)
    assert slip.message.startswith(message)
    assert source[slice(*slip.span)].split(maxsplit=1)[0] in source


def test_an_unknown_variable_is_told_beside_known_ones() -> None:
    (slip,) = slips("@pm use {plan}", ("issues", "fixes"))
    assert slip.message == "{plan} is sent as text; known: {issues}, {fixes}"
    assert slips("@pm use {plan}") == ()
    assert slips("@pm use {issues} {a b} \\{plan}", ("issues",)) == ()


@pytest.mark.parametrize(
    "source",
    [
        "@pm Plan -> @ba Check $pm &",
        "@pm fn() -> int, p->x, a => b, R&D, a@b.com, C:\\dir, {x}, {{ x }}, $HOME, $5, $$pm",
        "@pm \\$PM \\{{ouput:a}} ask \\@ba",
        '@pm\n```\nExplore:"look" -> ba $PM @ba\n```',
        "@pm explain ```php\n$PM -> ba\n```",
        '$ba:"Plan -> ba, ask @pm: it&"',
        "@pm Thanks! See README.md, and git commit -m x &",
        "Plan it -- now",
        "/help",
        '$x := {base: "plan", prompt: "$PM -> ba"}',
    ],
)
def test_what_is_meant_as_text_is_not(source: str) -> None:
    assert slips(source, ("x",) if "{x}" in source else ()) == ()


def test_only_some_are_told() -> None:
    assert len(slips("@pm " + "$PM " * 1000)) == 8


@settings(max_examples=300)
@given(submissions, st.booleans())
def test_any_text_has_an_answer(source: str, known: bool) -> None:
    try:
        statements = parse(source)
    except StatementError:
        return
    for slip in find_slips(source, statements, agents=TEAM, variables=("plan",) if known else ()):
        assert 0 <= slip.span.start < slip.span.end <= len(source)
        assert "\n" not in slip.message
