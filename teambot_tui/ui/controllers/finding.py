"""One line above the plan to look for a text: in the output, among the tasks, or in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from textual.screen import Screen

    from teambot_tui.ui.keys import Keys
    from teambot_tui.ui.widgets.feed import Feed
    from teambot_tui.ui.widgets.find_line import FindLine
    from teambot_tui.ui.widgets.inspector import Inspector

_ASKS: Final = {
    "find": ("find", "a text in the output"),
    "filter": ("show only", "tasks with this text"),
    "inspect": ("find here", "a text in this output"),
}


class Finding:
    """Looks for what is typed in the find line, counts there, and says in the plan line what the keys do."""

    def __init__(
        self, screen: Screen[None], line: FindLine, feed: Feed, inspector: Inspector, keys: Keys
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
        if looking != "inspect" and not self._screen.query_one("#centre").display:
            self._screen.remove_class("-graphing", "-timing", "-inspecting")
        self._screen.add_class("-finding")
        what, placeholder = _ASKS[looking]
        self._line.ask(what, placeholder, hides=looking == "filter")
        self._tell_keys()

    def close(self) -> None:
        """Look for nothing any more, and show everything again."""
        self._feed.stop_find()
        self._inspector.find("")
        self._line.input.value = ""
        self._line.tell("")

    def look_for(self, text: str) -> None:
        """Look for what is typed so far."""
        if not self._screen.has_class("-finding"):
            return  # it was emptied when it was closed
        match self._looking:
            case "find":
                self._feed.find(text)
            case "filter":
                self._feed.filter(text)
            case "inspect":
                self._inspector.find(text)
        self.count()

    def enter(self) -> None:
        """Go to what was found."""
        match self._looking:
            case "find":
                self._feed.find_next(1)
            case "filter":
                self._feed.focus()  # the keys of the output act on what is left
            case "inspect":
                self._inspector.focus()
        self.count()

    def filter_again(self) -> None:
        """Let the filter follow what was said meanwhile."""
        if self._feed.filter_again() is not None:
            self.count()

    def count(self) -> None:
        """Show which match is at hand, and how many there are; of a filter, how many tasks it leaves."""
        if not self._line.input.value:
            self._line.tell("")
            return
        if self._looking == "filter":
            left, tasks = self._feed.filtered
            self._line.tell(f"{left}/{tasks} tasks", nothing=not left)
            return
        at, found = self._feed.found if self._looking == "find" else self._inspector.found
        self._line.tell(f"{at}/{found}" if at else f"{found} found", nothing=not found)

    def _tell_keys(self) -> None:
        back = self._keys.said("back")
        match self._looking:
            case "find":
                words = f"marks what has it; Enter goes to the next, {back} leaves"
            case "filter":
                words = f"hides all other tasks; Enter goes to those left, {back} shows all"
            case "inspect":
                on = "/".join(self._keys.said(name) for name in ("next-match", "previous-match"))
                words = f"marks what has it; Enter goes to it, then {on}; {back} leaves"
        self._screen.query_one(PlanLine).hint(words)
