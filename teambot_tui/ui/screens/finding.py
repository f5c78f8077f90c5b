"""One line above the plan to look for a text: in the output, among the tasks, or in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from teambot_tui.ui.screens.choosing import ChoosingScreen
from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from textual.widgets import Input

_ASKS = {"find": "find", "filter": "show only tasks with", "inspect": "find in this output"}


class FindingScreen(ChoosingScreen):
    """Has a find line, a feed and an inspector to find in, and a plan line to tell what was found."""

    _looking: Literal["find", "filter", "inspect"] = "find"

    def action_find(self) -> None:
        """Open the line to find a text, in the inspector if the keys are there."""
        self._open_line("inspect" if self.parts.inspector.has_focus_within else "find")

    def action_filter(self) -> None:
        """Open the line to show only the tasks that have a text."""
        self._open_line("filter")

    def on_inspector_find_requested(self) -> None:
        self._open_line("inspect")

    def _open_line(self, looking: Literal["find", "filter", "inspect"]) -> None:
        line = self.parts.find
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
        feed = self.parts.feed
        match self._looking:
            case "find":
                count = feed.find(message.value)
            case "filter":
                count = feed.filter(message.value)
            case "inspect":
                count = self.parts.inspector.find(message.value)
        self._tell_found(count)

    def on_input_submitted(self) -> None:
        match self._looking:
            case "find":
                self.parts.feed.find_next(1)
            case "filter":
                self.parts.feed.focus()  # the keys of the output act on what is left
            case "inspect":
                self.parts.inspector.focus()

    def filter_again(self) -> None:
        """Let the filter follow what was said meanwhile."""
        count = self.parts.feed.filter_again()
        if count is not None and self.parts.find.has_focus:
            self._tell_found(count)

    def close_line(self) -> None:
        """Look for nothing any more, and show everything again."""
        self.parts.feed.stop_find()
        self.parts.inspector.find("")
        self.parts.find.value = ""

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
