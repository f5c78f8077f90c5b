"""What each form of the language means, and what looks like syntax but is text."""

from __future__ import annotations

import pytest

from teambot_tui.language import parse
from teambot_tui.language.names import ALIASES, COMMANDS, is_agent_id
from teambot_tui.language.nodes import Mention, Pipeline, Reference, Span, Statement
from tests.language.build import code, command, parsed, pipe, ref, stage, task, var

TICKS = "```"


# Names


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("pm", True),
        ("a", True),
        ("builder-1", True),
        ("a1-2b-c", True),
        ("all", True),
        ("", False),
        ("1a", False),
        ("-a", False),
        ("a-", False),
        ("a--b", False),
        ("PM", False),
        ("pM", False),
        ("a_b", False),
        ("é", False),
        ("pmé", False),
        ("a b", False),
        ("pm\n", False),
    ],
)
def test_agent_id(name: str, valid: bool) -> None:
    assert is_agent_id(name) is valid


@pytest.mark.parametrize(
    ("alias", "agent"),
    [("project_manager", "pm"), ("business_analyst", "ba"), ("technical_writer", "writer")],
)
def test_an_alias_is_turned_into_the_id_at_once(alias: str, agent: str) -> None:
    assert ALIASES[alias] == agent
    assert parsed(f"@{alias} Go") == [task(agent, "Go")]
    assert parsed(f"@reviewer,{alias} Go") == [task(f"reviewer,{agent}", "Go")]
    assert parsed(f"@reviewer, @{alias} Go") == [task(f"reviewer,{agent}", "Go")]
    assert parsed(f"@{agent},{alias} Go") == [task(agent, "Go")]
    assert parsed(f"Plan -> @{alias}") == [pipe(stage("", "Plan"), stage(agent))]
    assert parsed(f"Plan\n@{alias} Go") == [task("", "Plan"), task(agent, "Go")]
    assert parsed(f"@pm ${alias}") == [task("pm", f"${alias}")]


def test_there_are_three_aliases() -> None:
    assert len(ALIASES) == 3


