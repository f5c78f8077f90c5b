"""The screen on terminals that can do less: without colour, and without Unicode's lines and blocks.

Both look at what is about to be written, so nothing that any widget draws is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

_STANDS_OUT: Final = 0.15  # of brightness, between black and white


class NoColour(LineFilter):
    """Takes every colour away; what stood out by its background alone is reversed instead."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without colour."""
        return [
            Segment(text, style and _without_colour(style, background), control)
            for text, style, control in segments
        ]


def _without_colour(style: Style, background: Color) -> Style:
    bare = style.without_color
    if style.bgcolor is None or style.bgcolor.is_default:
        return bare
    behind = Color.from_rich_color(style.bgcolor)
    if abs(behind.brightness - background.brightness) < _STANDS_OUT:
        return bare
    return bare + Style(reverse=not style.reverse)


class AsciiLines(LineFilter):
    """Draws lines, corners, bars and blocks with ASCII characters, one for one; words stay as they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's
        """Return the segments without box-drawing characters."""
        return [Segment(text.translate(_ASCII), style, control) for text, style, control in segments]


def _table(*rows: tuple[Sequence[int] | str, str]) -> dict[int, str]:
    return {
        ord(character) if isinstance(character, str) else character: drawn
        for characters, drawn in rows
        for character in characters
    }


_ASCII: Final = _table(
    (range(0x2500, 0x2580), "+"),  # box drawing: corners, tees and crossings, if not said otherwise
    ("─━┄┅┈┉╌╍═╴╶╸╺╼╾", "-"),
    ("│┃┆┇┊┋╎╏║╵╷╹╻╽╿", "|"),
    (range(0x2580, 0x25A0), "#"),  # blocks
    ("▁▂▃▄", "_"),
    ("▔▀", "-"),
    ("▎▏▌▍▋▊▉▐▕", "|"),
    ("•●■◆▪", "*"),
    ("○□◇▫", "o"),
    ("▶▸►❯›", ">"),
    ("◀◂◄❮‹", "<"),
    ("▲▴", "^"),
    ("▼▾", "v"),
    ("→", ">"),
    ("←", "<"),
    ("✓✔", "+"),
    ("✗✘✖", "x"),
    ("…", "."),
    ("·", "-"),
)
