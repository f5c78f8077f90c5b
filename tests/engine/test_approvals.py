"""What becomes of an agent's request: by the settings, by an earlier answer, by the person, or by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.effects import AnswerPermission
from teambot_tui.engine.facts import (
    ActivityReported,
    AgentDefined,
    AgentDismissed,
    BudgetReached,
    BudgetSet,
    PermissionAnswered,
    PermissionAsked,
    PermissionSettled,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Permission, Permissions, Usage, Verdict
from teambot_tui.engine.showing import LARGEST, show
from tests.engine.bench import Bench

if TYPE_CHECKING:
    from teambot_tui.engine.rules import Rules

PM, BA = TaskId("pm#1"), TaskId("ba#1")


def ask(
    rules: Rules,
    request: str = "1",
    *,
    task: TaskId = PM,
    kind: str = "execute",
    detail: str = "ls",
    policy: Permissions = Permissions.ASK,
    attended: bool = True,
    acts: bool = False,
) -> list[str]:
    shown = show(Permission(request, "Shell", kind, detail, lambda _: None))
    asked = PermissionAsked(
        1.0,
        task,
        request,
        shown.tool,
        shown.kind,
        shown.detail,
        policy,
        attended,
        shown.key,
        acts,
        shown.is_whole,
    )
    return told(rules.handle(asked))


def answer(
    rules: Rules, request: str = "1", verdict: Verdict = Verdict.ALLOW, *, always: bool = False
) -> list[str]:
    return told(rules.handle(PermissionAnswered(2.0, PM, request, verdict, always)))


def told(effects: object) -> list[str]:
    """Return what is answered and settled."""
    lines = []
    for effect in effects:  # type: ignore[attr-defined]
        match effect:
            case AnswerPermission(_, request, verdict):
                lines.append(f"{verdict} {request}")
            case PermissionSettled(request=request, verdict=verdict, why=why):
                lines.append(f"{request}: {verdict} {why}")
    return lines


def bench() -> Bench:
    bench = Bench()
    bench.submit("@pm,ba Work")
    return bench


@pytest.mark.parametrize(
    ("policy", "kind", "attended", "expected"),
    [
        ("ask", "read", True, []),
        ("ask", "read", False, ["reject 1", "1: reject nobody is here to ask"]),
        ("allow-reads", "read", False, ["allow 1", "1: allow reading is allowed by the settings"]),
        ("allow-reads", "search", True, ["allow 1", "1: allow reading is allowed by the settings"]),
        ("allow-reads", "edit", True, []),
        ("allow-reads", "fetch", False, ["reject 1", "1: reject nobody is here to ask"]),
        ("allow", "execute", False, ["allow 1", "1: allow by the settings"]),
        ("deny", "read", True, ["reject 1", "1: reject by the settings"]),
    ],
)
def test_the_settings_decide(policy: str, kind: str, attended: bool, expected: list[str]) -> None:
    rules = bench().rules
    assert ask(rules, kind=kind, policy=Permissions(policy), attended=attended) == expected
    assert bool(rules.approvals.open) == (not expected)


def test_the_person_decides_once() -> None:
    rules = bench().rules
    assert ask(rules) == []
    assert answer(rules) == ["allow 1", "1: allow by you"]
    assert answer(rules) == []  # too late
    assert ask(rules, "2") == []  # once is once


def test_always_means_exactly_the_same_request_of_the_same_agent() -> None:
    rules = bench().rules
    ask(rules, "1")
    ask(rules, "2")
    ask(rules, "3", detail="ls -a")
    ask(rules, "4", task=BA)
    assert answer(rules, "1", Verdict.REJECT, always=True) == [
        "reject 1",
        "1: reject by you, always",
        "reject 2",
        "2: reject by you, always",
    ]
    assert ask(rules, "5") == ["reject 5", "5: reject as answered before"]
    assert ask(rules, "6", detail="ls ") == []
    assert ask(rules, "7", kind="read") == []
    assert ask(rules, "8", task=BA) == []


@pytest.mark.parametrize(
    "change",
    [AgentDismissed(3.0, AgentId("pm")), AgentDefined(3.0, AgentId("pm"), "plan", "You are another.", None)],
)
def test_always_ends_where_another_agent_may_have_the_name(change: AgentDefined | AgentDismissed) -> None:
    rules = bench().rules
    ask(rules, "1")
    answer(rules, "1", always=True)
    assert ask(rules, "2") == ["allow 2", "2: allow as answered before"]
    assert rules.handle(change) == [change]
    assert ask(rules, "3") == []


@pytest.mark.parametrize("policy", list(Permissions))
@pytest.mark.parametrize("kind", ["read", "search", "think"])
def test_what_carries_a_command_or_a_change_is_no_reading(policy: Permissions, kind: str) -> None:
    answered = ask(bench().rules, kind=kind, policy=policy, acts=True)
    expected = {
        "allow": ["allow 1", "1: allow by the settings"],
        "deny": ["reject 1", "1: reject by the settings"],
    }
    assert answered == expected.get(policy, [])


@pytest.mark.parametrize(
    "hidden",
    ["\x1b]0; touch pwned #\x07", "\x9d0; touch pwned #\x9c", "\u202e", "\u200b", "\x00", "\r", "\ufe0f"],
)
def test_always_knows_what_looks_the_same(hidden: str) -> None:
    rules = bench().rules
    ask(rules, "1", detail="sh -c 'echo hello '")
    answer(rules, "1", always=True)
    assert ask(rules, "2", detail=f"sh -c 'echo hello {hidden}'") == []
    (asked,) = rules.approvals.open.values()
    assert "touch pwned" in asked.detail or "touch" not in hidden
    assert "<" in asked.detail
    assert ask(rules, "3", detail=asked.detail) == [], "what it looks like is another request again"


def test_what_is_too_large_to_be_shown_can_only_be_rejected() -> None:
    rules = bench().rules
    assert ask(rules, detail="x" * (LARGEST + 1)) == []
    (asked,) = rules.approvals.open.values()
    assert asked.detail.endswith("too much to be shown, so it cannot be allowed)")
    assert answer(rules) == answer(rules, always=True) == []
    assert answer(rules, verdict=Verdict.REJECT) == ["reject 1", "1: reject by you"]
    assert ask(rules, detail="x" * (LARGEST + 1), policy=Permissions.ALLOW) == [
        "allow 1",
        "1: allow by the settings",
    ]


@pytest.mark.parametrize("end", ["complete pm#1", "fail pm#1", "cancel pm#1"])
def test_a_request_is_withdrawn_with_its_task(end: str) -> None:
    scene = bench()
    ask(scene.rules)
    scene.act(end)
    assert not scene.rules.approvals.open
    assert next(fact for fact in scene.published if isinstance(fact, PermissionSettled)).verdict is None
    assert answer(scene.rules) == []
    assert ask(scene.rules, "late") == []  # what is over asks nobody
    assert not scene.rules.approvals.open


def use(scene: Bench, task: TaskId, tokens: int, cost: float | None) -> None:
    scene.report(ActivityReported(scene.now, task, Usage(tokens, 0, cost)))


def test_what_a_task_reports_is_its_sum_so_far() -> None:
    scene = bench()
    use(scene, PM, 10, 0.5)
    use(scene, PM, 30, 0.75)
    use(scene, BA, 5, None)
    assert (scene.rules.spending.tokens, scene.rules.spending.cost) == (35, 0.75)
    scene.act("fail pm#1")
    scene.act("retry pm#1")
    use(scene, PM, 7, 0.25)
    assert (scene.rules.spending.tokens, scene.rules.spending.cost) == (42, 1.0)


def test_a_budget_that_is_used_up_pauses_the_queue_until_more_is_allowed() -> None:
    scene = bench()
    scene.rules.handle(BudgetSet(0.0, 1.0, None))
    use(scene, PM, 10, 1.0)
    assert "pm#2 started" not in scene.submit("@pm More") + scene.complete("pm#1")
    assert scene.states()["pm#2"] == "queued"
    reached = [fact for fact in scene.published if isinstance(fact, BudgetReached)]
    assert [(fact.cost, fact.tokens) for fact in reached] == [(1.0, 10)]
    scene.complete("ba#1")
    assert len([fact for fact in scene.published if isinstance(fact, BudgetReached)]) == 1, "it is told once"
    assert scene.report(BudgetSet(1.0, 2.0, None)) == ["pm#2 started"]
