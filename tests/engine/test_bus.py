"""The bus: the same facts for everyone, in the same order, whatever a subscriber does."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from teambot_tui.engine.bus import Bus, Mailbox
from teambot_tui.engine.facts import (
    ActivityReported,
    Fact,
    SubscriberFailed,
    TaskCancelled,
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


def test_a_mailbox_merges_consecutive_text_of_a_task_and_nothing_else() -> None:
    mailbox = Mailbox()
    for fact in (
        TextProduced(1, PM, "a"),
        TextProduced(2, PM, "b"),
        TextProduced(3, BA, "c"),
        TextProduced(4, PM, "d"),
        TimePassed(5),
        TextProduced(6, PM, "e"),
        TextProduced(7, PM, "f"),
    ):
        mailbox.put(fact)
    assert mailbox.take() == [
        TextProduced(1, PM, "ab"),
        TextProduced(3, BA, "c"),
        TextProduced(4, PM, "d"),
        TimePassed(5),
        TextProduced(6, PM, "ef"),
    ]
    mailbox.put(TextProduced(8, PM, "g"))
    assert mailbox.take() == [TextProduced(8, PM, "g")]
    assert mailbox.take() == []


def test_a_mailbox_merges_consecutive_thoughts_of_a_task_apart_from_its_words() -> None:
    mailbox = Mailbox()

    def think(time: float, task: str, text: str) -> ActivityReported:
        return ActivityReported(time, TaskId(task), Thought(text))

    tool = ActivityReported(5.0, TaskId("pm#1"), Plan(()))
    said = TextProduced(6.0, TaskId("pm#1"), "c")
    for fact in (think(1, "pm#1", "a"), think(2, "pm#1", "b"), think(3, "ba#1", "x"), think(4, "pm#1", "c")):
        mailbox.put(fact)
    for fact in (tool, think(5, "pm#1", "d"), think(5, "pm#1", "e")):
        mailbox.put(fact)
    mailbox.put(said)
    assert mailbox.take() == [
        think(1, "pm#1", "ab"),
        think(3, "ba#1", "x"),
        think(4, "pm#1", "c"),
        tool,
        think(5, "pm#1", "de"),
        said,
    ]


async def test_a_mailbox_wakes_its_reader() -> None:
    bus, mailbox = Bus(), Mailbox()
    with bus.subscribe(mailbox.put):
        reader = asyncio.ensure_future(anext(aiter(mailbox)))
        await asyncio.sleep(0)
        assert not reader.done()
        bus.publish(TimePassed(1))
        assert await reader == TimePassed(1)
