"""Big pastes: each stands in the input as one character and is whole again when the text is read.

An input line that holds megabytes cannot be typed in. A character that stands for them can: it is deleted,
moved over and brought back like any other.
"""

from __future__ import annotations

import re
from typing import Final

from teambot_tui.language.span import Span

LIMIT: Final = 16 * 1024
"""How much text is shown as it is."""
_HEAD: Final = 1_000
_TAIL: Final = 200
_FIRST: Final = 0x10F000
_MARKS: Final = re.compile("[\U0010f000-\U0010fffd]")


class Pastes:
    """What the marks in a shown text stand for."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str, *, room: int = LIMIT) -> str:
        """Return what to show for a text: itself, or one mark if it is too long or would look like a mark."""
        if len(text) <= room and not _MARKS.search(text):
            return text
        mark = chr(_FIRST + len(self._texts) % 0xFFE)
        self._texts[mark] = text
        return mark

    def fold_middle(self, text: str) -> str:
        """Return what to show for a whole submission: its beginning and end stay readable."""
        if len(text) <= LIMIT and not _MARKS.search(text):
            return text
        head, tail = text[:_HEAD], text[-_TAIL:]
        if len(text) <= _HEAD + _TAIL or _MARKS.search(head) or _MARKS.search(tail):
            return self.fold(text, room=0)
        return head + self.fold(text[_HEAD:-_TAIL], room=0) + tail

    def unfold(self, shown: str) -> str:
        """Return the exact text."""
        if not self._texts:
            return shown
        return _MARKS.sub(lambda mark: self._texts.get(mark[0], mark[0]), shown)

    def shown_span(self, shown: str, span: Span) -> Span:
        """Return where a place of the exact text is in the shown one."""
        return Span(self._shown_index(shown, span.start), self._shown_index(shown, span.end, end=True))

    def folded(self, shown: str) -> list[str]:
        """Return the texts that are folded away in a shown one."""
        if not self._texts:
            return []
        return [self._texts[mark] for mark in _MARKS.findall(shown) if mark in self._texts]

    def clear(self) -> None:
        """Forget all of them."""
        self._texts.clear()

    def _shown_index(self, shown: str, index: int, *, end: bool = False) -> int:
        behind = 0
        """How much longer the exact text is than the shown one, up to here."""
        for mark in _MARKS.finditer(shown) if self._texts else ():
            if mark.start() + behind >= index:
                break
            longer = len(self._texts.get(mark[0], mark[0])) - 1
            if index <= mark.start() + behind + longer:
                return mark.end() if end else mark.start()
            behind += longer
        return index - behind


def drawn(line: str, glyph: str) -> str:
    """Return a shown line with a visible sign in place of each mark."""
    return _MARKS.sub(glyph, line)
