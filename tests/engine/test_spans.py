"""A task's time is told without gaps: what it waited for, when it worked, and when it needed the person."""

from __future__ import annotations

from teambot_tui.engine.facts import (
    PermissionAsked,
    PermissionSettled,
    TaskCompleted,
    TaskDelayed,
    TaskFailed,
    TaskStarted,
    TaskWaiting,
    WaitEnded,
    WaitStarted,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Permissions, Verdict
from teambot_tui.engine.spans import Spans, Spent, TimeSpan

PM, BA = AgentId("pm"), AgentId("ba")
TASK = TaskId("pm#1")


def spans_of(*facts: object) -> list[TimeSpan]:
    spans = Spans()
    for fact in facts:
        spans.see(fact)  # type: ignore[arg-type]
    return list(spans.of(TASK))


def started(time: float) -> TaskStarted:
    return TaskStarted(time, TASK, "", "", None)


def asked(time: float, request: str = "1") -> PermissionAsked:
    return PermissionAsked(
        time, TASK, request, "run", "execute", "x", Permissions.ASK, attended=True, key="x"
    )


def settled(time: float, request: str = "1", verdict: Verdict | None = Verdict.ALLOW) -> PermissionSettled:
    return PermissionSettled(time, TASK, request, verdict, "by you")


def test_it_waits_works_and_ends() -> None:
    assert spans_of(TaskWaiting(1, TASK, (BA,), ()), started(4), TaskCompleted(9, TASK, "", 5)) == [
        TimeSpan(Spent.WAITING, 1, 4, (BA,)),
        TimeSpan(Spent.WORKING, 4, 9),
    ]


def test_what_goes_on_has_no_end() -> None:
    (span,) = spans_of(started(4))
    assert span.end is None
    assert span.seconds(now=10) == 6


def test_it_needs_the_person_until_the_last_answer() -> None:
    assert spans_of(started(0), asked(2), asked(3, "2"), settled(5), settled(6, "2")) == [
        TimeSpan(Spent.WORKING, 0, 2),
        TimeSpan(Spent.NEEDING_YOU, 2, 6),
        TimeSpan(Spent.WORKING, 6),
    ]


def test_what_is_settled_at_once_needs_nobody() -> None:
    assert spans_of(started(0), asked(2), settled(2)) == [TimeSpan(Spent.WORKING, 0)]


def test_it_waits_for_those_whom_it_asked() -> None:
    assert spans_of(started(0), WaitStarted(2, TASK, 1, (TaskId("ba#3"),)), WaitEnded(5, TASK, 1)) == [
        TimeSpan(Spent.WORKING, 0, 2),
        TimeSpan(Spent.WAITING, 2, 5, (BA,)),
        TimeSpan(Spent.WORKING, 5),
    ]


def test_a_failed_try_stays_in_sight() -> None:
    assert spans_of(started(0), TaskFailed(3, TASK, "no"), started(7), TaskCompleted(9, TASK, "", 2)) == [
        TimeSpan(Spent.WORKING, 0, 3, failed=True),
        TimeSpan(Spent.WORKING, 7, 9),
    ]


def test_between_two_tries_it_waits_for_nobody() -> None:
    told = spans_of(
        started(0), asked(1), TaskDelayed(3, TASK, "a limit", 9, 1), settled(3, verdict=None), started(9)
    )
    assert told == [
        TimeSpan(Spent.WORKING, 0, 1),
        TimeSpan(Spent.NEEDING_YOU, 1, 3, failed=True),
        TimeSpan(Spent.WAITING, 3, 9),
        TimeSpan(Spent.WORKING, 9),
    ]


def test_requests_that_are_withdrawn_begin_nothing() -> None:
    told = spans_of(started(0), asked(1), TaskFailed(3, TASK, "no"), settled(3, verdict=None))
    assert [span.end for span in told] == [1, 3]


def test_of_very_many_spans_only_the_last_are_kept() -> None:
    facts = [fact for second in range(0, 1000, 2) for fact in (asked(second + 1), settled(second + 2))]
    told = spans_of(started(0), *facts)
    assert len(told) == 100
    assert told[-1].end is None
