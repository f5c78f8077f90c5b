"""The manual on the screen: F1 opens it, arrows turn its pages, / finds a text in all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Markdown

from teambot_tui.help import TOPICS
from teambot_tui.ui.widgets.plain_lines import PlainLines
from tests.ui.stage import SMALL, on_stage
from tests.ui.test_hostile import everything_drawn

if TYPE_CHECKING:
    from textual.screen import Screen

    from tests.ui.stage import Stage


def page(screen: Screen[object]) -> str:
    """Return the Markdown that is shown."""
    return screen.query_one(Markdown).source


def found(stage: Stage) -> str:
    """Return what was found."""
    lines = stage.app.screen.query_one(PlainLines)
    return lines._text if lines.display else ""


def title(stage: Stage) -> str:
    return str(stage.app.screen.query_one(".dialog").border_title)


async def test_a_question_mark_in_an_empty_input_opens_it() -> None:
    async with on_stage(SMALL) as stage:
        await stage.press("?")
        assert stage.dialog.startswith("Help\n")
        assert "Ctrl+J, Shift+Enter" in everything_drawn(stage)
        await stage.press("escape")
        await stage.type_text("x?")
        assert stage.bar.text == "x?"


async def test_f1_lists_the_pages_and_finds_a_text_in_everything() -> None:
    async with on_stage() as stage:
        await stage.press("f1")
        await stage.until(lambda: "/help settings" in stage.dialog)
        await stage.press("slash")
        await stage.type_text("idle_agents")
        await stage.until(lambda: "── /help settings ──" in found(stage))
        count = found(stage).casefold().count("idle_agents")
        assert count > 1
        await stage.until(lambda: title(stage) == f"Help: idle_agents 1/{count}")
        await stage.press("enter", "n")
        assert title(stage) == f"Help: idle_agents 2/{count}"
        await stage.press("N", "N")
        assert title(stage) == f"Help: idle_agents {count}/{count}", "around the end"
        assert "idle_agents" in everything_drawn(stage)
        await stage.press("escape")
        await stage.until(lambda: title(stage) == "Help", "the keys again")
        assert "/help settings" in stage.dialog
        await stage.press("escape")
        assert not stage.dialog


async def test_nothing_is_found() -> None:
    async with on_stage() as stage:
        await stage.press("f1", "slash")
        await stage.type_text("no such words")
        await stage.until(lambda: found(stage) == "Nothing in the help says that.")
        assert title(stage) == "Help: no such words 0/0"


async def test_every_page_is_reached_with_the_arrows() -> None:
    async with on_stage() as stage:
        await stage.press("f1")
        for topic in TOPICS:
            await stage.press("right")
            await stage.until(lambda topic=topic: title(stage) == f"Help: {topic}" and page(stage.app.screen))  # type: ignore[misc]
        await stage.press("right")
        await stage.until(lambda: title(stage) == "Help", "the keys again")
        await stage.press("left")
        await stage.until(lambda: title(stage) == "Help: changelog")


async def test_a_page_and_where_its_links_lead() -> None:
    async with on_stage() as stage:
        await stage.paste("/help trust")
        await stage.until(lambda: page(stage.app.screen).startswith("# Trust\n"))
        assert stage.dialog.startswith("Help: trust\n")
        document = stage.app.screen.query_one(Markdown)
        document.post_message(Markdown.LinkClicked(document, "settings.md#personas"))
        await stage.until(lambda: page(stage.app.screen).startswith("# Settings\n"))
        assert stage.dialog.startswith("Help: settings\n")


async def test_a_command_with_a_page_of_its_name_shows_both() -> None:
    async with on_stage() as stage:
        await stage.paste("/help spawn")
        await stage.until(lambda: page(stage.app.screen).startswith("# Runs that start others\n"))
        assert "/spawn [--after NAME]" in stage.dialog


async def test_a_mistyped_page() -> None:
    async with on_stage() as stage:
        await stage.paste("/help setings")
        assert "Did you mean settings?" in stage.complaint