# Forms


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("@pm Create a plan", task("pm", "Create a plan")),
        ("@builder-1 Build", task("builder-1", "Build")),
        ("@pm,ba Analyse", task("pm,ba", "Analyse")),
        ("@pm,@ba Analyse", task("pm,ba", "Analyse")),
        ("@pm, ba Analyse", task("pm,ba", "Analyse")),
        ("@pm, @ba Analyse", task("pm,ba", "Analyse")),
        ("@pm, \t ba,builder-1 , x", task("pm,ba,builder-1", ", x")),
        ("@pm,\u00a0ba Analyse", task("pm,ba", "Analyse")),
        ("@pm,pm Analyse", task("pm", "Analyse")),
        ("@ba,pm,@ba Analyse", task("ba,pm", "Analyse")),
        ("@all Introduce yourself", task("all", "Introduce yourself")),
        ("@pm,all Go", task("pm,all", "Go")),
        ("@pm\nPlan", task("pm", "Plan")),
        ("@pm\tPlan", task("pm", "Plan")),
        ("@pm\u00a0Plan", task("pm", "Plan")),
        ("@pm  Plan it  \n\n", task("pm", "Plan it")),
        ("@pm- x", task("pm", "- x")),
        ("@pm: Plan", task("pm", ": Plan")),
        ("@pm's plan", task("pm", "'s plan")),
        ("@pm, Analyse it", task("pm", ", Analyse it")),
        ("@pm ,ba", task("pm", ",ba")),
        ("@pm $pm", task("pm", ref("pm"))),
        ("@pm$pm", task("pm", ref("pm"))),
        ("Plan the release", task("", "Plan the release")),
        ("Plan $pm now &", task("", "Plan ", ref("pm"), " now", background=True)),
        ("1,ba x", task("", "1,ba x")),
        ("pm: plan", task("", "pm: plan")),
    ],
)
def test_one_task(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        (
            "@pm Plan -> @builder-1 Build -> @reviewer Review",
            pipe(stage("pm", "Plan"), stage("builder-1", "Build"), stage("reviewer", "Review")),
        ),
        ("@pm,ba Analyse -> @builder-1 Build", pipe(stage("pm,ba", "Analyse"), stage("builder-1", "Build"))),
        ("@pm Plan -> @reviewer", pipe(stage("pm", "Plan"), stage("reviewer"))),
        ("@pm Plan -> @ba,@writer", pipe(stage("pm", "Plan"), stage("ba,writer"))),
        ("@pm -> @ba Summarise", pipe(stage("pm"), stage("ba", "Summarise"))),
        ("@pm,ba -> @writer", pipe(stage("pm,ba"), stage("writer"))),
        ("@pm -> @ba -> @writer x", pipe(stage("pm"), stage("ba"), stage("writer", "x"))),
        ("@pm Plan->@ba Go", pipe(stage("pm", "Plan"), stage("ba", "Go"))),
        ("@pm->@ba Go", pipe(stage("pm"), stage("ba", "Go"))),
        ("@pm Plan\n-> @ba Go", pipe(stage("pm", "Plan"), stage("ba", "Go"))),
        ("@pm Plan ->\n@ba Go", pipe(stage("pm", "Plan"), stage("ba", "Go"))),
        ("@pm Plan ->\r\n@ba Go\r\n-> @pm", pipe(stage("pm", "Plan"), stage("ba", "Go"), stage("pm"))),
        ("@pm Plan -> \n\n \t@ba Go", pipe(stage("pm", "Plan"), stage("ba", "Go"))),
        ("@pm Plan ->\u00a0@ba Go", pipe(stage("pm", "Plan"), stage("ba", "Go"))),
        ("@pm\nPlan\n\n->\n@ba\nGo", pipe(stage("pm", "Plan"), stage("ba", "Go"))),
        ("Plan -> @ba Go", pipe(stage("", "Plan"), stage("ba", "Go"))),
        ("@pm $ba->@ba $pm", pipe(stage("pm", ref("ba")), stage("ba", ref("pm")))),
        ("@pm $builder-1-> @ba x", pipe(stage("pm", ref("builder-1")), stage("ba", "x"))),
        (
            "@pm -m a x -> @ba --model b y",
            pipe(stage("pm", "x", model="a"), stage("ba", "y", model="b")),
        ),
        ("@pm x -> @ba -m b", pipe(stage("pm", "x"), stage("ba", model="b"))),
        ("@pm x -> @ba y &", pipe(stage("pm", "x"), stage("ba", "y"), background=True)),
        ("@pm x -> @ba &", pipe(stage("pm", "x"), stage("ba"), background=True)),
        ("@pm -> @ba &", pipe(stage("pm"), stage("ba"), background=True)),
        ("@pm x & -> @ba y", pipe(stage("pm", "x &"), stage("ba", "y"))),
        ("@pm a --> @ba b", pipe(stage("pm", "a -"), stage("ba", "b"))),
        ("@pm a -> -> @ba b", pipe(stage("pm", "a ->"), stage("ba", "b"))),
    ],
)
def test_pipeline(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]


@pytest.mark.parametrize(
    "text",
    [
        "fn() -> int",
        "p->x",
        "a ->",
        "a -> b",
        "a -> @",
        "a -> @Builder x",
        "a -> @1 x",
        "a -> @builder_1 x",
        "a -> /help",
        "a -> $5",
        "a - > @ba",
        "a -\n> @ba",
        "a → @ba",
        "-> b",
    ],
)
def test_an_arrow_is_text_unless_an_agent_follows(text: str) -> None:
    assert parsed(f"@pm {text}") == [task("pm", text)]


@pytest.mark.parametrize(
    "text",
    [
        "a@b.com",
        "ask @ba later",
        "(@ba)",
        "a\n @ba later",
        "a\n\t@ba later",
        "a\n\u00a0@ba later",
        "a\n-@ba later",
        "a\n@Ba later",
        "a\n@ba_x later",
        "a\n@ later",
        "a\n@",
        "a\r@ba later",
        "a\x0b@ba later",
        "a\u2028@ba later",
        "@ba later",
        "/help",
        "a\n /help",
        "a\n/usr/bin",
        "a\n/help.",
        "a\n/help-2",
        "a\n/",
        "a\n/ x",
        "a\n/-x",
        "a\n/é",
        "a\n//help",
    ],
)
def test_an_at_or_a_slash_is_text_unless_it_begins_a_line(text: str) -> None:
    assert parsed(f"@pm {text}") == [task("pm", text)]


