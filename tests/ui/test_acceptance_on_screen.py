"""The acceptance scenarios AT-001 to AT-008, typed key by key, and seen on the panels and the plan line."""

from __future__ import annotations

from dataclasses import replace

from tests.ui.stage import on_stage


async def test_at_001_reference_after_completion() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm Create a plan", made=1)
        await stage.answer("pm#1", "1. Login")
        assert stage.badge("pm") == "○ idle ✓ completed"
        await stage.enter("@builder-1 Implement $pm", made=2)
        await stage.until(lambda: stage.badge("builder-1") == "● executing")
        assert stage.gate.prompt("builder-1#1") == "Implement [Output from @pm]: 1. Login"


async def test_at_002_reference_triggers_wait() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm Create a plan", made=1)
        await stage.enter("@builder-1 Implement $pm", made=2)
        assert stage.badge("pm") == "● executing"
        assert stage.badge("builder-1") == "◷ waiting for @pm"
        assert stage.badge("reviewer") == "○ idle"
        await stage.answer("pm#1", "1. Login")
        await stage.until(lambda: stage.badge("builder-1") == "● executing")
        assert stage.badge("pm") == "○ idle ✓ completed"
        assert stage.gate.prompt("builder-1#1") == "Implement [Output from @pm]: 1. Login"


async def test_at_003_several_references() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm Plan\n@ba Analyse\n@builder-1 Implement $pm using $ba", made=3)
        assert stage.badge("builder-1") == "◷ waiting for @pm, @ba"
        await stage.answer("ba#1", "needs")
        assert stage.badge("builder-1") == "◷ waiting for @pm"
        assert "builder-1#1" not in stage.gate.started
        await stage.answer("pm#1", "plan")
        await stage.until(lambda: stage.badge("builder-1") == "● executing")
        assert stage.gate.prompt("builder-1#1") == (
            "Implement [Output from @pm]: plan using [Output from @ba]: needs"
        )


async def test_at_004_unknown_reference() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm Plan $nonexistent")
        assert (
            "1:10 Unknown agent reference: $nonexistent. "
            "Valid agents: pm, ba, builder-1, builder-2, reviewer, writer"
        ) in stage.complaint
        assert "\\$nonexistent" in stage.complaint
        assert stage.bar.text == "@pm Plan $nonexistent"
        assert not stage.app.views.tasks()


async def test_at_005_reference_without_output() -> None:
    async with on_stage() as stage:
        await stage.enter("@builder-1 Implement $pm")
        assert "Agent @pm has no output to reference. Run a task for @pm first." in stage.complaint
        assert stage.bar.text == "@builder-1 Implement $pm"
        assert stage.badge("builder-1") == "○ idle"


async def test_at_006_circular_dependency() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm Plan with $builder-1 &", made=1)
        assert stage.badge("pm") == "◷ waiting for @builder-1 (no output yet)"
        await stage.enter("@builder-1 Implement $pm")
        assert "Circular dependency detected: @builder-1 → @pm → @builder-1" in stage.complaint
        assert stage.bar.text == "@builder-1 Implement $pm"
        assert stage.app.views.tasks() == ("pm#1",)


async def test_at_007_pipeline_with_reference() -> None:
    async with on_stage() as stage:
        await stage.enter("@ba Analyse", made=1)
        await stage.enter("@pm Plan -> @builder-1 Build with $ba", made=3)
        assert stage.badge("builder-1") == "◷ waiting for @ba, @pm"
        await stage.answer("ba#1", "needs")
        await stage.answer("pm#1", "plan")
        await stage.until(lambda: stage.badge("builder-1") == "● executing")
        assert stage.gate.prompt("builder-1#1") == (
            "=== Output from @pm ===\nplan\n\n=== Your Task ===\nBuild with [Output from @ba]: needs"
        )


async def test_at_008_escaped_reference() -> None:
    async with on_stage() as stage:
        await stage.enter("@builder-1 Print \\$pm and \\$PATH", made=1)
        await stage.until(lambda: stage.badge("builder-1") == "● executing")
        assert stage.gate.prompt("builder-1#1") == "Print $pm and $PATH"


async def test_the_plan_says_beforehand_what_enter_would_do() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm Plan", made=1)
        await stage.type_text("@builder-1 Implement $pm")
        assert "@builder-1 waits for @pm" in stage.plan
        await stage.answer("pm#1", "1. Login")
        await stage.until(lambda: "@builder-1 starts" in stage.plan, "the plan to follow what happened")
        assert "$pm ✓ 8" in stage.plan
        assert stage.bar.text == "@builder-1 Implement $pm"


async def test_a_statement_right_after_another_sees_it() -> None:
    """Nothing is refused because the screen lags a frame behind the engine."""
    async with on_stage() as stage:
        await stage.type_text("@pm Plan")
        await stage.pilot.press("enter")
        await stage.type_text("@ba Check $pm")
        await stage.pilot.press("enter")
        await stage.until(lambda: len(stage.app.views.tasks()) == 2, "both tasks")
        assert not stage.complaint
        await stage.until(lambda: not stage.bar.text, "an empty input")


async def test_what_the_engine_refuses_after_all_is_given_back() -> None:
    """The screen lags a frame behind: what it found right may be wrong by the time it arrives."""
    async with on_stage() as stage:
        await stage.enter("@pm Plan", made=1)
        await stage.type_text("@ba Check $pm")
        assert "@ba waits for @pm" in stage.plan
        await stage.ask(lambda session: setattr(session, "policy", replace(session.policy, max_references=0)))
        await stage.press("enter")
        await stage.until(lambda: stage.complaint, "the refusal")
        assert not stage.notices
        assert stage.bar.text == "@ba Check $pm"
        assert stage.app.views.tasks() == ("pm#1",)
