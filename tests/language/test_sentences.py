"""Each sentence that says what may be typed, with what it means: one table to hold against the parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teambot_tui.language import StatementError
from tests.language.build import call, code, command, define, parsed, pipe, ref, stage, task, var

if TYPE_CHECKING:
    from teambot_tui.language.nodes import Statement

SENTENCES: dict[str, list[tuple[str, list[Statement]]]] = {
    "an id is groups of letters and digits, joined by single hyphens": [
        ("@builder-1 Go", [task("builder-1", "Go")]),
        ("@a1-2b-c Go", [task("a1-2b-c", "Go")]),
        ("@pm- Go", [task("pm", "- Go")]),
    ],
    "a trailing hyphen is never part of an id": [("@ba $pm- x", [task("ba", ref("pm"), "- x")])],
    "an alias is turned into the id at once": [
        ("@project_manager,technical_writer Go", [task("pm,writer", "Go")])
    ],
    "the same task to several agents": [
        ("@pm,ba Analyse", [task("pm,ba", "Analyse")]),
        ("@pm,@ba Analyse", [task("pm,ba", "Analyse")]),
        ("@pm, ba Analyse", [task("pm,ba", "Analyse")]),
    ],
    "every agent of the team": [("@all Introduce yourself", [task("all", "Introduce yourself")])],
    "a pipeline": [
        (
            "@pm Plan -> @builder-1 Build -> @reviewer Review",
            [pipe(stage("pm", "Plan"), stage("builder-1", "Build"), stage("reviewer", "Review"))],
        ),
        ("@pm,ba Analyse -> @ba Build", [pipe(stage("pm,ba", "Analyse"), stage("ba", "Build"))]),
    ],
    "an empty last stage": [("@pm Plan -> @reviewer", [pipe(stage("pm", "Plan"), stage("reviewer"))])],
    "an empty first stage": [("@pm -> @ba Sum up", [pipe(stage("pm"), stage("ba", "Sum up"))])],
    "a reference": [("@ba Implement $pm", [task("ba", "Implement ", ref("pm"))])],
    "background": [("@pm Plan &", [task("pm", "Plan", background=True)])],
    "an option": [
        ("@pm --model opus Plan", [task("pm", "Plan", model="opus")]),
        ("@pm git commit -m x", [task("pm", "git commit -m x")]),
    ],
    "the person is written like an agent": [
        ("@pm Plan -> @me Good?", [pipe(stage("pm", "Plan"), stage("me", "Good?"))])
    ],
    "no @ goes to the default agent, with everything else still working in it": [
        ("Plan $ba -> @pm x &", [pipe(stage("", "Plan ", ref("ba")), stage("pm", "x"), background=True)])
    ],
    "a line begins a statement in column 1 with @id, /word, $name := or name:quote": [
        ("@pm a\n@ba b", [task("pm", "a"), task("ba", "b")]),
        ("@pm a\n/help", [task("pm", "a"), command("help")]),
        ('@pm a\n$x := {base: "b", prompt: "p"}', [task("pm", "a"), define("x", base="b", prompt="p")]),
        ('@pm a\n$x:"b"', [task("pm", "a"), pipe(call("x", "b"))]),
        ('@pm a\nx:"b"', [task("pm", "a"), pipe(call("x", "b"))]),
    ],
    "any other line continues the one before": [
        ("@pm a\n @ba b", [task("pm", "a\n @ba b")]),
        ("@pm a\n/usr/bin\n/x1", [task("pm", "a\n/usr/bin\n/x1")]),
        ("@pm a\n- b\n\nc", [task("pm", "a\n- b\n\nc")]),
        ("/usr/bin is full", [task("", "/usr/bin is full")]),
    ],
    "a line that ends or begins with an arrow continues the pipeline": [
        ("@pm a ->\n@ba b", [pipe(stage("pm", "a"), stage("ba", "b"))]),
        ("@pm a\n-> @ba b", [pipe(stage("pm", "a"), stage("ba", "b"))]),
    ],
    "an arrow is syntax only before @id or an exact call": [
        ("@pm fn() -> int, p->x", [task("pm", "fn() -> int, p->x")]),
        ("@pm a->@ba b", [pipe(stage("pm", "a"), stage("ba", "b"))]),
        ('@pm a -> x:"b"', [pipe(stage("pm", "a"), call("x", "b"))]),
    ],
    "& only as the last word of a statement": [
        ("@pm R&D & more", [task("pm", "R&D & more")]),
        ("@pm it&", [task("pm", "it&")]),
    ],
    "@ only at the start of a statement or stage": [
        ("@pm a@b.com ask @ba later", [task("pm", "a@b.com ask @ba later")])
    ],
    "inside a fence nothing is syntax": [
        (
            "@pm a\n```\n@ba $pm {x} {{STDIN}} -> @ba &\n```",
            [task("pm", "a\n", code("```\n@ba $pm {x} {{STDIN}} -> @ba &\n```"))],
        )
    ],
    "a backslash makes what follows literal": [
        (r"@pm \$pm \$PATH \{x}", [task("pm", "$pm $PATH {x}")]),
        ("\\@pm a\n\\@ba\n\\/help \\&", [task("", "@pm a\n@ba\n/help &")]),
        (r"@pm a \-> x:" + '"b"', [task("pm", 'a -> x:"b"')]),
        (r"@pm \--model a", [task("pm", "--model a")]),
        (r"@pm \-m a", [task("pm", "-m a")]),
        (r"@pm \\$ba", [task("pm", "\\", ref("ba"))]),
    ],
    "every other backslash is text": [(r"@pm \n C:\dir \\server", [task("pm", r"\n C:\dir \\server")])],
    "a reference may name a part": [
        ("@ba $pm.output", [task("ba", ref("pm", "output"))]),
        ("@ba $builder-1.diff, $pm.files", [task("ba", ref("builder-1", "diff"), ", ", ref("pm", "files"))]),
        ("@ba $pm.output.", [task("ba", ref("pm", "output"), ".")]),
        ("@ba $pm.", [task("ba", ref("pm"), ".")]),
        ("@ba $pm.outputs $pm.diff-x", [task("ba", ref("pm"), ".outputs ", ref("pm"), ".diff-x")]),
        ("@ba $pm.diff_ $pm.md", [task("ba", ref("pm"), ".diff_ ", ref("pm"), ".md")]),
    ],
    "these are no references": [
        (f"@ba {text}", [task("ba", text)])
        for text in ("$1agent", "$PM", "$$pm", "$5", "$camelCase", "$snake_case", "$")
    ],
    "references work in every form": [
        ("@ba,pm $x &", [task("ba,pm", ref("x"), background=True)]),
        ("@ba $x -> @pm $y", [pipe(stage("ba", ref("x")), stage("pm", ref("y")))]),
        ("use $x", [task("", "use ", ref("x"))]),
        ('ba:"use $x"', [pipe(call("ba", "use ", ref("x")))]),
    ],
    "keys may be bare or quoted, strings may span lines and contain }": [
        (
            '$x := {\n  "base": "b",\n  prompt: "say \\"a\\", \\\\, }\\n\nb",\n}',
            [define("x", base="b", prompt='say "a", \\, }\n\nb')],
        )
    ],
    "an exact call captures its output": [
        (
            '$s:"Scan":issues ->\n$f:"Fix {issues}":fixes ->\ngeneral-purpose:"Verify"',
            [
                pipe(
                    call("s", "Scan", capture="issues"),
                    call("f", "Fix ", var("issues"), capture="fixes"),
                    call("general-purpose", "Verify"),
                )
            ],
        )
    ],
}
REFUSED = {
    "a variable is [a-z][a-z0-9_]*": ['pm:"x":Plan', 'pm:"x":1', 'pm:"x":'],
    "an unknown option": ["@pm --modle x y", "@pm -m a -x b", 'pm:"x" --worktree'],
    "an option twice": ["@pm -m a --model b x"],
    "options without a task": ["@pm -m a", "@pm -m a -> @ba x"],
    "an unknown command": ["/hlep"],
    "an unknown or missing field": ['$x := {base: "b"}', '$x := {bass: "b", prompt: "p"}'],
}


@pytest.mark.parametrize(
    ("source", "statements"),
    [each for examples in SENTENCES.values() for each in examples],
    ids=[
        f"{sentence}-{number}" for sentence, examples in SENTENCES.items() for number in range(len(examples))
    ],
)
def test_what_may_be_typed(source: str, statements: list[Statement]) -> None:
    assert parsed(source) == statements


@pytest.mark.parametrize("source", [each for examples in REFUSED.values() for each in examples])
def test_what_is_refused_says_where_and_what_to_type(source: str) -> None:
    with pytest.raises(StatementError) as refused:
        parsed(source)
    assert refused.value.hint
    assert source[slice(*refused.value.span)]
