"""One line above the plan to look for a text: it finds every place, or shows only the tasks that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from teambot_tui.ui.screens.choosing import ChoosingScreen
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from textual.app import ComposeResult


class FindingScreen(ChoosingScreen):
    """Has a find line, a feed to find in, and a plan line to tell what was found."""

    _filters = False

    def find_line(self) -> ComposeResult:
        """Make the line."""
        yield Input(placeholder="find", id="find")

    def action_find(self) -> None:
        """Open the line to find a text."""
        self._open_line(filters=False)

    def action_filter(self) -> None:
        """Open the line to show only the tasks that have a text."""
        self._open_line(filters=True)

    def _open_line(self, *, filters: bool) -> None:
        line = self.query_one("#find", Input)
        if filters != self._filters:
            self.query_one(Feed).stop_find()
            line.value = ""
        self._filters = filters
        line.placeholder = "show only tasks with" if filters else "find"
        if not self.query_one("#centre").display:
            self.remove_class("-graphing", "-inspecting")
        self.add_class("-finding")
        line.focus()

    def on_input_changed(self, message: Input.Changed) -> None:
        if not self.has_class("-finding"):
            return  # it was emptied when it was closed
        feed = self.query_one(Feed)
        self._tell_found(feed.filter(message.value) if self._filters else feed.find(message.value))

    def on_input_submitted(self) -> None:
        feed = self.query_one(Feed)
        if self._filters:
            feed.focus()  # the keys of the output act on what is left
        else:
            feed.find_next(1)

    def filter_again(self) -> None:
        """Let the filter follow what was said meanwhile."""
        count = self.query_one(Feed).filter_again()
        if count is not None and self.query_one("#find").has_focus:
            self._tell_found(count)

    def close_line(self) -> None:
        """Show everything again."""
        self.query_one(Feed).stop_find()
        self.query_one("#find", Input).value = ""

    def _tell_found(self, count: int) -> None:
        back = self.keys.said("back")
        if self._filters:
            tasks = "1 task has" if count == 1 else f"{count} tasks have"
            words = f"{tasks} it; Enter goes to them, {back} shows all"
        else:
            words = f"{count} found; Enter goes to the next, {back} leaves"
        self.query_one(PlanLine).hint(words)