def test_a_path_is_text_from_the_first_word_on() -> None:
    assert parsed("/usr/bin is full") == [task("", "/usr/bin is full")]
    assert parsed("/usr/bin\n/usr-local/x") == [task("", "/usr/bin\n/usr-local/x")]


# Several statements


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        ("@pm a\n@ba b", [task("pm", "a"), task("ba", "b")]),
        ("@pm a\r\n@ba b\r\n", [task("pm", "a"), task("ba", "b")]),
        ("@pm a\n\n\n@ba b", [task("pm", "a"), task("ba", "b")]),
        ("@pm a\nmore\n@ba b\n  more", [task("pm", "a\nmore"), task("ba", "b\n  more")]),
        ("@pm a\r\nmore", [task("pm", "a\r\nmore")]),
        ("hello\n@pm a", [task("", "hello"), task("pm", "a")]),
        ("/help\n@pm a\n/status", [command("help"), task("pm", "a"), command("status")]),
        ("@pm a &\n@ba b", [task("pm", "a", background=True), task("ba", "b")]),
        ("@pm a\n&\n@ba b &", [task("pm", "a", background=True), task("ba", "b", background=True)]),
        ("@pm a\n@pm a", [task("pm", "a"), task("pm", "a")]),
        (
            "@pm a -> @ba b\n@writer c\n-> @pm d",
            [pipe(stage("pm", "a"), stage("ba", "b")), pipe(stage("writer", "c"), stage("pm", "d"))],
        ),
        ("@pm a ->\n/help", [task("pm", "a ->"), command("help")]),
        ("@pm a \\->\n@ba b", [task("pm", "a ->"), task("ba", "b")]),
        ("  @pm a\n@ba b", [task("pm", "a"), task("ba", "b")]),
        ("  @pm a\n  @ba b", [task("pm", "a\n  @ba b")]),
        ("\n\n@pm a", [task("pm", "a")]),
        ("\n\t /help", [command("help")]),
        ("\u00a0@pm a\u00a0", [task("pm", "a")]),
        ("\u2003\u2028@pm a", [task("pm", "a")]),
        ("\ufeff@pm a\n@ba b", [task("pm", "a"), task("ba", "b")]),
        ("\ufeff\r\n  @pm a", [task("pm", "a")]),
        ("\ufeffhello", [task("", "hello")]),
        ("@pm \ufeffa", [task("pm", "\ufeffa")]),
    ],
)
def test_several_statements(source: str, statements: list[Statement]) -> None:
    assert parsed(source) == statements


def test_pasted_text_stays_in_its_prompt() -> None:
    pasted = 'def f() -> int:\n    @x\n    return {"a": 1}["a"] & 3  # R&D -> p->x, mail a@b.com\n\n\n  /help'
    assert parsed(f"@pm Explain:\n{pasted}") == [task("pm", f"Explain:\n{pasted}")]


