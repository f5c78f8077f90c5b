"""Every key of the table, pressed; and no key of the panels ever fires while someone types."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.ui.action_table import ACTIONS
from teambot_tui.ui.controllers.ladders import SecondPress
from teambot_tui.ui.keys import Keys, bindings
from teambot_tui.ui.widgets.find_line import FindLine
from teambot_tui.ui.widgets.lines import Tabs
from teambot_tui.ui.widgets.panel import Panel
from tests.ui.stage import LARGE, SMALL, Clock, Stage, on_stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# The input


async def test_writing_and_sending() -> None:
    async with on_stage() as stage:
        await stage.type_text("@pm one\ntwo")
        assert stage.bar.text == "@pm one\ntwo"
        await stage.press("enter")
        await stage.until(lambda: stage.badge("pm") == "● executing")
        assert stage.bar.text == ""
        assert stage.gate.prompt("pm#1") == "one\ntwo"
        await stage.enter("@ba second", made=2)
        await stage.type_text("draft")
        await stage.press("up")
        assert stage.bar.text == "@ba second"
        await stage.press("up", "up")
        assert stage.bar.text == "@pm one\ntwo"
        await stage.press("down", "down", "down")
        assert stage.bar.text == "draft"


async def test_tab_completes_agents_outputs_and_commands() -> None:
    async with on_stage() as stage:
        for typed, completed in (("@re", "@reviewer "), ("@pm x $wr", "@pm x $writer"), ("/sta", "/status ")):
            await stage.type_text(typed)
            await stage.press("tab")
            assert stage.bar.text == completed
            await stage.press("ctrl+c")
        await stage.type_text("@b")
        await stage.press("tab")
        assert stage.bar.text == "@b", "there are several, so they are offered"
        await stage.press("escape")
        assert stage.bar.has_focus, "Esc closes the list first"
        await stage.press("ctrl+c")


async def test_tab_on_an_empty_input_takes_the_first_example_and_later_moves_on() -> None:
    async with on_stage() as stage:
        await stage.press("tab")
        assert stage.bar.text == "@pm,ba Analyse a login page -> @builder-1 Build it"
        await stage.press("enter")
        await stage.until(lambda: len(stage.app.views.tasks()) == 3)
        await stage.press("tab")
        assert not stage.bar.has_focus
        await stage.press("shift+tab")
        assert stage.bar.has_focus


async def test_keys_of_the_panels_are_text_in_the_input_and_in_the_find_line() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.type_text("xryzeimjkhl123456789")
        assert stage.bar.text == "xryzeimjkhl123456789"
        await stage.press("ctrl+f")
        await stage.type_text("xryzeimjkhl1239")
        assert stage.screen.query_one("#find", Input).value == "xryzeimjkhl1239"
        assert stage.state("pm#1") == "executing"
        assert not stage.notices


async def test_letters_that_mean_nothing_on_a_panel_go_to_the_input() -> None:
    async with on_stage() as stage:
        for selector in ("#panel-pm", "#output", "#graph", "#inspector"):
            await stage.enter("@pm plan")
            await stage.press("f3" if selector == "#graph" else "escape")
            if selector == "#inspector":
                stage.panel("pm").focus()
                await stage.press("enter")
            stage.screen.query_one(selector).focus()
            await stage.pilot.pause()
            assert not stage.bar.has_focus
            await stage.type_text("what next")
            assert stage.bar.text == "what next", selector
            assert stage.bar.has_focus
            await stage.press("ctrl+c")
        stage.panel("pm").focus()
        await stage.press("?")
        assert "Help" in stage.dialog


async def test_ctrl_d_quits_on_an_empty_input_only() -> None:
    async with on_stage() as stage:
        await stage.type_text("ab")
        await stage.press("home", "ctrl+d")
        assert stage.bar.text == "b"
        await stage.press("ctrl+d", "ctrl+d")
        assert stage.app.return_code == 0


# Help, palette, graph, zoom, find, tasks


@pytest.mark.parametrize("key", ["f1", "?"])
async def test_help_lists_every_key_and_command(key: str) -> None:
    async with on_stage() as stage:
        await stage.press(key)
        for words in ("Help", "Ctrl+J", "history", "/cancel", "/export", "copy the last output"):
            assert words in stage.dialog
        await stage.press("escape")
        assert not stage.dialog
        await stage.type_text("why?")
        assert stage.bar.text == "why?"
        assert not stage.dialog


async def test_the_palette_has_the_actions() -> None:
    async with on_stage() as stage:
        titles = {command.title for command in stage.app.get_system_commands(stage.screen)}
        assert {"graph", "zoom", "find", "all tasks", "redraw", "/export [file]"} <= titles
        await stage.press("ctrl+p")
        assert isinstance(stage.app.screen, CommandPalette)
        await stage.type_text("all tasks")
        await stage.press("down", "enter")
        await stage.until(lambda: stage.dialog.startswith("Tasks"), "the list of tasks")


async def test_graph_zoom_find_and_tasks_open_and_close() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm,ba plan -> @builder-1 build", made=3)
        await stage.answer("pm#1", "one\ntwo one")
        await stage.press("f3")
        assert stage.screen.has_class("-graphing")
        assert stage.screen.query_one("#graph").has_focus
        await stage.press("f3")
        assert not stage.screen.has_class("-graphing")
        assert stage.bar.has_focus
        await stage.press("f3", "escape")
        assert not stage.screen.has_class("-graphing")

        await stage.press("f4")
        assert not stage.panel("pm").display or not stage.screen.query_one("#panels").display
        await stage.press("escape")
        assert stage.screen.query_one("#panels").display

        await stage.press("ctrl+f")
        await stage.type_text("one")
        assert found(stage) == "2 found"
        await stage.press("enter")
        assert found(stage) == "1/2"
        await stage.press("enter")
        assert found(stage) == "2/2"
        await stage.press("escape")
        assert stage.bar.has_focus
        assert not stage.screen.query_one("#find-line").display

        await stage.press("ctrl+t")
        assert "2 executing" in stage.dialog or "executing" in stage.dialog
        await stage.press("escape")
        await stage.press("ctrl+l")


def found(stage: Stage) -> str:
    """What the find line counts."""
    return stage.screen.query_one(FindLine).count


async def test_finding_and_filtering_look_different() -> None:
    async with on_stage(SMALL) as stage:
        await stage.press("ctrl+f")
        assert "r retry" not in stage.line("footer"), "letters are text here"
        assert "Esc leaves" in stage.line("footer")
        finding = stage.screen.query_one("#find-what")
        colour, words = finding.styles.background, str(finding.render())
        await stage.press("escape")
        stage.feed.focus()
        await stage.press("/")
        assert (finding.styles.background, str(finding.render())) != (colour, words)
        assert "hides" in stage.plan


async def test_a_slash_filters_the_output() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan the Login", made=1)
        await stage.answer("pm#1", "one")
        await stage.paste("@ba check", made=2)
        await stage.answer("ba#1", "no login [here]")
        await stage.paste("@writer write", made=3)
        await stage.type_text("/")
        assert stage.bar.text == "/", "in the input it is text"
        await stage.press("ctrl+c")
        stage.panel("pm").focus()
        await stage.press("/")
        await stage.type_text("login")
        assert found(stage) == "2/3 tasks"
        assert "check" in stage.drawn("#output")
        assert "write" not in stage.drawn("#output")
        await stage.type_text(" [h")
        assert found(stage) == "1/3 tasks"
        assert "plan the Login" not in stage.drawn("#output")
        await stage.press("enter")
        assert stage.feed.has_focus
        assert stage.feed.cursor == "ba#1"
        await stage.press("y")
        assert stage.app.clipboard == "no login [here]"
        await stage.press("escape")
        assert stage.bar.has_focus
        assert not stage.screen.query_one("#find-line").display
        for words in ("plan the Login", "check", "write"):
            assert words in stage.drawn("#output")
        assert found(stage) == ""
        await stage.press("ctrl+f")
        await stage.type_text("o")
        assert found(stage) == "3 found", "finding hides nothing"
        assert "write" in stage.drawn("#output")


async def test_finding_and_copying_in_the_inspector() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan", made=1)
        await stage.paste("@pm plan again", made=2)
        await stage.answer("pm#1", "one two one")
        await stage.until(lambda: stage.state("pm#2") == "executing")
        stage.panel("pm").focus()
        await stage.press("enter")
        assert stage.inspector.has_focus
        assert stage.inspector.view is not None
        assert stage.inspector.view.queue == (), "what has begun is not in the queue"
        stage.screen.controls.chosen.inspect(AgentId("pm"), TaskId("pm#1"))
        await stage.pilot.pause()
        await stage.press("/")
        await stage.type_text("one")
        assert found(stage) in ("2 found", "1/2")
        await stage.press("enter", "n")
        assert found(stage) == "2/2"
        await stage.press("N", "y")
        assert found(stage) == "1/2"
        assert stage.app.clipboard == "one two one"
        await stage.press("Y")
        assert stage.app.clipboard == "plan"
        assert stage.notices[-2:] == ["Copied the output of pm#1.", "Copied the prompt of pm#1."]
        await stage.press("ctrl+f")
        assert stage.screen.query_one("#find", Input).value == "one"
        await stage.press("escape")
        assert stage.inspector.has_focus
        assert stage.screen.has_class("-inspecting")
        await stage.press("escape")
        assert stage.bar.has_focus


async def test_a_filter_follows_what_is_said() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan", made=1)
        await stage.paste("@ba check", made=2)
        stage.feed.focus()
        await stage.press("/")
        await stage.type_text("passkey")
        assert found(stage) == "0/2 tasks"
        assert "plan" not in stage.drawn("#output")
        await stage.answer("ba#1", "a passkey")
        await stage.until(lambda: found(stage) == "1/2 tasks")
        assert "a passkey" in stage.drawn("#output")
        assert "plan" not in stage.drawn("#output")


async def test_enter_on_a_node_of_the_graph_inspects_it() -> None:
    async with on_stage(LARGE) as stage:
        await stage.enter("@pm plan", made=1)
        await stage.press("f3", "enter")
        assert stage.screen.has_class("-inspecting")
        await stage.until(lambda: "@pm" in stage.inspector.text)
        await stage.press("escape")
        assert stage.bar.has_focus


async def test_ctrl_z_suspends(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage() as stage:
        asked: list[bool] = []
        monkeypatch.setattr(stage.app, "action_suspend_process", lambda: asked.append(True))
        await stage.press("ctrl+z")
        assert asked


# Leaving


@pytest.mark.parametrize("key", ["ctrl+q", "ctrl+d"])
async def test_leaving_asks_when_something_runs(key: str) -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan &", made=1)
        await stage.press(key)
        await stage.until(lambda: stage.dialog)
        assert "Quit?" in stage.dialog
        assert "cancels pm#1" in stage.dialog
        await stage.press("ctrl+q")
        assert len(stage.app.screen_stack) == 2, "asked once"
        await stage.press("escape")
        assert stage.app.is_running
        assert stage.state("pm#1") == "executing"
        await stage.press(key)
        await stage.until(lambda: stage.dialog)
        await stage.press("enter")
        await stage.until(lambda: stage.app.return_code == 0, "the end")
    assert stage.gate.closed == ["pm#1"]


async def test_ctrl_q_leaves_at_once_when_nothing_runs() -> None:
    async with on_stage() as stage:
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.app.return_code == 0, "the end")


# The ladders


async def test_esc_closes_step_by_step_and_never_cancels() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.press("alt+right", "ctrl+f", "escape")
        assert not stage.screen.has_class("-finding")
        assert stage.screen.query_one(Tabs).agent == "pm"
        await stage.press("escape")
        assert stage.screen.query_one(Tabs).agent is None
        stage.panel("pm").focus()
        await stage.press("enter", "escape", "f4", "escape", *["escape"] * 6)
        assert stage.bar.has_focus
        assert stage.state("pm#1") == "executing"
        assert not stage.notices
        assert "again" not in stage.plan


async def test_ctrl_c_clears_then_cancels_the_foreground_then_quits() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan &", made=1)
        await stage.enter("@ba check", made=2)
        await stage.type_text("half a thought")
        await stage.press("ctrl+c")
        assert stage.bar.text == ""
        await stage.press("up")
        assert stage.bar.text == "half a thought"
        await stage.press("ctrl+c", "ctrl+c")
        assert "Ctrl+C again cancels ba#1." in stage.plan
        await stage.press("ctrl+c")
        await stage.until(lambda: stage.state("ba#1") == "cancelled")
        assert stage.state("pm#1") == "executing", "the background goes on"
        await stage.answer("pm#1", "done")
        await stage.press("ctrl+c")
        assert "Ctrl+C again quits." in stage.plan
        assert stage.notices == ["pm#1 completed"], "what a key would do is told where the text is"
        await stage.press("ctrl+c")
        await stage.until(lambda: stage.app.return_code == 0, "the end")


async def test_ctrl_c_copies_what_is_selected() -> None:
    async with on_stage() as stage:
        await stage.type_text("@pm plan")
        await stage.press("shift+home", "ctrl+c")
        assert stage.bar.text == "@pm plan"
        assert stage.app.clipboard == "@pm plan"


def test_the_second_press_counts_within_two_seconds() -> None:
    clock = Clock()
    second = SecondPress(clock)
    assert not second.again("escape pm#1")
    assert second.again("escape pm#1")
    assert not second.again("escape pm#1"), "a third press begins again"
    clock.now += 2.1
    assert not second.again("escape pm#1"), "too late"
    assert not second.again("escape ba#1"), "something else"


# Background, scrolling, stepping


async def test_ctrl_b_sends_to_the_background() -> None:
    async with on_stage() as stage:
        await stage.type_text("@pm plan")
        await stage.press("ctrl+b")
        await stage.until(lambda: stage.state("pm#1") == "executing")
        assert stage.bar.text == ""
        assert stage.app.views.task(stage.app.views.tasks()[0]).background
        await stage.type_text("@ba check &")
        await stage.press("ctrl+b")
        await stage.until(lambda: stage.state("ba#1") == "executing")
        assert stage.gate.prompt("ba#1") == "check"


async def test_pages_scroll_while_typing_and_end_follows_again() -> None:
    async with on_stage(SMALL) as stage:
        await stage.ask(lambda session: session.submit("\n".join(["@pm plan"] * 30)))
        await stage.until(lambda: len(stage.app.views.tasks()) == 30)
        assert stage.feed.follow
        await stage.press("pageup")
        assert not stage.feed.follow
        assert stage.bar.has_focus
        await stage.press("end")
        assert stage.feed.follow
        await stage.type_text("draft")
        await stage.press("pageup")
        assert not stage.feed.follow
        await stage.press("pagedown", "pagedown", "pagedown", "pagedown")
        assert stage.feed.follow
        assert stage.bar.text == "draft"


async def test_stepping_through_the_agents() -> None:
    async with on_stage() as stage:
        await stage.press("alt+right")
        assert stage.panel("pm").has_class("-chosen")
        await stage.press("ctrl+right")
        assert stage.panel("ba").has_class("-chosen")
        await stage.press("ctrl+left", "alt+left")
        assert not stage.screen.query(".-chosen")
        await stage.press("alt+left")
        assert stage.panel("writer").has_class("-chosen")
        await stage.type_text("one two")
        await stage.press("ctrl+left")
        assert stage.panel("writer").has_class("-chosen"), "in a text it goes a word left"
        assert stage.bar.cursor_location == (0, 4)


# Panels


async def test_panel_keys_choose_inspect_zoom_and_go_back() -> None:
    async with on_stage() as stage:
        stage.panel("pm").focus()
        await stage.press("down", "j")
        assert stage.panel("builder-1").has_focus
        assert stage.panel("builder-1").has_class("-chosen")
        await stage.press("up", "k", "k")
        assert stage.panel("pm").has_focus
        await stage.press("5")
        assert stage.panel("reviewer").has_focus
        await stage.press("9")
        assert stage.panel("reviewer").has_focus
        await stage.press("z")
        assert stage.screen.has_class("-zoomed")
        assert " reviewer " in stage.line("tabs")
        await stage.press("escape")
        assert not stage.screen.has_class("-zoomed")
        stage.panel("pm").focus()
        await stage.press("enter")
        assert stage.screen.has_class("-inspecting")
        await stage.press("escape")
        assert not stage.screen.has_class("-inspecting")
        assert stage.bar.has_focus
        stage.panel("pm").focus()
        await stage.press("i")
        assert stage.bar.has_focus
        stage.panel("pm").focus()
        await stage.press("m")
        assert stage.bar.has_focus
        assert stage.bar.text == "/model pm "


async def test_arrows_follow_the_rows_of_chips() -> None:
    async with on_stage(SMALL) as stage:
        stage.panel("pm").focus()
        await stage.press("l")
        assert stage.panel("ba").has_focus
        await stage.press("down")
        assert stage.panel("reviewer").has_focus
        await stage.press("left", "up")
        assert stage.panel("pm").has_focus
        await stage.press("up", "h")
        assert stage.panel("pm").has_focus


async def test_cancel_retry_copy_and_edit_act_on_the_panel_with_the_focus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.enter("@ba check", made=2)
        await stage.answer("pm#1", "the plan")
        stage.panel("pm").focus()
        await stage.press("x")
        assert stage.state("ba#1") == "executing"
        await stage.press("y")
        assert stage.app.clipboard == "the plan"
        assert "Copied what @pm said last." in stage.notices

        seen = tmp_path / "seen"
        monkeypatch.delenv("VISUAL", raising=False)
        script = tmp_path / "editor"
        script.write_text(f'#!/bin/sh\ncp "$1" {seen}\n')
        script.chmod(0o700)
        monkeypatch.setenv("EDITOR", str(script))

        @contextmanager
        def lend() -> Iterator[None]:
            yield

        monkeypatch.setattr(stage.app, "suspend", lend)
        await stage.press("e")
        assert seen.read_text() == "the plan"

        await stage.press("2", "x")
        await stage.until(lambda: stage.state("ba#1") == "cancelled")
        await stage.press("r")
        await stage.until(lambda: stage.state("ba#1") == "executing", "ba#1 to run again")
        assert "ba#1 runs again." in stage.notices
        await stage.press("1", "r")
        await stage.until(lambda: any("pm#1 is completed: only" in notice for notice in stage.notices))
        await stage.press("R")
        await stage.until(lambda: "pm#2 does it once more." in stage.notices)


async def test_keys_in_the_output_act_on_the_task_at_the_cursor() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.enter("@pm plan again", made=2)
        stage.feed.focus()
        await stage.press("x")
        await stage.until(lambda: stage.state("pm#2") == "cancelled")
        assert stage.state("pm#1") == "executing"
        await stage.press("r")
        await stage.until(lambda: stage.state("pm#2") == "queued")
        await stage.press("i")
        assert stage.bar.has_focus


# The mouse


async def test_clicks_on_panels_and_tabs() -> None:
    async with on_stage() as stage:
        await stage.enter("@ba check", made=1)
        await stage.pilot.click("#panel-ba")
        await stage.until(lambda: stage.screen.has_class("-inspecting"))
        assert stage.panel("ba").has_class("-chosen")
        await stage.press("escape")
        await stage.pilot.click("#panel-ba", times=2)
        await stage.until(lambda: stage.screen.has_class("-zoomed"))
        assert not stage.screen.has_class("-inspecting")
        await stage.press("escape")
        at = stage.line("tabs").index("builder-2")
        await stage.pilot.click("#tabs", offset=(at, 0))
        await stage.until(lambda: stage.panel("builder-2").has_class("-chosen"))
        assert stage.screen.query_one("#tabs").agent == "builder-2"  # type: ignore[attr-defined]


# The table


def test_no_key_is_one_that_terminals_cannot_send() -> None:
    taken = {each for key in ACTIONS for each in key.keys.split(",")}
    assert not taken & {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+left_square_bracket"}
    assert not {key for key in taken if key.startswith("alt+") and key[-1].isdigit()}


def test_every_binding_has_an_action_that_exists() -> None:
    from teambot_tui.ui.app import TeambotApp
    from teambot_tui.ui.screens.session import SessionScreen

    for binding in (*bindings("anywhere"), *bindings("panel, output")):
        name = binding.action.partition("(")[0]
        owner: type = TeambotApp if name.startswith("app.") or name == "command_palette" else SessionScreen
        assert hasattr(owner, f"action_{name.removeprefix('app.')}"), binding


async def test_on_a_panel_one_writes_to_its_agent_uses_its_output_or_asks_again() -> None:
    async with on_stage() as stage:
        await stage.enter("@ba check it", made=1)
        await stage.answer("ba#1", "checked")
        for key, text in (("@", "@ba "), (">", "$ba "), ("E", "@ba check it")):
            stage.panel("ba").focus()
            await stage.press(key)
            assert stage.bar.text == text
            assert stage.bar.has_focus
            await stage.press("ctrl+c")


async def test_the_footer_shows_the_keys_that_matter_here() -> None:
    assert ("newline", "ctrl+j", "^J", "newline") in Keys().footer("input")
    assert ("cancel", "x", "x", "cancel") in Keys().footer("panel, output", running=True)
    async with on_stage() as stage:
        await stage.type_text("x")
        assert "newline" in stage.line("footer")
        assert "Alt+→ agent" in stage.line("footer"), "panels are found by who has read nothing"
        await stage.press("ctrl+c")
        stage.screen.query(Panel).first().focus()
        await stage.pilot.pause()
        assert "1–9 agent" in stage.line("footer")
        assert "newline" not in stage.line("footer")
        assert "cancel" not in stage.line("footer"), "nothing runs"
        await stage.press("i")
        await stage.enter("@pm plan", made=1)
        assert "^C ^C cancel" in stage.line("footer")
        stage.screen.query(Panel).first().focus()
        await stage.pilot.pause()
        assert "x cancel" in stage.line("footer")
        assert "R again" in stage.line("footer")
        await stage.answer("pm#1")
        assert "cancel" not in stage.line("footer")
