"""Workflows on the screen: shown before they start, then live, and a word when they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.ui.screens.forms import FormsScreen
from teambot_tui.ui.widgets.lines import TitleBar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from teambot_tui.ui.screens.session import Place
    from teambot_tui.workflows.up import Up


class UppingScreen(FormsScreen):
    """Has a title and a graph, and shows there how far workflows are."""

    _place: Place

    async def preview(self, up: Up, load: Callable[[], Awaitable[Up]]) -> Up | None:
        """Show what would run, and wait for the answer; `load` reads the file again after it was edited."""
        from teambot_tui.ui.screens.preview import PreviewScreen  # noqa: PLC0415  as every form

        return await self.app.push_screen_wait(PreviewScreen(up, load, self._place.glyphs))

    def watch_live(self) -> None:
        """Bring the graph into sight, where it has no place of its own; the keys stay with the input."""
        if not (self.has_class("-wide") and self.has_class("-tall")):
            self.remove_class("-inspecting", "-zoomed")
            self.add_class("-graphing")

    def follow_ups(self) -> None:
        """Show how far they are, and call the person when one is over."""
        ups = self._mirror.ups
        dot = f" {self._place.glyphs['dot']} "
        self.query_one(TitleBar).follow("   ".join(dot.join(each.clauses) for each in ups.progress()))
        for outcome in ups.take_outcomes():
            self.call(outcome.words, alarm=outcome.alarm)
