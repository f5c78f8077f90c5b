"""A task's text as rows of the screen: wrapped when they are asked for, and never more than is worth it.

The rows are the only copy. Put together they are the text again, character by character, so that what was
found, selected or copied is always a place in what the agent said, not in how it happened to be wrapped.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.cells import cell_len, get_character_cell_size, split_graphemes

from teambot_tui.engine.text import printable
from teambot_tui.ui.widgets import feed_markdown as markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.ui.widgets.feed_markdown import Parts

KEPT_CHARACTERS: Final = 256 * 1024
KEPT_LINES: Final = 10_000
MARKDOWN: Final = 64 * 1024
"""So many characters of an output are shown as Markdown, and the rest as it was written."""
Shown: TypeAlias = "str | tuple[markdown.MarkdownPiece, ...]"
"""What is seen of a row: its text as it is, in a role; or pieces of it."""
_AS_IT_IS: Final = "feed--output"
_TAB: Final = 4
NARROWEST: Final = 8
_CHARACTERS_PER_CELL: Final = 16
_SEARCHED_FOR_A_LINE: Final = 4096


class Output:
    """What a task has said, as far as it is kept, and how its rows look."""

    __slots__ = (
        "_fence",
        "_fresh",
        "_fresh_size",
        "_is_long",
        "_lines",
        "_rows",
        "_settled",
        "_shown",
        "_size",
        "_starts",
        "_width",
        "first",
        "missing",
        "missing_lines",
    )

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._shown: list[Shown] = []
        self._settled = 0
        """How many rows no further text can change."""
        self._fence = ""
        """The code block that the first of the others is in."""
        self._is_long = False
        """Whether the last line is too long to be looked at again."""
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
            fresh, self.first, self._width = self.text, 0, width
            self._forget_rows()
        else:
            kept = len(self._rows) - 1 if self._is_long else self._settled
            again = "".join(self._rows[kept:])
            del self._rows[kept:], self._shown[kept:]
            self._size -= len(again)
            self._lines -= again.count("\n")
            fresh = "".join((again, *self._fresh))
        self._fresh, self._fresh_size, self._starts = [], 0, None
        self._lay(fresh)
        self._size += len(fresh)
        self._lines += fresh.count("\n")
        self._let_go()
        return True

    def _forget_rows(self) -> None:
        self._rows, self._shown, self._lines, self._size = [], [], 0, 0
        self._settled, self._fence, self._is_long = 0, "", False

    def _lay(self, text: str) -> None:
        """Make rows of a text that begins a line, or goes on with a long one."""
        if self._is_long:
            line, newline, text = text.partition("\n")
            self._put_as_it_is(line + newline)
            if not newline:
                return
            self._is_long, self._settled = False, len(self._rows)
        room = MARKDOWN - self._size if not self.missing else 0
        if room > 0 and len(text) > room:
            cut = text.find("\n", room) + 1 or len(text)
            self._lay_markdown(text[:cut])
            text = text[cut:]
            room = 0
            if not text:
                return
        if room > 0:
            self._lay_markdown(text)
            return
        end = text.rfind("\n") + 1
        self._put_as_it_is(text[:end])
        self._settled = len(self._rows)
        self._put_as_it_is(text[end:])
        self._is_long = end < len(text)

    def _put_as_it_is(self, text: str) -> None:
        if text:
            rows = wrap(text, self._width)
            self._rows += rows
            self._shown += [_AS_IT_IS] * len(rows)

    def _lay_markdown(self, text: str) -> None:
        fence, carried = self._fence, ""
        *lines, last = text.split("\n")
        for line in lines:
            if (fence and markdown.closes(line, fence)) or (not fence and markdown.fence_of(line)):
                fence = "" if fence else markdown.fence_of(line)
                carried += line + "\n"  # a fence is not shown: it belongs to the row below
                continue
            self._put(line, fence, carried, "\n")
            carried = ""
            self._settled, self._fence = len(self._rows), fence
        if last and len(last) > markdown.LONGEST_LINE:
            self._put("", fence, carried, "") if carried else None
            self._put_as_it_is(last)
            self._is_long, self._settled = True, len(self._rows) - 1
            self._fence = fence
        elif last and not (fence and markdown.closes(last, fence)) and not markdown.fence_of(last):
            self._put(last, fence, carried, "")
        elif last or carried:
            self._rows.append(carried + last)
            self._shown.append(())

    def _put(self, line: str, fence: str, before: str, after: str) -> None:
        """Add the rows of a line, with what is not shown around it."""
        first = len(self._rows)
        as_it_is = "\t" in line or len(line) > markdown.LONGEST_LINE
        if as_it_is or not line or fence:
            rows = _wrap_line(line, self._width)
            self._rows += rows
            self._shown += ["feed--code" if fence and line else _AS_IT_IS] * len(rows)
        else:
            pieces, indent = markdown.pieces(line, is_open=not after)
            for row, shown in _broken(line, pieces, indent, self._width):
                self._rows.append(row)
                self._shown.append(shown)
        if before:
            by, own, seen = len(before), self._rows[first], self._shown[first]
            found = (
                (markdown.MarkdownPiece(0, len(own), expand(own), seen),) if isinstance(seen, str) else seen
            )
            self._rows[first] = before + own
            self._shown[first] = tuple(
                each._replace(start=each.start + by, end=each.end + by) for each in found
            )
        self._rows[-1] += after

    @property
    def rows(self) -> int:
        """How many rows there are, without empty ones at the end."""
        count = len(self._rows)
        while count and self.is_blank(self.first + count - 1):
            count -= 1
        return count

    def is_blank(self, number: int) -> bool:
        """Whether nothing is seen of a row."""
        return not self._shown[number - self.first] or self._rows[number - self.first].isspace()

    def row(self, number: int) -> str:
        """Return a row by its number."""
        return self._rows[number - self.first]

    def parts(self, number: int) -> Parts:
        """Return what is seen of a row."""
        row, shown = self._rows[number - self.first], self._shown[number - self.first]
        if isinstance(shown, str):
            return ((expand(printable(row).rstrip("\n")), shown),)
        return tuple((printable(piece.text), piece.role) for piece in shown if piece.text)

    def column(self, number: int, offset: int) -> int:
        """Return where in what is seen of a row one of its characters is, or would be."""
        row, shown = self._rows[number - self.first], self._shown[number - self.first]
        if isinstance(shown, str):
            return len(expand(row[:offset]))
        column = 0
        for piece in shown:
            if offset < piece.end:
                inside = max(0, offset - piece.start)
                return column + min(
                    inside if not piece.is_whole else len(piece.text) * bool(inside), len(piece.text)
                )
            column += len(piece.text)
        return column

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
        self._forget_rows()
        self._starts = None
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
        del self._rows[:count], self._shown[:count]
        self._settled = max(0, self._settled - count)
        self.first += count


def _broken(
    line: str, pieces: list[markdown.MarkdownPiece], indent: int, width: int
) -> Iterator[tuple[str, tuple[markdown.MarkdownPiece, ...]]]:
    """Return the rows of a line with what is seen of each; further ones are indented."""
    seen = "".join(piece.text for piece in pieces)
    if cell_len(seen) <= width:
        yield line, tuple(piece for piece in pieces if piece.text)
        return
    indent = indent if indent * 2 < width else 0
    lengths = [len(row) for row in _wrap_line(seen, width - indent)]
    begin, rest = 0, list(reversed(pieces))
    for number, length in enumerate(lengths):
        row: list[markdown.MarkdownPiece] = []
        room = length
        while rest and (room > 0 or not rest[-1].text):
            piece = rest.pop()
            if len(piece.text) > room and not piece.is_whole:
                rest.append(piece._replace(start=piece.start + room, text=piece.text[room:]))
                piece = piece._replace(end=piece.start + room, text=piece.text[:room])
            room -= len(piece.text)
            row.append(piece)
        end = len(line) if number == len(lengths) - 1 else (row[-1].end if row else begin)
        margin = [markdown.MarkdownPiece(0, 0, " " * indent, "feed--output")] if number and indent else []
        own = (each._replace(start=each.start - begin, end=each.end - begin) for each in row if each.text)
        if end > begin:
            yield line[begin:end], (*margin, *own)
        begin = end


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
