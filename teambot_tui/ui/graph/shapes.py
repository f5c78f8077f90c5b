"""What a drawing is made of: nodes and edges go in, boxes and routes come out. Values, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.ui.canvas import Point


@dataclass(frozen=True, slots=True)
class Node:
    """A box to draw: `width` cells of room for words in each of its `rows`."""

    key: str
    width: int
    rows: int = 2


@dataclass(frozen=True, slots=True)
class Edge:
    """A line to draw, from above to below. Lines of one source and one kind leave together."""

    source: str
    target: str
    label: str = ""
    kind: str = ""

    @property
    def label_reach(self) -> tuple[int, int]:
        """How many cells the label takes to the left and to the right of the line."""
        beside = max(1, cell_len(self.label)) - 1
        return beside // 2, beside - beside // 2


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node is, borders included."""

    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> Point:
        """The cell in the middle."""
        return self.x + self.width // 2, self.y + self.height // 2

    def holds(self, x: int, y: int) -> bool:
        """Whether the cell belongs to the box."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True, slots=True)
class Route:
    """Where an edge runs: corner by corner from the source's lower to the target's upper border."""

    edge: Edge
    points: tuple[Point, ...]
    trunk: int
    """Lines with the same trunk leave their source together."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is."""

    width: int = 0
    height: int = 0
    boxes: Mapping[str, Box] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