# Background


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("@pm Plan the release &", task("pm", "Plan the release", background=True)),
        ("@pm a & \n\t", task("pm", "a", background=True)),
        ("@pm a\n&", task("pm", "a", background=True)),
        ("@pm a\u00a0&\u00a0", task("pm", "a", background=True)),
        ("@pm $pm &", task("pm", ref("pm"), background=True)),
        ("@pm,ba a &", task("pm,ba", "a", background=True)),
        ("@pm -m opus a &", task("pm", "a", model="opus", background=True)),
        ("@pm a & &", task("pm", "a &", background=True)),
        ("@pm a \\& &", task("pm", "a \\&", background=True)),
        (f"@pm a\n{TICKS}\nx\n{TICKS}\n&", task("pm", "a\n", code(f"{TICKS}\nx\n{TICKS}"), background=True)),
        ("@pm R&D", task("pm", "R&D")),
        ("@pm a&", task("pm", "a&")),
        ("@pm a &b", task("pm", "a &b")),
        ("@pm a & b", task("pm", "a & b")),
        ("@pm & a", task("pm", "& a")),
        ("@pm a &&", task("pm", "a &&")),
        ("@pm a &.", task("pm", "a &.")),
        ("@pm $pm&", task("pm", ref("pm"), "&")),
        ("@pm a {&", task("pm", "a {&")),
        ("@pm a \\{&", task("pm", "a {&")),
        (f"@pm a\n{TICKS}\nx &\n{TICKS}", task("pm", "a\n", code(f"{TICKS}\nx &\n{TICKS}"))),
        (f"@pm a\n{TICKS}\nx &", task("pm", "a\n", code(f"{TICKS}\nx &"))),
        ("@pm a \\&", task("pm", "a &")),
        ("@pm \\&", task("pm", "&")),
        ("@pm $pm \\&", task("pm", ref("pm"), " &")),
        ("@pm a \\\\&", task("pm", "a \\&")),
        ("@pm a\\&", task("pm", "a\\&")),
        ("@pm \\& a", task("pm", "\\& a")),
        ("@pm a \\& -> @ba b", pipe(stage("pm", "a \\&"), stage("ba", "b"))),
        ("\\&", task("", "&")),
    ],
)
def test_an_ampersand_only_as_the_last_word(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]


# Fences

BLOCK = f"{TICKS}py\n@ba x -> @pm $pm {{x}} \\$pm &\n/help\n$x := {{\n\n{TICKS}"


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        (f"@pm a\n{BLOCK}", [task("pm", "a\n", code(BLOCK))]),
        (f"@pm\n{BLOCK}", [task("pm", code(BLOCK))]),
        (BLOCK, [task("", code(BLOCK))]),
        (f"\n{BLOCK}\n", [task("", code(BLOCK))]),
        (
            f"@pm a\n{BLOCK}\nb $ba\n@ba c",
            [task("pm", "a\n", code(BLOCK), "\nb ", ref("ba")), task("ba", "c")],
        ),
        (f"@pm a\n{BLOCK}\n@ba c", [task("pm", "a\n", code(BLOCK)), task("ba", "c")]),
        (f"@pm a\n{BLOCK}\n-> @ba c", [pipe(stage("pm", "a\n", code(BLOCK)), stage("ba", "c"))]),
        (f"@pm a -> @ba\n{BLOCK}", [pipe(stage("pm", "a"), stage("ba", code(BLOCK)))]),
        (f"@pm\n{BLOCK}\n{BLOCK}", [task("pm", code(BLOCK), "\n", code(BLOCK))]),
        (f"@pm a\n{TICKS}\n@ba b\n/x\n", [task("pm", "a\n", code(f"{TICKS}\n@ba b\n/x\n"))]),
        (f"@pm a\n{TICKS}", [task("pm", "a\n", code(TICKS))]),
        (f"@pm a\n{TICKS}\n{TICKS}", [task("pm", "a\n", code(f"{TICKS}\n{TICKS}"))]),
        (
            f"@pm a\n{TICKS}`x\n@ba\n{TICKS}`\n@ba b",
            [task("pm", "a\n", code(f"{TICKS}`x\n@ba\n{TICKS}`")), task("ba", "b")],
        ),
        (
            f"@pm a\r\n{TICKS}\r\n@ba\r\n{TICKS}\r\n@ba b",
            [task("pm", "a\r\n", code(f"{TICKS}\r\n@ba\r\n{TICKS}\r")), task("ba", "b")],
        ),
        (f"@pm a ->\n{TICKS}\nx\n{TICKS}", [task("pm", "a ->\n", code(f"{TICKS}\nx\n{TICKS}"))]),
        (f"@pm a\n {TICKS}\n@ba b\n {TICKS}", [task("pm", f"a\n {TICKS}"), task("ba", f"b\n {TICKS}")]),
        (f"@pm {TICKS}\n@ba b", [task("pm", TICKS), task("ba", "b")]),
        ("@pm a\n``\n@ba b", [task("pm", "a\n``"), task("ba", "b")]),
        (
            f"/help\n{TICKS}\n@ba b\n\\$x\n{TICKS}\n@pm a",
            [command("help", f"{TICKS}\n@ba b\n\\$x\n{TICKS}"), task("pm", "a")],
        ),
    ],
)
def test_nothing_in_a_fence_is_syntax(source: str, statements: list[Statement]) -> None:
    assert parsed(source) == statements


