"""Where pasted code begins and ends: between two fences nothing is syntax.

A fence opens at a line that begins with backticks. It also opens behind text: where the last word of a line
is backticks with an info word attached and the line has no others, if a line that closes it follows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final

TICKS: Final = "```"
RUN: Final = r"`{3,}+"
"""The pattern of a run of backticks that may open a fence; `Fences` tells whether it does."""

_CLOSING = re.compile(rf"^{RUN}", re.MULTILINE)
_INFO = re.compile(r"[^\s`\"]++[^\S\n]*+$", re.MULTILINE)
_INFO_IN_STRING = re.compile(r"[^\s`\"\\]++[^\S\n]*+$", re.MULTILINE)
_LINE = re.compile(r"[^\n]*+")


class Fences:
    """The fences of one text. Every answer is found without reading the text again and again."""

    def __init__(self, text: str) -> None:
        self._text = text
        closing = [found.span() for found in _CLOSING.finditer(text)] if TICKS in text else []
        self._starts = [start for start, _ in closing]
        self._lengths = [end - start for start, end in closing]
        self._longest = [*accumulate(reversed(self._lengths), max)][::-1]

    def end(self, start: int, end: int) -> int | None:
        """Return where the fence ends that the run of backticks between two positions opens, if it does.

        One that begins a line and is never closed reaches to the end of the text.
        """
        begins_line = self._begins_line(start)
        if not begins_line and not self._ends_line(start, end, _INFO):
            return None
        closing = self._closing(start, end)
        if closing is None:
            return len(self._text) if begins_line else None
        line = _LINE.match(self._text, self._starts[closing])
        return line.end() if line else None

    def end_in_string(self, start: int, end: int) -> int | None:
        """Return the same for a string, where every fence needs an end and text may follow its last run."""
        if not self._begins_line(start) and not self._ends_line(start, end, _INFO_IN_STRING):
            return None
        closing = self._closing(start, end)
        return None if closing is None else self._starts[closing] + self._lengths[closing]

    def is_closed(self, start: int, end: int) -> bool:
        """Whether a line closes what the run of backticks between two positions opens."""
        return self._closing(start, end) is not None

    def _begins_line(self, start: int) -> bool:
        return start == 0 or self._text[start - 1] == "\n"

    def _ends_line(self, start: int, end: int, info: re.Pattern[str]) -> bool:
        """Whether the run and an info word are the last word of a line that has no other run."""
        if not self._text[start - 1].isspace() or info.match(self._text, end) is None:
            return False
        line = self._text.rfind("\n", 0, start) + 1
        return self._text.find(TICKS, line, start) < 0

    def _closing(self, start: int, end: int) -> int | None:
        """Return which of the lines that begin with a run closes the one between two positions."""
        length = end - start
        following = bisect_right(self._starts, start)
        if following == len(self._starts) or self._longest[following] < length:
            return None
        return next(index for index in range(following, len(self._starts)) if self._lengths[index] >= length)
