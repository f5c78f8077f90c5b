"""What is coloured is what the parser takes for syntax, and any text has colours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.language import StatementError, parse
from teambot_tui.language.highlight import highlight
from teambot_tui.language.nodes import (
    Capture,
    Code,
    Command,
    Definition,
    Directive,
    Pipeline,
    Reference,
    Variable,
)
from tests.cost import is_linear
from tests.language.weather import submissions

WORDS = [
    "@pm",
    "@ba,",
    "@PM",
    "->",
    "$pm",
    "$builder-1",
    "$$",
    "\\",
    "{",
    "&",
    "/status",
    "/x",
    "```",
    "-m",
    "word",
    "é日",
    ':"',
    ":=",
    "a@b",
]
PIECES = st.sampled_from([*WORDS, " ba", " -> ", "\n", " ", " &", "--model opus", "\t", "\ufeff", "\x1b["])
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=40) | submissions
CALLS = ["{a}", '$a:"x"\n', '$a:"\n```\n', "$a := {"]


def coloured(source: str) -> list[tuple[str, str]]:
    return [(each.kind, source[each.span.start : each.span.end]) for each in highlight(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", []),
        ("plan it", []),
        ("@pm plan", [("agent", "@pm")]),
        ("  @pm plan", [("agent", "@pm")]),
        ("@pm,ba, @writer go", [("agent", "@pm"), ("agent", "ba"), ("agent", "@writer")]),
        ("@project_manager go", [("agent", "@project_manager")]),
        ("ask @ba later, a@b.com", []),
        ("@PM plan", []),
        ("@pm --model opus x", [("agent", "@pm"), ("option", "--model opus")]),
        ("@pm -m 'a b' x", [("agent", "@pm"), ("option", "-m 'a b'")]),
        ("@pm --no-model x", [("agent", "@pm"), ("option", "--no-model")]),
        ("@pm --modle opus x", [("agent", "@pm")]),
        ("@pm \\--model x", [("agent", "@pm"), ("escape", "\\")]),
        (
            'pm:"a":b -m opus &',
            [
                *(("agent", "pm"), ("string", '"a"'), ("variable", "b")),
                *(("option", "-m opus"), ("background", "&")),
            ],
        ),
        (
            "@pm see ```php\n$pm\n```\n$ba",
            [("agent", "@pm"), ("fence", "```php\n$pm\n```"), ("reference", "$ba")],
        ),
        ("@pm $ba.output.", [("agent", "@pm"), ("reference", "$ba.output")]),
        ("@pm -m x -> @ba y", [("agent", "@pm"), ("option", "-m x"), ("arrow", "->"), ("agent", "@ba")]),
        ("git commit -m x", []),
        ("@pm a ->\n  @ba", [("agent", "@pm"), ("arrow", "->"), ("agent", "@ba")]),
        ("fn() -> int, p->x", []),
        ("use $pm's and $ba.", [("reference", "$pm"), ("reference", "$ba")]),
        ("$PM $5 $$pm $snake_case", []),
        ("\\$pm \\{x}", [("escape", "\\$"), ("escape", "\\{")]),
        ("\\\\$pm", [("escape", "\\\\"), ("reference", "$pm")]),
        ("C:\\dir \\n", []),
        ("\\@pm is text", [("escape", "\\")]),
        ("x -> \\@pm", [("escape", "\\")]),
        ("x \\-> @pm", [("escape", "\\->")]),
        ("a\n\\/help", [("escape", "\\")]),
        ("@pm go &", [("agent", "@pm"), ("background", "&")]),
        ("@pm go & \n@ba x", [("agent", "@pm"), ("background", "&"), ("agent", "@ba")]),
        ("@pm R&D & more", [("agent", "@pm")]),
        ("@pm go \\&", [("agent", "@pm"), ("escape", "\\&")]),
        ("@pm $ba&", [("agent", "@pm"), ("reference", "$ba")]),
        ("@pm $ba &", [("agent", "@pm"), ("reference", "$ba"), ("background", "&")]),
        ("/status $pm &", [("command", "/status")]),
        ("/nonsense", []),
        ("/usr/bin is text", []),
        ("/status\n@pm x", [("command", "/status"), ("agent", "@pm")]),
        ("x\n```\n@pm $pm &\n```\n$ba", [("fence", "```\n@pm $pm &\n```"), ("reference", "$ba")]),
        ("x\n```\nnever closed $pm", [("fence", "```\nnever closed $pm")]),
        ("@pm {a} \\{b} {C} {{d}}", [("agent", "@pm"), ("variable", "{a}"), ("escape", "\\{")]),
        (
            "@pm {{ output: ba }} &",
            [("agent", "@pm"), ("directive", "{{ output: ba }}"), ("background", "&")],
        ),
        ("/context {a}", [("command", "/context")]),
        (
            '$ba:"Fix {a}\\n$pm":fixes -> pm:"x" &',
            [
                ("agent", "$ba"),
                ("string", '"Fix '),
                ("variable", "{a}"),
                ("escape", "\\n"),
                ("reference", "$pm"),
                ("string", '"'),
                ("variable", "fixes"),
                ("arrow", "->"),
                ("agent", "pm"),
                ("string", '"x"'),
                ("background", "&"),
            ],
        ),
        ('$ba:"never {a}', [("agent", "$ba"), ("string", '"never '), ("variable", "{a}")]),
        (
            '$x := {base: "a}", "prompt": "{b} $pm",}\n@pm y',
            [
                ("agent", "$x"),
                ("definition", ":="),
                ("definition", "{"),
                ("field", "base"),
                ("string", '"a}"'),
                ("field", '"prompt"'),
                ("string", '"{b} $pm"'),
                ("definition", "}"),
                ("agent", "@pm"),
            ],
        ),
        ('$x := {bass: "a', [("agent", "$x"), ("definition", ":="), ("definition", "{"), ("string", '"a')]),
    ],
)
def test_what_is_syntax(source: str, expected: list[tuple[str, str]]) -> None:
    assert coloured(source) == expected


def test_references_can_be_off() -> None:
    assert highlight("use $pm", references=False) == ()


@given(TEXTS)
def test_any_text_has_ordered_colours_without_overlap(source: str) -> None:
    last = 0
    for each in highlight(source):
        assert last <= each.span.start < each.span.end <= len(source)
        last = each.span.end


@given(TEXTS)
def test_colours_and_meaning_agree(source: str) -> None:
    try:
        statements = parse(source)
    except StatementError:
        return
    found = highlight(source)
    pipelines = [each for each in statements if isinstance(each, Pipeline)]
    parts = [part for pipeline in pipelines for stage in pipeline.stages for part in stage.parts]
    kinds = ("reference", "fence", "variable", "directive", "field")
    of_kind = {kind: [each.span for each in found if each.kind == kind] for kind in kinds}
    assert of_kind["reference"] == [part.span for part in parts if isinstance(part, Reference)]
    assert of_kind["fence"] == [part.span for part in parts if isinstance(part, Code)]
    captures = [stage.capture for pipeline in pipelines for stage in pipeline.stages if stage.capture]
    variables = [part.span for part in (*parts, *captures) if isinstance(part, Variable | Capture)]
    assert of_kind["variable"] == sorted(variables)
    assert of_kind["directive"] == [part.span for part in parts if isinstance(part, Directive)]
    definitions = [each for each in statements if isinstance(each, Definition)]
    assert of_kind["field"] == [field.key_span for each in definitions for field in each.fields]
    assert sum(each.kind == "definition" for each in found) == 3 * len(definitions)
    mentions = {each.name_span for each in definitions} | {
        m.span for pipeline in pipelines for stage in pipeline.stages for m in stage.mentions
    }
    assert mentions <= {each.span for each in found if each.kind == "agent"}
    assert sum(each.kind == "background" for each in found) == sum(each.background for each in pipelines)
    assert sum(each.kind == "command" for each in found) == sum(
        isinstance(each, Command) for each in statements
    )
    arrows = sum(len(pipeline.stages) - 1 for pipeline in pipelines)
    assert sum(each.kind == "arrow" for each in found) == arrows


@pytest.mark.parametrize(
    "piece", ["\\", "$", "@pm,", "-> ", "& ", "```\n", "/a\n", "$pm", " ", "@pm x &\n", *CALLS]
)
def test_much_of_one_thing_is_soon_coloured(piece: str) -> None:
    assert is_linear(lambda size: highlight(piece * (size // len(piece))), 250_000)
