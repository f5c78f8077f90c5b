"""Temporary agents and variables when they are accepted: what they become, and every reason to refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.facts import AgentDefined, TaskCreated
from teambot_tui.language.errors import StatementError
from tests.engine.bench import Bench, PolicyFields

DEFINED = '$scanner := {base: "general-purpose", prompt: "You look.", model: "opus"}'


class Recruiting(Bench):
    """A bench whose roster follows who joins."""

    def __init__(self, *statements: str, **policy: Unpack[PolicyFields]) -> None:
        super().__init__(**policy)
        self.roster = replace(self.roster, bases=("general-purpose", "plan"))
        for text in statements:
            self.act(text)

    def act(self, action: str) -> list[str]:
        if not action.startswith("$") and ":" not in action.split(maxsplit=1)[0]:
            return super().act(action)
        facts = self.resolve(action)
        for fact in facts:
            if isinstance(fact, AgentDefined):
                self.roster = self.roster.with_agents(fact)
        return [line for fact in facts for line in self.report(fact)]


def tasks(bench: Bench, text: str) -> list[str]:
    """Return the tasks a text would make: `ba#1 <- {x}=pm#1, after pm=pm#1`."""
    lines: list[str] = []
    for fact in bench.resolve(text):
        if isinstance(fact, TaskCreated):
            named = {Via.REFERENCE: "${}", Via.VARIABLE: "{{{1}}}", Via.HANDOFF: "-> {}"}
            sources = ", ".join(
                named.get(each.via, "after {}").format(each.agent, each.name) + f"={each.task}"
                for each in fact.dependencies
            )
            lines.append(f"{fact.task} <- {sources}" if sources else fact.task)
    return lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DEFINED, [("scanner", "general-purpose", "You look.", "opus")]),
        ('$x := {prompt: "p", base: "PLAN"}', [("x", "plan", "p", None)]),
        ('$x := {"base": "pm", "prompt": "a\\n\\"b\\" }"}', [("x", "pm", 'a\n"b" }', None)]),
        (
            '$x := {base: "pm", prompt: "p"}\n$y := {base: "x", prompt: "q"}',
            [("x", "pm", "p", None), ("y", "x", "q", None)],
        ),
        ('general-purpose:"Do it"', [("general-purpose", "general-purpose", "", None)]),
        ('pm:"Do it"', []),
    ],
)
def test_what_joins(text: str, expected: list[tuple[str, str, str, str | None]]) -> None:
    facts = [fact for fact in Recruiting().resolve(text) if isinstance(fact, AgentDefined)]
    assert [(fact.agent, fact.base, fact.prompt, fact.model) for fact in facts] == expected


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ([], f"{DEFINED}\n@scanner Look -> @pm Plan", ["scanner#1", "pm#1 <- -> scanner=scanner#1"]),
        ([DEFINED], '$scanner:"Look":x -> pm:"Use {x}"', ["scanner#1", "pm#1 <- {x}=scanner#1"]),
        ([DEFINED], 'scanner:"Look":x -> @pm Use {x}', ["scanner#1", "pm#1 <- {x}=scanner#1"]),
        ([DEFINED], '$scanner:"Look":x -> pm:"Go on"', ["scanner#1", "pm#1 <- after scanner=scanner#1"]),
        ([DEFINED], '$scanner:"Look" -> pm:"Use $scanner"', ["scanner#1", "pm#1 <- $scanner=scanner#1"]),
        ([DEFINED, '$scanner:"Look":x'], "@pm Use {x} and {y}", ["pm#1 <- {x}=scanner#1"]),
        (['pm:"A":x', 'ba:"B":x'], "@writer Use {x}", ["writer#1 <- {x}=ba#1"]),
        (
            ['pm:"A":x', "complete pm#1 out", 'ba:"B":x', "cancel ba#1"],
            "@writer {x}",
            ["writer#1 <- {x}=pm#1"],
        ),
        (['pm:"A":x', 'ba:"B":x', "cancel ba#1"], "@writer {x}", ["writer#1 <- {x}=pm#1"]),
        (['pm:"A":x'], 'ba:"Use {x}":x', ["ba#1 <- {x}=pm#1"]),
    ],
)
def test_what_it_waits_for(before: list[str], text: str, expected: list[str]) -> None:
    assert tasks(Recruiting(*before), text) == expected


REFUSED = [
    (
        [],
        '$scaner:"Look"',
        "$scaner",
        "Undefined temporary agent: $scaner. Known: pm, ba,",
        "define it first",
    ),
    ([DEFINED], '$scaner:"Look"', "$scaner", "Undefined temporary agent: $scaner.", "did you mean scanner?"),
    ([], "@scaner Look", "scaner", "Unknown agent: @scaner. Valid agents: pm,", "\\@scaner"),
    ([], '$x := {base: "pm"}', "}", "Expected the field prompt.", "try: $x :="),
    ([], '$x := {prompt: "p"}', "}", "Expected the field base.", "try: $x :="),
    (
        [],
        '$x := {base: "pm", promt: "p"}',
        "promt",
        "Unknown field: promt. Fields: base,",
        "did you mean prompt?",
    ),
    (
        [],
        '$x := {base: "pm", base: "ba", prompt: "p"}',
        "base",
        "The field base is given twice.",
        "leave one",
    ),
    ([], '$x := {base: "pm", prompt: ""}', '""', "The field prompt is empty.", "try:"),
    (
        [],
        '$x := {base: "plam", prompt: "p"}',
        '"plam"',
        "Unknown base: plam. Known bases: pm, ba,",
        "mean plan?",
    ),
    ([], '$x := {base: "x", prompt: "p"}', '"x"', "Unknown base: x.", "try: base:"),
    (
        [],
        '$pm := {base: "ba", prompt: "p"}',
        "$pm",
        "The name pm is taken by the team.",
        "another one: $my-pm",
    ),
    ([], '$all := {base: "ba", prompt: "p"}', "$all", "The name all means the whole team.", "one: $my-all"),
    ([], '$me := {base: "ba", prompt: "p"}', "$me", "The name me means the person at the", "one: $my-me"),
    ([], "@pm Plan -> @me Good enough?", "me", "@me will be you, but", "name an agent of the team"),
    ([], "@pm Use $me", "$me", "@me will be you, but", "name an agent of the team"),
    ([], 'me:"Well?"', "me", "@me will be you, but", "name an agent of the team"),
    (["@pm x"], "@ba Use $pm.diff", "$pm.diff", "so there is no $pm.diff.", "write \\$pm.diff"),
    (["@pm x"], "@ba Use $pm, $pm.files", "$pm.files", "so there is no $pm.files.", "$pm is what it said"),
    ([], 'pm:"Use {issues}"', "{issues}", "Unknown variable: {issues}. Known: none yet", "write \\{issues}"),
    (['pm:"A":issues'], 'ba:"{isues}"', "{isues}", "Known: issues", "did you mean {issues}?"),
    (
        [],
        'pm:"Use {x}" -> ba:"B":x',
        "{x}",
        "Variable {x} is used before the stage that captures it.",
        "first",
    ),
    (
        [],
        '@pm Use {x} -> ba:"B":x',
        "{x}",
        "Variable {x} is used before the stage that captures it.",
        "first",
    ),
    ([], 'pm:"Use {x}":x', "{x}", "Variable {x} is used before the stage that captures it.", "first"),
    (
        ['pm:"A":x', "cancel pm#1"],
        "@ba {x}",
        "{x}",
        "Variable {x} was never produced: pm#1 was cancelled.",
        "/retry",
    ),
    (
        ['pm:"A":x', "fail pm#1 no"],
        "@ba {x}",
        "{x}",
        "Variable {x} was never produced: pm#1 failed: no.",
        "/retry",
    ),
]


@pytest.mark.parametrize(("before", "text", "spot", "message", "hint"), REFUSED)
def test_what_is_refused_and_where(before: list[str], text: str, spot: str, message: str, hint: str) -> None:
    bench = Recruiting(*before)
    with pytest.raises(StatementError) as caught:
        bench.resolve(text)
    error = caught.value
    assert message in error.message
    assert hint in error.hint
    assert error.source[error.span.start : error.span.end].lstrip("@") == spot


def outcome(bench: Bench, text: str) -> object:
    """Return what a text would make, or what is wrong with it and where."""
    try:
        return bench.resolve(text)
    except StatementError as error:
        return error.message and error.pointer()


PIECES = st.sampled_from(
    (
        *(
            "$x",
            "$pm",
            "x",
            " := ",
            "{",
            "}",
            "base",
            "prompt",
            "model",
            ": ",
            '"',
            '"plan"',
            ",",
            "->",
            "\n",
        ),
        *(":v", "{v}", "@pm ", "\\", "```", "\x00", "\u202e", "é", "$x:", 'pm:"', "{{output:x}}", " ", "&"),
    )
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=24).map("".join))
def test_any_text_is_one_clear_error_or_a_run(text: str) -> None:
    bench = Recruiting()
    for source in (text, f'$x := {{base: "plan", prompt: "p"{text}', f'$x:"{text}'):
        assert outcome(bench, source)


def test_an_unknown_base_lists_each_name_once_in_the_order_of_the_team() -> None:
    with pytest.raises(StatementError) as refused:
        tasks(Recruiting(DEFINED), '$x := {base: "nobody", prompt: "p"}')
    known = refused.value.message.partition("Known bases: ")[2].split(", ")
    assert known[:6] == ["pm", "ba", "builder-1", "builder-2", "reviewer", "writer"]
    assert "scanner" in known
    assert len(set(known)) == len(known)


def test_output_of_a_reference_is_the_reference() -> None:
    assert tasks(Recruiting("@pm Plan"), "@ba Use $pm.output, $pm.") == ["ba#1 <- $pm=pm#1"]
