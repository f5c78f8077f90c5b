"""Which node is the next one in a direction: along a line where there is one, else the nearest ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teambot_tui.ui.graph.shapes import Box, Edge

_ROW: Final = 4
"""How many columns a row counts."""


def step_in_tree(boxes: Mapping[str, Box], cursor: str, direction: str) -> str | None:
    """Return the node above or below in a tree."""
    keys = list(boxes)
    number = keys.index(cursor) + (-1 if direction in ("up", "left") else 1)
    return keys[number] if 0 <= number < len(keys) else None


def step_in_drawing(
    boxes: Mapping[str, Box], edges: Iterable[Edge], cursor: str, direction: str
) -> str | None:
    """Return the next node of a drawing."""
    here = boxes[cursor]
    x, y = here.centre
    upright = direction in ("up", "down")
    forward = 1 if direction in ("down", "right") else -1
    if upright:
        ends = ((edge.target, edge.source) if forward > 0 else (edge.source, edge.target) for edge in edges)
        linked = [far for far, near in ends if near == cursor and far in boxes]
        if linked:
            return min(linked, key=lambda key: (abs(boxes[key].y - here.y), abs(boxes[key].centre[0] - x)))
    distances: dict[str, int] = {}
    for key, box in boxes.items():
        across, down = box.centre[0] - x, box.centre[1] - y
        if (down if upright else across) * forward > 0:
            distances[key] = abs(across) + _ROW * abs(down)
    return min(distances, key=distances.__getitem__, default=None)
