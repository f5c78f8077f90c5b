"""A grid of characters on which boxes, lines and words are drawn.

A cell knows the directions in which lines leave it, and whose lines they are: lines of one owner join, lines
of two cross, the upright one in front. A word's wide characters take two cells, as they do on a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len, split_graphemes

UP: Final = 1
DOWN: Final = 2
LEFT: Final = 4
RIGHT: Final = 8

_LINES: Final = {
    UP: "│",
    DOWN: "│",
    UP | DOWN: "│",
    LEFT: "─",
    RIGHT: "─",
    LEFT | RIGHT: "─",
    UP | RIGHT: "╰",
    UP | LEFT: "╯",
    DOWN | RIGHT: "╭",
    DOWN | LEFT: "╮",
    UP | DOWN | RIGHT: "├",
    UP | DOWN | LEFT: "┤",
    DOWN | LEFT | RIGHT: "┬",
    UP | LEFT | RIGHT: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}
_DASHED: Final = {"│": "╎", "─": "╌"}
_UPRIGHT: Final = UP | DOWN
_LEVEL: Final = LEFT | RIGHT

Point = tuple[int, int]


def line_character(directions: int, *, dashed: bool = False, ascii_only: bool = False) -> str:
    """Return the character whose lines leave in these directions."""
    if ascii_only:
        if not directions & _LEVEL:
            return ":" if dashed else "|"
        return "+" if directions & _UPRIGHT else "-"
    character = _LINES[directions]
    return _DASHED.get(character, character) if dashed else character


def clip(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the text in one line of at most so many cells."""
    # A cell's worth of text is short; what cannot be seen is not measured.
    line = " ".join(text[: width * 16].split())
    if len(text) <= width * 16 and cell_len(line) <= width:
        return line
    room = width - cell_len(ellipsis)
    if room < 0:
        return ""
    kept = used = 0
    for _, end, cells in split_graphemes(line)[0]:
        if used + cells > room:
            break
        kept, used = end, used + cells
    return line[:kept] + ellipsis


@dataclass(slots=True)
class _Line:
    directions: int
    owner: int
    style: str
    dashed: bool


@dataclass(slots=True)
class Canvas:
    """The grid; what is drawn later lies above, and lines lie below everything."""

    ascii_only: bool = False
    _lines: dict[Point, _Line] = field(default_factory=dict)
    _cells: dict[Point, tuple[str, str]] = field(default_factory=dict)
    clashes: int = 0
    """How often two owners wanted to go the same way through one cell."""

    def line(self, start: Point, end: Point, owner: int, style: str, *, dashed: bool = False) -> None:
        """Draw an upright or a level line between two cells, both included."""
        (x, y), (to_x, to_y) = start, end
        if x == to_x:
            low, high = min(y, to_y), max(y, to_y)
            if low == high:
                return
            self._add((x, low), DOWN, owner, style, dashed)
            for row in range(low + 1, high):
                self._add((x, row), UP | DOWN, owner, style, dashed)
            self._add((x, high), UP, owner, style, dashed)
        else:
            low, high = min(x, to_x), max(x, to_x)
            self._add((low, y), RIGHT, owner, style, dashed)
            for column in range(low + 1, high):
                self._add((column, y), LEFT | RIGHT, owner, style, dashed)
            self._add((high, y), LEFT, owner, style, dashed)

    def text(self, x: int, y: int, text: str, style: str) -> None:
        """Write a word into a row."""
        if text.isascii():
            for offset, character in enumerate(text):
                self._cells[x + offset, y] = (character, style)
            return
        for start, end, cells in split_graphemes(text)[0]:
            self._cells[x, y] = (text[start:end], style)
            for covered in range(1, cells):
                self._cells[x + covered, y] = ("", style)
            x += cells

    def rows(self, start: int, end: int) -> list[list[tuple[str, str]]]:
        """Return what is drawn on some rows as (text, style), neighbours of one style joined."""
        grid: list[dict[int, tuple[str, str]]] = [{} for _ in range(end - start)]
        for (x, y), line in self._lines.items():
            if start <= y < end:
                character = line_character(line.directions, dashed=line.dashed, ascii_only=self.ascii_only)
                grid[y - start][x] = (character, line.style)
        for (x, y), cell in self._cells.items():
            if start <= y < end:
                grid[y - start][x] = cell
        return [_joined(row) for row in grid]

    def _add(self, point: Point, directions: int, owner: int, style: str, dashed: bool) -> None:
        there = self._lines.get(point)
        if there is None:
            self._lines[point] = _Line(directions, owner, style, dashed)
        elif there.owner == owner:
            there.directions |= directions
            there.style = style
        elif directions & _UPRIGHT:
            if there.directions & _UPRIGHT:
                self.clashes += 1
            self._lines[point] = _Line(directions, owner, style, dashed)
        elif there.directions & _LEVEL:
            self.clashes += 1


def _joined(cells: dict[int, tuple[str, str]]) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    together: list[str] = []
    style = ""
    after = 0
    for x in sorted(cells):
        text, wanted = cells[x]
        if x > after and style:
            parts.append(("".join(together), style))
            together, style = [], ""
        if x > after:
            together.append(" " * (x - after))
        if wanted != style:
            if together:
                parts.append(("".join(together), style))
            together, style = [], wanted
        together.append(text)
        after = x + 1
    if together:
        parts.append(("".join(together), style))
    return parts
