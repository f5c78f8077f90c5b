"""The one error of the language and of all that gives it meaning: what is wrong, where, what to type."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teambot_tui.language.nodes import Span

_WINDOW = 72


class StatementError(Exception):
    """A submission that cannot be accepted. Nothing of it was started."""

    def __init__(self, message: str, source: str, span: Span, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.span = span
        self.hint = hint

    @property
    def line(self) -> int:
        """The line of the spot, counted from 1."""
        return self.source.count("\n", 0, self.span.start) + 1

    @property
    def column(self) -> int:
        """The character of that line, counted from 1."""
        return self.span.start - self.source.rfind("\n", 0, self.span.start)

    def pointer(self) -> str:
        """Return the line of the spot with a caret under it, cut to a window if the line is long."""
        begin = self.span.start - self.column + 1
        end = self.source.find("\n", self.span.start)
        end = len(self.source) if end < 0 else end
        first = max(begin, self.span.start - _WINDOW // 2)
        last = min(end, first + _WINDOW)
        before = ("…" if first > begin else "") + _visible(self.source[first : self.span.start])
        marked = _visible(self.source[self.span.start : min(self.span.end, last)])
        after = _visible(self.source[self.span.start + len(marked) : last]) + ("…" if last < end else "")
        line = f"{before}{marked}{after}".rstrip()
        return f"{line}\n{' ' * _cells(before)}{'^' * max(1, _cells(marked.rstrip()))}"

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}" + (
            f" ({self.hint})" if self.hint else ""
        )


def _visible(text: str) -> str:
    """Tabs, control characters and whatever else has no width of its own, as one blank each."""
    return "".join(character if character.isprintable() else " " for character in text)


def _cells(text: str) -> int:
    """How many terminal cells the text takes."""
    return sum(
        0
        if unicodedata.category(character) in ("Mn", "Me")
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )
