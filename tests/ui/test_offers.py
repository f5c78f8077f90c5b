"""What completion tells of each candidate, as it is drawn above the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ui.stage import SMALL, on_stage

if TYPE_CHECKING:
    from tests.ui.stage import Stage


def row(stage: Stage, name: str) -> str:
    """The row of a candidate, without the blanks around its parts."""
    rows = stage.drawn("CompletionList").splitlines()
    found = next(row for row in rows if name in row)
    return " ".join(found.strip("│ ").split())


async def test_agents_tell_what_they_do_and_outputs_how_large_and_old_they_are() -> None:
    async with on_stage(SMALL) as stage:
        await stage.enter("@pm plan", made=1)
        await stage.answer("pm#1", "# Plan: a login page\nand more")
        await stage.enter("@ba check", made=2)
        await stage.enter("@reviewer review $ba", made=3)
        stage.clock.now += 12
        await stage.type_text("@")
        assert row(stage, "@pm") == "@pm ✓ completed 12 s ago · waits for the test"
        assert row(stage, "@ba") == "@ba ● executing 0:12 · waits for the test"
        assert "waiting for @ba" in row(stage, "@reviewer")
        assert row(stage, "@writer") == "@writer ○ idle · waits for the test"
        await stage.type_text("writer use $")
        assert row(stage, "$pm") == "$pm ✓ 29 B · 12 s ago · Plan: a login page"
        assert row(stage, "$ba") == "$ba ● executing 0:12 · is waited for"
        assert row(stage, "$builder-1") == "$builder-1 no output yet"
        stage.clock.now += 100
        stage.bar.completer.tell_again()
        await stage.pilot.pause()
        assert "1 min ago" in row(stage, "$pm")


async def test_commands_options_and_tasks_tell_what_they_are() -> None:
    async with on_stage(SMALL) as stage:
        await stage.enter("@pm plan", made=1)
        await stage.type_text("/retry")
        assert row(stage, "/retry") == "/retry <agent|task> do a failed or cancelled task again"
        await stage.type_text(" pm")
        assert row(stage, "pm#1") == "pm#1 ● executing · @pm plan"
        stage.bar.text = "@pm "
        await stage.type_text("--mo")
        assert row(stage, "--model") == "--model M the name of a model, as --model opus"


async def test_the_list_covers_neither_the_plan_nor_the_input() -> None:
    async with on_stage(SMALL) as stage:
        await stage.type_text("@pm plan\n-> @")
        area = stage.screen.query_one("CompletionList").region
        assert area.bottom <= stage.screen.query_one("#plan").region.y
        assert stage.screen.query_one("#plan").region.bottom <= stage.bar.region.y
        await stage.press("enter")
        assert stage.bar.text == "", "sent as it was"
