"""The session and its runner: foreign code fails into facts, and whatever starts also ends."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine import runner
from teambot_tui.engine.board import State
from teambot_tui.engine.clock import since_boot, steady_clock
from teambot_tui.engine.facts import (
    StatementAccepted,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskSkipped,
    TaskStarted,
    TextProduced,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.orders import Need, Order, OrderError
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.policy import OnFailure, Policy
from teambot_tui.engine.ports import BackendError, Member, Permission, Permissions, Text, Verdict
from teambot_tui.engine.session import Session
from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse_prompt
from tests.team import Broken, Busy, Gate, Watch, session_of, settle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ports import Request, Update


async def test_run_returns_the_outcomes_in_order() -> None:
    async with session_of() as session:
        result = await session.run("@pm,ba Analyse -> @builder-1 Build")
        assert [outcome.task for outcome in result.outcomes] == ["pm#1", "ba#1", "builder-1#1"]
        assert result.completed
        assert result.output.endswith("=== Your Task ===\nBuild")


async def test_whoever_waits_is_told_of_the_tasks_it_named_and_leaves_nothing_behind() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        tasks = session.submit("@pm,ba,writer Go")
        waiting = {
            "all": asyncio.create_task(session.ended(tasks)),
            "two": asyncio.create_task(session.ended(tasks, at_least=2)),
            "pm": asyncio.create_task(session.ended(tasks[:1])),
            "given up": asyncio.create_task(session.ended(tasks)),
        }
        await settle()
        assert len(session.bus._subscribers) == 2, "a wait is no reader of the bus"
        waiting["given up"].cancel()
        over: list[list[str]] = []
        for task in tasks:
            gate.answer(task)
            await settle()
            over.append([name for name, wait in waiting.items() if wait.done() and not wait.cancelled()])
        assert over == [["pm"], ["two", "pm"], ["all", "two", "pm"]]
        await session.ended(tasks)
        assert not session._waits


@pytest.mark.thorough
async def test_four_thousand_runs_at_once_all_return() -> None:
    async with session_of() as session:
        results = await asyncio.gather(*(session.run(f"@pm Say {number}") for number in range(4_000)))
        assert [result.output for result in results] == [f"Say {number}" for number in range(4_000)]
        assert not session._waits


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BackendError("claude is not on PATH"), "claude is not on PATH"),
        (ValueError("[/x] \x1b[2Jboom\nagain"), "ValueError: [/x] boom again"),
        (KeyError("pm"), "KeyError: 'pm'"),
    ],
)
async def test_a_backend_that_raises_fails_its_task_only(error: Exception, reason: str) -> None:
    async with session_of(others={"pm": Broken(error, after="partial")}) as session:
        result = await session.run("@pm Plan -> @writer Write it\n@ba Analyse")
        states = {outcome.task: (outcome.state, outcome.reason) for outcome in result.outcomes}
        assert states == {
            "pm#1": (State.FAILED, reason),
            "writer#1": (State.SKIPPED, f"@pm failed: {reason}"),
            "ba#1": (State.COMPLETED, ""),
        }
        assert session.outcome(session.board.tasks["pm#1"].id).output == "partial"  # type: ignore[index]


async def test_after_a_failure_a_reference_is_refused_until_it_is_retried() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@pm Plan\n@ba Check $pm")
        await settle()
        gate.fail("pm#1", "no quota.")
        await session.idle()
        with pytest.raises(StatementError) as refused:
            session.submit("@writer Write $pm")
        assert refused.value.message == "Agent @pm failed: no quota. Retry it with /retry pm."
        assert session.retry("ba") == "pm#1"
        await settle()
        gate.answer("pm#1", "plan")
        await settle()
        assert gate.prompt("ba#1") == "Check [Output from @pm]: plan"


async def test_retrying_an_agent_means_its_last_task() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@pm One\n@pm Two")
        await settle()
        session.cancel("pm#2")
        gate.fail("pm#1")
        await session.idle()
        with pytest.raises(StatementError, match="Retry it with /retry pm#1"):
            session.submit("@ba Check $pm")
        assert session.retry("pm") == "pm#2"
        await settle()
        gate.answer("pm#2", "two")
        await session.idle()
        with pytest.raises(RefusedError) as refused:
            session.retry("pm")
        assert str(refused.value) == (
            "pm#2 is completed: only a failed or cancelled task can be retried."
            " /again pm#2 does it once more. pm#1 failed: /retry pm#1 would do that one again."
        )


async def test_again_is_a_new_task_with_what_the_other_one_had() -> None:
    gate = Gate()
    watch = Watch()
    async with session_of(gate) as session:
        session.submit("@pm Plan")
        await settle()
        gate.answer("pm#1", "the first plan")
        await settle()
        session.submit("@ba --model opus Check $pm &")
        await settle()
        gate.answer("ba#1", "good")
        session.submit("@pm Plan again")
        await settle()
        gate.answer("pm#2", "another plan")
        await session.idle()
        with session.bus.subscribe(watch.see):
            assert session.again("ba") == "ba#2"
            await settle()
        (started,) = watch.of(TaskStarted)
        assert isinstance(started, TaskStarted)
        assert started.prompt == "Check [Output from @pm]: the first plan"
        assert started.model == "opus"
        assert session.board.tasks[TaskId("ba#2")].plan.background
        (accepted,) = watch.of(StatementAccepted)
        assert isinstance(accepted, StatementAccepted)
        assert accepted.text == "@ba --model opus Check $pm &"
        gate.answer("ba#2", "still good")
        await session.idle()


async def test_a_task_can_be_named_by_its_label_everywhere() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.place([Order(AgentId("pm"), parse_prompt("Dig"), label="research")])
        await settle()
        assert session.cancel("research") == ("pm#1",)
        await session.idle()
        assert session.retry("research") == "pm#1"
        await settle()
        gate.answer("pm#1", "gold")
        await session.idle()
        assert session.again("research") == "pm#2"
        assert session.cancel("research") == ("pm#2",)


async def test_proceeding_after_a_failure_says_so_in_the_prompt() -> None:
    gate = Gate()
    policy = Policy(on_dependency_failure=OnFailure.PROCEED)
    async with session_of(gate, policy=policy) as session:
        session.submit("@pm Plan -> @ba Check\n@writer Write $pm")
        await settle()
        gate.fail("pm#1", "no quota")
        await settle()
        assert gate.prompt("writer#1") == "Write [@pm failed: no quota]"
        assert "[@pm failed: no quota]" in gate.prompt("ba#1")


async def test_cancel_before_the_first_step_still_ends_the_work() -> None:
    watch = Watch()
    async with session_of(Gate()) as session:
        with session.bus.subscribe(watch.see):
            session.submit("@pm Plan")
            session.cancel("pm#1")
            await session.idle()
            assert watch.status("pm") == "@pm: idle"
            session.submit("@pm Again")
            await settle()
            assert watch.status("pm") == "@pm: executing"


async def test_an_agent_that_is_slow_to_stop_gets_no_second_task_meanwhile() -> None:
    class Stubborn:
        def __init__(self) -> None:
            self.may_stop = asyncio.Event()
            self.at_work = 0

        async def run(self, request: Request) -> AsyncGenerator[Update, None]:
            self.at_work += 1
            assert self.at_work == 1
            try:
                yield Text("begun")
                await asyncio.Event().wait()
            finally:
                await self.may_stop.wait()
                self.at_work -= 1

    stubborn, watch = Stubborn(), Watch()
    async with session_of(stubborn) as session:
        with session.bus.subscribe(watch.see):
            session.submit("@pm One\n@pm Two")
            await settle()
            session.cancel("pm#1")
            await settle()
            assert session.outcome(session.submit("@pm Three")[0]).state is State.QUEUED
            assert watch.status("pm") == "@pm: executing"
            stubborn.may_stop.set()
            await settle()
            assert session.board.tasks["pm#2"].state is State.EXECUTING  # type: ignore[index]


async def test_an_agent_that_ignores_being_cancelled_says_nothing_more() -> None:
    class Deaf:
        async def run(self, request: Request) -> AsyncGenerator[Update, None]:
            try:
                yield Text("one")
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                yield Text("two")

    watch = Watch()
    async with session_of(Deaf()) as session:
        with session.bus.subscribe(watch.see):
            session.submit("@pm Talk")
            await settle()
            session.cancel("pm")
            await session.idle()
    assert [fact.text for fact in watch.of(TextProduced) if isinstance(fact, TextProduced)] == ["one"]
    assert len(watch.of(TaskCancelled)) == 1
    assert not watch.of(TaskCompleted)


async def test_leaving_a_session_cancels_and_waits() -> None:
    gate, watch = Gate(), Watch()
    session = session_of(gate)
    with session.bus.subscribe(watch.see):
        async with session:
            session.submit("@pm Plan -> @ba Check")
            await settle()
    assert gate.closed == ["pm#1"]
    assert len(watch.of(TaskCancelled)) == 2
    assert len(asyncio.all_tasks()) == 1


async def test_waiting_too_long_fails_the_task_and_skips_what_needs_it() -> None:
    watch = Watch()
    async with session_of(Gate(), policy=Policy(wait_timeout=0.001)) as session:
        with session.bus.subscribe(watch.see):
            result = await session.run("@pm Plan $ba -> @writer Write &")
    assert [outcome.state for outcome in result.outcomes] == [State.FAILED, State.SKIPPED]
    assert result.outcomes[0].reason == "Timed out after 0.001 s waiting for @ba."
    assert len(watch.of(TaskFailed)) == len(watch.of(TaskSkipped)) == 1


async def test_requests_that_make_no_sense_say_why() -> None:
    async with session_of() as session:
        await session.run("@pm Plan")
        for request, target, words in [
            ("retry", "pm", "pm#1 is completed: only a failed or cancelled task"),
            ("retry", "ba", "@ba has had no task yet."),
            ("again", "ba", "@ba has had no task yet."),
            ("again", "pm#7", "Did you mean pm#1?"),
            ("retry", "pm#1", "only a failed or cancelled task"),
            ("cancel", "pm#7", "Did you mean pm#1?"),
            ("retry", "nobody", "no task, agent or label nobody"),
        ]:
            with pytest.raises(RefusedError) as refused:
                getattr(session, request)(target)
            assert words in str(refused.value)
        assert session.cancel("last") == ()
        assert session.cancel("ba") == ()


async def test_text_is_cleaned_at_the_door() -> None:
    class Hostile:
        async def run(self, request: Request) -> AsyncGenerator[Update, None]:
            for piece in ("a\x1b]0;ti", "tle\x07b\r", "\nc\x1b", "[31md\u202e"):
                yield Text(piece)

    async with session_of(Hostile()) as session:
        assert (await session.run("@pm Talk")).output == "ab\ncd"
        assert (await session.run("@ba \x1b[31mRepeat\x00 $pm")).outcomes[0].state is State.COMPLETED


async def test_how_references_were_resolved_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "teambot_tui")
    async with session_of() as session:
        await session.run("@pm Plan\n@ba Check $pm -> @writer Write")
    lines = [record.getMessage() for record in caplog.records]
    assert [line.rsplit(" ", 2)[0] for line in lines] == [
        "ba#1 received $@pm from pm#1 (completed) after waiting",
        "writer#1 received ->@ba from ba#1 (completed) after waiting",
    ]


async def test_what_is_refused_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "teambot_tui")
    async with session_of(Gate()) as session:
        session.submit("@pm Plan $builder-1 &")
        with pytest.raises(StatementError):
            session.submit("@builder-1 Build $pm")
        order = Order(AgentId("builder-1"), parse_prompt("Build"), (Need("pm"),))
        with pytest.raises(OrderError):
            session.place([order])
        with pytest.raises(OrderError):
            await session.spawn("Build", agent="builder-1", depends_on="pm")
        with pytest.raises(OrderError):
            await session.spawn("Build", agent="nobody")
        with pytest.raises(RefusedError):
            session.retry("ba")
    cycle = "Circular dependency detected: @builder-1 → @pm → @builder-1"
    hint = "one of them has to start without the other's output"
    assert [record.getMessage().partition(" There are:")[0] for record in caplog.records] == [
        f"statement refused: line 1, column 1: {cycle} ({hint})",
        f"order refused: {cycle}",
        f"order refused: {cycle}",
        "run refused: There is no agent nobody.",
        "retry refused: @ba has had no task yet.",
    ]


@pytest.mark.parametrize("target", ["pm", "ba", "all"])
async def test_who_hears_of_a_start_may_cancel_at_once(target: str) -> None:
    gate = Gate()
    async with asyncio.timeout(60), session_of(gate) as session:

        def cancel(fact: Fact) -> None:
            assert isinstance(fact, TaskStarted)
            if fact.task == "pm#1":
                session.cancel(target)

        with session.bus.subscribe(cancel, TaskStarted):
            session.submit("@writer Begin -> @pm,ba Work")
            await settle()
            gate.answer("writer#1")
            await settle()
        for task in gate.started:
            if task not in gate.closed:
                gate.answer(task)
        await session.idle()
        states = {task.id: task.state for task in session.board.tasks.values()}
        cancelled = {"pm": ("pm#1",), "ba": ("ba#1",), "all": ("pm#1", "ba#1")}[target]
        assert [task for task, state in states.items() if state is State.CANCELLED] == list(cancelled)
        assert not set(gate.started) & set(cancelled), "its agent never heard of it"


async def test_what_comes_while_the_session_closes_is_refused_and_starts_nothing() -> None:
    gate = Gate()
    refused: list[str] = []
    session = session_of(gate)

    def meddle(_: Fact) -> None:
        for attempt in (
            lambda: session.submit("@ba Check"),
            lambda: session.place([Order(AgentId("ba"), parse_prompt("Check"))]),
            lambda: session.define(AgentId("late"), "pm", "You are late."),
            lambda: session.retry("pm#1"),
        ):
            try:
                attempt()
            except (StatementError, OrderError, RefusedError) as error:
                refused.append(str(error))

    async with session:
        session.submit("@pm Plan")
        await settle()
        reading = session.bus.subscribe(meddle, TaskCancelled)
        reading.__enter__()
    reading.__exit__(None, None, None)
    assert len(refused) == 4
    assert all("The session is closing and starts nothing any more." in words for words in refused)
    assert gate.started == gate.closed == ["pm#1"]
    with pytest.raises(StatementError, match="closing"):
        session.submit("@pm Plan")


@pytest.mark.parametrize("permissions", list(Permissions))
async def test_a_permission_callback_that_raises_fails_its_own_task_only(permissions: Permissions) -> None:
    def broken(verdict: Verdict, words: str = "") -> None:
        raise RuntimeError("the pipe is gone")

    busy = Busy()
    members = [Member(AgentId(name), "", None, busy, permissions) for name in ("pm", "ba")]
    async with Session(members, attended=True) as session:
        session.submit("@pm,ba Work")
        busy.tell("pm#1", Permission("1", "Run", "execute", "ls", broken))
        busy.ask("ba#1", "ls")
        await settle()
        for asked in session.approvals:
            session.answer(asked.task, asked.request, Verdict.ALLOW)
        await settle()
        busy.answer("ba#1", "done")
        await session.idle()
        pm, ba = (session.outcome(TaskId(task)) for task in ("pm#1", "ba#1"))
        assert (pm.state, ba.state) == (State.FAILED, State.COMPLETED)
        assert pm.reason == "It could not be answered: RuntimeError: the pipe is gone"
        assert [task for task, *_ in busy.verdicts] == ["ba#1"]


async def test_time_that_passes_while_the_machine_sleeps_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_LONGEST_DELAY", 0.001)
    now = 1000.0
    members = [Member(AgentId(name), "", None, Gate()) for name in ("pm", "ba")]
    async with asyncio.timeout(60), Session(members, clock=lambda: now) as session:
        session.submit("@ba Check $pm &")
        await settle()
        assert session.outcome(TaskId("ba#1")).state is State.WAITING
        now += 8 * 3600  # no timer of the loop has seen them
        await session.idle()
        assert session.outcome(TaskId("ba#1")).reason == "Timed out after 300 s waiting for @pm."


def test_the_clock_is_steady_whatever_happens_to_the_wall_clock() -> None:
    wall, elapsed = 1_700_000_000.0, 5000.0
    clock = steady_clock(lambda: elapsed, lambda: wall)
    assert clock() == wall
    wall -= 86400  # it was set
    assert clock() == 1_700_000_000.0
    elapsed += 3600
    assert clock() == 1_700_003_600.0


def test_the_clock_of_a_session_begins_with_the_time_and_runs() -> None:
    before = time.time()
    session = session_of()
    assert abs(session.now() - before) < 60
    assert since_boot() >= time.monotonic() - 1, "sleep included"
    assert session.now() <= session.now()


# Definitions


def scanner(prompt: str, base: str = "pm", model: str = "opus") -> str:
    return f'$scanner := {{base: "{base}", prompt: "{prompt}", model: "{model}"}}'


async def test_a_task_keeps_the_definition_it_was_accepted_with() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit(scanner("Be quick."))
        session.submit("@writer Write\n@scanner One\n@scanner Two\n@scanner Use $writer")
        await settle()
        session.submit(scanner("Be thorough.", "ba", "haiku"))
        session.submit("@scanner Later")
        gate.answer("writer#1")
        for number in (1, 2, 3, 4):
            await settle()
            gate.answer(f"scanner#{number}")
        await session.idle()
    first = ("You are pm.\n\nBe quick.", "opus")
    assert [(each.system, each.model) for each in gate.requests if each.agent == "scanner"] == [
        *(first, first, first),
        ("You are ba.\n\nBe thorough.", "haiku"),
    ]


async def test_a_task_that_is_retried_has_the_definition_it_had() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit(scanner("Be quick.") + '\n$scanner:"Look" -> @scanner Sum up')
        await settle()
        gate.fail("scanner#1")
        await settle()
        session.submit(scanner("Be thorough.", model="haiku"))
        session.retry("scanner")
        await settle()
        gate.answer("scanner#1", "x")
        await settle()
        gate.answer("scanner#2")
        await session.idle()
    assert [(each.prompt, each.system, each.model) for each in gate.requests[1:]] == [
        ("Be quick.\n\nLook", "You are pm.", "opus"),
        ("=== Output from @scanner ===\nx\n\n=== Your Task ===\nSum up", "You are pm.\n\nBe quick.", "opus"),
    ]


async def test_another_model_is_for_every_task_that_has_not_started() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit(scanner("Be quick.") + "\n@scanner One\n@scanner Two")
        await settle()
        session.set_model(AgentId("scanner"), "haiku")
        gate.answer("scanner#1")
        await settle()
        gate.answer("scanner#2")
        await session.idle()
    assert [request.model for request in gate.requests] == ["opus", "haiku"]


async def test_an_explanation_tells_of_slips() -> None:
    async with session_of() as session:
        session.submit('pm:"Look":issues')
        await session.idle()
        explanation = session.explain("@ba Fix {isues} and {{output:pm}}")
        assert [slip.message for slip in explanation.slips] == ["{isues} is sent as text; known: {issues}"]
        assert [step.outlook for step in explanation.steps] == ["@ba starts now"]
