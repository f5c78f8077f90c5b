"""A task's text as rows of the screen: wrapped when they are asked for, and never more than is worth it.

The rows are the only copy. Put together they are the text again, character by character, so that what was
found, selected or copied is always a place in what the agent said, not in how it happened to be wrapped.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, get_character_cell_size, split_graphemes

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_CHARACTERS: Final = 256 * 1024
KEPT_LINES: Final = 10_000
_TAB: Final = 4
NARROWEST: Final = 8
_CHARACTERS_PER_CELL: Final = 16
_SEARCHED_FOR_A_LINE: Final = 4096


class Output:
    """What a task has said, as far as it is kept."""

    __slots__ = (
        "_fresh",
        "_fresh_size",
        "_lines",
        "_rows",
        "_size",
        "_starts",
        "_width",
        "first",
        "missing",
        "missing_lines",
    )

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._size = 0
        self._lines = 0
        self._fresh: list[str] = []
        self._fresh_size = 0
        self._width = 0
        self._starts: list[int] | None = None
        self.first = 0
        """The number of the first row that is kept; numbers stay as they are while rows fall away."""
        self.missing = 0
        """How many characters fell away."""
        self.missing_lines = 0

    def append(self, text: str) -> None:
        """Take in more text; nothing is looked at until rows are asked for."""
        self._fresh.append(text)
        self._fresh_size += len(text)
        if self._fresh_size > 2 * KEPT_CHARACTERS:
            self._shorten()

    @property
    def text(self) -> str:
        """The text that is kept."""
        return "".join((*self._rows, *self._fresh))

    @property
    def size(self) -> int:
        """How many characters are kept."""
        return self._size + self._fresh_size

    def is_laid_out(self, width: int) -> bool:
        """Whether the rows are as wide as they should be."""
        return not self._width or self._width == max(width, NARROWEST)

    def lay_out(self, width: int) -> bool:
        """Wrap what is not wrapped at this width yet; return whether anything changed."""
        width = max(width, NARROWEST)
        if width == self._width and not self._fresh:
            return False
        if width != self._width:
            fresh, self._rows, self.first, self._lines, self._size = self.text, [], 0, 0, 0
            self._width = width
        else:
            if self._rows and not self._rows[-1].endswith("\n"):
                last = self._rows.pop()
                self._size -= len(last)
                self._fresh.insert(0, last)
            fresh = "".join(self._fresh)
        self._fresh, self._fresh_size, self._starts = [], 0, None
        self._rows += wrap(fresh, width)
        self._size += len(fresh)
        self._lines += fresh.count("\n")
        self._let_go()
        return True

    @property
    def rows(self) -> int:
        """How many rows there are, without empty ones at the end."""
        count = len(self._rows)
        while count and self._rows[count - 1].isspace():
            count -= 1
        return count

    def row(self, number: int) -> str:
        """Return a row by its number."""
        return self._rows[number - self.first]

    def start_of(self, number: int) -> int:
        """Return how many characters the task had said before this row."""
        starts = self._row_starts()
        return starts[min(max(number - self.first, 0), len(starts) - 1)]

    def row_at(self, position: int) -> int:
        """Return the number of the row that has the character at this position."""
        return self.first + max(0, min(bisect_right(self._row_starts(), position), len(self._rows)) - 1)

    def _row_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = list(accumulate(map(len, self._rows), initial=self.missing))
        return self._starts

    def _shorten(self) -> None:
        """Keep the end of a text that came faster than it was shown."""
        text = self.text
        cut = len(text) - KEPT_CHARACTERS
        line = text.find("\n", cut, cut + _SEARCHED_FOR_A_LINE)
        cut = line + 1 if line >= 0 else cut
        self.missing += cut
        self.missing_lines += text.count("\n", 0, cut)
        self.first += len(self._rows)
        self._rows, self._lines, self._size, self._starts = [], 0, 0, None
        self._fresh, self._fresh_size = [text[cut:]], len(text) - cut

    def _let_go(self) -> None:
        count = 0
        while self._size > KEPT_CHARACTERS or self._lines > KEPT_LINES:
            row = self._rows[count]
            self._size -= len(row)
            self.missing += len(row)
            ends = row.endswith("\n")
            self._lines -= ends
            self.missing_lines += ends
            count += 1
        del self._rows[:count]
        self.first += count


def wrap(text: str, width: int) -> list[str]:
    """Break a text into rows of at most `width` cells; one space after a word may hang over the edge.

    A row that ends a line keeps its newline: nothing is lost. More text can only change the last row.
    """
    rows: list[str] = []
    lines = text.split("\n")
    last = lines.pop()
    for line in lines:
        if len(line) <= width and line.isascii() and "\t" not in line:
            rows.append(line + "\n")
        else:
            rows += _wrap_line(line, width)
            rows[-1] += "\n"
    if last:
        rows += _wrap_line(last, width)
    return rows


def _wrap_line(line: str, width: int) -> list[str]:
    if line.isascii() and "\t" not in line:
        cuts = _simple_cuts(line, width)
    elif "\t" not in line and 0 not in (sizes := list(map(get_character_cell_size, line))):
        cuts = _sized_cuts(line, sizes, width)
    else:
        cuts = _cuts(line, width)
    rows = [line[start:end] for start, end in pairwise([0, *cuts, len(line)])]
    return rows if rows[-1] or len(rows) == 1 else rows[:-1]


def _simple_cuts(line: str, width: int) -> Iterator[int]:
    """Where a line of ASCII breaks: after a word, or in the middle of one that is too long."""
    start = 0
    while len(line) - start > width:
        space = line.rfind(" ", start, start + width + 1)
        start = start + width if space < 0 or not line[start:space].strip() else space + 1
        yield start


def _sized_cuts(line: str, sizes: list[int], width: int) -> Iterator[int]:
    """Where a line breaks whose characters take one cell or two; before one of two it may break anywhere."""
    ends = list(accumulate(sizes))
    start = before = 0
    while ends[-1] - before > width:
        cut = bisect_right(ends, before + width, start)
        space = cut if line[cut] == " " else line.rfind(" ", start, cut) if sizes[cut] == 1 else -1
        start = cut if space < 0 or not line[start:space].strip() else space + 1
        before = ends[start - 1]
        yield start


def _cuts(line: str, width: int) -> Iterator[int]:
    """Where any other line breaks: never inside of what is seen as one character."""
    start = cells = after_word = cells_to_there = 0
    has_word = False
    for begin, end, size in _clusters(line):
        is_tab = line[begin] == "\t"
        is_space = is_tab or line[begin:end] == " "
        cluster = _TAB - cells % _TAB if is_tab else size
        needed = 0 if is_space and has_word and cells <= width else cluster
        if cells + needed > width or begin - start > width * _CHARACTERS_PER_CELL:
            if after_word > start and cluster < 2:
                start, cells, has_word = after_word, cells - cells_to_there, after_word < begin
            else:
                start, cells, has_word = begin, 0, False
            yield start
        cells += _TAB - cells % _TAB if is_tab else size
        has_word = has_word or not is_space
        if is_space and has_word:
            after_word, cells_to_there = end, cells


def _clusters(line: str) -> Iterator[tuple[int, int, int]]:
    offset = 0
    for number, piece in enumerate(line.split("\t")):
        if number:
            yield offset, offset + 1, _TAB
            offset += 1
        for begin, end, size in split_graphemes(piece)[0]:
            begin += offset  # noqa: PLW2901
            # what piles up on one character is no longer one that anybody reads
            for part in range(begin, offset + end, _CHARACTERS_PER_CELL):
                yield part, min(part + _CHARACTERS_PER_CELL, offset + end), size if part == begin else 0
        offset += len(piece)


def expand(row: str) -> str:
    """Return a row with its tabs as the spaces that are shown for them."""
    if "\t" not in row:
        return row
    first, *others = row.split("\t")
    for piece in others:
        first += " " * (_TAB - cell_len(first) % _TAB) + piece
    return first
