"""A text of any size, line by line: rows are cut once for a width, and painted when in sight."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from teambot_tui.ui.widgets.feed_paint import stylize
from teambot_tui.ui.widgets.feed_text import NARROWEST, expand, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.style import Style
    from textual.geometry import Size
    from textual.selection import Selection


class PlainLines(Widget):
    """Shows the text."""

    DEFAULT_CSS = """
    PlainLines { height: auto; width: 1fr; }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"plain-lines--found", "plain-lines--found-here"}

    def __init__(self) -> None:
        super().__init__()
        self._needle = ""
        self._text = ""
        self._rows: list[str] = []
        self._starts: list[int] = []
        """Where in the text each row begins."""
        self._found: list[int] = []
        self._length = 0
        self._at = 0
        self._rows_width = 0

    def show(self, text: str) -> None:
        """Show this text."""
        if text != self._text:
            self._text = text
            self._rows_width = 0
            self.find(self._needle)
            self.refresh(layout=True)

    def find(self, needle: str) -> int:
        """Mark a text wherever it is, in any case; return how often that is."""
        self._needle, self._length = needle, len(needle)
        pattern = re.compile(re.escape(needle), re.IGNORECASE)
        self._found = [match.start() for match in pattern.finditer(self._text)] if needle else []
        self._at = min(self._at, max(0, len(self._found) - 1)) if needle else 0
        self.refresh()
        return len(self._found)

    def go(self, by: int) -> int | None:
        """Go so many matches further, around the end if need be; return the row of the one at hand."""
        if not self._found:
            return None
        self._at = (self._at + by) % len(self._found)
        self.refresh()
        self._cut(self.size.width)
        return bisect_right(self._starts, self._found[self._at]) - 1

    @property
    def at(self) -> int:
        """Which match is at hand, counted from 1; 0 where there is none."""
        return self._at + 1 if self._found else 0

    @property
    def count(self) -> int:
        """How many matches there are."""
        return len(self._found)

    def rows_below(self, row: int) -> int:
        """How many rows there are from this one on; where there is no room for a text, always one."""
        if self.size.width < NARROWEST:
            return 1
        return max(0, len(self._cut(self.size.width)) - row)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return how many rows the text has."""
        return len(self._cut(width))

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        width = self.size.width
        rows = self._cut(width)
        text = rows[y] if y < len(rows) else ""
        style = self.row_style(text)
        strip = Strip([Segment(text, style)])
        for start, end, is_here in self._marks(y):
            role = "plain-lines--found-here" if is_here else "plain-lines--found"
            strip = stylize(strip, start, end, self.get_component_rich_style(role))
        if (selection := self.text_selection) is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            chosen = self.screen.get_component_rich_style("screen--selection")
            strip = stylize(strip, start, len(text) if end == -1 else end, chosen)
        return strip.adjust_cell_length(width, style).apply_offsets(0, y)

    def row_style(self, row: str) -> Style:  # noqa: ARG002  for those that tell rows apart
        """Return how a row looks."""
        return self.rich_style

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected."""
        return selection.extract("\n".join(self._rows)), "\n"

    def _cut(self, width: int) -> list[str]:
        if width != self._rows_width and width > 0:
            self._rows_width = width
            raw = wrap(self._text, max(width, NARROWEST))
            self._starts = list(accumulate((len(row) for row in raw[:-1]), initial=0))
            self._rows = [expand(row.removesuffix("\n")) for row in raw]
        return self._rows

    def _marks(self, y: int) -> Iterator[tuple[int, int, bool]]:
        """The columns of what is found in a row, and whether each is of the match at hand."""
        if not self._found or y >= len(self._rows):
            return
        begin = self._starts[y]
        finish = self._starts[y + 1] if y + 1 < len(self._starts) else len(self._text)
        first = bisect_right(self._found, begin - self._length)
        for number in range(first, bisect_left(self._found, finish)):
            start, end = (max(begin, self._found[number]), min(finish, self._found[number] + self._length))
            first_column, after = (len(expand(self._text[begin:each])) for each in (start, end))
            yield first_column, after, number == self._at


_ROLES: Final = {"+": "diff-lines--added", "-": "diff-lines--removed", "@": "diff-lines--place"}


class DiffLines(PlainLines):
    """Shows the text, with colours if it is a diff; the signs at the beginning of its lines stay."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*PlainLines.COMPONENT_CLASSES, *_ROLES.values()}

    _is_diff = False

    def show(self, text: str) -> None:
        """Show this text."""
        self._is_diff = text.startswith("@@ ") or "\n@@ " in text
        super().show(text)

    def row_style(self, row: str) -> Style:
        """Return how a row looks."""
        role = _ROLES.get(row[:1]) if self._is_diff else None
        if role is None:
            return self.rich_style
        return self.rich_style + self.get_component_rich_style(role, partial=True)
