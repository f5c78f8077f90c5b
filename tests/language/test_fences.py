"""Where a fence opens and closes, and that nothing inside is syntax, whatever the text is made of."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
from hypothesis import given, settings

from teambot_tui.language import StatementError, parse
from teambot_tui.language.nodes import Code, Pipeline, Span
from teambot_tui.language.parser import parse_prompt
from tests.language.build import (
    call,
    code,
    command,
    parsed,
    parts_without_places,
    pipe,
    ref,
    stage,
    task,
    var,
)
from tests.language.weather import fenced_texts


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        # It begins a line: with three or more backticks.
        ("@pm a\n```\n$pm\n```", [task("pm", "a\n", code("```\n$pm\n```"))]),
        ("@pm a\n````py\n$pm\n````", [task("pm", "a\n", code("````py\n$pm\n````"))]),
        ("@pm a\n``\n$pm\n``", [task("pm", "a\n``\n", ref("pm"), "\n``")]),
        # It is closed by the next line that begins with at least as many.
        (
            "@pm a\n````\n```\n$pm\n````\n$ba",
            [task("pm", "a\n", code("````\n```\n$pm\n````"), "\n", ref("ba"))],
        ),
        ("@pm a\n```\n$pm\n`````\n$ba", [task("pm", "a\n", code("```\n$pm\n`````"), "\n", ref("ba"))]),
        ("@pm a\n```\n ```\n$pm", [task("pm", "a\n", code("```\n ```\n$pm"))]),
        ("@pm a\n```\n$pm\n``` $ba -> @ba", [task("pm", "a\n", code("```\n$pm\n``` $ba -> @ba"))]),
        # It begins a line and is never closed.
        ("@pm a\n```\n$pm\n@ba b", [task("pm", "a\n", code("```\n$pm\n@ba b"))]),
        ("@pm a\n````\n$pm\n```\n@ba b", [task("pm", "a\n", code("````\n$pm\n```\n@ba b"))]),
        # It is the last word of a line, with an info word attached.
        ("@pm explain ```php\n$x -> @ba\n```", [task("pm", "explain ", code("```php\n$x -> @ba\n```"))]),
        (
            "@pm explain ```php \n$x\n```\n@ba b",
            [task("pm", "explain ", code("```php \n$x\n```")), task("ba", "b")],
        ),
        ("@pm a\n  ```c++\n@ba\n```", [task("pm", "a\n  ", code("```c++\n@ba\n```"))]),
        ("@pm ```php\n$x\n```", [task("pm", code("```php\n$x\n```"))]),
        ("explain ```php\n$x\n```", [task("", "explain ", code("```php\n$x\n```"))]),
        (
            "@pm a -> @ba explain ```php\n$x\n```\n-> @pm b",
            [pipe(stage("pm", "a"), stage("ba", "explain ", code("```php\n$x\n```")), stage("pm", "b"))],
        ),
        ("@pm explain ````php\n```\n$x\n````", [task("pm", "explain ", code("````php\n```\n$x\n````"))]),
        (
            "/context a ```php\n@pm b\n```\n@ba c",
            [command("context", "a ```php\n@pm b\n```"), task("ba", "c")],
        ),
        # It is not the last word, has no info word, or is attached to another word.
        ("@pm explain ```php now\n$pm", [task("pm", "explain ```php now\n", ref("pm"))]),
        ("@pm explain ```\n$pm\n```", [task("pm", "explain ```\n", ref("pm"), "\n", code("```"))]),
        ("@pm explain x```php\n$pm", [task("pm", "explain x```php\n", ref("pm"))]),
        ("@pm explain ```php`\n$pm", [task("pm", "explain ```php`\n", ref("pm"))]),
        # Another ``` stands in its line.
        ("@pm say ``` and ```php\n$pm", [task("pm", "say ``` and ```php\n", ref("pm"))]),
        (
            "@pm ```a``` and ```php\n$pm\n```",
            [task("pm", "```a``` and ```php\n", ref("pm"), "\n", code("```"))],
        ),
        # No closing line follows.
        ("@pm explain ```php\n$pm", [task("pm", "explain ```php\n", ref("pm"))]),
        ("@pm explain ```php\n$pm\n ```", [task("pm", "explain ```php\n", ref("pm"), "\n ```")]),
        ("@pm explain ````php\n@ba a\n```", [task("pm", "explain ````php"), task("ba", "a\n", code("```"))]),
        ("@pm explain ```php", [task("pm", "explain ```php")]),
        # In a string a fence needs an end, behind which the string goes on.
        (
            'pm:"a ```php\n$x = "y";\n``` {z}":v',
            [pipe(call("pm", "a ", code('```php\n$x = "y";\n```'), " ", var("z"), capture="v"))],
        ),
        ('pm:"a\n````\n"```"\n````"', [pipe(call("pm", "a\n", code('````\n"```"\n````')))]),
        ('pm:"a ```php"\n@ba b', [pipe(call("pm", "a ```php")), task("ba", "b")]),
        ('pm:"a\n```\nb"', [pipe(call("pm", "a\n```\nb"))]),
    ],
)
def test_a_fence(source: str, statements: list[object]) -> None:
    assert parsed(source) == statements


def test_a_fence_in_a_definition_may_have_quotes() -> None:
    (definition,) = parse('$x := {base: "plan", prompt: "Like ```py\nprint("\\n")\n```", model: "m"}')
    assert definition.prompt == 'Like ```py\nprint("\\n")\n```'  # type: ignore[union-attr]


def test_a_file_has_the_same_fences() -> None:
    parts = parse_prompt("See ```py\n{{output:a}}\n```\n{{STDIN}}")
    assert parts_without_places(parts)[1] == code("```py\n{{output:a}}\n```")


def fences_of(text: str) -> list[Span]:
    """The fences of a text, line by line, as the language says."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = []
    number = 0
    while number < len(lines):
        line = lines[number]
        begins = re.match(r"`{3,}", line)
        ends = re.search(r"(?<=\s)(`{3,})[^\s`\"]+\s*\Z", line)
        opening = begins or ends
        if opening is None or (not begins and line.count("```", 0, opening.start())):
            number += 1
            continue
        ticks = begins[0] if begins else opening[1]
        closing = next((at for at in range(number + 1, len(lines)) if lines[at].startswith(ticks)), None)
        if closing is None and not begins:
            number += 1
            continue
        last = len(lines) - 1 if closing is None else closing
        found.append(Span(starts[number] + opening.start(), starts[last + 1] - 1))
        number = last + 1
    return found


@settings(max_examples=500)
@given(fenced_texts)
def test_every_fence_is_found_and_no_other(text: str) -> None:
    assert [part.span for part in parse_prompt(text) if isinstance(part, Code)] == fences_of(text)


@settings(max_examples=300)
@given(fenced_texts)
def test_a_prompt_has_the_fences_of_its_text(text: str) -> None:
    try:
        statements = parse(f"@pm x {text}")
    except StatementError:
        return
    found = [
        part.span
        for statement in statements
        if isinstance(statement, Pipeline)
        for each in statement.stages
        if not each.exact
        for part in each.parts
        if isinstance(part, Code)
    ]
    assert all(isinstance(statement, Pipeline) for statement in statements) <= (
        found == fences_of(f"@pm x {text}")
    )
