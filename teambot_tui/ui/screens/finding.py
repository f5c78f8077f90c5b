"""One line above the plan to look for a text: in the output, among the tasks, or in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.widgets import Input

from teambot_tui.ui.screens.choosing import ChoosingScreen
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

_ASKS = {"find": "find", "filter": "show only tasks with", "inspect": "find in this output"}


class FindingScreen(ChoosingScreen):
    """Has a find line, a feed and an inspector to find in, and a plan line to tell what was found."""

    _looking: Literal["find", "filter", "inspect"] = "find"

    def find_line(self) -> ComposeResult:
        """Make the line."""
        yield Input(placeholder=_ASKS["find"], id="find")

    def action_find(self) -> None:
        """Open the line to find a text, in the inspector if the keys are there."""
        self._open_line("inspect" if self.query_one(Inspector).has_focus_within else "find")

    def action_filter(self) -> None:
        """Open the line to show only the tasks that have a text."""
        self._open_line("filter")

    def on_inspector_find_requested(self) -> None:
        self._open_line("inspect")

    def _open_line(self, looking: Literal["find", "filter", "inspect"]) -> None:
        line = self.query_one("#find", Input)
        if looking != self._looking:
            self.close_line()
        self._looking = looking
        line.placeholder = _ASKS[looking]
        if looking != "inspect" and not self.query_one("#centre").display:
            self.remove_class("-graphing", "-inspecting")
        self.add_class("-finding")
        line.focus()

    def on_input_changed(self, message: Input.Changed) -> None:
        if not self.has_class("-finding"):
            return  # it was emptied when it was closed
        feed = self.query_one(Feed)
        match self._looking:
            case "find":
                count = feed.find(message.value)
            case "filter":
                count = feed.filter(message.value)
            case "inspect":
                count = self.query_one(Inspector).find(message.value)
        self._tell_found(count)

    def on_input_submitted(self) -> None:
        match self._looking:
            case "find":
                self.query_one(Feed).find_next(1)
            case "filter":
                self.query_one(Feed).focus()  # the keys of the output act on what is left
            case "inspect":
                self.query_one(Inspector).focus()

    def filter_again(self) -> None:
        """Let the filter follow what was said meanwhile."""
        count = self.query_one(Feed).filter_again()
        if count is not None and self.query_one("#find").has_focus:
            self._tell_found(count)

    def close_line(self) -> None:
        """Look for nothing any more, and show everything again."""
        self.query_one(Feed).stop_find()
        self.query_one(Inspector).find("")
        self.query_one("#find", Input).value = ""

    def _tell_found(self, count: int) -> None:
        back = self.keys.said("back")
        match self._looking:
            case "find":
                words = f"{count} found; Enter goes to the next, {back} leaves"
            case "filter":
                tasks = "1 task has" if count == 1 else f"{count} tasks have"
                words = f"{tasks} it; Enter goes to them, {back} shows all"
            case "inspect":
                on = "/".join(self.keys.said(name) for name in ("next-match", "previous-match"))
                words = f"{count} found; Enter goes to them, then {on}; {back} leaves"
        self.query_one(PlanLine).hint(words)
