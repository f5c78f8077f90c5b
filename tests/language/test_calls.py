"""Temporary agents, exact calls, captured variables and directives: what they are, and what is text."""

from __future__ import annotations

import pytest

from teambot_tui.language import parse
from teambot_tui.language.names import is_variable
from teambot_tui.language.nodes import Definition, Part, Pipeline, Span, Statement
from teambot_tui.language.parser import parse_prompt
from tests.language.build import (
    call,
    code,
    command,
    define,
    directive,
    parsed,
    parts_without_places,
    pipe,
    ref,
    stage,
    task,
    var,
)

TICKS = "```"

SECURITY = """\
$security-scanner := {
  base: "general-purpose",
  prompt: "You are a security expert. Focus on OWASP top 10 vulnerabilities.",
  model: "opus"
}
$fixer := {base: "expert-code-implementer", prompt: "Fix security issues while maintaining functionality."}

$security-scanner:"Scan authentication and authorization code":issues ->
$fixer:"Fix the following issues: {issues}":fixes ->
general-purpose:"Verify fixes are complete"
"""


def test_three_agents_look_after_security() -> None:
    assert parsed(SECURITY) == [
        define(
            "security-scanner",
            base="general-purpose",
            prompt="You are a security expert. Focus on OWASP top 10 vulnerabilities.",
            model="opus",
        ),
        define(
            "fixer",
            base="expert-code-implementer",
            prompt="Fix security issues while maintaining functionality.",
        ),
        pipe(
            call("security-scanner", "Scan authentication and authorization code", capture="issues"),
            call("fixer", "Fix the following issues: ", var("issues"), capture="fixes"),
            call("general-purpose", "Verify fixes are complete"),
        ),
    ]
    assert parsed(SECURITY, references=False) == parsed(SECURITY)
    assert parsed(SECURITY.replace("\n", "\r\n")) == parsed(SECURITY)


# Exact calls


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ('pm:"Plan it"', pipe(call("pm", "Plan it"))),
        ('$pm:"Plan it"', pipe(call("pm", "Plan it"))),
        ('  $pm:"Plan it"  \n\n', pipe(call("pm", "Plan it"))),
        ('\ufeffpm:"Plan it"', pipe(call("pm", "Plan it"))),
        ('builder-1:"Plan it":plan', pipe(call("builder-1", "Plan it", capture="plan"))),
        ('pm:"Plan it":a_1', pipe(call("pm", "Plan it", capture="a_1"))),
        ('pm:"  Plan\n\n it "', pipe(call("pm", "  Plan\n\n it "))),
        (
            'pm:"a\n@ba b\n/help\n$x := {\nba:\'"',
            pipe(call("pm", "a\n@ba b\n/help\n", ref("x"), " := {\nba:'")),
        ),
        ('pm:"a -> @ba b & c@d &"', pipe(call("pm", "a -> @ba b & c@d &"))),
        ('pm:"say \\"x\\" and \\\\ and\\nmore"', pipe(call("pm", 'say "x" and \\ and\nmore'))),
        ('pm:"\\\\"', pipe(call("pm", "\\"))),
        ('pm:"\\\\\\""', pipe(call("pm", '\\"'))),
        ('pm:"\\\\n"', pipe(call("pm", "\\n"))),
        ('pm:"C:\\dir \\@ \\\n x"', pipe(call("pm", "C:\\dir \\@ \\\n x"))),
        ('pm:"a $ba\'s"', pipe(call("pm", "a ", ref("ba"), "'s"))),
        ('pm:"\\$ba \\{x} \\${x} \\{{STDIN}}"', pipe(call("pm", "$ba {x} ${x} {{STDIN}}"))),
        ('pm:"\\\\$ba\\\\{x}"', pipe(call("pm", "\\", ref("ba"), "\\", var("x")))),
        ('pm:"\\\\\\$ba"', pipe(call("pm", "\\$ba"))),
        ('pm:"$$ba $5 {{x}} {X} { x }"', pipe(call("pm", "$$ba $5 {{x}} {X} { x }"))),
        ('pm:"{x}"', pipe(call("pm", var("x")))),
        (
            'pm:"{x}{{output:ba}}$ba"',
            pipe(call("pm", var("x"), directive("{{output:ba}}", "output", "ba"), ref("ba"))),
        ),
        ('pm:"a" &', pipe(call("pm", "a"), background=True)),
        ('pm:"a":x&', pipe(call("pm", "a", capture="x"), background=True)),
        ('pm:"a"\n\n & \n', pipe(call("pm", "a"), background=True)),
        ('pm:"a &"', pipe(call("pm", "a &"))),
        ('pm:"a" -> @ba b', pipe(call("pm", "a"), stage("ba", "b"))),
        ('pm:"a"->@ba b', pipe(call("pm", "a"), stage("ba", "b"))),
        ('pm:"a":x->ba:"b":y', pipe(call("pm", "a", capture="x"), call("ba", "b", capture="y"))),
        ('pm:"a"\n-> $ba:"b"', pipe(call("pm", "a"), call("ba", "b"))),
        ('pm:"a" ->\n\n  $ba:"b"', pipe(call("pm", "a"), call("ba", "b"))),
        ('pm:"a"\n->\nba:"b" &', pipe(call("pm", "a"), call("ba", "b"), background=True)),
        ('pm:"a" -> @ba', pipe(call("pm", "a"), stage("ba"))),
        ('pm:"a" -> @ba -m opus &', pipe(call("pm", "a"), stage("ba", model="opus"), background=True)),
        ('@pm a -> ba:"b"', pipe(stage("pm", "a"), call("ba", "b"))),
        ('@pm,ba {x} -> $ba:"b" -> @pm', pipe(stage("pm,ba", var("x")), call("ba", "b"), stage("pm"))),
        ('@pm -> ba:"b"', pipe(stage("pm"), call("ba", "b"))),
        ('Plan\n-> builder-1:"Fix"', pipe(stage("", "Plan"), call("builder-1", "Fix"))),
        ('@pm a & -> ba:"b"', pipe(stage("pm", "a &"), call("ba", "b"))),
        ('all:"x"', pipe(call("all", "x"))),
    ],
)
def test_call(source: str, statement: Statement) -> None:
    assert parsed(source) == [statement]


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        ('pm:"a"\nba:"b"', [pipe(call("pm", "a")), pipe(call("ba", "b"))]),
        ('pm:"a" &\n@ba b', [pipe(call("pm", "a"), background=True), task("ba", "b")]),
        ('@pm a\npm:"b"\n/help', [task("pm", "a"), pipe(call("pm", "b")), command("help")]),
        ('/help\n$pm:"b":x', [command("help"), pipe(call("pm", "b", capture="x"))]),
        ('pm:"a\n"\n\n\n@ba b', [pipe(call("pm", "a\n")), task("ba", "b")]),
        ('pm:"a"\n-> @ba b\nc', [pipe(call("pm", "a"), stage("ba", "b\nc"))]),
    ],
)
def test_calls_among_statements(source: str, statements: list[Statement]) -> None:
    assert parsed(source) == statements


