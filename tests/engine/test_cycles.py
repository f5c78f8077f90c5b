"""Cycles are refused before anything of them starts: all of them, and nothing else."""

from __future__ import annotations

import pytest

from teambot_tui.engine.cycles import cycle_of_retry
from teambot_tui.language.errors import StatementError
from tests.engine.bench import Bench, snapshot


def after(*actions: str) -> Bench:
    bench = Bench()
    for action in actions:
        bench.act(action)
    return bench


def cycle(bench: Bench, text: str) -> str:
    """Return the cycle that a text would close."""
    try:
        bench.resolve(text)
    except StatementError as error:
        return error.message.removeprefix("Circular dependency detected: ")
    return ""


def cycle_by_retry(bench: Bench, task: str) -> list[str]:
    """Return the cycle that a retry would close; looking for it changes nothing."""
    before = snapshot(bench.board)
    found = cycle_of_retry(bench.board, bench.task(task))
    assert snapshot(bench.board) == before
    return list(found)


@pytest.mark.parametrize(
    ("actions", "text", "expected"),
    [
        pytest.param(["@pm Plan $ba &"], "@ba Check $pm", "@ba → @pm → @ba", id="two"),
        pytest.param(
            ["@pm Plan $ba &", "@ba Check $writer &"],
            "@writer Write $pm",
            "@writer → @pm → @ba → @writer",
            id="three",
        ),
        pytest.param(
            ["@pm Plan $ba &", "@pm Think", "@writer Write $pm"],
            "@ba Check $writer",
            "@ba → @writer → @pm → @ba",
            id="through the queue of one agent",
        ),
        pytest.param(
            ["@pm Plan $ba &", "@writer Write $pm", "@writer Sing"],
            "@ba Check $writer",
            "@ba → @writer → @pm → @ba",
            id="through the queues of two",
        ),
        pytest.param(
            ["@pm Plan $ba &", "@writer Write $pm", "@reviewer Read $writer"],
            "@ba Check $reviewer and $pm",
            "@ba → @pm → @ba",
            id="the shortest is shown",
        ),
        pytest.param(
            ["@pm Plan $ba &", "@writer Write $ba &"],
            "@ba Check $writer",
            "@ba → @writer → @ba",
            id="through one of several that wait",
        ),
        pytest.param([], "@pm Plan $ba -> @ba Check &", "@ba → @pm → @ba", id="within a pipeline"),
        pytest.param([], "@ba -> @pm Plan -> @ba Check &", "@ba → @pm → @ba", id="from an empty first stage"),
        pytest.param(
            [],
            "@pm,writer Plan $ba -> @reviewer Read -> @ba Check &",
            "@ba → @reviewer → @pm → @ba",
            id="through a fan-out",
        ),
        pytest.param(
            [],
            "@pm Plan $ba &\n@writer Write $pm\n@ba Check $writer",
            "@ba → @writer → @pm → @ba",
            id="lines",
        ),
        # No cycle
        pytest.param(["@pm Plan $ba &"], "@ba Check", "", id="the wait is bound"),
        pytest.param(["@pm Plan $ba &", "@ba Check"], "@ba Again $pm", "", id="the wait was bound before"),
        pytest.param(["@pm Plan", "@ba Check $pm"], "@pm Again $ba", "", id="to and fro"),
        pytest.param(["@pm Plan $ba &", "cancel pm#1"], "@ba Check $pm &", "", id="nobody waits any more"),
        pytest.param(["@pm Plan $ba &", "wait 300"], "@ba Check", "", id="nobody waits that long"),
        pytest.param(["@pm Plan $ba $writer &"], "@ba Check $writer &", "", id="two wait for a third"),
        pytest.param(
            ["@ba Old", "@pm Plan $ba &"], "@ba Check $pm", "", id="an output that someone has begun"
        ),
    ],
)
def test_cycles_of_a_submission(actions: list[str], text: str, expected: str) -> None:
    assert cycle(after(*actions), text) == expected


