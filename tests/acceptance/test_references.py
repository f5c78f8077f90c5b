"""The acceptance scenarios AT-001 to AT-008, on a session with agents that the test lets speak."""

from __future__ import annotations

import pytest

from teambot_tui.engine.facts import TaskStarted
from teambot_tui.language.errors import StatementError
from tests.team import Gate, Watch, session_of, settle


async def test_at_001_reference_after_completion() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@pm Create a plan")
        gate.answer("pm#1", "1. Login")
        await session.idle()
        session.submit("@builder-1 Implement $pm")
        await settle()
        assert gate.prompt("builder-1#1") == "Implement [Output from @pm]: 1. Login"


async def test_at_002_reference_triggers_wait() -> None:
    gate, watch = Gate(), Watch()
    async with session_of(gate) as session:
        with session.bus.subscribe(watch.see):
            session.submit("@pm Create a plan")
            session.submit("@builder-1 Implement $pm")
            await settle()
            assert watch.status("builder-1") == "@builder-1: waiting for @pm"
            assert gate.started == ["pm#1"]
            gate.answer("pm#1", "1. Login")
            await settle()
            assert watch.status("builder-1") == "@builder-1: executing"
            assert watch.status("pm") == "@pm: idle"
            assert gate.prompt("builder-1#1") == "Implement [Output from @pm]: 1. Login"


async def test_at_003_several_references() -> None:
    gate, watch = Gate(), Watch()
    async with session_of(gate) as session:
        with session.bus.subscribe(watch.see):
            session.submit("@pm Plan\n@ba Analyse\n@builder-1 Implement $pm using $ba, as $pm says")
            await settle()
            assert watch.status("builder-1") == "@builder-1: waiting for @pm, @ba"
            gate.answer("ba#1", "needs")
            await settle()
            assert watch.status("builder-1") == "@builder-1: waiting for @pm"
            assert "builder-1#1" not in gate.started
            gate.answer("pm#1", "plan")
            await settle()
            assert gate.prompt("builder-1#1") == (
                "Implement [Output from @pm]: plan using [Output from @ba]: needs, "
                "as [Output from @pm, above] says"
            )


async def test_at_004_unknown_reference() -> None:
    async with session_of() as session:
        with pytest.raises(StatementError) as refused:
            session.submit("@pm Plan $nonexistent")
        assert refused.value.message == (
            "Unknown agent reference: $nonexistent. "
            "Valid agents: pm, ba, builder-1, builder-2, reviewer, writer"
        )
        assert "\\$nonexistent" in refused.value.hint
        assert (refused.value.line, refused.value.column) == (1, 10)
        assert not session.board.tasks


async def test_at_005_reference_without_output() -> None:
    async with session_of() as session:
        with pytest.raises(StatementError) as refused:
            session.submit("@builder-1 Implement $pm")
        assert refused.value.message == ("Agent @pm has no output to reference. Run a task for @pm first.")
        assert not session.board.tasks


async def test_at_006_circular_dependency() -> None:
    async with session_of(Gate()) as session:
        session.submit("@pm Plan with $builder-1 &")
        with pytest.raises(StatementError) as refused:
            session.submit("@builder-1 Implement $pm")
        assert refused.value.message == "Circular dependency detected: @builder-1 → @pm → @builder-1"
        assert list(session.board.tasks) == ["pm#1"]


async def test_at_007_pipeline_with_reference() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@ba Analyse")
        session.submit("@pm Plan -> @builder-1 Build with $ba")
        await settle()
        gate.answer("ba#1", "needs")
        gate.answer("pm#1", "plan")
        await settle()
        assert gate.prompt("builder-1#1") == (
            "=== Output from @pm ===\nplan\n\n=== Your Task ===\nBuild with [Output from @ba]: needs"
        )


async def test_at_008_escaped_reference() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@builder-1 Print \\$pm and \\$PATH")
        await settle()
        assert gate.prompt("builder-1#1") == "Print $pm and $PATH"


# Old ways that must not come back


async def test_a_reference_right_after_background_waits() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@pm Plan &")
        session.submit("@ba Check $pm")
        await settle()
        assert gate.started == ["pm#1"]
        gate.answer("pm#1", "plan")
        await settle()
        assert gate.prompt("ba#1") == "Check [Output from @pm]: plan"


async def test_each_stage_receives_its_own_references() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@writer Style guide\n@ba Needs\n@pm Plan $ba -> @builder-1 Build $writer")
        await settle()
        gate.answer("writer#1", "guide")
        gate.answer("ba#1", "needs")
        await settle()
        assert gate.prompt("pm#1") == "Plan [Output from @ba]: needs"
        gate.answer("pm#1", "plan")
        await settle()
        assert gate.prompt("builder-1#1") == (
            "=== Output from @pm ===\nplan\n\n=== Your Task ===\nBuild [Output from @writer]: guide"
        )


async def test_agents_of_a_stage_inside_a_pipeline_work_in_parallel() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@pm Plan -> @builder-1,builder-2 Build -> @reviewer Review")
        await settle()
        gate.answer("pm#1", "plan")
        await settle()
        assert gate.started == ["pm#1", "builder-1#1", "builder-2#1"]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("@pm Print \\$ba", "Print $ba"),
        ("@pm echo $HOME $$pm $PM", "echo $HOME $$pm $PM"),
        ("@pm run git commit -m x", "run git commit -m x"),
        ("@pm say [bold]hi[/bold] [@click=app.quit]x[/]", "say [bold]hi[/bold] [@click=app.quit]x[/]"),
    ],
)
async def test_the_text_of_a_task_arrives_as_typed(typed: str, sent: str) -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit(typed)
        await settle()
        assert gate.prompt("pm#1") == sent


async def test_agents_after_a_comma_may_carry_their_sign() -> None:
    async with session_of() as session:
        assert session.submit("@pm,@ba Analyse") == ("pm#1", "ba#1")


async def test_the_output_of_an_alias_is_found_by_the_id() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        session.submit("@business_analyst Analyse")
        session.submit("@pm Plan $ba")
        await settle()
        gate.answer("ba#1", "needs")
        await settle()
        assert gate.prompt("pm#1") == "Plan [Output from @ba]: needs"


async def test_a_cancelled_pipeline_leaves_nothing_running() -> None:
    gate, watch = Gate(), Watch()
    async with session_of(gate) as session:
        with session.bus.subscribe(watch.see):
            session.submit("@pm,ba Analyse -> @builder-1 Build -> @reviewer Review")
            await settle()
            session.cancel("all")
            await session.idle()
            assert sorted(gate.closed) == ["ba#1", "pm#1"]
            assert {task.state for task in session.board.tasks.values()} == {"cancelled"}
            assert all(watch.status(agent).endswith(": idle") for agent in ("pm", "ba", "builder-1"))
            assert len(watch.of(TaskStarted)) == 2
