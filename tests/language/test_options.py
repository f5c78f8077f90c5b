"""How the options of a task are written, and where they are text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teambot_tui.language.nodes import Option, Pipeline, Statement
from teambot_tui.language.options import OPTIONS, OptionKind, written_value
from teambot_tui.language.render import render
from tests.language.build import NOWHERE, call, parsed, pipe, ref, stage, task


def no_model(statement: Statement) -> Statement:
    """The same statement with `--no-model` in its first stage."""
    assert isinstance(statement, Pipeline)
    first, *rest = statement.stages
    off = replace(first, options=(Option("model", None, NOWHERE),))
    return replace(statement, stages=(off, *rest))


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        # A value ends at a blank, and nothing in it is syntax.
        ("@pm --model opus Plan", task("pm", "Plan", model="opus")),
        ("@pm --model=opus Plan", task("pm", "Plan", model="opus")),
        ("@pm -m opus Plan", task("pm", "Plan", model="opus")),
        ("@pm -m=opus Plan", task("pm", "Plan", model="opus")),
        ("@pm -m x$pm{a}&@ba Plan", task("pm", "Plan", model="x$pm{a}&@ba")),
        ("@pm -m a\\b Plan", task("pm", "Plan", model="a\\b")),
        ('@pm -m a"b" Plan', task("pm", "Plan", model='a"b"')),
        # Quotes.
        ('@pm --model "a b" Plan', task("pm", "Plan", model="a b")),
        ('@pm --model="a b" Plan', task("pm", "Plan", model="a b")),
        ("@pm --model 'a b' Plan", task("pm", "Plan", model="a b")),
        ('@pm -m "a \\"b\\" \\\\ \\n $pm" Plan', task("pm", "Plan", model='a "b" \\ \\n $pm')),
        ("@pm -m 'a \\ \"b' Plan", task("pm", "Plan", model='a \\ "b')),
        # Switched off.
        ("@pm --no-model Plan", no_model(task("pm", "Plan"))),
        ("@pm --no-model\nPlan", no_model(task("pm", "Plan"))),
        # Behind an exact call.
        ('pm:"Plan" --model opus', pipe(call("pm", "Plan", model="opus"))),
        (
            '$pm:"Plan":x -m "a b" -> @ba y',
            pipe(call("pm", "Plan", capture="x", model="a b"), stage("ba", "y")),
        ),
        ('pm:"Plan":x --model opus &', pipe(call("pm", "Plan", capture="x", model="opus"), background=True)),
        ('pm:"Plan" --no-model', no_model(pipe(call("pm", "Plan")))),
        # An empty stage has a task: what it receives.
        ("@pm x -> @ba -m opus", pipe(stage("pm", "x"), stage("ba", model="opus"))),
        ("@pm x -> @ba -m opus -> @pm", pipe(stage("pm", "x"), stage("ba", model="opus"), stage("pm"))),
        # Only right after the ids, in the same line.
        ("@pm git commit -m x", task("pm", "git commit -m x")),
        ("@pm\n--model opus Plan", task("pm", "--model opus Plan")),
        ("--model opus Plan", task("", "--model opus Plan")),
        # These are no options.
        ("@pm -- x", task("pm", "-- x")),
        ("@pm --- x", task("pm", "--- x")),
        ("@pm --> x", task("pm", "--> x")),
        ("@pm --x: y", task("pm", "--x: y")),
        ("@pm --1 x", task("pm", "--1 x")),
        ("@pm --Model x", task("pm", "--Model x")),
        ("@pm -x y", task("pm", "-x y")),
        ("@pm -1 y", task("pm", "-1 y")),
        ("@pm -m opus - x", task("pm", "- x", model="opus")),
        ("@pm -m opus -12 x", task("pm", "-12 x", model="opus")),
        # A backslash makes them text.
        ("@pm \\--model opus", task("pm", "--model opus")),
        ("@pm \\--anything", task("pm", "--anything")),
        ("@pm \\-m opus", task("pm", "-m opus")),
        ("@pm \\\\-m opus", task("pm", "\\-m opus")),
        ("@pm \\-x opus", task("pm", "\\-x opus")),
        ("@pm \\-- opus", task("pm", "\\-- opus")),
        ("@pm -m opus \\-x", task("pm", "-x", model="opus")),
        ("@pm -m opus \\--model $ba", task("pm", "--model ", ref("ba"), model="opus")),
        ("@pm a \\--model", task("pm", "a \\--model")),
        ("@pm a -> @ba \\-m", pipe(stage("pm", "a"), stage("ba", "-m"))),
    ],
)
def test_options(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]
    assert parsed(render([statement])) == [statement]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("opus", "opus"),
        ("a b", '"a b"'),
        ('"a"', '"\\"a\\""'),
        ("'a'", "\"'a'\""),
        ("a\\b", "a\\b"),
        ("a \\b", '"a \\\\b"'),
        ("", '""'),
    ],
)
def test_a_value_is_quoted_only_where_it_must_be(value: str, written: str) -> None:
    assert written_value(value) == written


@pytest.mark.parametrize("kind", OPTIONS.values(), ids=OPTIONS)
def test_every_option_of_the_table_can_be_written(kind: OptionKind) -> None:
    for written in (f"--{kind.name} {kind.example}", f"-{kind.letter} {kind.example}", f"--no-{kind.name}"):
        (statement,) = parsed(f"@pm {written} Plan")
        assert isinstance(statement, Pipeline)
        assert [option.name for option in statement.stages[0].options] == [kind.name]