# Escapes


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("@pm \\$pm", task("pm", "$pm")),
        ("@pm a\\$pm", task("pm", "a$pm")),
        ("@pm \\$PATH", task("pm", "$PATH")),
        ("@pm \\$", task("pm", "$")),
        ("@pm \\${x}", task("pm", "${x}")),
        ("@pm \\\\$pm", task("pm", "\\", ref("pm"))),
        ("@pm \\\\\\$pm", task("pm", "\\$pm")),
        ("@pm \\\\\\\\$pm", task("pm", "\\\\", ref("pm"))),
        ("@pm \\\\$5", task("pm", "\\$5")),
        ("@pm \\$$pm", task("pm", "$", ref("pm"))),
        ("@pm $\\$pm", task("pm", "$$pm")),
        ("@pm \\{x}", task("pm", "{x}")),
        ("@pm \\{{x}}", task("pm", "{{x}}")),
        ("@pm \\\\{x}", task("pm", "\\", var("x"))),
        ("@pm \\\\\\{x}", task("pm", "\\{x}")),
        ("@pm a\n\\$x := 1", task("pm", "a\n$x := 1")),
        ('@pm a\n\\$x:"y"', task("pm", 'a\n$x:"y"')),
        ("@pm a \\-> @ba b", task("pm", "a -> @ba b")),
        ("@pm a \\->\n  @ba b", task("pm", "a ->\n  @ba b")),
        ("@pm a \\\\-> @ba b", pipe(stage("pm", "a \\"), stage("ba", "b"))),
        ("@pm a \\\\\\-> @ba b", task("pm", "a \\-> @ba b")),
        ("@pm a -> \\@ba b", task("pm", "a -> @ba b")),
        ("@pm a ->\n\\@ba b", task("pm", "a ->\n@ba b")),
        ("@pm a -> \\\\@ba b", task("pm", "a -> \\@ba b")),
        ("@pm a \\-> \\@ba b", task("pm", "a \\-> @ba b")),
        ("@pm a\n\\@ba b", task("pm", "a\n@ba b")),
        ("@pm a\n\\\\@ba b", task("pm", "a\n\\@ba b")),
        ("@pm a\n\\\\\\\\@ba b", task("pm", "a\n\\\\@ba b")),
        ("@pm a\n\\/help", task("pm", "a\n/help")),
        ("@pm a\n\\\\/help", task("pm", "a\n\\/help")),
        ("\\@pm a", task("", "@pm a")),
        ("\\@Pm a", task("", "@Pm a")),
        ("\\@", task("", "@")),
        ("\\\\@Pm a", task("", "\\@Pm a")),
        ("  \\@ a", task("", "@ a")),
        ("\\/help", task("", "/help")),
        ("\\/help me", task("", "/help me")),
    ],
)
def test_a_backslash_before_syntax_is_removed(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]


@pytest.mark.parametrize(
    "text",
    [
        r"\n",
        r"C:\dir",
        r"C:\dir\@ba\/help\&x",
        r"\\server",
        r"\\server\share\file",
        r"\\\\",
        "a\\",
        "a \\\\",
        r"\->",
        r"\-> x",
        r"\-> @Ba",
        r"p\->x",
        r"\@ba",
        r"ask \@ba",
        r"\/help",
        "a\n\\@Ba",
        "a\n\\@",
        "a\n \\@ba",
        r"a\&b",
        r"\&b",
        r"\& b",
        "a\n\\/usr/bin",
        "a\n\\```",
        r"\[x\] \( \* \_ \# \` \"",
        "\\\n",
    ],
)
def test_every_other_backslash_is_text(text: str) -> None:
    assert parsed(f"@pm {text}") == [task("pm", text.strip())]


