"""How a layout looks: lines below, words above them, arrows and labels on top, and only the rows in sight."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from teambot_tui.ui.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.ui.graph.shapes import Edge, Layout


@dataclass(frozen=True, slots=True)
class EdgeLook:
    """How an edge is painted: the name of a style, and on which level, the highest above all."""

    style: str
    level: int = 0
    heavy: bool = False


NodeLook = tuple[tuple[tuple[str, str], ...], ...]
"""Each row of a node as (text, style) pieces."""


def draw(
    layout: Layout,
    node_look: Callable[[str], NodeLook],
    edge_look: Callable[[Edge], EdgeLook],
    *,
    ascii_only: bool = False,
    start: int = 0,
    end: int | None = None,
    left: int = 0,
    right: int | None = None,
) -> Canvas:
    """Draw on a canvas what can be seen between two rows and two columns of a layout."""
    canvas = Canvas(ascii_only=ascii_only)
    end = layout.height if end is None else end
    right = layout.width if right is None else right
    looks = []
    for route in layout.routes:
        rows = [y for _, y in route.points]
        in_sight = route.points[0][0] <= right and route.points[-1][0] >= left
        if in_sight and min(rows) < end and max(rows) >= start:
            looks.append((route, edge_look(route.edge)))
    looks.sort(key=lambda each: each[1].level)
    for route, look in looks:
        edge = route.edge
        for (x, y), (to_x, to_y) in pairwise(route.points):
            if max(y, to_y) < start or min(y, to_y) > end or x > right or to_x < left:
                continue
            # A line that comes from far is as long as what is seen of it.
            way = (
                (max(x, left - 1), min(max(y, start - 1), end)),
                (min(to_x, right), min(max(to_y, start - 1), end)),
            )
            canvas.line(*way, edge.source, edge.target, look.style, heavy=look.heavy, dashed=edge.conditional)
    for route, look in looks:
        x, y = route.points[-1]
        canvas.text(x, y, ">" if ascii_only else "▶", look.style)
        if route.label_at is not None:
            canvas.text(*route.label_at, route.edge.label, look.style)
    for key, box in layout.boxes.items():
        if box.y < end and box.y + box.height > start and box.x <= right and box.x + box.width >= left:
            for row, pieces in enumerate(node_look(key)[: box.height], box.y):
                x = box.x
                for text, style in pieces:
                    canvas.text(x, row, text, style)
                    x += cell_len(text)
    return canvas
