"""One line above the plan to look for a text: in the output, among the tasks, or in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widgets import Input

    from teambot_tui.ui.keys import Keys
    from teambot_tui.ui.widgets.feed import Feed
    from teambot_tui.ui.widgets.inspector import Inspector

_ASKS = {"find": "find", "filter": "show only tasks with", "inspect": "find in this output"}


class Finding:
    """Looks for what is typed in the find line, and tells in the plan line what was found."""

    def __init__(
        self, screen: Screen[None], line: Input, feed: Feed, inspector: Inspector, keys: Keys
    ) -> None:
        self._screen = screen
        self._line = line
        self._feed = feed
        self._inspector = inspector
        self._keys = keys
        self._looking: Literal["find", "filter", "inspect"] = "find"

    def find(self) -> None:
        """Open the line to find a text, in the inspector if the keys are there."""
        self._open("inspect" if self._inspector.has_focus_within else "find")

    def find_in_inspector(self) -> None:
        """Open the line to find a text in the inspector."""
        self._open("inspect")

    def filter(self) -> None:
        """Open the line to show only the tasks that have a text."""
        self._open("filter")

    def _open(self, looking: Literal["find", "filter", "inspect"]) -> None:
        if looking != self._looking:
            self.close()
        self._looking = looking
        self._line.placeholder = _ASKS[looking]
        if looking != "inspect" and not self._screen.query_one("#centre").display:
            self._screen.remove_class("-graphing", "-timing", "-inspecting")
        self._screen.add_class("-finding")
        self._line.focus()

    def close(self) -> None:
        """Look for nothing any more, and show everything again."""
        self._feed.stop_find()
        self._inspector.find("")
        self._line.value = ""

    def look_for(self, text: str) -> None:
        """Look for what is typed so far."""
        if not self._screen.has_class("-finding"):
            return  # it was emptied when it was closed
        match self._looking:
            case "find":
                count = self._feed.find(text)
            case "filter":
                count = self._feed.filter(text)
            case "inspect":
                count = self._inspector.find(text)
        self._tell_found(count)

    def enter(self) -> None:
        """Go to what was found."""
        match self._looking:
            case "find":
                self._feed.find_next(1)
            case "filter":
                self._feed.focus()  # the keys of the output act on what is left
            case "inspect":
                self._inspector.focus()

    def filter_again(self) -> None:
        """Let the filter follow what was said meanwhile."""
        count = self._feed.filter_again()
        if count is not None and self._line.has_focus:
            self._tell_found(count)

    def _tell_found(self, count: int) -> None:
        back = self._keys.said("back")
        match self._looking:
            case "find":
                words = f"{count} found; Enter goes to the next, {back} leaves"
            case "filter":
                tasks = "1 task has" if count == 1 else f"{count} tasks have"
                words = f"{tasks} it; Enter goes to them, {back} shows all"
            case "inspect":
                on = "/".join(self._keys.said(name) for name in ("next-match", "previous-match"))
                words = f"{count} found; Enter goes to them, then {on}; {back} leaves"
        self._screen.query_one(PlanLine).hint(words)
