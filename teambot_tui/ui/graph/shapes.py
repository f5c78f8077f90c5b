"""What a drawing is made of: nodes and edges go in, boxes and routes come out. Values, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.ui.canvas import Point


@dataclass(frozen=True, slots=True)
class Node:
    """A task to draw: `width` cells of room for its words, of which `head` are in the first row."""

    key: str
    width: int
    head: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A line to draw, from left to right. Lines of one source and one label leave together."""

    source: str
    target: str
    label: str = ""
    conditional: bool = False
    """Whether the target runs only if the source ends in a certain way."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node is."""

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
    """Where an edge runs: corner by corner from behind the source's words to the arrow before the target."""

    edge: Edge
    points: tuple[Point, ...]
    label_at: Point | None = None
    """Where its label begins."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is."""

    width: int = 0
    height: int = 0
    boxes: Mapping[str, Box] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
