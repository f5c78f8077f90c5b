"""A text of any size, line by line: rows are cut once for a width, and painted when in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from teambot_tui.ui.widgets.feed_paint import stylize
from teambot_tui.ui.widgets.feed_text import NARROWEST, expand, wrap

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.selection import Selection


class PlainLines(Widget):
    """Shows the text."""

    DEFAULT_CSS = """
    PlainLines { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._rows: list[str] = []
        self._rows_width = 0

    def show(self, text: str) -> None:
        """Show this text."""
        if text != self._text:
            self._text = text
            self._rows_width = 0
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return how many rows the text has."""
        return len(self._cut(width))

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        width = self.size.width
        rows = self._cut(width)
        text = rows[y] if y < len(rows) else ""
        style = self.rich_style
        strip = Strip([Segment(text, style)])
        if (selection := self.text_selection) is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            chosen = self.screen.get_component_rich_style("screen--selection")
            strip = stylize(strip, start, len(text) if end == -1 else end, chosen)
        return strip.adjust_cell_length(width, style).apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected."""
        return selection.extract("\n".join(self._rows)), "\n"

    def _cut(self, width: int) -> list[str]:
        if width != self._rows_width and width > 0:
            self._rows_width = width
            self._rows = [expand(row.removesuffix("\n")) for row in wrap(self._text, max(width, NARROWEST))]
        return self._rows