@pytest.mark.parametrize(
    ("string", "parts"),
    [
        (f"a\n{TICKS}\n$ba {{x}}\n{TICKS}\nb", ["a\n", code(f"{TICKS}\n$ba {{x}}\n{TICKS}"), "\nb"]),
        (f'a\n{TICKS}py\n"x\\n"\n{TICKS}', ["a\n", code(f'{TICKS}py\n"x\\n"\n{TICKS}')]),
        (f"a\n{TICKS}\n{TICKS}` $ba", ["a\n", code(f"{TICKS}\n{TICKS}`"), " ", ref("ba")]),
        (f"{TICKS}\n$ba", [f"{TICKS}\n", ref("ba")]),
        (f"a\n{TICKS}\n$ba", [f"a\n{TICKS}\n", ref("ba")]),
        (f"a\\n{TICKS}\n$ba\\n{TICKS}", [f"a\n{TICKS}\n", ref("ba"), f"\n{TICKS}"]),
        (f"a\\\n{TICKS}\n$ba\n{TICKS}", ["a\\\n", code(f"{TICKS}\n$ba\n{TICKS}")]),
    ],
)
def test_a_fence_in_an_instruction(string: str, parts: list[str | Part]) -> None:
    assert parsed(f'pm:"{string}":x') == [pipe(call("pm", *parts, capture="x"))]
    assert parsed(f'@ba b -> pm:"{string}"\n@ba c') == [
        pipe(stage("ba", "b"), call("pm", *parts)),
        task("ba", "c"),
    ]


def test_references_in_a_call_can_be_turned_off() -> None:
    assert parsed('$pm:"a $ba {x}"', references=False) == [pipe(call("pm", "a $ba ", var("x")))]


# Definitions


