"""What a submission would do is what it then does, and asking changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.explain import explain_facts
from teambot_tui.engine.facts import TaskCreated, TaskQueued, TaskStarted, TaskWaiting
from tests.engine.bench import Bench, snapshot
from tests.engine.driver import World, run_schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.explain import PlannedStep
    from teambot_tui.engine.resolver import Accepted
    from tests.engine.model import Draft


def explain(bench: Bench, text: str) -> tuple[PlannedStep, ...]:
    """Explain a text; the board must be as it was."""
    before = snapshot(bench.board)
    steps = explain_facts(bench.resolve(text), bench.board, bench.roster, bench.policy).steps
    assert snapshot(bench.board) == before
    return steps


def after(*actions: str, max_parallel: int = 6) -> Bench:
    bench = Bench(max_parallel=max_parallel)
    for action in actions:
        bench.act(action)
    return bench


@pytest.mark.parametrize(
    ("actions", "text", "expected"),
    [
        ([], "@pm Plan", ["@pm starts now"]),
        ([], "@pm,ba Plan", ["@pm starts now", "@ba starts now"]),
        (["@pm One", "complete pm#1"], "@pm Two", ["@pm starts now"]),
        (["@pm One", "complete pm#1"], "@ba Check $pm", ["@ba starts now"]),
        (["@pm One"], "@pm Two", ["@pm is queued behind pm#1"]),
        (["@pm One", "@pm Two"], "@pm Three", ["@pm is queued behind pm#2"]),
        (["@pm One", "cancel pm#1"], "@pm Two", ["@pm is queued behind pm#1"]),
        (["@pm One"], "@ba Check $pm", ["@ba waits for @pm"]),
        (["@pm One"], "@pm -> @ba Check", ["@ba waits for @pm"]),
        (["@pm,ba One"], "@writer $ba $pm $ba", ["@writer waits for @ba, @pm"]),
        ([], "@ba Check $pm &", ["@ba waits for @pm (no output yet)"]),
        (
            ["@writer One"],
            "@ba Check $writer $pm &",
            ["@ba waits for @writer, @pm (no output yet)"],
        ),
        (["@pm,ba One"], "@ba Check $pm", ["@ba is queued behind ba#1 and waits for @pm"]),
        (
            [],
            "@pm Plan -> @ba Check -> @pm Again",
            ["@pm starts now", "@ba waits for @pm", "@pm is queued behind pm#1 and waits for @ba"],
        ),
        ([], "@pm One\n@pm Two", ["@pm starts now", "@pm is queued behind pm#1"]),
    ],
)
def test_the_outlook(actions: list[str], text: str, expected: list[str]) -> None:
    assert [step.outlook for step in explain(after(*actions), text)] == expected


@pytest.mark.parametrize(
    ("actions", "text", "expected"),
    [
        ([], "@pm,ba Go", ["@pm starts now", "@ba is queued until another agent is done"]),
        (["@pm One"], "@ba Go", ["@ba is queued until another agent is done"]),
        (["@pm One"], "@pm Go", ["@pm is queued behind pm#1"]),
        (["@pm One"], "@ba Go $pm", ["@ba waits for @pm"]),
        (["@pm One", "cancel pm#1"], "@ba Go", ["@ba is queued until another agent is done"]),
        (["@pm One", "complete pm#1"], "@ba Go", ["@ba starts now"]),
    ],
)
def test_the_outlook_with_room_for_one(actions: list[str], text: str, expected: list[str]) -> None:
    assert [step.outlook for step in explain(after(*actions, max_parallel=1), text)] == expected


def test_what_would_go_into_the_prompt() -> None:
    bench = after("@pm One", "complete pm#1 größer", "@ba Two")
    (step,) = explain(bench, "@pm,ba -> @writer --model opus Use $reviewer and $pm &")
    assert [str(each) for each in step.inputs] == [
        "$reviewer (no output yet)",
        "$pm = pm#1 (8 bytes)",
        "-> @ba = ba#1",
    ]
    assert (step.task, step.agent, step.model, step.background) == ("writer#1", "writer", "opus", True)
    assert step.waiting_for == ("reviewer", "ba")
    assert step.no_output_yet == ("reviewer",)


def test_sizes_are_for_readers() -> None:
    bench = after("@pm One", f"complete pm#1 {'x' * 12345}")
    assert str(explain(bench, "@ba $pm")[0].inputs[0]) == "$pm = pm#1 (12,345 bytes)"


class Explained(World):
    """Explains everything before it submits it, and compares."""

    def resolve(self, text: str) -> list[Accepted]:
        before = snapshot(self.board)
        try:
            return super().resolve(text)
        finally:
            assert snapshot(self.board) == before

    def accept(self, facts: Sequence[Accepted], draft: Draft) -> None:
        before = snapshot(self.board)
        steps = explain_facts(facts, self.board, self.roster, self.policy).steps
        assert snapshot(self.board) == before
        had_work = {duty.agent for duty in self.model.unended()} | set(self.model.busy)
        known = len(self.facts)
        super().accept(facts, draft)
        told = self.facts[known:]
        assert [step.task for step in steps] == [fact.task for fact in told if isinstance(fact, TaskCreated)]
        for step in steps:
            assert bool(step.behind) == (step.agent in had_work), "queued exactly if its agent has work"
            had_work.add(step.agent)
            self._compare(step, told)

    def _compare(self, step: PlannedStep, told: Sequence[object]) -> None:
        about = [fact for fact in told if getattr(fact, "task", None) == step.task]
        started = any(isinstance(fact, TaskStarted) for fact in about)
        queued = any(isinstance(fact, TaskQueued) for fact in about)
        waiting = [(fact.waiting_for, fact.no_output_yet) for fact in about if isinstance(fact, TaskWaiting)]
        assert started == step.starts
        assert started == step.outlook.endswith(" starts now")
        assert queued == (step.slots_full and not step.behind and not step.waiting_for)
        assert waiting[:1] == [
            (step.waiting_for, step.no_output_yet) for _ in "." if step.waiting_for and not step.behind
        ]


@pytest.mark.parametrize("first", range(100_000, 101_000, 250))
def test_explaining_agrees_with_submitting(first: int) -> None:
    for seed in range(first, first + 250):
        run_schedule(seed, kind=Explained)