# References


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("@ba $pm", task("ba", ref("pm"))),
        ("@ba $builder-1", task("ba", ref("builder-1"))),
        ("@ba $pm's plan", task("ba", ref("pm"), "'s plan")),
        ("@ba $pm.", task("ba", ref("pm"), ".")),
        ("@ba $pm-", task("ba", ref("pm"), "-")),
        ("@ba $pm--x", task("ba", ref("pm"), "--x")),
        ("@ba $pm-X", task("ba", ref("pm"), "-X")),
        ("@ba ($pm)", task("ba", "(", ref("pm"), ")")),
        ('@ba "$pm"', task("ba", '"', ref("pm"), '"')),
        ("@ba {$pm}", task("ba", "{", ref("pm"), "}")),
        ("@ba a$pm", task("ba", "a", ref("pm"))),
        ("@ba $pm$ba", task("ba", ref("pm"), ref("ba"))),
        ("@ba $pm $ba", task("ba", ref("pm"), " ", ref("ba"))),
        ("@ba $pm and $ba and $pm", task("ba", ref("pm"), " and ", ref("ba"), " and ", ref("pm"))),
        ("@ba $pm:x", task("ba", ref("pm"), ":x")),
        ("@ba $pm := 3", task("ba", ref("pm"), " := 3")),
        ("@ba $pm\n$ba", task("ba", ref("pm"), "\n", ref("ba"))),
        ("@pm improve $pm", task("pm", "improve ", ref("pm"))),
        ("@ba $nonexistent", task("ba", ref("nonexistent"))),
        ("$pm", task("", ref("pm"))),
        ("$pm is late", task("", ref("pm"), " is late")),
        ("@ba $5$pm", task("ba", "$5", ref("pm"))),
    ],
)
def test_reference(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]


@pytest.mark.parametrize(
    "text",
    [
        "$1agent",
        "$PM",
        "$Pm",
        "$$pm",
        "$$$pm",
        "$5",
        "$camelCase",
        "$snake_case",
        "$pm_",
        "$pm2X",
        "$builder-1_x",
        "$",
        "$ pm",
        "$-pm",
        "$_pm",
        "$(pm)",
        "$@ba",
        "a $",
        "$é",
        "＄pm",
    ],
)
def test_no_reference(text: str) -> None:
    assert parsed(f"@ba {text}") == [task("ba", text)]
    assert parsed(f"@ba a -> @pm {text} b") == [pipe(stage("ba", "a"), stage("pm", f"{text} b"))]


def test_each_stage_has_its_own_references() -> None:
    pipeline = pipe(stage("pm,ba", ref("pm")), stage("writer", ref("ba")))
    assert parsed("@pm,ba $pm -> @writer $ba") == [pipeline]


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("@ba Use $pm now", task("ba", "Use $pm now")),
        ("@ba $pm$pm $$pm", task("ba", "$pm$pm $$pm")),
        ("@ba \\$pm", task("ba", "$pm")),
        ("@ba \\\\$pm", task("ba", "\\$pm")),
        ("@ba $pm &", task("ba", "$pm", background=True)),
        ("@ba $pm -> @pm $ba", pipe(stage("ba", "$pm"), stage("pm", "$ba"))),
        ("$pm", task("", "$pm")),
    ],
)
def test_references_can_be_turned_off(source: str, statement: Statement) -> None:
    assert parsed(source, references=False) == [statement]


