"""What a statement is bound to at the moment it is accepted, and every reason to refuse it."""

from __future__ import annotations

import pytest

from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.facts import StatementAccepted, TaskCreated
from teambot_tui.engine.ids import TaskId
from teambot_tui.language.errors import StatementError
from tests.engine.bench import TEAM, Bench, snapshot

CYCLE = "Circular dependency detected: @builder-1 → @pm → @builder-1"


def bound(bench: Bench, text: str) -> list[str]:
    """Return the tasks a text would make: `ba#1 <- $pm=pm#1, -> writer=writer#2`."""
    lines: list[str] = []
    for fact in bench.resolve(text):
        if isinstance(fact, TaskCreated):
            sources = ", ".join(
                f"{'$' if each.via is Via.REFERENCE else '-> '}{each.agent}={each.task or '?'}"
                for each in fact.dependencies
            )
            lines.append(f"{fact.task} <- {sources}" if sources else fact.task)
    return lines


def refused(bench: Bench, text: str) -> StatementError:
    """Return the error of a text that must be refused, and that must leave everything as it was."""
    before = snapshot(bench.board)
    with pytest.raises(StatementError) as caught:
        bench.resolve(text)
    assert snapshot(bench.board) == before
    return caught.value


def spot(error: StatementError) -> str:
    """The characters an error points at."""
    return error.source[error.span.start : error.span.end]


def after(*actions: str) -> Bench:
    """Return a session in which this has happened."""
    bench = Bench()
    for action in actions:
        bench.act(action)
    return bench


# What $pm is bound to