@pytest.mark.parametrize(
    ("source", "definition"),
    [
        ('$x := {base: "plan", prompt: "Be"}', define("x", base="plan", prompt="Be")),
        ('$x:={base:"plan",prompt:"Be"}', define("x", base="plan", prompt="Be")),
        ('$x\t:= {base: "plan", prompt: "Be"} \n\n', define("x", base="plan", prompt="Be")),
        ('  $x :=\n{\n"base"\n:\n"plan"\n,\nprompt: "Be"\n,\n}', define("x", base="plan", prompt="Be")),
        ('$x := {"prompt": "Be", "base": "Plan",}', define("x", prompt="Be", base="Plan")),
        ('$x := {model: "m", prompt: "p", base: "b"}', define("x", model="m", prompt="p", base="b")),
        (
            '$a-1 := {base: "b", prompt: "a}\n@pm b, {c: \\"d\\"}\\n\\\\ \\q $pm {x}"}',
            define("a-1", base="b", prompt='a}\n@pm b, {c: "d"}\n\\ \\q $pm {x}'),
        ),
        (
            f'$x := {{base: "b", prompt: "a\n{TICKS}\n"}}"\\n\n{TICKS}\nb"}}',
            define("x", base="b", prompt=f'a\n{TICKS}\n"}}"\\n\n{TICKS}\nb'),
        ),
        (f'$x := {{base: "b", prompt: "{TICKS}\n"}}', define("x", base="b", prompt=f"{TICKS}\n")),
    ],
)
def test_definition(source: str, definition: Definition) -> None:
    for references in (True, False):
        assert parsed(source, references=references) == [definition]
        assert parsed(f"@pm a\n{source.strip()}\n@pm b", references=references) == [
            task("pm", "a"),
            definition,
            task("pm", "b"),
        ]


def test_a_definition_tells_its_fields() -> None:
    first, second = parse('$x := {base: "Plan", prompt: "p"}\n$y := {model: "m", prompt: "q", base: "x"}')
    assert isinstance(first, Definition)
    assert isinstance(second, Definition)
    assert (first.base, first.prompt, first.model) == ("Plan", "p", None)
    assert (second.base, second.prompt, second.model) == ("x", "q", "m")


def test_values_carry_their_place() -> None:
    source = '\n$x := { "base": "p\\n", prompt: "q" }\n\n@pm a -> $x:"b {c}\\"":d &\n/help'
    definition, pipeline, _ = parse(source)

    def at(span: Span) -> str:
        return source[span.start : span.end]

    assert isinstance(definition, Definition)
    assert at(definition.span) == '$x := { "base": "p\\n", prompt: "q" }\n\n'
    assert at(definition.name_span) == "$x"
    assert [at(field.key_span) for field in definition.fields] == ['"base"', "prompt"]
    assert [at(field.value_span) for field in definition.fields] == ['"p\\n"', '"q"']
    assert isinstance(pipeline, Pipeline)
    assert at(pipeline.span) == '@pm a -> $x:"b {c}\\"":d &\n'
    _, exact = pipeline.stages
    assert at(exact.span) == '-> $x:"b {c}\\"":d &\n'
    assert at(exact.mentions[0].span) == "$x"
    assert [at(part.span) for part in exact.parts] == ["b ", "{c}", '\\"']
    assert exact.capture
    assert at(exact.capture.span) == "d"


# Variables


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{x}", [var("x")]),
        ("a{x_1}b", ["a", var("x_1"), "b"]),
        ("{x}{y}", [var("x"), var("y")]),
        ("${x}", ["$", var("x")]),
        ("$ba{x}", [ref("ba"), var("x")]),
        ('{"a": {x}}', ['{"a": ', var("x"), "}"]),
        ("{ {x} }", ["{ ", var("x"), " }"]),
        ("\\\\{x}", ["\\", var("x")]),
        ("\\\\${x}", ["\\$", var("x")]),
        ("{x\\}", ["{x\\}"]),
        ("\\{x}", ["{x}"]),
        ("\\${x}", ["${x}"]),
        ("\\{{x}}", ["{{x}}"]),
        ("{\\{x}}", ["{{x}}"]),
        ("{{x}}", ["{{x}}"]),
        ("{{x}", ["{{x}"]),
        ("{{{x}}}", ["{{{x}}}"]),
        ("{}", ["{}"]),
        ("{X}", ["{X}"]),
        ("{1}", ["{1}"]),
        ("{x-y}", ["{x-y}"]),
        ("{ x }", ["{ x }"]),
        ("{x y}", ["{x y}"]),
        ("{xé}", ["{xé}"]),
        ("{x\n}", ["{x\n}"]),
        ("{x", ["{x"]),
        ("x}", ["x}"]),
        ("{$ba}", ["{", ref("ba"), "}"]),
    ],
)
def test_variable(text: str, parts: list[str | Part]) -> None:
    assert parsed(f"@pm {text}") == [task("pm", *parts)]
    assert parsed(text) == [task("", *parts)]
    assert parsed(f"@pm {text} &\n@ba y") == [task("pm", *parts, background=True), task("ba", "y")]
    assert parsed(f"@pm a -> @ba {text} -> @pm") == [pipe(stage("pm", "a"), stage("ba", *parts), stage("pm"))]
    assert parsed(f"@pm\n{TICKS}\n{text}\n{TICKS}") == [task("pm", code(f"{TICKS}\n{text}\n{TICKS}"))]


def test_a_command_knows_no_variables() -> None:
    assert parsed("/context a {x} \\{{y}} {{STDIN}}") == [command("context", "a {x} {{y}} {{STDIN}}")]


