"""Rows as strips of the screen, in the styles of their roles."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.ui.widgets.feed_heads import Row

ROLES: Final = tuple(
    f"feed--{role}"
    for role in [
        "agent",
        "asking",
        "below",
        "cancelled",
        "code",
        "completed",
        "cursor",
        "executing",
        "failed",
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
        "queued",
        "quote",
        "skipped",
        "statement",
        "time",
        "waiting",
    ]
)
"""What a part of a row can be; the stylesheet says how it looks."""


def draw(row: Row, width: int, base: Style, styles: Mapping[str, Style], cursor: str = "") -> Strip:
    """Draw a row; one that the cursor is on begins with its sign."""
    segments = [
        Segment(text, base + (styles[role] if isinstance(role, str) else role)) for text, role in row.parts
    ]
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
