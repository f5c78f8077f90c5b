"""Orders: what they need by name, how it must end, and that nothing ever hangs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Condition, Via
from teambot_tui.engine.facts import (
    ActivityReported,
    BudgetSet,
    CancelRequested,
    PermissionAsked,
    WorkEnded,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.orders import Need, Order, OrderError, place
from teambot_tui.engine.ports import Permissions, Usage
from teambot_tui.language.parser import parse_prompt
from tests.engine.bench import Bench

PM, BA, WRITER = map(AgentId, ("pm", "ba", "writer"))


def order(agent: AgentId, *needs: Need, label: str | None = None, text: str = "Go", scope: str = "") -> Order:
    return Order(agent, parse_prompt(text), needs, label=label, scope=scope)


def give(bench: Bench, *orders: Order) -> list[str]:
    tasks = place(orders, bench.board, bench.roster, bench.policy, bench.now)
    for task in tasks:
        bench.report(task)
    return [task.task for task in tasks]


@pytest.mark.parametrize(
    ("condition", "end", "expected"),
    [
        ("success", "complete", "executing"),
        ("success", "fail", "skipped"),
        ("success", "cancel", "skipped"),
        ("success", "skip", "skipped"),
        ("failure", "complete", "skipped"),
        ("failure", "fail", "executing"),
        ("failure", "cancel", "skipped"),
        ("failure", "skip", "skipped"),
        ("any", "complete", "executing"),
        ("any", "fail", "executing"),
        ("any", "cancel", "skipped"),
        ("any", "skip", "executing"),
        ("always", "complete", "executing"),
        ("always", "fail", "executing"),
        ("always", "cancel", "executing"),
        ("always", "skip", "executing"),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_how_a_dependency_must_end(condition: str, end: str, expected: str, when: str) -> None:
    bench = Bench()
    give(bench, order(WRITER, label="root"), order(PM, Need("root"), label="first"))
    last = order(BA, Need("first", condition=Condition(condition)))
    if when == "after":
        give(bench, last)
    if end == "skip":
        bench.fail("writer#1")
    else:
        bench.complete("writer#1")
        bench.act(f"{end} pm#1")
    if when == "before":
        give(bench, last)
    assert bench.states()["ba#1"] == expected


def test_a_need_is_a_label_of_the_same_orders_then_a_label_a_task_or_an_agent() -> None:
    bench = Bench()
    give(bench, order(PM, label="plan"))
    assert give(bench, order(BA, label="plan"), order(WRITER, Need("plan"))) == ["ba#1", "writer#1"]
    assert [source and source.id for source in bench.task("writer#1").sources] == ["ba#1"]
    give(bench, order(WRITER, Need("pm#1"), Need("pm"), Need("reviewer")))
    assert [source and source.id for source in bench.task("writer#2").sources] == ["pm#1", None]


def test_from_within_a_scope_only_its_own_labels_are_seen() -> None:
    bench = Bench()
    see = "See {{output:plan}} {{output:pm}}"
    for scope, agent in (("main.1/", PM), ("main.2/", BA)):
        give(bench, order(agent, label="plan", scope=scope))
        bench.complete(f"{agent}#1", f"from {agent}")
        give(bench, order(WRITER, scope=scope, text=see))
        bench.complete(bench.rules.board.lanes[WRITER].head.id)  # type: ignore[union-attr]
    first, second = (bench.prompts[f"writer#{number}"].text for number in (1, 2))
    assert first.count("from pm\n--- End output from task") == 2
    assert "from ba\n" in second
    assert '(No output available from task "pm")' in second, "it was said under a label of another scope"
    bench.submit("@writer " + see)
    assert "from ba\n" in bench.prompts["writer#3"].text, "without a scope, the latest counts"
    assert "from pm\n" in bench.prompts["writer#3"].text


def test_the_first_workflow_does_not_see_the_second() -> None:
    bench = Bench()
    give(bench, order(PM, label="plan"))
    bench.complete("pm#1", "first")
    give(bench, order(PM, label="plan", scope="up-2/"))
    bench.complete("pm#2", "second")
    give(bench, order(BA, label="check", text="{{output:plan}}"))
    assert "\nfirst\n" in bench.prompts["ba#1"].text


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([order(AgentId("nobody"))], "There is no agent nobody"),
        (
            [order(PM, Need("plann"), label="x"), order(PM, label="plan")],
            "There is no task, label or agent plann",
        ),
        ([order(PM, Need("pm"))], "A run of @pm cannot wait for @pm, which has no output yet"),
        (
            [order(PM, Need("ba")), order(BA, Need("pm"))],
            "Circular dependency detected: @ba → @pm → @ba",
        ),
    ],
)
def test_what_has_no_meaning_is_refused_as_a_whole(orders: list[Order], message: str) -> None:
    bench = Bench()
    with pytest.raises(OrderError) as error:
        give(bench, *orders)
    assert message in str(error.value)
    assert not bench.board.tasks


def test_a_need_that_is_told_twice_is_one() -> None:
    bench = Bench()
    give(bench, order(PM, label="plan"), order(BA, Need("plan", Via.RESULT), Need("plan", Via.RESULT)))
    bench.complete("pm#1", "x")
    assert bench.prompts["ba#1"].text == "[Previous step result]:\nx\n\n[Current task]:\nGo"


@pytest.mark.parametrize(
    "text",
    [
        '--- End output from task "plan" ---',
        "=== Your Task ===",
        "$builder-1 {issues} {{output:x}} \\$pm -> @ba",
        "[Current task]:",
    ],
)
def test_an_output_changes_nothing_but_the_text(text: str) -> None:
    bench = Bench()
    give(bench, order(PM, label="plan"))
    bench.complete("pm#1", f"a\n{text}\nb")
    give(bench, order(BA, text="See {{output:plan}} now"))
    shown = text if text.startswith("$") else f" {text}"
    assert bench.prompts["ba#1"].text == (
        f'See --- Output from task "plan" ---\na\n{shown}\nb\n--- End output from task "plan" --- now'
    )


@pytest.mark.parametrize("seed", range(300))
def test_random_orders_end_as_their_conditions_say(seed: int) -> None:
    random = Random(seed)
    bench = Bench(max_parallel=random.randint(1, 4))
    agents = [AgentId(name) for name in ("pm", "ba", "builder-1", "writer")]
    orders = []
    for number in range(random.randint(1, 12)):
        chosen = random.sample(range(number), random.randint(0, min(number, 3)))
        needs = [Need(f"t{each}", condition=random.choice(list(Condition))) for each in chosen]
        orders.append(order(random.choice(agents), *needs, label=f"t{number}"))
    give(bench, *orders)
    while bench.board.unfinished:
        going = [task for task in bench.board.tasks.values() if task.state is State.EXECUTING]
        assert going, "something always goes on"
        task = random.choice(going)
        match random.randrange(4):
            case 0:
                bench.report(CancelRequested(bench.now, (task.id,)))
                bench.report(WorkEnded(bench.now, task.id, "stopped"))
            case 1:
                bench.fail(task.id)
            case _:
                bench.complete(task.id)
    met = {
        Condition.SUCCESS: {State.COMPLETED},
        Condition.FAILURE: {State.FAILED},
        Condition.ANY: {State.COMPLETED, State.FAILED, State.SKIPPED},
        Condition.ALWAYS: {State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED},
    }
    for task in bench.board.tasks.values():
        wanted = zip(task.plan.dependencies, task.sources, strict=True)
        may_run = all(source is not None and source.state in met[need.condition] for need, source in wanted)
        assert may_run == (task.state is not State.SKIPPED)
        assert may_run == (task.id in bench.prompts)


@pytest.mark.parametrize("end", ["complete", "fail"])
def test_a_source_that_is_needed_twice_must_end_as_both_want(end: str) -> None:
    bench = Bench()
    both = (Need("plan", Via.AFTER, Condition.ALWAYS), Need("plan", Via.RESULT, Condition.FAILURE))
    give(bench, order(PM, label="plan"), order(BA, *both))
    bench.act(f"{end} pm#1")
    assert bench.states()["ba#1"] == ("executing" if end == "fail" else "skipped")


def tried_again(bench: Bench, *needs: Need, label: str | None = None) -> None:
    """Order work that is tried again once."""
    give(bench, replace(order(PM, *needs, label=label), retries=1))


def test_what_failed_work_had_started_and_asked_ends_with_it_though_it_is_tried_again() -> None:
    bench = Bench()
    tried_again(bench)
    give(bench, replace(order(BA), parent=TaskId("pm#1")))
    request = PermissionAsked(0.0, TaskId("pm#1"), "1", "Shell", "execute", "ls", Permissions.ASK, True, "ls")
    bench.report(request)
    told = bench.fail("pm#1")
    assert told == ["stop ba#1", "ba#1 cancelled"]
    assert not bench.rules.approvals.open, "nobody waits for the answer any more"
    assert bench.states() == {"pm#1": "queued", "ba#1": "cancelled"}


def test_work_that_is_tried_again_is_sent_the_same_whatever_its_sources_do_meanwhile() -> None:
    bench = Bench()
    give(bench, order(BA, label="plan"))
    bench.fail("ba#1")
    tried_again(bench, Need("plan", Via.RESULT, Condition.ALWAYS))
    sent = bench.prompts["pm#1"].text
    assert "[@ba failed: boom]" in sent
    bench.fail("pm#1")
    bench.retry("ba#1")
    del bench.prompts["pm#1"]
    bench.wait(2)
    assert bench.prompts["pm#1"].text == sent


def test_what_stopped_work_reports_late_is_counted_once() -> None:
    bench = Bench()
    give(bench, order(PM))
    use = ActivityReported(0.0, TaskId("pm#1"), Usage(100, 0, None))
    bench.report(use)
    bench.cancel("pm#1")
    bench.retry("pm#1")
    bench.report(use)
    assert bench.rules.spending.tokens == 100
    bench.fail("pm#1", "The work was stopped.")
    bench.report(ActivityReported(0.0, TaskId("pm#1"), Usage(7, 0, None)))
    assert bench.rules.spending.tokens == 107


def test_children_start_in_order_and_before_the_others_after_a_budget_pause() -> None:
    bench = Bench(max_parallel=2)
    give(bench, order(PM))
    bench.report(BudgetSet(0.0, None, 10))
    bench.report(ActivityReported(0.0, TaskId("pm#1"), Usage(10, 0, None)))
    give(bench, order(WRITER))
    for agent in (BA, *map(AgentId, ("builder-1", "builder-2"))):
        give(bench, replace(order(agent), parent=TaskId("pm#1")))
    assert list(bench.states().values()) == ["executing", *["queued"] * 4]
    assert bench.report(BudgetSet(0.0, None, 1000)) == [
        "ba#1 started",
        "builder-1#1 started",
        "builder-2#1 started",
        "writer#1 started",
    ]
