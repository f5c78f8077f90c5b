"""How a layout looks: lines below, boxes above them, arrows and labels on top, and only the rows in sight."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from teambot_tui.ui.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.ui.canvas import Point
    from teambot_tui.ui.graph.shapes import Box, Edge, Layout


@dataclass(frozen=True, slots=True)
class Look:
    """How a node or an edge is painted: names of styles, and words for a node's rows."""

    lines: tuple[tuple[tuple[str, str], ...], ...] = ()
    """Each row as (text, style) pieces."""
    border: str = ""
    heavy: bool = False
    dashed: bool = False


def draw(
    layout: Layout,
    node_look: Callable[[str], Look],
    edge_look: Callable[[Edge], Look],
    *,
    ascii_only: bool = False,
    start: int = 0,
    end: int | None = None,
) -> Canvas:
    """Draw on a canvas what can be seen between two rows of a layout."""
    canvas = Canvas(ascii_only=ascii_only)
    end = layout.height if end is None else end
    looks = [
        (route, edge_look(route.edge))
        for route in layout.routes
        if route.points[0][1] < end and route.points[-1][1] >= start
    ]
    # The heavy ones come last and colour what they share with others.
    looks.sort(key=lambda each: each[1].heavy)
    seen: set[tuple[int, Point, Point, str]] = set()
    for route, look in looks:
        for (x, y), (to_x, to_y) in pairwise(route.points):
            if to_y < start or y > end:
                continue
            # A line that comes from far is as long as what is seen of it.
            way = (x, max(y, start - 1)), (to_x, min(to_y, end))
            # Lines of one trunk share most of their way.
            if (route.trunk, *way, look.border) not in seen:
                seen.add((route.trunk, *way, look.border))
                canvas.line(*way, route.trunk, look.border, dashed=look.dashed)
    for key, box in layout.boxes.items():
        if box.y < end and box.y + box.height > start:
            _draw_box(canvas, box, node_look(key))
    for route, look in looks:
        x, y = route.points[-1]
        canvas.text(x, y, "v" if ascii_only else "▼", look.border)
        if route.edge.label:
            canvas.text(x - route.edge.label_reach[0], y - 1, route.edge.label, look.border)
        x, y = route.points[0]
        canvas.text(x, y, "+" if ascii_only else "┬", look.border)
    return canvas


def _draw_box(canvas: Canvas, box: Box, look: Look) -> None:
    if canvas.ascii_only:
        level, upright, corners = ("=", "#", "####") if look.heavy else ("-", "|", "++++")
    else:
        level, upright, corners = ("━", "┃", "┏┓┗┛") if look.heavy else ("─", "│", "╭╮╰╯")
    inner = box.width - 2
    canvas.text(box.x, box.y, corners[0] + level * inner + corners[1], look.border)
    for row in range(1, box.height - 1):
        canvas.text(box.x, box.y + row, upright, look.border)
        canvas.text(box.x + 1, box.y + row, " " * inner, "")
        canvas.text(box.x + 1 + inner, box.y + row, upright, look.border)
    canvas.text(box.x, box.y + box.height - 1, corners[2] + level * inner + corners[3], look.border)
    for row, pieces in enumerate(look.lines[: box.height - 2], box.y + 1):
        x = box.x + 2
        for text, style in pieces:
            canvas.text(x, row, text, style)
            x += cell_len(text)
