"""Names are offered where the language would read one, best first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.language.complete import complete, rank

TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")
COMMANDS = ("help", "status", "tasks", "task", "retry", "reset-agent")
VARIABLES = ("issues", "fixes", "plan_b")


def at(marked: str) -> tuple[str, tuple[str, ...]] | None:
    """Complete at the bar; return what would be replaced and the candidates."""
    cursor = marked.index("|")
    source = marked.replace("|", "", 1)
    found = complete(
        source, cursor, agents=TEAM, outputs=("pm", "ba"), commands=COMMANDS, variables=VARIABLES
    )
    return None if found is None else (source[found.span.start : found.span.end], found.candidates)


@pytest.mark.parametrize(
    ("marked", "replaced", "first"),
    [
        ("@|", "@", ("@pm", "@ba", "@builder-1", "@builder-2", "@reviewer", "@writer", "@all")),
        ("@b|", "@b", ("@ba", "@builder-1", "@builder-2")),
        ("@B|", "@B", ("@ba", "@builder-1", "@builder-2")),
        ("@b|uild go", "@build", ("@ba", "@builder-1", "@builder-2")),
        ("  @p|", "@p", ("@pm",)),
        ("@b2|", "@b2", ("@builder-2",)),
        ("@pm,|", "", TEAM),
        ("@pm,r|", "r", ("reviewer", "builder-1", "builder-2", "writer")),
        ("@pm, @r|", "@r", ("@reviewer", "@builder-1", "@builder-2", "@writer")),
        ("@pm go -> @wr|", "@wr", ("@writer", "@reviewer")),
        ("@pm go ->\n@wr|", "@wr", ("@writer", "@reviewer")),
        ("@pm go\n@wr|", "@wr", ("@writer", "@reviewer")),
        ("@pm --|", "--", ("--model", "--no-model")),
        ("@pm,ba --m|x y", "--mx", ("--model", "--no-model")),
        ("@pm x -> @ba --no|", "--no", ("--no-model",)),
        ('$ba:"x":y --mo|', "--mo", ("--model", "--no-model")),
        ("use $|", "$", ("$pm", "$ba")),
        ("use ($b|)", "$b", ("$ba",)),
        ("@pm $p|", "$p", ("$pm",)),
        ("/|", "/", tuple(f"/{name}" for name in COMMANDS)),
        ("@pm x\n/st|", "/st", ("/status", "/reset-agent")),
        ("/ra|", "/ra", ("/reset-agent",)),
        ("use {|", "{", ("{issues}", "{fixes}", "{plan_b}")),
        ("use ${i|", "{i", ("{issues}", "{fixes}")),
        ("use {f|oo} now", "{foo}", ("{fixes}",)),
        ("use {f|oo now", "{foo", ("{fixes}",)),
        ("{plan|}", "{plan}", ("{plan_b}",)),
        ('$ba:"Fix {is|', "{is", ("{issues}", "{fixes}")),
        ('$ba:"Fix {is|":fixes', "{is", ("{issues}", "{fixes}")),
        ('$ba:"Use $p|"', "$p", ("$pm",)),
        ('$ba:"x":y -> @w|', "@w", ("@writer", "@reviewer")),
        ('$ba:"x":y\n@w|', "@w", ("@writer", "@reviewer")),
    ],
)
def test_offered(marked: str, replaced: str, first: tuple[str, ...]) -> None:
    assert at(marked) == (replaced, first)


NOWHERE = [
    "|",
    "plan|",
    "ask@b|",
    "a@b|",
    "\\@b|",
    "\\$p|",
    "$$p|",
    "/usr/st|",
    "\\/st|",
    "@zzz|",
    "$zzz|",
    "/zzz|",
    "{zzz|",
    "{{i|",
    "\\{i|",
    "\\${i|",
    "$x := {|",
    '$x := {base: "{i|',
    '$x:"@p|',
    "/context {i|",
    "```\n{i|",
]


@pytest.mark.parametrize(
    "marked",
    [
        *NOWHERE,
        "ask @b|",
        "x /st|",
        "@pm x, b|",
        "```\n@p|",
        "@pm explain ```php\n$p|\n```",
        "@pm use --m|",
        "@pm\n--m|",
        "--m|",
        "```\n$p|\n```",
        "/status $p|",
        "x -> \\@p|",
    ],
)
def test_nothing_offered(marked: str) -> None:
    assert at(marked) is None


def test_prefixes_come_first_then_what_lies_closest() -> None:
    assert rank("re", ["core", "reset", "tree", "retry", "r-x-e"]) == [
        "reset",
        "retry",
        "core",
        "tree",
        "r-x-e",
    ]
    assert rank("", ["b", "a", "b"]) == ["b", "a"]


@given(st.text(alphabet='@$/\\ab-,>` \n1{}:"=', max_size=30), st.integers(-5, 40))
def test_total(source: str, cursor: int) -> None:
    found = complete(source, cursor, agents=TEAM, outputs=TEAM, commands=COMMANDS, variables=VARIABLES)
    if found is not None:
        assert 0 <= found.span.start <= min(max(cursor, 0), len(source)) <= found.span.end <= len(source)
        assert found.candidates
