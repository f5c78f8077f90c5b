"""The bus: the same facts for everyone, in the same order, whatever a subscriber does."""

from __future__ import annotations

from contextlib import ExitStack

from teambot_tui.engine.bus import Bus
from teambot_tui.engine.facts import (
    Fact,
    SubscriberFailed,
    TaskCancelled,
    TextProduced,
    TimePassed,
)
from teambot_tui.engine.ids import TaskId

PM, BA = TaskId("pm#1"), TaskId("ba#1")


def test_everyone_gets_what_they_asked_for_in_order() -> None:
    bus = Bus()
    everything: list[Fact] = []
    text_only: list[Fact] = []
    facts: list[Fact] = [TimePassed(1), TextProduced(2, PM, "a"), TaskCancelled(3, PM)]
    with bus.subscribe(everything.append), bus.subscribe(text_only.append, TextProduced):
        for fact in facts:
            bus.publish(fact)
    bus.publish(TimePassed(4))
    assert everything == facts
    assert text_only == facts[1:2]


def test_a_fact_published_by_a_subscriber_comes_after_for_everyone() -> None:
    bus = Bus()
    first: list[Fact] = []
    second: list[Fact] = []

    def answer(fact: Fact) -> None:
        first.append(fact)
        if isinstance(fact, TimePassed):
            bus.publish(TaskCancelled(fact.time, PM))

    with bus.subscribe(answer), bus.subscribe(second.append):
        bus.publish(TimePassed(1))
        bus.publish(TimePassed(2))
    assert first == second
    assert [type(fact) for fact in first] == [TimePassed, TaskCancelled] * 2


def test_a_subscriber_that_breaks_hurts_nobody_and_is_reported() -> None:
    bus = Bus()
    seen: list[Fact] = []

    def broken(fact: Fact) -> None:
        raise ValueError("[/x]\nno")

    with bus.subscribe(broken), bus.subscribe(seen.append):
        bus.publish(TimePassed(1))
        bus.publish(TimePassed(2))
    reports = [fact for fact in seen if isinstance(fact, SubscriberFailed)]
    assert [fact.time for fact in seen if isinstance(fact, TimePassed)] == [1, 2]
    assert [fact.reason for fact in reports] == ["ValueError: [/x] no"] * 2
    assert "broken" in reports[0].subscriber


def test_a_subscriber_may_leave_while_facts_are_delivered() -> None:
    bus = Bus()
    seen: list[Fact] = []
    with bus.subscribe(seen.append):
        leaving = ExitStack()

        def leave(fact: Fact) -> None:
            leaving.close()

        leaving.enter_context(bus.subscribe(leave))
        bus.publish(TimePassed(1))
        bus.publish(TimePassed(2))
    assert seen == [TimePassed(1), TimePassed(2)]
