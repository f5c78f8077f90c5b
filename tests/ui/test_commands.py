"""Every slash command, typed; what is wrong is said in the plan line, and the text stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teambot_tui.language.names import COMMANDS
from teambot_tui.ui.action_table import SLASH_COMMANDS
from tests.ui.stage import on_stage

if TYPE_CHECKING:
    from pathlib import Path


def test_every_command_of_the_language_is_here() -> None:
    assert set(SLASH_COMMANDS) == set(COMMANDS)


async def test_every_command_is_offered() -> None:
    async with on_stage() as stage:
        await stage.type_text("/sa")
        await stage.press("tab")
        assert stage.bar.text.startswith("/save")
        assert set(stage.bar.completer.commands) == set(COMMANDS)


async def test_commands_that_report() -> None:
    async with on_stage(default="pm") as stage:
        await stage.paste("@pm plan\n@ba check $pm", made=2)
        for command, title, *words in (
            ("/help", "Help", "/cancel", "F1"),
            ("/use-agent", "Default agent", "@pm"),
        ):
            await stage.paste(command)
            await stage.until(lambda title=title: stage.dialog.startswith(f"{title}\n"), command)  # type: ignore[misc]
            for word in words:
                assert word in stage.dialog, command
            assert stage.bar.text == ""
            await stage.press("escape")
        await stage.press("up")
        assert stage.bar.text == "/use-agent", "commands are remembered too"


async def test_commands_that_change_something(tmp_path: Path) -> None:
    async with on_stage(folder=tmp_path) as stage:
        await stage.paste("/use-agent ba")
        assert stage.notices[-1] == "Text without @ goes to @ba."
        await stage.paste("check it", made=1)
        assert stage.badge("ba") == "● executing"
        await stage.paste("/reset-agent")
        assert stage.notices[-1] == "Text without @ goes to nobody."
        await stage.paste("/model pm opus")
        assert "@pm uses opus" in stage.notices[-1]
        await stage.paste("@pm plan", made=2)
        await stage.until(lambda: "pm#1" in stage.gate.started)
        assert stage.gate.requests[-1].model == "opus"
        await stage.paste("/model pm clear")
        assert "its default model" in stage.notices[-1]
        await stage.answer("ba#1", "all [b]good[/b]")

        await stage.paste("/export out.md")
        await stage.until(lambda: str(tmp_path / "out.md") in stage.notices[-1], "the file")
        assert "## ba#1: completed\n\n> check it\n\nall [b]good[/b]" in (tmp_path / "out.md").read_text()

        await stage.paste("/task ba#1")
        assert stage.screen.has_class("-inspecting")
        await stage.until(lambda: "ba#1" in stage.inspector.text)
        await stage.press("escape")
        await stage.paste("/task last")
        await stage.until(lambda: "pm#1" in stage.inspector.text)
        await stage.press("escape")

        await stage.paste("/graph")
        assert stage.screen.has_class("-graphing")
        await stage.press("escape")
        await stage.paste("/theme textual-light")
        assert stage.app.theme == "textual-light"
        await stage.paste("/clear")
        assert "ba#1" not in stage.drawn("#output")
        await stage.paste("/cancel last")
        await stage.until(lambda: stage.state("pm#1") == "cancelled")
        await stage.paste("/retry @pm")
        await stage.until(lambda: stage.state("pm#1") == "executing")
        await stage.paste("/cancel pm")
        await stage.until(lambda: stage.state("pm#1") == "cancelled")
        await stage.paste("/cancel")
        assert stage.notices[-1] == "Nothing is going on."
        await stage.paste("/quit")
        await stage.until(lambda: stage.app.return_code == 0, "the end")


async def test_what_cannot_be_done_is_said_and_the_text_stays() -> None:
    async with on_stage() as stage:
        for command, *words in (
            ("/stats", "Unknown command: /stats.", "/status"),
            ("/save", "Say where: /save flow.yaml"),
            ("/save x", "x is no name for a compose file. Try: /save flow.yaml"),
            ("/save x.yaml", "There is nothing to save yet."),
            ("/up --iterations none", "--iterations must be a number from 1 to 1000, not none."),
            ("/up --itertions 2", "Unknown option: --itertions. Did you mean --iterations?"),
            ("/up 'main", "A quote is not closed."),
            ("/task", "Say which task"),
            ("/task pm#7", "There is no task, agent or label pm#7."),
            ("/task last", "There is no task, agent or label last."),
            ("/task pm", "@pm has had no task yet."),
            ("/again", "Say what to do once more"),
            ("/again pm", "@pm has had no task yet."),
            ("/retry", "Say what to retry"),
            ("/retry all", "Say what to retry"),
            ("/retry rviewer", "There is no task, agent or label rviewer.", "Did you mean reviewer?"),
            ("/cancel wrter", "There is no task, agent or label wrter.", "Did you mean writer?"),
            ("/tasks wating", "There is no state wating.", "Did you mean waiting?"),
            ("/model nobody", "There is no agent nobody."),
            ("/use-agent wrter", "Did you mean writer?"),
            ("/history nobody", "There is no agent nobody."),
            ("/theme textual-drak", "Did you mean textual-dark?"),
            ("/status\n@pm plan", "/status is a command for the screen"),
        ):
            await stage.paste(command)
            for word in words:
                assert word in stage.complaint, command
            assert stage.bar.text == command
            assert not stage.dialog
            await stage.press("ctrl+c")
        assert not stage.app.views.tasks()


async def test_a_complaint_about_a_command_stays_until_the_text_changes() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan", made=1)
        await stage.paste("/task pm#7")
        await stage.answer("pm#1", "done")
        assert "There is no task, agent or label pm#7." in stage.complaint
        await stage.press("backspace")
        assert not stage.complaint
        assert stage.plan.endswith("/task <id>: inspect a task; last is the newest")


async def test_the_plan_says_what_a_command_would_do() -> None:
    async with on_stage() as stage:
        await stage.type_text("/us")
        assert stage.plan.strip() == "▸ /use-agent"
        await stage.type_text("e-agent ba")
        assert stage.plan.strip() == "▸ /use-agent [id]: who gets what is addressed to nobody"


@pytest.mark.parametrize(
    ("target", "words", "told", "left"),
    [
        (
            "pm",
            "cancels pm#1; skips ba#1, reviewer#1",
            "Cancelled pm#1; skipped ba#1, reviewer#1. /retry pm#1 brings it back.",
            {"writer#1"},
        ),
        (
            "all",
            "cancels pm#1, ba#1, reviewer#1, writer#1",
            "Cancelled pm#1, ba#1, reviewer#1, writer#1. /retry pm#1 brings the first back.",
            set(),
        ),
        (
            "ba#1",
            "cancels ba#1; skips reviewer#1",
            "Cancelled ba#1; skipped reviewer#1. /retry ba#1 brings it back.",
            {"pm#1", "writer#1"},
        ),
    ],
)
async def test_cancelling_more_than_one_asks_and_names_what_falls(
    target: str, words: str, told: str, left: set[str]
) -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan -> @ba check -> @reviewer review\n@writer write", made=4)
        await stage.paste(f"/cancel {target}")
        await stage.until(lambda: stage.dialog)
        assert words in stage.dialog
        await stage.press("escape")
        assert stage.state("pm#1") == "executing"
        await stage.paste(f"/cancel {target}")
        await stage.until(lambda: stage.dialog)
        await stage.press("enter")
        await stage.until(lambda: told in stage.notices, "the notice")
        tasks = ("pm#1", "ba#1", "reviewer#1", "writer#1")
        await stage.until(
            lambda: {task for task in tasks if stage.state(task) in ("executing", "waiting")} == left
        )


async def test_a_command_of_the_palette_leaves_the_draft_alone() -> None:
    async with on_stage() as stage:
        await stage.type_text("half a thought")
        stage.screen.controls.drafting.offer_command("reset-agent")
        await stage.pilot.pause()
        assert stage.notices
        await stage.press("escape")
        assert stage.bar.text == "half a thought"
        stage.screen.controls.drafting.offer_command("model")
        await stage.pilot.pause()
        assert stage.bar.text == "/model "
        await stage.press("ctrl+c", "up", "up")
        assert stage.bar.text == "half a thought"


async def test_an_export_replaces_a_file_only_when_told_to(tmp_path: Path) -> None:
    file = tmp_path / "my notes.md"
    file.write_text("precious")
    async with on_stage(folder=tmp_path) as stage:
        for key, content in (("escape", "precious"), ("enter", "")):
            await stage.paste("/export my notes.md")
            await stage.until(lambda: stage.dialog.startswith("Replace my notes.md?"), "the question")
            await stage.press(key)
            await stage.until(lambda: not stage.dialog.startswith("Replace"), "the answer")
            if key == "enter":
                await stage.until(
                    lambda: any(each.startswith("Exported to") for each in stage.notices), "the file"
                )
            assert file.read_text() == content


@pytest.mark.parametrize(
    ("typed", "usage"),
    [
        ("/model pm /budget 5", "/model [agent [model|clear]]"),
        ("/use-agent pm ba", "/use-agent [id]"),
        ("/status pm", "/status"),
        ("/cancel pm ba", "/cancel [agent|task|all]"),
        ("/forget-context pm ba", "/forget-context <agent>"),
    ],
)
async def test_words_that_nobody_takes_are_refused(typed: str, usage: str) -> None:
    async with on_stage() as stage:
        await stage.paste(typed)
        assert stage.complaint.strip() == f"✗ Too many words. Type: {usage}"
        assert stage.bar.text == typed


async def test_an_export_that_cannot_be_written_is_told() -> None:
    async with on_stage() as stage:
        for file in ("/nowhere/at/all", "~nobody-of-this-name/x"):
            await stage.paste(f"/export {file}")
            await stage.until(lambda: stage.notices, "a notice")
            assert stage.notices[-1].startswith("Could not write it: ")
            assert not stage.dialog
            await stage.press("up")
            assert stage.bar.text == f"/export {file}"
            await stage.press("ctrl+c")


async def test_the_words_of_commands_are_completed() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan\n@ba check", made=2)
        for typed, completed in (
            ("/cancel wr", "/cancel writer "),
            ("/cancel pm#", "/cancel pm#1 "),
            ("/retry ba#", "/retry ba#1 "),
            ("/model rev", "/model reviewer "),
            ("/use-agent wr", "/use-agent writer "),
            ("/history wr", "/history writer "),
            ("/tasks ski", "/tasks skipped "),
            ("/task ba", "/task ba#1 "),
            ("/theme mono", "/theme monokai "),
            ("/help anyw", "/help anywhere "),
        ):
            await stage.type_text(typed)
            await stage.press("tab")
            assert stage.bar.text == completed
            await stage.press("ctrl+c")
        await stage.type_text("/cancel ")
        await stage.press("tab", "down", "enter")
        assert stage.bar.text == "/cancel ba ", "several are offered"
        await stage.press("ctrl+c")
        await stage.type_text("@pm say /cancel ")
        await stage.press("tab")
        assert stage.bar.text == "@pm say /cancel ", "in a text it is no command"


@pytest.mark.parametrize(
    ("topic", "there", "not_there"),
    [
        ("cancel", "/cancel [agent|task|all]", "/retry"),
        ("/export", "write the session", "/cancel"),
        ("input", "Ctrl+J", "copy the prompt"),
        ("panel", "copy the last output", "Ctrl+J"),
        ("inspector", "copy the prompt", "Ctrl+J"),
    ],
)
async def test_help_about_one_thing(topic: str, there: str, not_there: str) -> None:
    async with on_stage() as stage:
        await stage.paste(f"/help {topic}")
        assert stage.dialog.startswith(f"Help: {topic}\n")
        assert there in stage.dialog
        assert not_there not in stage.dialog


async def test_help_about_nothing() -> None:
    async with on_stage() as stage:
        await stage.paste("/help cancle")
        assert "There is no help about cancle. Did you mean cancel?" in stage.complaint
        assert stage.bar.text == "/help cancle"
