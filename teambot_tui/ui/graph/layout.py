"""Where everything is: work flows from left to right, and what has its place keeps it.

A node's column is behind the last of its sources; its row is that of the source in the middle, so that chains
are straight; a new connected part begins below all others. What is continued only adds: columns stay as wide
as they were, and a node goes to the free row that is nearest to where it belongs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from teambot_tui.ui.graph.ranks import ranks, telling, without_cycles
from teambot_tui.ui.graph.routes import Channels
from teambot_tui.ui.graph.shapes import Box, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.ui.graph.shapes import Edge, Node

NARROWEST: Final = 14
"""Cells a column has at least: names that come later find some room."""


@dataclass(frozen=True, slots=True)
class Density:
    """How much room a node takes."""

    rows: int = 2
    widest: int = 22
    gap: int = 1
    """Empty rows below each node, in which long lines run."""
    is_slim: bool = False
    """Whether there are no labels, and no blanks beside the lines."""


LOOSE: Final = Density()
DENSITIES: Final = (
    LOOSE,
    Density(2, 16),
    Density(1, 16),
    Density(1, 9),
    Density(1, 9, is_slim=True),
    Density(1, 5, is_slim=True),
    Density(1, 1, is_slim=True),
)
"""From the one that says most to the one that fits most."""


@dataclass(slots=True)
class Placement:
    """The places of a drawing that grows."""

    density: Density = LOOSE
    _slots: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The column and the row of each node."""
    _taken: dict[tuple[int, int], str] = field(default_factory=dict)
    _widths: list[int] = field(default_factory=list)
    _channels: Channels = field(init=False)

    def __post_init__(self) -> None:
        self._channels = Channels(self.density.is_slim)

    def lay_out(self, nodes: Sequence[Node], edges: Iterable[Edge], *, keep: bool = False) -> Layout:
        """Place nodes and edges; with `keep`, those that were there stay where they are.

        Edges to nobody and from a node to itself are left out, and so is an edge that would close a cycle.
        """
        unique = {node.key: node for node in nodes}
        leaving = without_cycles(unique, edges)
        for key in [key for key in self._slots if key not in unique]:
            del self._taken[self._slots.pop(key)]
        column = ranks(leaving, {key: slot[0] for key, slot in self._slots.items()} if keep else {})
        if not keep or any(column[e.source] >= column[e.target] for some in leaving.values() for e in some):
            self._forget()
            column = ranks(leaving, {})
        self._place(leaving, column)
        self._widen(unique)
        return self._drawn(unique, telling(leaving, column))

    def width_of(self, key: str) -> int:
        """Return how many cells the words of a node may take."""
        return self._widths[self._slots[key][0]]

    def _forget(self) -> None:
        self._slots.clear()
        self._taken.clear()
        self._widths.clear()
        self._channels = Channels(self.density.is_slim)

    # Rows

    def _place(self, leaving: dict[str, list[Edge]], column: dict[str, int]) -> None:
        """Give those that are new their rows: each follows the source in the middle, as a tree."""
        arriving: dict[str, list[str]] = {key: [] for key in leaving}
        for key, edges in leaving.items():
            for edge in edges:
                if column[key] == column[edge.target] - 1 and key not in arriving[edge.target]:
                    arriving[edge.target].append(key)
        follows: dict[str, list[str]] = {}
        new = sorted((key for key in leaving if key not in self._slots), key=column.__getitem__)
        roots: list[str] = []
        for key in new:
            sources = arriving[key]
            if sources:
                follows.setdefault(sources[(len(sources) - 1) // 2], []).append(key)
            else:
                roots.append(key)
        depths: dict[str, list[int]] = {}
        for key in reversed(new):
            depths[key] = [0, *_stacked(follows.get(key, ()), depths)[1]]
        line: list[tuple[str, int]] = []
        for key, children in follows.items():
            if key in self._slots:
                row = self._slots[key][1]
                line += [(child, row + below) for child, below in _stacked(children, depths)[0]]
        self._settle(line, follows, depths, column)
        for root in roots:
            needing = [self._slots[edge.target][1] for edge in leaving[root] if edge.target in self._slots]
            row = needing[0] if needing else 1 + max((slot[1] for slot in self._slots.values()), default=-1)
            self._settle([(root, row)], follows, depths, column)

    def _settle(
        self,
        line: list[tuple[str, int]],
        follows: dict[str, list[str]],
        depths: dict[str, list[int]],
        column: dict[str, int],
    ) -> None:
        line.reverse()
        while line:
            key, wanted = line.pop()
            row = self._free_row(column[key], wanted)
            self._slots[key] = (column[key], row)
            self._taken[column[key], row] = key
            stacked, _ = _stacked(follows.get(key, ()), depths)
            line += [(child, row + below) for child, below in reversed(stacked)]

    def _free_row(self, column: int, wanted: int) -> int:
        step = 0
        while True:
            for row in (wanted + step, wanted - step):
                if row >= 0 and (column, row) not in self._taken:
                    return row
            step += 1

    # Columns

    def _widen(self, nodes: dict[str, Node]) -> None:
        """Give those columns a width that are new."""
        known = len(self._widths)
        wanted: dict[int, int] = {}
        for key, node in nodes.items():
            column = self._slots[key][0]
            if column >= known:
                wanted[column] = max(wanted.get(column, 0), node.width)
        least = min(NARROWEST, self.density.widest)
        for column in range(known, 1 + max(wanted, default=-1)):
            self._widths.append(min(max(wanted.get(column, 0), least), self.density.widest))

    def _drawn(self, nodes: dict[str, Node], edges: list[Edge]) -> Layout:
        density = self.density
        pitch = density.rows + density.gap
        rows = {key: slot[1] * pitch for key, slot in self._slots.items()}
        channels = self._channels
        column = {key: slot[0] for key, slot in self._slots.items()}
        room = {key: self._widths[column[key]] - node.head for key, node in nodes.items()}
        channels.route(edges, column, rows, pitch, room, len(self._widths))
        lefts: list[int] = []
        x = 0
        for number, width in enumerate(self._widths):
            lefts.append(x)
            x += width + channels.width(number)
        boxes = {
            key: Box(lefts[column[key]], rows[key], min(node.width, self._widths[column[key]]), density.rows)
            for key, node in nodes.items()
        }
        ends = [left + width for left, width in zip(lefts, self._widths, strict=True)]
        routes = channels.routes(edges, boxes, nodes, ends)
        right = ends[-1] if boxes else 0
        bottom = max((box.y + box.height for box in boxes.values()), default=0)
        bottom = max([bottom, *(y + 1 for route in routes for _, y in route.points)])
        return Layout(right, bottom, boxes, routes)


def _stacked(keys: Sequence[str], depths: dict[str, list[int]]) -> tuple[list[tuple[str, int]], list[int]]:
    """Set trees as near below each other as they go; `depths` is how far each reaches down in each column.

    Return how far below the first each begins, and how far down all of them reach in each column.
    """
    placed: list[tuple[str, int]] = []
    reached: list[int] = []
    for key in keys:
        depth = depths[key]
        row = max((above + 1 for above, _ in zip(reached, depth, strict=False)), default=0)
        placed.append((key, row))
        reached = [row + each for each in depth] + reached[len(depth) :]
    return placed, reached