# Slash commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command(name: str) -> None:
    assert parsed(f"/{name}") == [command(name)]
    assert parsed(f"@pm a\n/{name} b") == [task("pm", "a"), command(name, "b")]


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        ("/help", [command("help")]),
        ("/help  pipelines \n", [command("help", "pipelines")]),
        ("/help\u00a0topic", [command("help", "topic")]),
        ("/cancel pm#1\r\n/quit", [command("cancel", "pm#1"), command("quit")]),
        ("/context key two\nlines", [command("context", "key two\nlines")]),
        ("/use-agent pm", [command("use-agent", "pm")]),
        ("/help $pm -> @ba x &", [command("help", "$pm -> @ba x &")]),
        ("/context a ->\n@ba x", [command("context", "a ->"), task("ba", "x")]),
        ("/context a \\->\n@ba x", [command("context", "a \\->"), task("ba", "x")]),
        ("/context a \\$pm \\{x} \\n \\& \\@pm", [command("context", "a $pm {x} \\n \\& \\@pm")]),
        ("/context a\n\\@ba x\n\\/help", [command("context", "a\n@ba x\n/help")]),
        ("/context a\n\\$x := 1", [command("context", "a\n$x := 1")]),
        ("/save C:\\dir\\plan.md", [command("save", "C:\\dir\\plan.md")]),
        ("/help @ba", [command("help", "@ba")]),
        ("/help -m x", [command("help", "-m x")]),
    ],
)
def test_command(source: str, statements: list[Statement]) -> None:
    assert parsed(source) == statements


# Places


def test_values_carry_their_place() -> None:
    source = "  @pm, ba -m opus Use $ba's \\$5 & -> @technical_writer\n/help me"
    first, second = parse(source)
    assert isinstance(first, Pipeline)

    def at(span: Span) -> str:
        return source[span.start : span.end]

    assert at(first.span) == "@pm, ba -m opus Use $ba's \\$5 & -> @technical_writer\n"
    assert at(second.span) == "/help me"
    one, two = first.stages
    assert at(one.span) == "@pm, ba -m opus Use $ba's \\$5 & "
    assert at(two.span) == "-> @technical_writer\n"
    assert [(each.agent, at(each.span)) for each in one.mentions] == [("pm", "@pm"), ("ba", "ba")]
    assert [at(part.span) for part in one.parts] == ["Use ", "$ba", "'s \\$5 &"]
    assert two.mentions == (Mention("writer", Span(source.index("@tech"), source.index("\n"))),)


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("@pm  a b  ", ["a b"]),
        ("@pm a  &  ", ["a"]),
        ("@pm a \\& ", ["a \\&"]),
        ("@pm \\$a\\{ ", ["\\$a\\{"]),
        ("@pm\n\\@ba x", ["\\@ba x"]),
        ("\\@pm x", ["\\@pm x"]),
        ("@pm $pm &", ["$pm"]),
        (f"@pm a\n{TICKS}\nb\n{TICKS}\n &\n", ["a\n", f"{TICKS}\nb\n{TICKS}"]),
    ],
)
def test_parts_know_the_characters_they_came_from(source: str, places: list[str]) -> None:
    (statement,) = parse(source)
    assert isinstance(statement, Pipeline)
    parts = statement.stages[0].parts
    assert [source[part.span.start : part.span.end] for part in parts] == places


def test_a_duplicate_mention_keeps_its_first_place() -> None:
    (statement,) = parse("@pm,ba,project_manager x $pm")
    assert isinstance(statement, Pipeline)
    assert statement.stages[0].mentions == (Mention("pm", Span(0, 3)), Mention("ba", Span(4, 6)))
    assert statement.stages[0].parts[-1] == Reference("pm", Span(25, 28))


# What resembles a call


@pytest.mark.parametrize(
    "text",
    [
        'Note:"x"',
        'a b:"x"',
        'a\n b:"x"',
        'a\na_b:"x"',
        "a\npm:'x'",
        'a\npm: "x"',
        "a\n$5 := 1",
        "a\n$X := 1",
        "a\nx := 1",
        'a -> B:"x"',
    ],
)
def test_what_only_resembles_a_definition_is_text(text: str) -> None:
    assert parsed(f"@pm {text}") == [task("pm", text)]


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ('@pm a \\-> ba:"x"', task("pm", 'a -> ba:"x"')),
        ('@pm a \\-> $ba:"x"', task("pm", "a -> ", ref("ba"), ':"x"')),
        ('@pm a -> \\$ba:"x"', task("pm", 'a -> $ba:"x"')),
        ('@pm a $ba:"x"', task("pm", "a ", ref("ba"), ':"x"')),
    ],
)
def test_an_exact_call_can_be_escaped(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]
