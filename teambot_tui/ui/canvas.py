"""A grid of characters on which lines and words are drawn.

A cell knows the directions in which lines leave it. Lines from one source or to one target join where they
meet; others cross, the upright one in front. A word's wide characters take two cells, as on a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len, split_graphemes

UP: Final = 1
DOWN: Final = 2
LEFT: Final = 4
RIGHT: Final = 8

_UPRIGHT: Final = UP | DOWN
_LEVEL: Final = LEFT | RIGHT
_SHAPES: Final = (
    UP,
    DOWN,
    _UPRIGHT,
    LEFT,
    RIGHT,
    _LEVEL,
    UP | RIGHT,
    UP | LEFT,
    DOWN | RIGHT,
    DOWN | LEFT,
    _UPRIGHT | RIGHT,
    _UPRIGHT | LEFT,
    DOWN | _LEVEL,
    UP | _LEVEL,
    _UPRIGHT | _LEVEL,
)
_LIGHT: Final = dict(zip(_SHAPES, "│││───╰╯╭╮├┤┬┴┼", strict=True))
_HEAVY: Final = dict(zip(_SHAPES, "┃┃┃━━━┗┛┏┓┣┫┳┻╋", strict=True))
_MIXED: Final = {
    (DOWN | _LEVEL, _LEVEL): "┯",
    (UP | _LEVEL, _LEVEL): "┷",
    (_UPRIGHT | _LEVEL, _LEVEL): "┿",
    (_UPRIGHT | RIGHT, _UPRIGHT): "┠",
    (_UPRIGHT | LEFT, _UPRIGHT): "┨",
    (_UPRIGHT | _LEVEL, _UPRIGHT): "╂",
    (DOWN | _LEVEL, DOWN | LEFT): "┱",
    (DOWN | _LEVEL, DOWN | RIGHT): "┲",
    (UP | _LEVEL, UP | LEFT): "┹",
    (UP | _LEVEL, UP | RIGHT): "┺",
    (_UPRIGHT | RIGHT, DOWN | RIGHT): "┢",
    (_UPRIGHT | RIGHT, UP | RIGHT): "┡",
    (_UPRIGHT | LEFT, DOWN | LEFT): "┪",
    (_UPRIGHT | LEFT, UP | LEFT): "┩",
}
"""Where only some of the lines are heavy: by all directions, and by those of the heavy ones."""
_DASHED: Final = {"│": "┊", "─": "┄", "┃": "┇", "━": "┅"}

Point = tuple[int, int]


def line_character(directions: int, heavy: int = 0, *, dashed: bool = False, ascii_only: bool = False) -> str:
    """Return the character whose lines leave in these directions, some of them heavy."""
    if ascii_only:
        if not directions & _LEVEL:
            return ":" if dashed else "|"
        if directions & _UPRIGHT:
            return "+"
        return "." if dashed else "=" if heavy else "-"
    mixed = _MIXED.get((directions, heavy))
    character = mixed or (_HEAVY if heavy else _LIGHT)[directions]
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
    """Lines that are joined in a cell."""

    sources: set[str]
    targets: set[str]
    directions: int = 0
    heavy: int = 0
    style: str = ""
    dashed: bool = True


@dataclass(slots=True)
class Canvas:
    """The grid; what is drawn later lies above, and lines lie below everything."""

    ascii_only: bool = False
    _lines: dict[Point, list[_Line]] = field(default_factory=dict)
    _cells: dict[Point, tuple[str, str]] = field(default_factory=dict)

    def line(
        self,
        start: Point,
        end: Point,
        source: str,
        target: str,
        style: str,
        *,
        heavy: bool = False,
        dashed: bool = False,
    ) -> None:
        """Draw an upright or a level piece of a line between two cells, both included."""
        (x, y), (to_x, to_y) = start, end
        upright = x == to_x
        low, high = (min(y, to_y), max(y, to_y)) if upright else (min(x, to_x), max(x, to_x))
        if low == high:
            return
        back, forth = (UP, DOWN) if upright else (LEFT, RIGHT)
        for place in range(low, high + 1):
            directions = (forth if place < high else 0) | (back if place > low else 0)
            line = self._joined((x, place) if upright else (place, y), source, target)
            line.directions |= directions
            if heavy:
                line.heavy |= directions
            line.style = style
            line.dashed &= dashed

    def _joined(self, point: Point, source: str, target: str) -> _Line:
        """Return the line in a cell that another one joins there."""
        there = self._lines.setdefault(point, [])
        near = [line for line in there if source in line.sources or target in line.targets]
        if not near:
            near = [_Line(set(), set())]
            there.append(near[0])
        first = near[0]
        for other in near[1:]:
            first.sources |= other.sources
            first.targets |= other.targets
            first.directions |= other.directions
            first.heavy |= other.heavy
            first.dashed &= other.dashed
            there.remove(other)
        first.sources.add(source)
        first.targets.add(target)
        return first

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
        for (x, y), lines in self._lines.items():
            if start <= y < end:
                line = max(lines, key=lambda each: bool(each.directions & _UPRIGHT))
                character = line_character(
                    line.directions, line.heavy, dashed=line.dashed, ascii_only=self.ascii_only
                )
                grid[y - start][x] = (character, line.style)
        for (x, y), cell in self._cells.items():
            if start <= y < end:
                grid[y - start][x] = cell
        return [_pieces(row) for row in grid]


def _pieces(cells: dict[int, tuple[str, str]]) -> list[tuple[str, str]]:
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
