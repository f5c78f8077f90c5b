"""Long pastes: each stands in the input as a short label and is whole again when the text is read.

What stands before a paste stays in sight, and a line that holds megabytes can be typed in. The characters of
a label are private ones: the first stands for the text, and all are drawn, as `[200 lines pasted]`. Who edits
must take a label as one: `marks` tells where they are.
"""

from __future__ import annotations

import re
from typing import Final

from teambot_tui.language.span import Span
from teambot_tui.ui.glyphs import size

LIMIT: Final = 16 * 1024
"""How much text is shown as it is."""
_MOST_LINES: Final = 10
_LONGEST: Final = 1_000
"""A paste that has more of either is folded."""
_LINES_OF_WHOLE: Final = 40
"""A whole submission with more lines is folded in its middle."""
_HEAD: Final = 1_000
_HEAD_LINES: Final = 3
_TAIL: Final = 200
_FIRST: Final = 0x10F000
_LETTERS: Final = 0x10E000
_OURS: Final = re.compile("[\U0010e000-\U0010fffd]")
_MARKS: Final = re.compile("([\U0010f000-\U0010fffd])[\U0010e000-\U0010efff]*+")


class Pastes:
    """What the labels in a shown text stand for."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str, *, room: int = LIMIT) -> str:
        """Return what to show for a paste: itself, or a label if it is long or would look like one."""
        short = len(text) <= min(room, _LONGEST) and text.count("\n") < _MOST_LINES
        return text if short and not _OURS.search(text) else self._label(text, " pasted")

    def fold_middle(self, text: str) -> str:
        """Return what to show for a whole submission: its beginning and end stay readable."""
        lines = text.count("\n") + 1
        if len(text) <= LIMIT and lines <= _LINES_OF_WHOLE and not _OURS.search(text):
            return text
        head, tail = text[:_HEAD], text[-_TAIL:]
        if lines > _LINES_OF_WHOLE:
            head, tail = "".join(head.splitlines(keepends=True)[:_HEAD_LINES]), tail[tail.rfind("\n") + 1 :]
        if len(text) <= len(head) + len(tail) or _OURS.search(head) or _OURS.search(tail):
            return self._label(text, "")
        return head + self._label(text[len(head) : len(text) - len(tail)], "") + tail

    def _label(self, text: str, behind: str) -> str:
        mark = chr(_FIRST + len(self._texts) % 0xFFE)
        self._texts[mark] = text
        lines = text.count("\n") + 1
        words = f"{size(len(text))}{behind}]" if lines == 1 else f"{lines:,} lines{behind}]"
        return mark + "".join(chr(_LETTERS + ord(letter)) for letter in words)

    def unfold(self, shown: str) -> str:
        """Return the exact text."""
        if not self._texts:
            return shown
        return _MARKS.sub(lambda mark: self._texts.get(mark[1], mark[0]), shown)

    def marks(self, shown: str) -> list[Span]:
        """Return where the labels are in a shown text."""
        if not self._texts:
            return []
        return [Span(*mark.span()) for mark in _MARKS.finditer(shown) if mark[1] in self._texts]

    def is_expandable(self, text: str) -> bool:
        """Tell whether a text can be shown as it is."""
        return len(text) <= LIMIT and not _OURS.search(text)

    def clear(self) -> None:
        """Forget all of them."""
        self._texts.clear()

    def shown_span(self, shown: str, span: Span) -> Span:
        """Return where a place of the exact text is in the shown one."""
        return Span(self._shown_index(shown, span.start), self._shown_index(shown, span.end, end=True))

    def exact_index(self, shown: str, index: int) -> int:
        """Return where a place of the shown text, which is in no label, is in the exact one."""
        return len(self.unfold(shown[:index]))

    def _shown_index(self, shown: str, index: int, *, end: bool = False) -> int:
        behind = 0
        """How much longer the exact text is than the shown one, up to here."""
        for start, stop in self.marks(shown):
            if start + behind >= index:
                break
            longer = len(self._texts[shown[start]]) - (stop - start)
            if index <= stop + behind + longer:
                return stop if end else start
            behind += longer
        return index - behind


def drawn(line: str) -> str:
    """Return a shown line with its labels to be read."""
    return _OURS.sub(lambda sign: "[" if ord(sign[0]) >= _FIRST else chr(ord(sign[0]) - _LETTERS), line)
