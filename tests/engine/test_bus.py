"""The bus: the same facts for everyone, in the same order, whatever a subscriber does."""

from __future__ import annotations

from contextlib import ExitStack

from teambot_tui.engine.bus import Backlog, Bus
from teambot_tui.engine.facts import (
    ActivityReported,
    Fact,
    SubscriberFailed,
    TaskCancelled,
    TaskRetried,
    TextProduced,
    TimePassed,
)
from teambot_tui.engine.ids import TaskId
from teambot_tui.engine.ports import Plan, Thought

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


def in_backlog(*facts: Fact) -> list[Fact]:
    backlog = Backlog()
    for fact in facts:
        backlog.put(fact)
    taken = backlog.take()
    assert backlog.take() == []
    return taken


def think(time: float, task: TaskId, text: str) -> ActivityReported:
    return ActivityReported(time, task, Thought(text))


def test_a_backlog_merges_the_text_of_each_task_up_to_the_next_fact_of_that_task() -> None:
    assert in_backlog(
        TextProduced(1, PM, "a"),
        TextProduced(2, PM, "b"),
        TextProduced(3, BA, "x"),
        TextProduced(4, PM, "c"),
        TimePassed(5),
        TextProduced(6, PM, "d"),
        TaskCancelled(7, PM),
        TextProduced(8, BA, "y"),
        TaskRetried(9, PM),
        TextProduced(10, PM, "e"),
        TextProduced(11, PM, "f"),
    ) == [
        TextProduced(1, PM, "abcd"),
        TextProduced(3, BA, "xy"),
        TimePassed(5),
        TaskCancelled(7, PM),
        TaskRetried(9, PM),
        TextProduced(10, PM, "ef"),
    ]


def test_what_is_taken_from_a_backlog_does_not_come_again() -> None:
    backlog = Backlog()
    backlog.put(TextProduced(1, PM, "a"))
    assert backlog.take() == [TextProduced(1, PM, "a")]
    backlog.put(TextProduced(2, PM, "b"))
    assert backlog.take() == [TextProduced(2, PM, "b")]
    assert backlog.take() == []


def test_a_backlog_merges_the_thoughts_of_a_task_apart_from_its_words() -> None:
    tool, said = ActivityReported(5, PM, Plan(())), TextProduced(6, PM, "c")
    assert in_backlog(
        *(think(1, PM, "a"), think(2, PM, "b"), think(3, BA, "x"), think(4, PM, "c")),
        *(tool, think(5, PM, "d"), think(5, PM, "e"), said, think(7, PM, "f"), think(8, BA, "y")),
    ) == [think(1, PM, "abc"), think(3, BA, "xy"), tool, think(5, PM, "de"), said, think(7, PM, "f")]


def test_what_waits_for_a_reader_that_stalls_does_not_grow_with_what_agents_say_in_turn() -> None:
    tasks = [TaskId(f"agent-{number}#1") for number in range(6)]
    facts = in_backlog(*(TextProduced(time, tasks[time % 6], f"{time} ") for time in range(60_000)))
    assert facts == [
        TextProduced(number, task, "".join(f"{time} " for time in range(number, 60_000, 6)))
        for number, task in enumerate(tasks)
    ]
