"""Every error says what is wrong, where, and what to type instead."""

from __future__ import annotations

import re

import pytest

from teambot_tui.language import StatementError, parse
from teambot_tui.language.names import COMMANDS, did_you_mean
from teambot_tui.language.nodes import Span

MEGABYTE = 1_000_000


def error_of(source: str) -> StatementError:
    with pytest.raises(StatementError) as caught:
        parse(source)
    return caught.value


def marked(source: str) -> str:
    """The characters that the carets of the error stand under."""
    error = error_of(source)
    line, caret = error.pointer().split("\n")
    begin = len(caret) - len(caret.lstrip())
    return line[begin : len(caret)]


# What and where


@pytest.mark.parametrize(
    ("source", "line", "column", "message", "spot"),
    [
        ("", 1, 1, "Nothing to send.", ""),
        (" \t\r\n\u00a0\ufeff\n", 1, 1, "Nothing to send.", ""),
        ("@pm", 1, 1, "Expected a task for @pm.", "@pm"),
        ("@pm  \n\n", 1, 1, "Expected a task for @pm.", "@pm"),
        ("  @pm", 1, 3, "Expected a task for @pm.", "@pm"),
        ("@pm,ba", 1, 1, "Expected a task for @pm,ba.", "@pm,ba"),
        ("@pm &", 1, 1, "Expected a task for @pm.", "@pm &"),
        ("@pm -m opus", 1, 1, "Expected a task for @pm.", "@pm -m opus"),
        ("@project_manager", 1, 1, "Expected a task for @pm.", "@project_manager"),
        ("@pm a\n@ba\n@pm b", 2, 1, "Expected a task for @ba.", "@ba"),
        ("@pm a\r\n@ba\r\n@pm b", 2, 1, "Expected a task for @ba.", "@ba"),
        ("&", 1, 1, "Expected a task.", "&"),
        ("-> @ba x", 1, 1, "Expected a task before the arrow.", "-"),
        ("\n  -> @ba x", 2, 3, "Expected a task before the arrow.", "-"),
        ("@pm -m opus -> @ba x", 1, 5, "An empty first stage takes @pm's latest output", "-m opus"),
        ("@Pm x", 1, 1, "@Pm is not an agent's name.", "@Pm"),
        ("@ x", 1, 1, "@ is not an agent's name.", "@"),
        ("@", 1, 1, "@ is not an agent's name.", "@"),
        ("@1 x", 1, 1, "@1 is not an agent's name.", "@1"),
        ("\n\n @builder_1 x", 3, 2, "@builder_1 is not an agent's name.", "@builder_1"),
        ("@pm,Ba x", 1, 5, "Expected an agent id after the comma, not 'Ba'.", "Ba"),
        ("@pm,@Ba x", 1, 5, "Expected an agent id after the comma, not '@Ba'.", "@Ba"),
        ("@pm, @Ba x", 1, 6, "Expected an agent id after the comma, not '@Ba'.", "@Ba"),
        ("@pm,@ x", 1, 5, "Expected an agent id after the comma, not '@'.", "@"),
        ("@pm,1 x", 1, 5, "Expected an agent id after the comma, not '1'.", "1"),
        ("@pm, ba,Writer x", 1, 9, "Expected an agent id after the comma, not 'Writer'.", "Writer"),
        ("@pm x -> @ba,W", 1, 14, "Expected an agent id after the comma, not 'W'.", "W"),
        ("@pm, ", 1, 4, "Expected an agent id after the comma.", ","),
        ("@pm,\n@ba x", 1, 4, "Expected an agent id after the comma.", ","),
        ("@pm,,ba x", 1, 4, "Expected an agent id after the comma.", ","),
        ('@pm,"x"', 1, 4, "Expected an agent id after the comma.", ","),
        ("@pm -m", 1, 5, "Expected the name of a model.", "-m"),
        ("@pm   --model\nopus x", 1, 7, "Expected the name of a model.", "--model"),
        ("@pm --model= ", 1, 5, "Expected the name of a model.", "--model"),
        ("@pm -m==x", 1, 8, "Expected the name of a model, not =x.", "=x"),
        ("@pm -m $ba x", 1, 8, "Expected the name of a model, not $ba.", "$ba"),
        ("@pm -m opus->@ba y", 1, 8, "Expected the name of a model, not opus->@ba.", "opus->@ba"),
        (
            "@pm -m \u201copus\u201d y",
            1,
            8,
            "Expected the name of a model, not \u201copus\u201d.",
            "\u201copus\u201d",
        ),
        ("@pm x -> @ba -m -> @pm y", 1, 17, "Expected the name of a model, not ->.", "->"),
        ('@pm -m "" x', 1, 8, 'Expected the name of a model, not "".', '""'),
        ('@pm -m "opus x', 1, 8, "The quote is never closed.", '"'),
        ("@pm -m 'opus\nx'", 1, 8, "The quote is never closed.", "'"),
        ('@pm -m "opus"x', 1, 14, "Expected a blank after the value.", "x"),
        ("@pm --model opus --model haiku x", 1, 18, "The option --model is given twice.", "--model"),
        ("@pm --model opus -m haiku x", 1, 18, "The option --model is given twice.", "-m"),
        ("@pm --no-model --model haiku x", 1, 16, "The option --model is given twice.", "--model"),
        ("@pm --no-model=x y", 1, 5, "--no-model takes no value.", "--no-model"),
        ("@pm --models opus", 1, 5, "Unknown option: --models. Options: --model", "--models"),
        ("@pm --worktree x", 1, 5, "Unknown option: --worktree.", "--worktree"),
        ("@pm --no-thing x", 1, 5, "Unknown option: --no-thing.", "--no-thing"),
        ("@pm --no-no-model x", 1, 5, "Unknown option: --no-no-model.", "--no-no-model"),
        ("@pm -m opus -x y", 1, 13, "Unknown option: -x.", "-x"),
        ("@pm x -> @ba --modle=y z", 1, 14, "Unknown option: --modle.", "--modle"),
        ('pm:"x":y --modle opus', 1, 10, "Unknown option: --modle.", "--modle"),
        ('pm:"x" -x', 1, 8, "Expected -> or the end after the call.", "-x"),
        ("@pm --model opus", 1, 1, "Expected a task for @pm.", "@pm --model opus"),
        ("/x", 1, 1, "Unknown command: /x.", "/x"),
        ("@pm a\n/nope now", 2, 1, "Unknown command: /nope.", "/nope"),
        ("  /Help", 1, 3, "Unknown command: /Help.", "/Help"),
        ("/help\n/hepl", 2, 1, "Unknown command: /hepl.", "/hepl"),
        ('pm:"x', 1, 4, "The quote is never closed.", '"'),
        ('@pm a\n  -> $x:"y\n\nz', 2, 9, "The quote is never closed.", '"'),
        ('pm:"x\\"', 1, 4, "The quote is never closed.", '"'),
        ('pm:""', 1, 4, "Expected an instruction between the quotes.", '""'),
        ('@pm a -> pm:" \\n "', 1, 13, "Expected an instruction between the quotes.", '" \\n "'),
        ('pm:"x":Plan', 1, 8, "Expected a variable's name after the colon, not 'Plan'.", "Plan"),
        ('pm:"x":1', 1, 8, "Expected a variable's name after the colon, not '1'.", "1"),
        ('pm:"x": plan', 1, 7, "Expected a variable's name after the colon.", ":"),
        ('pm:"x":é', 1, 8, "Expected a variable's name after the colon, not 'é'.", "é"),
        ('pm:"x" now', 1, 8, "Expected -> or the end after the call.", "now"),
        ('pm:"x"now', 1, 7, "Expected -> or the end after the call.", "now"),
        ('pm:"x":plan-b', 1, 12, "Expected -> or the end after the call.", "-b"),
        ('pm:"x":a:b', 1, 9, "Expected -> or the end after the call.", ":b"),
        ('pm:"x" :a', 1, 8, "Expected -> or the end after the call.", ":a"),
        ('pm:"x"\nmore', 2, 1, "Expected -> or the end after the call.", "more"),
        ('pm:"x"\n @ba y', 2, 2, "Expected -> or the end after the call.", "@ba"),
        ('pm:"x"\n```\ny\n```', 2, 1, "Expected -> or the end after the call.", "```"),
        ('pm:"x" -> y', 1, 8, "Expected -> or the end after the call.", "->"),
        ('pm:"x" \\-> @ba y', 1, 8, "Expected -> or the end after the call.", "\\->"),
        ('pm:"x" ->\n$y := {', 1, 8, "Expected -> or the end after the call.", "->"),
        ('pm:"x" & y', 1, 8, "Expected -> or the end after the call.", "&"),
        ('pm:"x" & -> @ba y', 1, 8, "Expected -> or the end after the call.", "&"),
        ('pm:"x" &&', 1, 8, "Expected -> or the end after the call.", "&&"),
        ('pm:"x" "y"', 1, 8, "Expected -> or the end after the call.", '"y"'),
        ('-> pm:"x"', 1, 1, "Expected a task before the arrow.", "-"),
        ("$x :=", 1, 4, "Expected { after :=.", ":="),
        ("@pm a\n$x := 1", 2, 4, "Expected { after :=.", ":="),
        ("$x := {", 1, 7, "The brace is never closed.", "{"),
        ("$x :=\n {base", 2, 2, "The brace is never closed.", "{"),
        ("$x := {base: ", 1, 7, "The brace is never closed.", "{"),
        ('$x := {base: "a" ', 1, 7, "The brace is never closed.", "{"),
        ('$x := {base: "a", ', 1, 7, "The brace is never closed.", "{"),
        ('$x := {base: "a}', 1, 14, "The quote is never closed.", '"'),
        ("$x := {}", 1, 8, "Expected the field base.", "}"),
        ('$x := {prompt: "a"}', 1, 19, "Expected the field base.", "}"),
        ('$x := {base: "a",\n}', 2, 1, "Expected the field prompt.", "}"),
        ('$x := {bass: "a"}', 1, 8, "Unknown field: bass. Fields: base, prompt, model", "bass"),
        ('$x := {"Base": "a"}', 1, 8, "Unknown field: Base.", '"Base"'),
        ('$x := {base: "a", base: "b"}', 1, 19, "The field base is given twice.", "base"),
        ('$x := {base: "a", "base": "b"}', 1, 19, "The field base is given twice.", '"base"'),
        ('$x := {base "a"}', 1, 13, "Expected : after base.", '"a"}'),
        ("$x := {base}", 1, 12, "Expected : after base.", "}"),
        ("$x := {base: plan}", 1, 14, "Expected a text in double quotes for base.", "plan}"),
        ("$x := {base: 'plan'}", 1, 14, "Expected a text in double quotes for base.", "'plan'}"),
        ("$x := {base: , }", 1, 14, "Expected a text in double quotes for base.", ","),
        ('$x := {base: " "}', 1, 14, "The field base is empty.", '" "'),
        ('$x := {base: "\\n"}', 1, 14, "The field base is empty.", '"\\n"'),
        ('$x := {base: "a" prompt: "b"}', 1, 18, "Expected , or } after base.", "prompt:"),
        ('$x := {base: "a"; prompt: "b"}', 1, 17, "Expected , or } after base.", ";"),
        ('$x := {, base: "a"}', 1, 8, "Expected the name of a field.", ","),
        ('$x := {base: "a",, }', 1, 18, "Expected the name of a field.", ","),
        ('$x := {base: "a", $y}', 1, 19, "Expected the name of a field.", "$y}"),
        ('$x := {base: "a", prompt: "b"} go', 1, 32, "Expected the end of the line after", "go"),
        ('$x := {base: "a", prompt: "b"}}', 1, 31, "Expected the end of the line after", "}"),
        ('$x := {base: "a", prompt: "b"} &', 1, 32, "Expected the end of the line after", "&"),
        ('$x := {base: "a", prompt: "b"} -> @ba x', 1, 32, "Expected the end of the line after", "->"),
        ('$x := {base: "a", prompt: "b"}\ngo', 2, 1, "Expected the end of the line after", "go"),
        ('$x := {base: "a", prompt: "b"} @pm x', 1, 32, "Expected the end of the line after", "@pm"),
    ],
)
def test_what_and_where(source: str, line: int, column: int, message: str, spot: str) -> None:
    error = error_of(source)
    assert (error.line, error.column) == (line, column)
    assert error.message.startswith(message)
    assert error.hint
    assert marked(source) == spot
    assert str(error) == f"line {line}, column {column}: {error.message} ({error.hint})"


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("", "try: @pm Plan the release"),
        ("@ba", "try: @ba Plan the release"),
        ("&", "try: @pm Plan the release"),
        ("-> @ba x", "try: @pm Plan -> @builder-1 Build"),
        ("@ba -m opus -> @pm x", "try: @ba -> …, or give @ba a task"),
        ("@PM x", "did you mean @pm?"),
        ("@Builder_1 x", "did you mean @builder-1?"),
        ("@project_manger x", "did you mean @project_manager?"),
        ("@Technical_Writer x", "did you mean @technical_writer?"),
        ("@1 x", "ids are lowercase, like @pm; for a task that begins with @ write \\@"),
        ("@pm,Ba x", "did you mean ba?"),
        ("@pm,@Business_Analyst x", "did you mean business_analyst?"),
        ("@pm, ", "try: @pm,ba Analyse"),
        ("@ba -m", "try: --model opus"),
        ("@ba --modle opus x", "did you mean --model? to send it as text, write \\--modle"),
        ("@ba -m opus -x y", "to send it as text, write \\-x"),
        ("/hepl", "did you mean /help?"),
        ("/Status", "did you mean /status?"),
        ("/reset", "did you mean /reset-agent?"),
        ("/zzz", "/help lists the commands"),
        ("/etc", "for a line that begins with / write \\/"),
        ('x:"y', "put the line between ``` lines"),
        ('x:"y" z', "put the line between ``` lines"),
        ("$x := 1", "write \\$"),
        ('$x:"y', "write \\$"),
        ('@pm a -> x:"y', "write \\->"),
        ('x:"y" -> x:"y" z', "write \\->"),
        ('$x := {promt: "y"}', "did you mean prompt?"),
        ('$x := {"Base": "y"}', "did you mean base?"),
    ],
)
def test_what_to_type_instead(source: str, hint: str) -> None:
    assert hint in error_of(source).hint


