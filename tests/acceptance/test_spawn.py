"""Spawning, by the names of what was promised: waits, results, errors, shared context, limits."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.board import State
from teambot_tui.engine.facts import TaskDelayed
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.orders import OrderError
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import Member
from teambot_tui.engine.session import Session
from teambot_tui.engine.spawning import Run
from tests.team import TEAM, Gate, Watch, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.facts import AgentDefined


def session_on(gate: Gate, policy: Policy | None = None, **more: object) -> Session:
    members = [Member(AgentId(name), f"You are {name}.", None, gate) for name in TEAM]

    def recruit(defined: AgentDefined) -> Member:
        system = "You help." if defined.base == "general-purpose" else f"You are {defined.base}."
        return Member(defined.agent, system, None, gate)

    return Session(members, policy=policy, bases=("general-purpose",), recruit=recruit, **more)  # type: ignore[arg-type]


async def until(condition: Callable[[], bool]) -> None:
    """Let things happen until something holds; fail if it never does."""
    async with asyncio.timeout(60):
        while not condition():
            await settle()


async def one(session: Session, task: str, **how: object) -> Run:
    run = await session.spawn(task, **how)  # type: ignore[arg-type]
    assert isinstance(run, Run)
    return run


@pytest.mark.parametrize("parameter", ["chain_after", "depends_on"])
@pytest.mark.parametrize("form", ["label", "task id", "agent", "list"])
async def test_chain_after_and_depends_on_are_accepted(parameter: str, form: str) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        first = await one(session, "Research", label="research", agent="pm")
        name = {"label": "research", "task id": "pm#1", "agent": "pm", "list": ["research"]}[form]
        second = await one(session, "Design", agent="ba", **{parameter: name})
        await settle()
        assert (first.status, second.status) == (State.EXECUTING, State.WAITING)
        gate.answer("pm#1", "found")
        await settle()
        assert gate.prompt("ba#1") == "Design"
        gate.answer("ba#1", "drawn")
        assert await second.wait() == "drawn"


async def test_waiting_does_not_block_the_caller_and_is_shown_like_any_wait() -> None:
    gate, watch = Gate(), Watch()
    async with session_on(gate) as session:
        with session.bus.subscribe(watch.see):
            await one(session, "Research", agent="pm")
            run = await one(session, "Design", agent="ba", chain_after="pm")
            await settle()
            assert watch.status("ba") == "@ba: waiting for @pm"
            run.cancel()
            assert run.status is State.CANCELLED


async def test_the_result_is_included() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "A", agent="pm", label="a")
        await one(session, "B", agent="ba", label="b")
        await one(session, "C", agent="writer", depends_on=["a", "b"], include_dependency_result=True)
        gate.answer("pm#1", "from a\n")
        gate.answer("ba#1", "from $pm b")
        await settle()
        assert gate.prompt("writer#1") == (
            "[Previous step result: a]:\nfrom a\n\n"
            "[Previous step result: b]:\nfrom $pm b\n\n"
            "[Current task]:\nC"
        )


@pytest.mark.parametrize(
    ("setting", "state"), [("skip", State.SKIPPED), ("refuse", State.SKIPPED), ("proceed", State.EXECUTING)]
)
async def test_dependency_errors_are_handled(setting: str, state: State) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "A", agent="pm", label="a")
        run = await one(session, "B", agent="ba", chain_after="a", on_dependency_failure=setting)
        await settle()
        gate.fail("pm#1", "no idea")
        await settle()
        assert run.status is state
        assert run.reason == ("" if state is State.EXECUTING else "@pm failed: no idea")


async def test_a_dependency_that_has_failed_already_refuses_the_run_if_so_set() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "A", agent="pm", label="a")
        await settle()
        gate.fail("pm#1", "no idea")
        await settle()
        with pytest.raises(OrderError, match="a failed: no idea"):
            await one(session, "B", agent="ba", chain_after="a", on_dependency_failure="refuse")
        assert list(session.board.tasks) == ["pm#1"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"chain_after": "reserch"}, "There is no task, label or agent reserch. Did you mean research?"),
        ({"agent": "generalpurpose"}, "There is no agent generalpurpose. Did you mean general-purpose?"),
        ({"on_dependency_failure": "stop"}, "must be one of skip, refuse, proceed, not stop"),
        ({"shared_context": {"x": object()}}, "cannot be written as JSON"),
        ({"shared_context": {"$nobody": "reference"}}, "There is no task, label or agent nobody"),
        ({"agent": "x", "base": "general-purpose"}, "A new agent needs a prompt beside its base"),
        ({"agent": "All X", "base": "pm", "prompt": "p"}, "All X is no name for an agent"),
        ({"agent": "ba", "base": "pm", "prompt": "p"}, "There is an agent ba already"),
        ({"agent": "x", "base": "pmm", "prompt": "p"}, "There is no agent pmm. Did you mean pm?"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"timeout": float("nan")}, "timeout must be above 0"),
        ({"label": "pm#1"}, "A label must not contain"),
        ({"label": "up-2/plan"}, "A label must not contain"),
        ({"retries": -1}, "retries must not be negative"),
    ],
)
async def test_what_is_wrong_is_told_at_once_and_starts_nothing(how: dict[str, object], message: str) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "A", agent="pm", label="research")
        before = session.roster.agents
        with pytest.raises(OrderError) as error:
            await one(session, "B", **how)
        assert message in str(error.value)
        assert list(session.board.tasks) == ["pm#1"]
        assert session.roster.agents == before


@pytest.mark.parametrize(("agent", "who"), [("PM", "pm"), ("General-Purpose", "general-purpose-1")])
async def test_an_agent_may_be_named_in_any_case(agent: str, who: str) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        assert (await one(session, "A", agent=agent)).agent == who
        gate.answer(f"{who}#1")
        await session.idle()


async def test_parallel_runs_start_at_once_with_the_same_context() -> None:
    gate = Gate()
    async with session_on(gate, Policy(max_parallel=10)) as session:
        runs = await session.spawn(
            ["A", "B", "C"], parallel=True, shared_context={"projectGoal": "Build a modern web app"}
        )
        assert isinstance(runs, list)
        await settle()
        assert [run.status for run in runs] == [State.EXECUTING] * 3
        assert {request.system for request in gate.requests} == {
            'You help.\n\n[Shared Context]:\n- projectGoal: "Build a modern web app"'
        }
        assert [request.prompt for request in gate.requests] == ["A", "B", "C"]


@pytest.mark.parametrize("agent", ["pm", "general-purpose"])
async def test_a_list_runs_one_after_another(agent: str) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        runs = await session.spawn(["A", "B"], agent=agent, label="step", include_dependency_result=True)
        assert isinstance(runs, list)
        await settle()
        assert [run.label for run in runs] == ["step-1", "step-2"]
        assert [run.status for run in runs] == [
            State.EXECUTING,
            State.QUEUED if agent == "pm" else State.WAITING,
        ]
        gate.answer(runs[0].id, "done")
        await settle()
        assert gate.prompt(runs[1].id) == "[Previous step result]:\ndone\n\n[Current task]:\nB"


async def test_a_list_is_bound_by_its_tasks_whatever_is_called_like_its_agents() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        old = await one(session, "Old", agent="pm", label="general-purpose-1")
        await settle()
        gate.answer(old.id, "an old answer")
        await old.wait()
        runs = await session.spawn(["A", "B"], include_dependency_result=True)
        assert isinstance(runs, list)
        await settle()
        assert runs[1].status is State.WAITING
        gate.answer(runs[0].id, "the new answer")
        await settle()
        assert gate.prompt(runs[1].id) == "[Previous step result]:\nthe new answer\n\n[Current task]:\nB"


async def test_results_whose_labels_do_not_tell_them_apart_have_their_ids() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        for agent, label in (("pm", "look"), ("ba", "look"), ("reviewer", None)):
            await one(session, "Go", agent=agent, label=label)
        await settle()
        for task in ("pm#1", "ba#1", "reviewer#1"):
            gate.answer(task, f"from {task}")
        await session.idle()
        names = ["pm#1", "ba#1", "reviewer#1"]
        run = await one(session, "Sum", agent="writer", depends_on=names, include_dependency_result=True)
        await settle()
        for name in names:
            assert f"[Previous step result: {name}]:\nfrom {name}" in gate.prompt(run.id)


async def test_the_text_of_a_person_means_what_it_means_when_it_is_typed() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        session.submit('pm:"Plan":plan')
        run = await one(session, "Check $pm and {plan}, not \\$pm or {x}; {{output:ba}}", agent="ba")
        await settle()
        assert run.status is State.WAITING
        gate.answer("pm#1", "the plan")
        await settle()
        assert gate.prompt(run.id) == (
            "Check [Output from @pm]: the plan and the plan, not $pm or {x};"
            ' (No output available from task "ba")'
        )


async def test_in_a_list_a_reference_means_the_step_before() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        runs = await session.spawn(["Plan", "Improve $pm"], agent="pm")
        assert isinstance(runs, list)
        await settle()
        gate.answer("pm#1", "first")
        await settle()
        assert gate.prompt("pm#2") == "Improve [Output from @pm]: first"


async def test_the_words_of_an_agent_are_text() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        root = await one(session, "Lead", agent="pm")
        said = "See $ba, {{include: secret.md}} and $nobody"
        child = await one(session, said, parent=root.id)
        await settle()
        assert gate.prompt(child.id) == said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ask $nobody", "Unknown agent reference: $nobody. Valid agents: pm, ba"),
        ("See {{include: x.md}}", "x.md cannot be included"),
        ("See {{STDIN}}", "Nothing was piped in"),
    ],
)
async def test_a_text_that_means_nothing_starts_nothing(text: str, message: str) -> None:
    async with session_on(Gate()) as session:
        with pytest.raises(OrderError, match=re.escape(message)):
            await one(session, text, agent="ba")
        assert not session.board.tasks


async def test_a_new_specialist_is_defined_by_its_base_and_prompt() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        prompt = "You know OWASP."
        named = await one(session, "Scan", agent="scanner", base="General-Purpose", prompt=prompt)
        unnamed = await one(session, "Scan", agent="pm", prompt=prompt)
        assert (named.agent, unnamed.agent) == ("scanner", "pm-1")
        joined = session.roster.temporary
        assert (joined[named.agent].base, joined[named.agent].prompt) == ("general-purpose", prompt)
        assert (joined[unnamed.agent].base, joined[unnamed.agent].prompt) == ("pm", prompt)


async def test_chained_runs_can_read_earlier_results() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "Look", agent="pm", label="research")
        await one(session, "Draw", agent="ba", shared_context={"$research": "reference"})
        await settle()
        assert gate.started == ["pm#1"], "it waits for it first"
        gate.answer("pm#1", 'say "x"\n\x1b[2J')
        await settle()
        assert gate.requests[1].system == 'You are ba.\n\n[Shared Context]:\n- research: "say \\"x\\""'


async def test_a_result_that_failed_is_told_as_such() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "Look", agent="pm", label="research")
        how = {"shared_context": {"$research": "reference"}, "on_dependency_failure": "proceed"}
        await one(session, "Draw", agent="ba", **how)
        await settle()
        gate.fail("pm#1")
        await settle()
        assert gate.requests[1].system.endswith('- research: "[@pm failed: out of ideas]"')


async def test_a_child_inherits_extends_and_overrides_and_never_changes_its_parent() -> None:
    gate = Gate()
    async with session_on(gate, context={"goal": "ship", "tone": "dry"}) as session:
        parent = await one(session, "Lead", agent="pm", shared_context={"goal": "ship it", "team": 3})
        child = await one(session, "Help", parent=parent.id, shared_context={"goal": "help"})
        other = await one(session, "Else", agent="ba")
        await settle()
        systems = {request.task: request.system.split("[Shared Context]:\n")[1] for request in gate.requests}
        assert systems[parent.id] == '- tone: "dry"\n- goal: "ship it"\n- team: 3'
        assert systems[child.id] == '- tone: "dry"\n- team: 3\n- goal: "help"'
        assert systems[other.id] == '- goal: "ship"\n- tone: "dry"'


async def test_without_context_nothing_stands_in_front_of_an_agent() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        session.set_context("goal", "x")
        session.set_context("goal", None)
        await one(session, "A", agent="pm")
        await settle()
        assert gate.requests[0].system == "You are pm."


async def test_a_large_context_is_cut_visibly() -> None:
    gate = Gate()
    async with session_on(gate, Policy(inject_limit=100), context={"a": "x" * 200, "b": 1}) as session:
        session.submit("@pm Go")
        await settle()
        assert "bytes are left out here]\n[1 more keys are left out here]" in gate.requests[0].system


async def test_backward_compatible_calls_work_as_before() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        run = await one(session, "Just do it")
        await settle()
        assert gate.requests[0].prompt == "Just do it"
        assert gate.requests[0].system == "You help."
        assert run.agent == "general-purpose-1"


async def test_retries_are_for_failures_of_the_agent_with_growing_pauses() -> None:
    gate, watch = Gate(), Watch()
    session = session_on(gate, Policy(retry_delay=0.001))
    with session.bus.subscribe(watch.see):
        async with session:
            run = await one(session, "Try", agent="pm", retries=2)
            for attempt in (1, 2, 3):
                # The next attempt may have begun by the time this one is seen to be over.
                await until(lambda attempt=attempt: len(gate.started) >= attempt)  # type: ignore[misc]
                gate.fail("pm#1", "flaky")
                await until(lambda attempt=attempt: len(gate.closed) >= attempt)  # type: ignore[misc]
            await run.wait()
            assert (run.status, run.reason, len(gate.started)) == (State.FAILED, "flaky", 3)
            delays = [fact.until - fact.time for fact in watch.facts if isinstance(fact, TaskDelayed)]
            assert delays == [pytest.approx(0.001, rel=0.01), pytest.approx(0.002, rel=0.01)]


async def test_retries_are_not_for_failures_of_dependencies() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await one(session, "A", agent="pm")
        run = await one(session, "B", agent="ba", retries=5, chain_after="pm")
        await settle()
        gate.fail("pm#1")
        await settle()
        assert run.status is State.SKIPPED


async def test_a_run_that_takes_too_long_fails() -> None:
    gate = Gate()
    async with session_on(gate) as session:
        run = await one(session, "Slow", agent="pm", timeout=0.01)
        await run.wait()
        assert (run.status, run.reason) == (State.FAILED, "Timed out after 0.01 s.")
        await session.idle()
        assert gate.closed == ["pm#1"]


async def test_limits_are_named() -> None:
    gate = Gate()
    policy = Policy(spawn_depth=2, spawn_children=2, spawn_runs=5, max_parallel=1)
    async with session_on(gate, policy) as session:
        root = await one(session, "0", agent="pm")
        child = await one(session, "1", parent=root.id)
        grandchild = await one(session, "2", parent=child.id)
        await settle()
        assert grandchild.status is State.EXECUTING, "who is waited for needs no slot"
        with pytest.raises(OrderError, match=r"at most 2 deep \(spawn_depth\)"):
            await one(session, "3", parent=grandchild.id)
        with pytest.raises(OrderError, match=r"at most 2 others \(spawn_children\); pm#1 has started 1"):
            await session.spawn(["a", "b"], parent=root.id, parallel=True)
        await one(session, "1b", parent=root.id)
        with pytest.raises(OrderError, match=r"at most 5 runs \(spawn_runs\); 4 were started"):
            await session.spawn(["a", "b"], agent="ba")


async def test_parents_that_wait_for_their_children_keep_nobody_from_starting() -> None:
    gate = Gate()
    async with session_on(gate, Policy(max_parallel=1, spawn_parallel=1)) as session:
        root = await one(session, "0", agent="pm")
        first = await one(session, "1a", parent=root.id)
        second = await one(session, "1b", parent=root.id)
        below = [await one(session, f"2{letter}", parent=first.id) for letter in "ab"]
        for run in (*below, first, second, root):  # everybody ends behind what they started
            await until(lambda run=run: run.id in gate.started)  # type: ignore[misc]
            assert sum(task.state is State.EXECUTING for task in session.board.tasks.values()) <= 3
            gate.answer(run.id)
            await run.wait()


@pytest.mark.parametrize("end", ["cancel", "fail"])
async def test_what_a_run_started_ends_with_it(end: str) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        root = await one(session, "0", agent="pm")
        child = await one(session, "1", parent=root.id)
        grandchild = await one(session, "2", parent=child.id)
        await settle()
        if end == "cancel":
            root.cancel()
        else:
            gate.fail("pm#1")
        await session.idle()
        assert (child.status, grandchild.status) == (State.CANCELLED, State.CANCELLED)
        with pytest.raises(OrderError, match="has ended and can start nothing"):
            await one(session, "late", parent=child.id)


async def test_a_run_that_is_tried_again_may_start_as_many_as_at_first() -> None:
    gate = Gate()
    async with session_on(gate, Policy(spawn_children=1, retry_delay=0.0)) as session:
        root = await one(session, "0", agent="pm", retries=1)
        await one(session, "1", parent=root.id)
        await settle()
        gate.fail("pm#1")
        await until(lambda: gate.started.count("pm#1") >= 2)
        await one(session, "2", parent=root.id)
        with pytest.raises(OrderError, match=r"spawn_children\); pm#1 has started 1"):
            await one(session, "3", parent=root.id)
        session.cancel()


async def test_agents_of_runs_that_were_stopped_leave_too() -> None:
    gate = Gate()
    async with session_on(gate, Policy(max_parallel=50)) as session:
        await session.spawn([str(number) for number in range(20)], parallel=True)
        await settle()
        session.cancel()
        await session.idle()
        more = await session.spawn([str(number) for number in range(13)], parallel=True)
        assert isinstance(more, list)
        await settle()
        for run in more:
            gate.answer(run.id)
        await session.idle()
        assert len(session.roster.temporary) <= 20


async def test_agents_that_were_made_for_a_run_leave_and_their_outputs_stay() -> None:
    gate = Gate()
    async with session_on(gate, Policy(max_parallel=50)) as session:
        runs = await session.spawn([str(number) for number in range(20)], parallel=True)
        assert isinstance(runs, list)
        await settle()
        for run in runs:
            gate.answer(run.id, f"said {run.id}")
        await session.idle()
        assert 6 <= len(session.roster.temporary) <= 12
        assert [run.output for run in runs] == [f"said {run.id}" for run in runs]
        again = await one(session, "Sum", agent="pm", chain_after=[run.id for run in runs])
        await settle()
        assert again.status is State.EXECUTING


async def test_two_hundred_runs_fan_out_and_in() -> None:
    gate = Gate()
    async with session_on(gate, Policy(max_parallel=500)) as session:
        runs = await session.spawn([f"part {n}" for n in range(199)], parallel=True, label="part")
        assert isinstance(runs, list)
        total = await one(
            session,
            "Sum",
            agent="writer",
            depends_on=[run.id for run in runs],
            include_dependency_result=True,
        )
        await settle()
        for run in reversed(runs):
            gate.answer(run.id)
        await settle()
        await until(lambda: total.id in gate.started)
        assert gate.prompt(total.id).count("[Previous step result: part-") == 199
        gate.answer(total.id, "all")
        assert await total.wait() == "all"
