"""Rows as strips of the screen, in the styles of their roles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from teambot_tui.engine.states import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.widget import Widget

    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.feed_heads import Row

ROLES: Final = tuple(
    f"feed--{role}"
    for role in [
        "agent",
        "below",
        "called",
        "code",
        "cursor",
        "emphasis",
        "flow",
        "fold",
        "found",
        "found-here",
        "heading",
        "link",
        "marker",
        "muted",
        "note",
        "output",
        "prompt",
        "quote",
        "reference",
        "statement",
        "strip",
        "strong",
        "time",
        "words",
        *Role,
    ]
)
"""What a part of a row can be; the stylesheet says how it looks."""
_STRIPS: Final = 1024


class Painter:
    """Draws the rows of a feed; for the same row it gives the same strip again."""

    def __init__(self, feed: Widget, glyphs: Glyphs) -> None:
        self._feed = feed
        self._glyphs = glyphs
        self._styles: dict[str, Style] = {}
        self._strips: LRUCache[tuple[Row, bool, int], Strip] = LRUCache(_STRIPS)

    @property
    def styles(self) -> dict[str, Style]:
        """How each role looks."""
        if not self._styles:
            self._styles = {name: self._feed.get_component_rich_style(name) for name in ROLES}
        return self._styles

    def forget(self) -> None:
        """Draw everything again: the styles have changed."""
        self._styles = {}
        self._strips.clear()

    def strip(self, row: Row, *, has_cursor: bool) -> Strip:
        """Return a row as it looks."""
        width = self._feed.size.width
        strip = self._strips.get((row, has_cursor, width))
        if strip is None:
            cursor = self._glyphs["plan"] if has_cursor else ""
            strip = draw(row, width, self._feed.rich_style, self.styles, cursor)
            self._strips[row, has_cursor, width] = strip
        return strip

    def mark_place(self, strip: Strip, *, is_here: bool) -> Strip:
        """Draw a scrollbar's cell at the right edge."""
        width = self._feed.size.width
        cell = self._glyphs["thumb" if is_here else "track"]
        return Strip.join([strip.crop(0, width - 1), Strip([Segment(cell, self.styles["feed--muted"])])])

    def mark_below(self, strip: Strip, tasks: int) -> Strip:
        """Say at the end of a strip that there is more below, and how to come to it."""
        more = f"{tasks} more" if tasks else "more"
        text = f" {self._glyphs['below']} {more} {self._glyphs['dot']} End follows "
        room = self._feed.size.width - len(text)
        if room < 0:
            return strip
        return Strip.join([strip.crop(0, room), Strip([Segment(text, self.styles["feed--below"])])])


def draw(row: Row, width: int, base: Style, styles: Mapping[str, Style], cursor: str = "") -> Strip:
    """Draw a row; one that the cursor is on begins with its sign."""
    segments = [Segment(text, base + styles[role]) for text, role in row.parts]
    if not cursor:
        return Strip(segments).crop_extend(0, width, base)
    mark = styles["feed--cursor"]
    if segments and segments[0].text.startswith(" "):
        text, style, _ = segments[0]
        segments[0:1] = [Segment(cursor, mark), Segment(text[1:], style)]
    strip = Strip(segments).crop_extend(0, width, base)
    return stylize(strip, 0, strip.cell_count, Style(bgcolor=mark.bgcolor, bold=True))


def stylize(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Draw some characters of a strip in another style."""
    segments: list[Segment] = []
    offset = 0
    for text, old, _ in strip:
        cuts = (0, *(min(max(each - offset, 0), len(text)) for each in (start, end)), len(text))
        for (begin, finish), new in zip(pairwise(cuts), (False, True, False), strict=True):
            if begin < finish:
                segments.append(Segment(text[begin:finish], (old or Style.null()) + style if new else old))
        offset += len(text)
    return Strip(segments, strip.cell_length)