@pytest.mark.parametrize(
    "source", ["@1 x", "/etc", "/hepl me", "$x := 1", '$x:"y', '$x:"y" z', '@pm a -> $x:"y']
)
def test_the_way_to_escape_it_works(source: str) -> None:
    escape = re.search(r"\\(\S+)\Z", error_of(source).hint)
    assert escape
    assert parse(source.replace(escape[1], escape[0], 1))


@pytest.mark.parametrize(
    "source", ["@ba", "&", "-> @ba x", "@pm,1 x", "@ba -m", 'ba:""', "$x := {}", '$x := {base: "a", z: "b"}']
)
def test_what_is_suggested_is_accepted(source: str) -> None:
    assert parse(error_of(source).hint.removeprefix("try: "))


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("statsu", "status"),
        ("QUIT", "quit"),
        ("x", None),
        ("", None),
        ("help" + "x" * MEGABYTE, None),
        ("s" * 64, None),
    ],
)
def test_did_you_mean(name: str, near: str | None) -> None:
    assert did_you_mean(name, COMMANDS) == near


# The caret


@pytest.mark.parametrize(
    ("source", "begin", "end", "pointer"),
    [
        ("one two", 4, 7, "one two\n    ^^^"),
        ("one two", 4, 4, "one two\n    ^"),
        ("one two", 7, 7, "one two\n       ^"),
        ("one\ntwo\nthree", 4, 7, "two\n^^^"),
        ("one\ntwo\nthree", 4, 13, "two\n^^^"),
        ("one\ntwo\nthree", 7, 8, "two\n   ^"),
        ("one\r\ntwo", 0, 3, "one\n^^^"),
        ("one\r\ntwo", 0, 8, "one\n^^^"),
        ("", 0, 0, "\n^"),
        ("\n\n", 1, 2, "\n^"),
        ("\ta\tb", 3, 4, " a b\n   ^"),
        ("世界 b", 3, 4, "世界 b\n     ^"),
        ("a 世界", 2, 4, "a 世界\n  ^^^^"),
        ("e\u0301e\u0301 b", 5, 6, "e\u0301e\u0301 b\n   ^"),
        ("❤\ufe0f b", 3, 4, "❤\ufe0f b\n  ^"),
        ("a\x1b[31mb", 6, 7, "a [31mb\n      ^"),
        ("a\u200bb\u00a0c", 4, 5, "a b c\n    ^"),
        ("\ud800b", 1, 2, " b\n ^"),
        ("[/x] b", 5, 6, "[/x] b\n     ^"),
    ],
)
def test_the_caret_stands_under_the_spot(source: str, begin: int, end: int, pointer: str) -> None:
    assert StatementError("No.", source, Span(begin, end), "Yes.").pointer() == pointer


