"""The manual on the screen: F1 lists its pages, /help shows one, and / finds a text in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Markdown

from tests.ui.stage import on_stage

if TYPE_CHECKING:
    from textual.screen import Screen


def found(screen: Screen[object]) -> str:
    """Return the Markdown that is shown."""
    return screen.query_one(Markdown).source


async def test_f1_lists_the_pages_and_finds_a_text_in_all_of_them() -> None:
    async with on_stage() as stage:
        await stage.press("f1")
        await stage.until(lambda: "/help settings" in stage.dialog)
        await stage.press("slash")
        await stage.type_text("idle_agents")
        await stage.until(lambda: "idle_agents" in found(stage.app.screen))
        assert found(stage.app.screen).startswith("# backends\n\n")
        assert "# settings\n\n" in found(stage.app.screen)
        await stage.press("enter")
        assert stage.app.screen.query_one(".dialog").has_focus
        await stage.press("escape")
        await stage.until(lambda: found(stage.app.screen) == "", "the keys again")
        assert stage.dialog.startswith("Help\n")
        await stage.press("escape")
        assert not stage.dialog


async def test_nothing_is_found() -> None:
    async with on_stage() as stage:
        await stage.press("f1", "slash")
        await stage.type_text("no such words")
        await stage.until(lambda: found(stage.app.screen) == "Nothing in the manual says that.")


async def test_a_page_and_where_its_links_lead() -> None:
    async with on_stage() as stage:
        await stage.paste("/help trust")
        await stage.until(lambda: found(stage.app.screen).startswith("# Trust\n"))
        assert stage.dialog.startswith("Help: trust\n")
        document = stage.app.screen.query_one(Markdown)
        document.post_message(Markdown.LinkClicked(document, "settings.md#personas"))
        await stage.until(lambda: found(stage.app.screen).startswith("# Settings\n"))
        assert stage.dialog.startswith("Help: settings\n")


async def test_a_command_with_a_page_of_its_name_shows_both() -> None:
    async with on_stage() as stage:
        await stage.paste("/help spawn")
        await stage.until(lambda: found(stage.app.screen).startswith("# Runs that start others\n"))
        assert "/spawn [--after NAME]" in stage.dialog


async def test_a_mistyped_page() -> None:
    async with on_stage() as stage:
        await stage.paste("/help setings")
        assert "Did you mean settings?" in stage.complaint