def test_an_ampersand_behind_a_variable() -> None:
    assert parsed("@pm {x}&") == [task("pm", var("x"), "&")]
    assert parsed("@pm {{STDIN}} \\&") == [task("pm", directive("{{STDIN}}", "stdin"), " &")]


@pytest.mark.parametrize(
    ("name", "valid"), [("a", True), ("a_1", True), ("", False), ("A", False), ("_a", False), ("a-b", False)]
)
def test_a_variables_name(name: str, valid: bool) -> None:
    assert is_variable(name) is valid


# Directives


@pytest.mark.parametrize(
    ("text", "kind", "argument"),
    [
        ("{{output:planner}}", "output", "planner"),
        ("{{ output: planner }}", "output", "planner"),
        ("{{\toutput :\u00a0pm#1 }}", "output", "pm#1"),
        ("{{Output:planner}}", "output", "planner"),
        ("{{input:plan}}", "input", "plan"),
        ("{{include: path.md}}", "include", "path.md"),
        ("{{include: ../a b/c:d $pm -> @ba & .md}}", "include", "../a b/c:d $pm -> @ba & .md"),
        ("{{STDIN}}", "stdin", ""),
        ("{{ stdin }}", "stdin", ""),
    ],
)
def test_directive(text: str, kind: str, argument: str) -> None:
    found = directive(text, kind, argument)
    assert parsed(f"@pm {text}") == [task("pm", found)]
    assert parsed(f"@pm a{text}}} &") == [task("pm", "a", found, "}", background=True)]
    assert parsed(f"@pm a -> @ba {text} -> @pm") == [pipe(stage("pm", "a"), stage("ba", found), stage("pm"))]
    assert parsed(f'pm:"{text}":x') == [pipe(call("pm", found, capture="x"))]
    assert parsed(f"@pm ${text}") == [task("pm", "$", found)]
    assert parsed(f"@pm \\\\{text}") == [task("pm", "\\", found)]
    assert parsed(f"@pm x\n{TICKS}\n{text}") == [task("pm", "x\n", code(f"{TICKS}\n{text}"))]


@pytest.mark.parametrize(
    "text",
    [
        "{{output:}}",
        "{{output: }}",
        "{{output}}",
        "{{ include:\npath.md}}",
        "{{include: a\nb}}",
        "{{include: a{b}}}",
        '{{include: "a"}}',
        "{{include: a\\b}}",
        "{{STDIN:x}}",
        "{{STD IN}}",
        "{{ſtdin}}",
        "{{outputs:x}}",
        "{{x}}",
        "{{ user.name | upper }}",
        "{{#each items}}{{this}}{{/each}}",
        "{{{output:x}}}",
        "{output:x}",
        "{ {output:x}}",
        "{{output:x}",
        "{{",
        "}}",
        "{% if x %}",
    ],
)
def test_no_directive(text: str) -> None:
    text = text.replace("{b}", "{B}")
    assert parsed(f"@pm {text}") == [task("pm", text)]


def test_an_escaped_directive() -> None:
    assert parsed("@pm \\{{output:$ba}} \\{{STDIN}}") == [
        task("pm", "{{output:", ref("ba"), "}} {{STDIN}}"),
    ]


# Prompt files


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        (" \n", [" \n"]),
        (" a\n\n", [" a\n\n"]),
        ("@pm a -> @ba b &\n", ["@pm a -> @ba b &\n"]),
        ('/help\npm:"x":y\n$x', ['/help\npm:"x":y\n', ref("x")]),
        ('$x := {y}\n$x:"z"', [ref("x"), " := ", var("y"), "\n", ref("x"), ':"z"']),
        ("\\@pm \\-> @ba \\& \\/help \\n \\\\", ["\\@pm \\-> @ba \\& \\/help \\n \\\\"]),
        ("\\$pm \\\\$pm \\{x} \\\\{x} $$x", ["$pm \\", ref("pm"), " {x} \\", var("x"), " $$x"]),
        ("{{include: a}}\n", [directive("{{include: a}}", "include", "a"), "\n"]),
        (f"{TICKS}\n$x {{y}}\n{TICKS}\n$x", [code(f"{TICKS}\n$x {{y}}\n{TICKS}"), "\n", ref("x")]),
        ("\\{{STDIN}} {{x}}", ["{{STDIN}} {{x}}"]),
    ],
)
def test_prompt_file(text: str, parts: list[str | Part]) -> None:
    assert parts_without_places(parse_prompt(text)) == list(stage("", *parts).parts)


def test_references_of_a_prompt_file_can_be_turned_off() -> None:
    assert parts_without_places(parse_prompt("a $pm {x}", references=False)) == list(
        stage("", "a $pm ", var("x")).parts
    )