def test_a_task_at_work_does_not_stand_behind_one_that_came_back() -> None:
    """@pm works on its second task, and its first has come back: the second waits for nobody."""
    bench = after("@pm Plan $writer &", "@pm Think", "cancel pm#1", "retry pm#1")
    assert bench.states() == {"pm#1": "queued", "pm#2": "executing"}
    assert cycle(bench, "@writer Write $pm") == ""
    bench.submit("@writer Write $pm")
    bench.complete("pm#2")
    assert bench.states() == {"pm#1": "waiting", "pm#2": "completed", "writer#1": "executing"}


# Retrying


def test_a_wait_that_comes_back_must_not_stand_before_what_it_would_wait_for() -> None:
    bench = after("@pm Plan $ba &", "@pm Think", "@pm More", "cancel pm#1", "@ba Check $pm")
    assert cycle_by_retry(bench, "pm#1") == ["pm", "ba", "pm"]
    bench.cancel("pm#3")
    assert cycle_by_retry(bench, "pm#1") == []


def test_it_may_wait_for_what_waits_for_a_task_at_work() -> None:
    bench = after("@pm Plan $ba &", "@pm Think", "cancel pm#1", "@ba Check $pm")
    assert cycle_by_retry(bench, "pm#1") == []
    bench.play("""
retry pm#1 => pm#1 retried
complete pm#2 => pm#2 completed; ba#1 has pm; pm#1 waits for ba; ba#1 started
complete ba#1 => ba#1 completed; pm#1 has ba; pm#1 started
""")


def test_what_comes_back_ends_open_waits() -> None:
    bench = after("@ba Check", "cancel ba#1", "fail ba#1", "@pm Plan $ba &")
    assert cycle_by_retry(bench, "ba#1") == []
    assert bench.retry("ba#1") == ["ba#1 retried", "pm#1 waits for ba", "ba#1 started"]


def test_two_open_waits_for_each_other() -> None:
    bench = after("@ba Check $pm &", "cancel ba#1", "@pm Think $ba &")
    assert cycle_by_retry(bench, "ba#1") == ["ba", "pm", "ba"]


def test_one_that_was_skipped_comes_back_before_what_was_submitted_after_it() -> None:
    bench = after("@pm Plan", "@ba Check $pm", "cancel pm#1", "fail pm#1", "@pm Think $ba &")
    assert bench.states() == {"pm#1": "cancelled", "ba#1": "skipped", "pm#2": "waiting"}
    assert cycle_by_retry(bench, "pm#1") == []
    assert bench.retry("pm#1") == [
        "pm#1 retried",
        "ba#1 retried",
        "pm#2 queued",
        "ba#1 waits for pm",
        "pm#1 started",
    ]


def test_two_that_come_back_together() -> None:
    bench = after("@pm Plan", "@ba Check $pm $writer &", "cancel pm#1", "@writer Write")
    bench.cancel("writer#1")
    bench.fail("writer#1", "stopped")
    bench.fail("pm#1", "stopped")
    assert cycle_by_retry(bench, "pm#1") == []
    bench.play("""
retry pm#1 => pm#1 retried; ba#1 retried; ba#1 waits for pm, writer (no output yet: writer); pm#1 started
retry writer#1 => writer#1 retried; ba#1 waits for pm, writer; writer#1 started
""")


def test_nothing_waits_no_cycle() -> None:
    bench = after("@pm Plan -> @ba Check -> @pm Again", "fail pm#1")
    assert cycle_by_retry(bench, "pm#1") == []


# Size


def test_long_ways_are_walked_and_not_recursed() -> None:
    bench = Bench()
    bench.submit("@pm Plan $writer &")
    for fact in bench.resolve(" -> ".join(f"@{agent} Go" for agent in ("pm", "ba") * 1500)):
        bench.rules.handle(fact)
    assert cycle(bench, "@writer Write $ba") == "@writer → @ba → @pm → @writer"
    bench.cancel("pm#1")
    bench.fail("pm#2")
    assert set(bench.states().values()) == {"cancelled", "failed", "skipped"}
    assert cycle_by_retry(bench, "pm#2") == []
    assert bench.retry("pm#2")[-1] == "pm#2 started"