@pytest.mark.parametrize(
    ("actions", "text", "expected"),
    [
        pytest.param(["@pm One"], "@ba Check $pm", ["ba#1 <- $pm=pm#1"], id="running"),
        pytest.param(["@pm One", "@pm Two"], "@ba Check $pm", ["ba#1 <- $pm=pm#2"], id="queued"),
        pytest.param(
            ["@writer Write", "@pm One $writer"], "@ba Check $pm", ["ba#1 <- $pm=pm#1"], id="waiting"
        ),
        pytest.param(["@pm One", "complete pm#1"], "@ba Check $pm", ["ba#1 <- $pm=pm#1"], id="finished"),
        pytest.param(
            ["@pm One", "complete pm#1", "@pm Two"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#2"],
            id="unfinished before finished",
        ),
        pytest.param(
            ["@pm One", "complete pm#1", "@pm Two", "complete pm#2"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#2"],
            id="the newest output",
        ),
        pytest.param(
            ["@pm One", "complete pm#1", "@pm Two", "cancel pm#2"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#1"],
            id="a cancelled task leaves it as it was",
        ),
        pytest.param(
            ["@pm One", "complete pm#1", "@writer Write", "@pm Two $writer", "fail writer#1"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#1"],
            id="a skipped task leaves it as it was",
        ),
        pytest.param(
            ["@pm One", "@pm Two", "cancel pm#2"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#1"],
            id="the newest that has not ended",
        ),
        pytest.param(
            ["@pm One", "fail pm#1", "@pm Two", "complete pm#2"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#2"],
            id="a failure that is made good",
        ),
        pytest.param(
            ["@pm One", "fail pm#1", "retry pm#1"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#1"],
            id="a failure that is retried",
        ),
        pytest.param(
            ["@pm One", "fail pm#1", "retry pm#1", "complete pm#1"],
            "@ba Check $pm",
            ["ba#1 <- $pm=pm#1"],
            id="a retry that completed",
        ),
        pytest.param(
            ["@pm One", "complete pm#1"], "@ba Check $pm &", ["ba#1 <- $pm=pm#1"], id="in the background"
        ),
        pytest.param([], "@ba Check $pm &", ["ba#1 <- $pm=?"], id="nothing yet, in the background"),
        pytest.param(
            ["@pm One", "cancel pm#1"],
            "@ba Check $pm &",
            ["ba#1 <- $pm=?"],
            id="nothing but cancelled, in the background",
        ),
        pytest.param(["@pm One"], "@pm improve $pm", ["pm#2 <- $pm=pm#1"], id="its own, running"),
        pytest.param(
            ["@pm One", "complete pm#1"], "@pm improve $pm", ["pm#2 <- $pm=pm#1"], id="its own, finished"
        ),
        pytest.param(
            ["@pm One", "@ba Two"],
            "@writer $ba and $pm and $ba",
            ["writer#1 <- $ba=ba#1, $pm=pm#1"],
            id="in order, duplicates once",
        ),
        pytest.param(["@pm One"], r"@ba cost \$pm $5 $PM", ["ba#1"], id="text"),
    ],
)
def test_a_reference_is_bound(actions: list[str], text: str, expected: list[str]) -> None:
    assert bound(after(*actions), text) == expected


@pytest.mark.parametrize(
    ("actions", "text", "expected"),
    [
        pytest.param(
            ["@pm One", "complete pm#1", "@ba Two"],
            "@pm,ba Compare $pm with $ba",
            ["pm#2 <- $pm=pm#1, $ba=ba#1", "ba#2 <- $pm=pm#1, $ba=ba#1"],
            id="siblings mean what was there before all of them",
        ),
        pytest.param(
            [],
            "@pm One\n@ba Two $pm\n@pm Three $ba",
            ["pm#1", "ba#1 <- $pm=pm#1", "pm#2 <- $ba=ba#1"],
            id="statements of one submission see each other",
        ),
        pytest.param(
            [],
            "@pm Plan -> @builder-1 Build -> @reviewer Review",
            ["pm#1", "builder-1#1 <- -> pm=pm#1", "reviewer#1 <- -> builder-1=builder-1#1"],
            id="a pipeline",
        ),
        pytest.param(
            [],
            "@pm,ba Analyse -> @builder-1,builder-2 Build",
            [
                "pm#1",
                "ba#1",
                "builder-1#1 <- -> pm=pm#1, -> ba=ba#1",
                "builder-2#1 <- -> pm=pm#1, -> ba=ba#1",
            ],
            id="fan out and join",
        ),
        pytest.param(
            ["@pm Old", "complete pm#1"],
            "@pm Plan -> @ba Check -> @writer Write $pm",
            ["pm#2", "ba#1 <- -> pm=pm#2", "writer#1 <- $pm=pm#2, -> ba=ba#1"],
            id="an earlier stage counts as submitted before",
        ),
        pytest.param(
            ["@ba Old"],
            "@pm Plan $ba -> @ba Check -> @writer Write $ba",
            ["pm#1 <- $ba=ba#1", "ba#2 <- -> pm=pm#1", "writer#1 <- $ba=ba#2"],
            id="each stage has its own",
        ),
        pytest.param(
            [],
            "@pm,ba Analyse -> @writer Write $ba",
            ["pm#1", "ba#1", "writer#1 <- $ba=ba#1, -> pm=pm#1"],
            id="an upstream output that is named comes once",
        ),
        pytest.param(
            [],
            "@pm Plan -> @pm improve $pm",
            ["pm#1", "pm#2 <- $pm=pm#1"],
            id="twice the same agent",
        ),
        pytest.param([], "@pm Plan -> @reviewer", ["pm#1", "reviewer#1 <- -> pm=pm#1"], id="empty last"),
        pytest.param(
            [],
            "@pm Plan -> @ba -> @writer Write",
            ["pm#1", "ba#1 <- -> pm=pm#1", "writer#1 <- -> ba=ba#1"],
            id="empty in the middle",
        ),
        pytest.param(["@pm One"], "@pm -> @ba Sum up", ["ba#1 <- -> pm=pm#1"], id="empty first, running"),
        pytest.param(
            ["@pm One", "complete pm#1"],
            "@pm -> @ba Sum up",
            ["ba#1 <- -> pm=pm#1"],
            id="empty first, finished",
        ),
        pytest.param(
            ["@pm One", "complete pm#1"], "@pm -> @pm Again", ["pm#2 <- -> pm=pm#1"], id="empty first, itself"
        ),
        pytest.param([], "@pm -> @ba Sum up &", ["ba#1 <- -> pm=?"], id="empty first, nothing yet"),
        pytest.param(
            ["@pm One", "@ba Two"],
            "@pm,ba -> @writer Write",
            ["writer#1 <- -> pm=pm#1, -> ba=ba#1"],
            id="several empty first",
        ),
        pytest.param(
            ["@pm One"],
            "@pm -> @ba Sum up $pm",
            ["ba#1 <- $pm=pm#1"],
            id="empty first and named",
        ),
        pytest.param(
            ["@pm One"],
            "@pm -> @ba -> @writer Write",
            ["ba#1 <- -> pm=pm#1", "writer#1 <- -> ba=ba#1"],
            id="empty first and second",
        ),
        pytest.param([], "@all Hello", [f"{agent}#1" for agent in TEAM], id="everyone"),
        pytest.param([], "@pm,pm,ba,pm Hello", ["pm#1", "ba#1"], id="named twice"),
        pytest.param([], "@project_manager Plan", ["pm#1"], id="an alias"),
        pytest.param(
            ["@pm One"],
            "@all Use $pm",
            [f"{agent}#{2 if agent == 'pm' else 1} <- $pm=pm#1" for agent in TEAM],
            id="everyone, after one",
        ),
    ],
)
def test_the_tasks_of_a_statement(actions: list[str], text: str, expected: list[str]) -> None:
    assert bound(after(*actions), text) == expected


def test_plain_text_goes_to_the_default_agent() -> None:
    bench = Bench(default="ba")
    bench.submit("@pm Plan")
    assert bound(bench, "Check $pm -> @writer Write &") == ["ba#1 <- $pm=pm#1", "writer#1 <- -> ba=ba#1"]


def test_references_can_be_turned_off() -> None:
    bench = Bench(references=False)
    assert bound(bench, "@ba costs $pm and $nonexistent") == ["ba#1"]
    bench.submit("@ba costs $pm and $nonexistent")
    assert bench.prompts["ba#1"].text == "costs $pm and $nonexistent"


def test_what_an_accepted_statement_says() -> None:
    bench = Bench()
    bench.now = 3
    accepted, *tasks = bench.resolve("  @pm --model opus Plan -> @ba Check &  ")
    names = (TaskId("pm#1"), TaskId("ba#1"))
    assert accepted == StatementAccepted(3, "@pm --model opus Plan -> @ba Check &", names)
    assert [
        (task.time, task.agent, task.model, task.background)
        for task in tasks
        if isinstance(task, TaskCreated)
    ] == [(3, "pm", "opus", True), (3, "ba", None, True)]


def test_each_statement_of_a_submission_is_accepted_with_its_own_text() -> None:
    facts = Bench().resolve("@pm Plan\nthe release\n@ba Check\n")
    accepted = [(fact.text, fact.tasks) for fact in facts if isinstance(fact, StatementAccepted)]
    assert accepted == [("@pm Plan\nthe release", ("pm#1",)), ("@ba Check", ("ba#1",))]


# What is refused


@pytest.mark.parametrize(
    ("actions", "text", "message", "place"),
    [
        pytest.param(
            [],
            "@pm Use $nonexistent",
            "Unknown agent reference: $nonexistent. "
            "Valid agents: pm, ba, builder-1, builder-2, reviewer, writer",
            "$nonexistent",
            id="unknown reference",
        ),
        pytest.param(
            [],
            "@nobody Plan",
            "Unknown agent: @nobody. Valid agents: pm, ba, builder-1, builder-2, reviewer, writer",
            "@nobody",
            id="unknown agent",
        ),
        pytest.param(
            [],
            "@pm Plan -> @nobody Build",
            "Unknown agent: @nobody. Valid agents: pm, ba, builder-1, builder-2, reviewer, writer",
            "@nobody",
            id="unknown agent in a later stage",
        ),
        pytest.param(
            [],
            "@ba Check $pm",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "$pm",
            id="no output",
        ),
        pytest.param(
            ["@pm One", "cancel pm#1"],
            "@ba Check $pm",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "$pm",
            id="nothing but cancelled",
        ),
        pytest.param(
            [],
            "@pm improve $pm",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "$pm",
            id="nothing of its own",
        ),
        pytest.param(
            [],
            "@pm improve $pm &",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "$pm",
            id="nothing of its own, in the background",
        ),
        pytest.param(
            [],
            "@all Use $pm &",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "$pm",
            id="nothing of a sibling, in the background",
        ),
        pytest.param(
            [],
            "@pm -> @ba Sum up",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "@pm",
            id="an empty first stage without output",
        ),
        pytest.param(
            [],
            "@pm -> @pm Sum up &",
            "Agent @pm has no output to reference. Run a task for @pm first.",
            "@pm",
            id="an empty first stage that would wait for itself",
        ),
        pytest.param(
            [],
            "@ba,pm -> @all Sum up &",
            "Agent @ba has no output to reference. Run a task for @ba first.",
            "@ba",
            id="an empty first stage that would wait for everyone",
        ),
        pytest.param(
            ["@pm One", "fail pm#1 exit status 3"],
            "@ba Check $pm",
            "Agent @pm failed: exit status 3. Retry it with /retry pm.",
            "$pm",
            id="failed",
        ),
        pytest.param(
            ["@pm One", "fail pm#1 exit status 3"],
            "@ba Check $pm &",
            "Agent @pm failed: exit status 3. Retry it with /retry pm.",
            "$pm",
            id="failed, in the background",
        ),
        pytest.param(
            ["@pm One", "fail pm#1 exit status 3"],
            "@pm -> @ba Check",
            "Agent @pm failed: exit status 3. Retry it with /retry pm.",
            "@pm",
            id="failed, as an empty first stage",
        ),
        pytest.param(
            ["@pm One", "complete pm#1", "@pm Two", "fail pm#2 lost", "@pm Three", "cancel pm#3"],
            "@ba Check $pm",
            "Agent @pm failed: lost. Retry it with /retry pm#2.",
            "$pm",
            id="failed after an output, before a cancelled one",
        ),
        pytest.param(
            ["@pm One $ba &", "wait 300"],
            "@writer Check $pm",
            "Agent @pm failed: Timed out after 300 s waiting for @ba. Retry it with /retry pm.",
            "$pm",
            id="timed out",
        ),
        pytest.param(["@pm Plan $builder-1 &"], "@builder-1 Build $pm", CYCLE, "@builder-1", id="a cycle"),
        pytest.param(
            [],
            "@pm Plan $builder-1 &\n@builder-1 Build $pm",
            CYCLE,
            "@builder-1",
            id="a cycle in one submission",
        ),
        pytest.param(
            [],
            "@pm Plan $builder-1 -> @builder-1 Build &",
            CYCLE,
            "@builder-1",
            id="a cycle in one pipeline",
        ),
        pytest.param(
            ["@pm Plan $builder-1 &", "@pm More"],
            "@builder-1 Build $pm",
            CYCLE,
            "@builder-1",
            id="a cycle through a queue",
        ),
        pytest.param(
            ["@pm Plan $builder-1 &", "@ba Check $pm"],
            "@builder-1 Build $ba",
            "Circular dependency detected: @builder-1 → @ba → @pm → @builder-1",
            "@builder-1",
            id="a longer cycle",
        ),
        pytest.param(
            ["@pm Plan $builder-1 &"],
            "@ba,builder-1 Build $pm",
            CYCLE,
            "builder-1",
            id="a cycle through one of several",
        ),
    ],
)
def test_refused(actions: list[str], text: str, message: str, place: str) -> None:
    error = refused(after(*actions), text)
    assert error.message == message
    assert spot(error) == place


def test_no_agent_and_no_default() -> None:
    error = refused(Bench(), "Plan the release")
    assert error.message == "No agent is named, and there is no default agent."
    assert error.hint == 'begin with @agent, or set default_agent = "pm" in teambot.toml'


def test_a_command_is_not_a_statement() -> None:
    error = refused(Bench(), "@pm Plan\n/status")
    assert error.message == "/status is a command for the screen, not a statement."
    assert (error.line, error.column) == (2, 1)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("@pm Use $revewer", r"did you mean $reviewer? to send it as text, write \$revewer"),
        ("@pm Use $path", r"to send it as text, write \$path"),
        ("@writr Write", "did you mean @writer?"),
        ("@zzz Write", r"for a task that begins with @, write \@zzz"),
        ("@pm, zzz Write", "to say something after one agent, leave out the comma: @pm please plan"),
        ("@ba Check $pm", "try: @pm …, then this again; or end this with & to wait for it"),
        ("@pm improve $pm", "try: @pm …, then this again"),
    ],
)
def test_errors_teach(text: str, hint: str) -> None:
    assert refused(Bench(), text).hint == hint


def test_at_most_so_many_references() -> None:
    bench = Bench(max_references=2)
    bench.submit("@all Hello")
    assert len(bound(bench, "@pm $pm $ba $pm $ba")) == 1
    error = refused(bench, "@pm $pm $ba $pm $writer")
    assert error.message == "More than 2 different references in one prompt."
    assert spot(error) == "$writer"


def test_the_limit_is_for_each_prompt_and_does_not_count_what_is_handed_on() -> None:
    bench = Bench(max_references=1)
    bench.submit("@all Hello")
    assert len(bound(bench, "@pm,ba Think $pm -> @writer Write $reviewer -> @ba Read $pm")) == 4


@pytest.mark.parametrize(
    "last",
    ["@nobody Plan", "@pm Use $nobody", "@pm,ba Use $writer", "@pm Plan -> @ba Use $writer", "/help", "@pm"],
)
def test_an_error_in_the_last_statement_starts_nothing(last: str) -> None:
    bench = after("@reviewer Think $builder-1 &")
    refused(bench, f"@pm Plan\n@builder-1 Build\n@ba Check $pm &\n{last}")
    assert bench.states() == {"reviewer#1": "waiting"}


def test_without_the_cycle_the_same_is_accepted() -> None:
    bench = after("@pm Plan $builder-1 &")
    assert bound(bench, "@builder-1 Build") == ["builder-1#1"]
    bench.submit("@builder-1 Build")
    assert bound(bench, "@builder-1 Build $pm") == ["builder-1#2 <- $pm=pm#1"], "the wait is bound by now"


def test_a_cancelled_wait_closes_no_cycle() -> None:
    bench = after("@pm Plan $builder-1 &", "@pm More", "cancel pm#1")
    assert bound(bench, "@builder-1 Build $pm") == ["builder-1#1 <- $pm=pm#2"]
