"""What the rules decide, scene by scene: waiting, failing, cancelling, retrying, and who wins a race."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teambot_tui.engine.effects import StartTask, WakeAt
from teambot_tui.engine.facts import (
    CancelRequested,
    DependencyMet,
    Fact,
    RetryRequested,
    StatementAccepted,
    StatementRejected,
    SubscriberFailed,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskQueued,
    TaskRetried,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    TimePassed,
    WaitProlonged,
    WorkEnded,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.policy import OnFailure, OnWaitTimeout, Policy
from teambot_tui.engine.rules import Rules
from tests.engine.bench import Bench, snapshot
from tests.engine.scenes import (
    CANCELLING,
    FAILING,
    HARD_TIME,
    NO_MORE_INPUT,
    ONE_AT_A_TIME,
    PROCEEDING,
    RACES,
    RETRYING,
    TIME,
    WAITING,
)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, id=title)
        for scenes in (WAITING, TIME, NO_MORE_INPUT, FAILING, CANCELLING, RETRYING, RACES)
        for title, script in scenes.items()
    ],
)
def test_scene(script: str) -> None:
    bench = Bench()
    bench.play(script)
    assert_rebuilt(bench)
    assert_each_life_ends_once(bench.published)


@pytest.mark.parametrize("script", HARD_TIME.values(), ids=HARD_TIME.keys())
def test_scene_when_every_wait_has_an_end(script: str) -> None:
    bench = Bench(on_wait_timeout=OnWaitTimeout.FAIL)
    bench.play(script)
    assert_rebuilt(bench)
    assert_each_life_ends_once(bench.published)


@pytest.mark.parametrize("script", PROCEEDING.values(), ids=PROCEEDING.keys())
def test_scene_when_tasks_go_on_without(script: str) -> None:
    bench = Bench(on_dependency_failure=OnFailure.PROCEED)
    bench.play(script)
    assert_rebuilt(bench)
    assert_each_life_ends_once(bench.published)


def test_whoever_goes_on_without_is_told_why() -> None:
    bench = Bench(on_dependency_failure=OnFailure.PROCEED)
    bench.submit("@pm,ba Analyse -> @writer Write, and mind $ba")
    bench.fail("pm#1", "exit status 3")
    bench.cancel("ba#1")
    assert bench.prompts["writer#1"].text == (
        "=== Output from @pm ===\n[@pm failed: exit status 3]\n\n"
        "=== Your Task ===\nWrite, and mind [@ba was cancelled]"
    )


@pytest.mark.parametrize("script", ONE_AT_A_TIME.values(), ids=ONE_AT_A_TIME.keys())
def test_scene_with_room_for_one(script: str) -> None:
    bench = Bench(max_parallel=1, on_dependency_failure=OnFailure.PROCEED)
    bench.play(script)
    assert_rebuilt(bench)
    assert_each_life_ends_once(bench.published)


@pytest.mark.parametrize("limit", [1, 2, 5, 6, 7])
def test_no_more_at_once_than_allowed(limit: int) -> None:
    bench = Bench(max_parallel=limit)
    bench.submit("@all Introduce yourself")
    assert list(bench.states().values()).count("executing") == min(6, limit)


# Effects that are not news


def test_alarms_are_set_for_the_next_wait_that_would_end() -> None:
    bench = Bench(wait_timeout=10)
    bench.submit("@pm Plan")
    bench.now = 1
    bench.submit("@ba Check $pm")
    bench.now = 2
    bench.submit("@writer Write $pm")
    assert bench.alarms == [11], "the first alarm is early enough for the second wait"
    bench.now = 0
    bench.wait(10.5)
    assert bench.alarms == [11, 11], "an alarm that rang too early is set again"
    bench.wait(0.5)
    assert bench.alarms == [11, 11, 12]
    bench.wait(1)
    assert bench.alarms == [11, 11, 12], "nobody waits any more"


def test_an_alarm_that_is_no_longer_needed_is_not_set_again() -> None:
    bench = Bench(wait_timeout=10)
    bench.submit("@pm Plan")
    bench.submit("@ba Check $pm")
    bench.complete("pm#1")
    effects = bench.rules.handle(TimePassed(10))
    assert not any(isinstance(effect, WakeAt) for effect in effects)


def test_the_start_carries_prompt_and_model() -> None:
    bench = Bench()
    created = bench.resolve("@pm --model opus Plan")[1]
    start = bench.rules.handle(created)[-1]
    assert isinstance(start, StartTask)
    assert (start.task, start.agent, start.prompt.text, start.model) == ("pm#1", "pm", "Plan", "opus")


@pytest.mark.parametrize(
    "fact",
    [
        StatementAccepted(0, "@pm Plan", (TaskId("pm#1"),)),
        StatementRejected(0, "error", 1, 1, "hint"),
        SubscriberFailed(0, "journal", "disk full"),
    ],
)
def test_news_that_move_nothing_are_passed_on(fact: Fact) -> None:
    rules = Rules(Policy())
    assert rules.handle(fact) == [fact]
    assert not rules.board.tasks


@pytest.mark.parametrize(
    "fact",
    [
        TaskQueued(0, TaskId("pm#1")),
        TaskWaiting(0, TaskId("pm#1"), (), ()),
        WaitProlonged(0, TaskId("pm#1"), (), 300),
        TaskCompleted(0, TaskId("pm#1"), "", 0),
        TaskFailed(0, TaskId("pm#1"), ""),
        TaskSkipped(0, TaskId("pm#1"), ""),
        TaskCancelled(0, TaskId("pm#1")),
        TaskRetried(0, TaskId("pm#1")),
    ],
)
def test_conclusions_conclude_nothing(fact: Fact) -> None:
    assert Rules(Policy()).handle(fact) == []


def test_requests_about_what_has_ended_are_not_news() -> None:
    bench = Bench()
    bench.submit("@pm Plan")
    bench.complete("pm#1")
    name = TaskId("pm#1")
    assert bench.rules.handle(CancelRequested(1, (name,))) == []
    assert bench.rules.handle(CancelRequested(1, ())) == []
    assert bench.rules.handle(RetryRequested(1, name)) == []


def test_the_end_of_work_is_told_before_what_follows_from_it_and_only_once() -> None:
    bench = Bench()
    bench.submit("@pm One\n@pm Two")
    ended = WorkEnded(1, TaskId("pm#1"), None)
    told = [effect for effect in bench.rules.handle(ended) if not isinstance(effect, StartTask)]
    assert told == [ended, TaskCompleted(1, TaskId("pm#1"), "", 1)]
    assert bench.rules.handle(ended) == []


def test_the_end_of_cancelled_work_is_told_too() -> None:
    bench = Bench()
    bench.submit("@pm One")
    bench.cancel("pm#1")
    ended = WorkEnded(1, TaskId("pm#1"), "stopped")
    assert bench.rules.handle(ended) == [ended]
    assert bench.rules.handle(ended) == []


def test_a_task_created_after_its_dependency_failed_is_skipped_and_comes_back_with_it() -> None:
    """The resolver makes no such task, but a journal or another caller may."""
    bench = Bench()
    bench.submit("@pm Plan")
    late = bench.resolve("@ba Check $pm")[1]
    assert isinstance(late, TaskCreated)
    bench.fail("pm#1")
    assert bench.report(late) == ["ba#1 skipped: @pm failed: boom"]
    later = replace(late, task=TaskId("writer#1"), agent=AgentId("writer"))
    assert bench.report(later) == ["writer#1 skipped: @pm failed: boom"]
    assert bench.retry("pm#1") == [
        "pm#1 retried",
        "ba#1 retried",
        "writer#1 retried",
        "ba#1 waits for pm",
        "writer#1 waits for pm",
        "pm#1 started",
    ]


def test_the_time_a_task_took() -> None:
    bench = Bench()
    bench.now = 5
    bench.submit("@pm Plan")
    bench.now = 7.5
    bench.complete("pm#1")
    completed = bench.published[-1]
    assert isinstance(completed, TaskCompleted)
    assert completed.seconds == 2.5


def test_the_root_of_a_skip_is_known() -> None:
    bench = Bench()
    bench.submit("@pm Plan -> @ba Check -> @writer Write")
    bench.fail("pm#1")
    assert bench.task("writer#1").cause is bench.task("ba#1").cause is bench.task("pm#1")


def test_the_root_of_a_skip_is_the_one_that_is_left_to_retry() -> None:
    bench = Bench()
    bench.submit("@pm,ba Analyse -> @writer Write -> @reviewer Read")
    bench.fail("pm#1")
    bench.fail("ba#1")
    assert bench.task("reviewer#1").cause is bench.task("pm#1")
    bench.retry("pm#1")
    assert bench.task("reviewer#1").cause is bench.task("ba#1")
    bench.retry("ba#1")
    assert bench.task("reviewer#1").cause is None


def test_a_retry_forgets_what_the_failed_attempt_said() -> None:
    bench = Bench()
    bench.submit("@pm Plan")
    bench.say("pm#1", "half a ")
    bench.fail("pm#1")
    bench.retry("pm#1")
    assert bench.complete("pm#1", "plan")[-1] == "pm#1 completed: plan"


# What is told


def story(bench: Bench, task: str) -> list[str]:
    return [type(fact).__name__ for fact in bench.published if getattr(fact, "task", None) == task]


def test_each_move_of_a_task_is_told_once_and_in_order() -> None:
    bench = Bench()
    bench.submit("@pm Plan -> @ba Check -> @writer Write")
    bench.fail("pm#1")
    bench.retry("pm#1")
    bench.complete("pm#1")
    bench.cancel("ba#1")
    bench.fail("ba#1", "stopped")
    assert story(bench, "pm#1") == [
        *("TaskCreated", "TaskStarted", "WorkEnded", "TaskFailed"),
        *("RetryRequested", "TaskRetried", "TaskStarted", "WorkEnded", "TaskCompleted"),
    ]
    assert story(bench, "ba#1") == [
        *("TaskCreated", "TaskWaiting", "TaskSkipped"),
        *("TaskRetried", "TaskWaiting", "DependencyMet", "TaskStarted", "TaskCancelled", "WorkEnded"),
    ]
    assert story(bench, "writer#1") == [
        *("TaskCreated", "TaskWaiting", "TaskSkipped"),
        *("TaskRetried", "TaskWaiting", "TaskSkipped"),
    ]


# What holds for every scene


def assert_each_life_ends_once(published: list[Fact]) -> None:
    living: set[str] = set()
    at_work: set[str] = set()
    for fact in published:
        match fact:
            case TaskCreated(task=task) | TaskRetried(task=task):
                assert task not in living
                living.add(task)
            case TaskStarted(task=task):
                assert task in living
                assert task not in at_work
                at_work.add(task)
            case WorkEnded(task=task):
                at_work.remove(task)
            case (
                TaskQueued(task=task)
                | TaskWaiting(task=task)
                | WaitProlonged(task=task)
                | DependencyMet(task=task)
            ):
                assert task in living
            case (
                TaskCompleted(task=task)
                | TaskFailed(task=task)
                | TaskSkipped(task=task)
                | TaskCancelled(task=task)
            ):
                living.remove(task)
            case _:
                pass


def assert_rebuilt(bench: Bench) -> None:
    """Replaying what was published rebuilds the board."""
    rebuilt = Rules(bench.policy)
    for fact in bench.published:
        rebuilt.handle(fact)
    assert snapshot(rebuilt.board) == snapshot(bench.board)
