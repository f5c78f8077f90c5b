"""The session on the screen: what is where at which size, and what is told without being asked."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from textual.geometry import Size

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.policy import Policy
from teambot_tui.ui.widgets.panel import CARD
from tests.ui.stage import LARGE, NORMAL, SMALL, on_stage

if TYPE_CHECKING:
    from teambot_tui.engine.session import Session


async def test_an_empty_session_shows_the_team_and_what_is_worth_typing() -> None:
    async with on_stage() as stage:
        welcome = stage.screen.query_one("#welcome")
        assert welcome.display
        assert "@reviewer" in stage.drawn("#welcome")
        assert "Tab puts the first one into the input" in stage.drawn("#welcome")
        assert stage.plan.startswith(" ▸ type @agent")
        await stage.paste("@pm plan", made=1)
        assert not welcome.display
        assert stage.feed.display


async def test_keys_typed_before_the_screen_is_complete_are_kept() -> None:
    async with on_stage(typed_ahead=("@", "p", "m", " ", "x", "enter", "ctrl+f")) as stage:
        await stage.until(lambda: stage.app.views.tasks() == ("pm#1",), "what was typed ahead to be sent")
        assert stage.bar.text == ""
        await stage.until(lambda: stage.focused is stage.screen.query_one("#find"), "the find line")


async def test_a_change_of_state_needs_no_layout_among_chips() -> None:
    async with on_stage(SMALL) as stage:
        await stage.paste("@pm,ba plan", made=2)
        await stage.answer("pm#1", "done")
        await stage.pilot.pause()
        layouts: list[object] = []
        stage.screen.screen_layout_refresh_signal.subscribe(stage.screen, layouts.append)
        await stage.ask(lambda session: session.submit("@pm more"))
        await stage.until(lambda: stage.state("pm#2") == "executing", "pm#2 to run")
        await stage.answer("pm#2", "done as well")
        await stage.fail("ba#1")
        await stage.pilot.pause()
        assert not layouts


@pytest.mark.parametrize("size", [NORMAL, LARGE])
async def test_a_card_that_stays_needs_no_layout(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await stage.paste("@pm,ba plan", made=2)
        await stage.until(lambda: stage.panel("ba").region.height == CARD, "the cards")
        layouts: list[object] = []
        stage.screen.screen_layout_refresh_signal.subscribe(stage.screen, layouts.append)
        stage.clock.now += 185
        await stage.until(lambda: stage.badge("pm") == "! silent 3m", "silence")
        await stage.pilot.pause()
        assert not layouts


@pytest.mark.parametrize(
    ("size", "card", "tree", "side"),
    [(SMALL, False, False, False), (NORMAL, True, True, False), (LARGE, True, False, True)],
)
async def test_chips_cards_and_columns(size: tuple[int, int], card: bool, tree: bool, side: bool) -> None:
    async with on_stage(size) as stage:
        await stage.paste("@pm plan\n@builder-1 build $pm", made=2)
        panel = stage.panel("builder-1")
        assert panel.size.height == (CARD if card else 1)
        assert stage.screen.query_one("#tree").display is tree
        assert stage.screen.query_one("#side").display is side
        if card:
            assert "◷ waiting for @pm" in stage.drawn("#panel-builder-1")
            assert "3 @builder-1 · gate" in stage.drawn("#panel-builder-1")
        else:
            assert stage.drawn("#panel-builder-1").strip().startswith("3 builder-1 ◷ @pm")
        for name in ("title", "plan", "footer", "input"):
            place = stage.screen.query_one(f"#{name}")
            assert place.region.bottom <= size[1]
            assert place.region.height >= 1
        assert stage.feed.size.height > 4


async def test_the_title_counts_and_the_clock_moves() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm,ba plan\n@pm again", made=3)
        assert "auth-v2" in stage.line("title")
        assert "●2" in stage.line("title")
        assert "◌1" in stage.line("title")
        stage.clock.now += 72
        await stage.until(lambda: "1:12" in stage.drawn("#panel-pm"), "the time on the panel")
        assert "◌1" in stage.drawn("#panel-pm")
        await stage.answer("pm#1", "done")
        assert "◌" not in stage.drawn("#panel-pm")
        await stage.fail("pm#2", "no money")
        assert stage.badge("pm") == "○ idle ✗ failed"
        assert "no money" in stage.drawn("#panel-pm")
        assert "✓1" in stage.line("title")


async def test_queued_because_everyone_allowed_is_at_work() -> None:
    async with on_stage(policy=Policy(max_parallel=1)) as stage:
        await stage.paste("@pm plan\n@ba check\n@ba again", made=3)
        assert stage.badge("ba") == "◌ queued 2"
        await stage.answer("pm#1", "done")
        await stage.until(lambda: stage.badge("ba") == "● executing")


async def test_waiting_names_whom_and_whether_there_is_anything_to_wait_for() -> None:
    async with on_stage() as stage:
        await stage.paste("@builder-1 build $pm with $ba &", made=1)
        assert stage.badge("builder-1") == "◷ waiting for @pm, @ba (no output yet)"
        await stage.paste("@pm plan", made=2)
        await stage.answer("pm#1", "plan")
        assert stage.badge("builder-1") == "◷ waiting for @ba (no output yet)"
        await stage.paste("@ba analyse", made=3)
        assert stage.badge("builder-1") == "◷ waiting for @ba"


async def test_a_notice_tells_when_background_work_has_ended() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan &\n@ba check &\n@writer write", made=3)
        await stage.answer("writer#1", "text")
        await stage.answer("pm#1", "plan")
        await stage.fail("ba#1")
        assert stage.notices == ["pm#1 completed", "ba#1 failed"]


async def test_background_leaves_the_output_where_it_is_and_foreground_follows() -> None:
    async with on_stage(SMALL) as stage:
        await stage.ask(lambda session: session.submit("\n".join(["@pm plan"] * 30)))
        await stage.until(lambda: len(stage.app.views.tasks()) == 30)
        await stage.press("pageup")
        await stage.paste("@ba check &", made=31)
        assert not stage.feed.follow
        await stage.paste("@ba check", made=32)
        assert stage.feed.follow


async def test_a_failure_is_seen_and_r_brings_back_what_fell_with_it() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan -> @ba check", made=2)
        await stage.fail("pm#1", "no money")
        assert stage.state("ba#1") == "skipped"
        assert stage.badge("ba") == "○ idle ⊗ skipped"
        assert "no money" in stage.drawn("#output")
        stage.panel("pm").focus()
        await stage.press("r")
        await stage.until(lambda: stage.badge("ba") == "◷ waiting for @pm", "ba#1 to wait again")
        assert stage.badge("pm") == "● executing"


async def test_the_inspector_follows_the_agent_and_opens_earlier_tasks() -> None:
    async with on_stage(LARGE) as stage:
        await stage.paste("@pm plan", made=1)
        await stage.answer("pm#1", "the plan")
        await stage.paste("@pm again", made=2)
        stage.panel("pm").focus()
        await stage.press("enter")
        await stage.until(lambda: "pm#2" in stage.inspector.text)
        stage.screen.query_one("#inspector-earlier").focus()
        await stage.press("enter")
        await stage.until(lambda: "pm#1" in stage.inspector.text.splitlines()[0], "the earlier task")
        await stage.press("escape")
        assert stage.bar.has_focus


async def test_a_long_error_has_room() -> None:
    async with on_stage(SMALL) as stage:
        await stage.paste("@pm Plan $nonexistent")
        assert "\\$nonexistent" in " ".join(stage.drawn("#plan").split())
        assert stage.screen.query_one("#plan").size.height > 1
        await stage.press("ctrl+c")
        await stage.until(lambda: stage.screen.query_one("#plan").size.height == 1, "the line to shrink")


async def test_any_size_and_a_storm_of_sizes() -> None:
    chance = random.Random(7)
    async with on_stage(SMALL) as stage:
        await stage.paste("@pm,ba plan -> @builder-1 build", made=3)
        await stage.answer("pm#1", "# A plan\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" + "word " * 200)
        sizes = [(1, 1), (20, 5), (500, 200), (2, 60), (300, 1), (99, 30), (100, 29), (160, 30)]
        sizes += [(chance.randint(1, 250), chance.randint(1, 80)) for _ in range(12)]
        for opened in ("", "f3", "f4"):
            if opened:
                await stage.press(opened)
            for width, height in sizes:
                stage.app._driver.send_message(resize(width, height))  # type: ignore[union-attr]
            await stage.pilot.pause()
        for width, height in ((1, 1), (20, 5), (500, 200), NORMAL):
            await stage.pilot.resize_terminal(width, height)
        await stage.press("escape", "escape")
        assert stage.app.is_running
        assert stage.app.size == NORMAL
        assert stage.badge("builder-1") == "◷ waiting for @ba"


def resize(width: int, height: int) -> object:
    from textual.events import Resize

    size = Size(width, height)
    return Resize(size, size)


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (500, 200)])
async def test_it_starts_and_works_at(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await stage.paste("@pm plan\n@ba check $pm", made=2)
        await stage.answer("pm#1", "the plan")
        await stage.until(lambda: stage.badge("ba") == "● executing")
        await stage.press("f3", "escape", "f1", "escape")
        assert stage.app.is_running


async def test_a_caret_stands_under_what_was_refused() -> None:
    async with on_stage() as stage:
        await stage.type_text("@pm look at $bilder-1 please")
        height = stage.bar.size.height
        await stage.press("enter")
        rows = stage.rows("#input")
        at = rows[1].index("$bilder-1")
        assert rows[2].strip("│ ") == "^" * len("$bilder-1")
        assert rows[2].index("^") == at
        assert stage.bar.size.height == height + 1
        await stage.type_text("!")
        assert "^" not in stage.drawn("#input")
        assert stage.bar.size.height == height
        await stage.press("ctrl+c")
        await stage.type_text("@pm 漢字 $bilder-1\nmore")
        await stage.press("enter")
        assert stage.complaint
        assert "^" not in stage.drawn("#input"), "under another row it would point at the wrong place"


def time_of_day(moment: float) -> str:
    return time.strftime("%H:%M ", time.localtime(moment))


async def test_a_sleep_of_the_machine_counts_and_changes_no_time_of_day() -> None:
    async with on_stage() as stage:
        begin = stage.clock.now
        await stage.paste("@pm plan", made=1)
        stage.clock.now += 8 * 3600
        await stage.until(lambda: "8:00:00" in stage.drawn("#panel-pm"), "the time on the panel")
        await stage.paste("@ba check", made=2)
        await stage.until(lambda: time_of_day(begin + 8 * 3600) in stage.drawn("#output"), "the new time")
        assert time_of_day(begin) in stage.drawn("#output")
        assert "0:00" in stage.drawn("#panel-ba")


@pytest.mark.parametrize("step", [5400, -5400])
async def test_a_wall_clock_that_is_set_changes_the_times_of_day_only(step: int) -> None:
    async with on_stage() as stage:
        begin = stage.clock.now
        await stage.paste("@pm plan", made=1)
        stage.clock.now += 48
        await stage.until(lambda: "0:48" in stage.drawn("#panel-pm"), "the time on the panel")
        assert time_of_day(begin) in stage.drawn("#output")
        stage.clock.wall_clock_ahead = step
        await stage.until(
            lambda: time_of_day(begin + step) in stage.drawn("#output"), "the right time of day"
        )
        assert time_of_day(begin) not in stage.drawn("#output")
        assert "0:48" in stage.drawn("#panel-pm")


async def test_silence_is_seen_while_the_clock_runs() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.until(lambda: stage.badge("pm") == "● executing")
        stage.clock.now += 185
        await stage.until(lambda: stage.badge("pm") == "! silent 3m", "silence")
        assert stage.panel("pm").state == "silent"
        await stage.answer("pm#1", "at last")
        assert stage.badge("pm") == "○ idle ✓ completed"


@pytest.mark.parametrize("size", [SMALL, NORMAL, LARGE])
async def test_the_welcome_shows_the_whole_team_at_every_size(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        shown = "#welcome-short" if size == SMALL else "#welcome"
        text = stage.drawn(shown)
        assert stage.screen.query_one(shown).display
        names = {f"@{agent}" for agent in stage.app.views.roster.agents}
        assert "@writer Write" in text
        area = stage.screen.query_one(shown)
        assert area.region.height >= len(text.rstrip().splitlines()), "all of it is in sight"
        team = [row for row in text.splitlines() if row.split()[1:2] and row.split()[1] in names]
        assert len(team) == len(names), "a line for each"
        assert "Your team on gate" in text


async def test_notices_stay_clear_of_the_title_the_plan_and_the_input() -> None:
    async with on_stage(SMALL) as stage:
        for number in range(8):
            stage.app.notify(f"notice {number}", markup=False)
        await stage.pilot.pause()
        rack = stage.screen.query_one("ToastRack")
        await stage.paste("a text\n" * 8)
        await stage.until(lambda: len(rack.query("Toast")) == 8, "the notices")
        await stage.pilot.pause()
        drawn = stage.screen._compositor.visible_widgets
        toasts = [drawn[toast] for toast in rack.query("Toast") if toast in drawn]
        areas = [region.intersection(clip) for region, clip in toasts]
        assert areas
        assert stage.bar.region.height == 10
        assert min(area.y for area in areas) >= stage.screen.query_one("#title").region.bottom
        assert max(area.bottom for area in areas) <= stage.screen.query_one("#plan").region.y


async def test_an_engine_that_dies_is_told_and_what_is_there_can_still_be_read() -> None:
    def die(_: Session) -> None:
        raise SystemExit("out of memory")

    async with on_stage() as stage:
        await stage.paste("@pm plan", made=1)
        await stage.answer("pm#1", "A plan that nobody may lose.")
        await stage.paste("@ba check", made=2)
        with pytest.raises(RefusedError):
            await stage.ask(die)
        await stage.until(lambda: "engine died" in stage.line("title"), "the title to say so")
        assert "The engine has died: SystemExit: out of memory" in stage.plan
        assert stage.state("ba#1") == "cancelled"
        await stage.paste("@pm do more")
        await stage.until(lambda: stage.bar.text == "@pm do more", "the text to come back")
        assert "A plan that nobody may lose." in stage.drawn("#output")
        await stage.press("f3")
        assert stage.screen.has_class("-graphing")
        for command in ("/retry ba", "/cancel all", "/model pm opus", "/forget-context pm", "/models"):
            stage.bar.text = ""
            await stage.paste(command)
        assert stage.app.is_running


async def test_the_plan_line_tells_of_a_slip_before_enter() -> None:
    async with on_stage() as stage:
        await stage.type_text("@pm Plan -> ba Check $PM")
        await stage.until(lambda: "-> ba is sent as text: write -> @ba" in stage.plan, stage.plan)
        assert "1 more like it" in stage.plan
        assert "@pm starts" in stage.plan
        assert not stage.complaint