@pytest.mark.parametrize("character", ["a", "世", "\t", "\x00", " "])
@pytest.mark.parametrize("place", [0, 10, MEGABYTE // 2, MEGABYTE - 1])
def test_the_pointer_into_a_long_line_stays_short(character: str, place: int) -> None:
    source = character * place + "X" + character * (MEGABYTE - place - 1)
    error = StatementError("No.", source, Span(place, place + 1), "Yes.")
    line, caret = error.pointer().split("\n")
    assert len(line) <= 80
    assert len(caret) <= 160
    assert caret.strip() == "^"
    before = line[: line.index("X")]
    assert len(caret) - 1 == len(before) + before.count("世")
    assert line.startswith("…") == (place > 36)
    assert error.column == place + 1


def test_a_long_spot_is_cut_at_the_end_of_the_window() -> None:
    error = StatementError("No.", "a" * MEGABYTE, Span(MEGABYTE // 2, MEGABYTE), "Yes.")
    line, caret = error.pointer().split("\n")
    assert line.startswith("…a")
    assert line.endswith("a…")
    assert len(caret) < len(line) <= 80


@pytest.mark.parametrize(
    "source",
    [
        "@" + "A" * MEGABYTE,
        "@pm," + "A" * MEGABYTE,
        "/" + "a" * MEGABYTE,
        "@" + "a" * MEGABYTE,
        "@" + "a" * MEGABYTE + " -m",
        "@" + "a" * MEGABYTE + " -m x -> @ba",
        "@" + ",".join(f"a{number}" for number in range(100_000)),
        "$" + "a" * MEGABYTE + " :=",
        "$" + "a" * MEGABYTE + ':"x',
        '$x:"y" ' + "a" * MEGABYTE,
        '$x:"y":' + "A" * MEGABYTE,
        "$x := {" + "a" * MEGABYTE,
        '$x := {base: "' + "a" * MEGABYTE,
        "$x := {base: " + "a" * MEGABYTE,
        '$x := {base: "a" ' + "a" * MEGABYTE,
        "@" + "_" * MEGABYTE,
        " " * MEGABYTE,
        "x\n" * MEGABYTE + "/nope",
    ],
    ids=lambda source: source[:8],
)
def test_an_error_about_a_megabyte_is_short(source: str) -> None:
    error = error_of(source)
    assert len(str(error)) < 400
    assert len(error.pointer()) < 200


def test_lines_and_columns_are_counted_from_one() -> None:
    error = StatementError("No.", "ab\ncd\n", Span(4, 5), "Yes.")
    assert (error.line, error.column) == (2, 2)
    assert str(error) == "line 2, column 2: No. (Yes.)"
    assert str(StatementError("No.", "x", Span(0, 1))) == "line 1, column 1: No."
