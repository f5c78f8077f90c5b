"""Corner by corner, where every line runs: out of a box, along its tracks, into the next layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.ui.graph.borders import arrive, leave
from teambot_tui.ui.graph.tracks import Run, assign_tracks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.ui.canvas import Point
    from teambot_tui.ui.graph.lattice import Lattice, Link, Trunk


def find_routes(lattice: Lattice) -> tuple[list[int], int]:
    """Find the way of every line; return the row of every layer, and the height of all."""
    tops: list[int] = []
    y = 0
    for layer, channel in zip(lattice.layers, lattice.channels, strict=True):
        tops.append(y)
        y += max(1, *(place.height for place in layer))
        if not channel:
            continue
        leave(layer)
        arrive({link.below: None for trunk in channel for link in trunk.links})
        y += _route_channel(channel, tops[-1], y)
    return tops, y


def _route_channel(channel: Sequence[Trunk], layer_top: int, top: int) -> int:
    """Give every trunk of a channel its tracks and every link its points; return the channel's height."""
    firsts = [Run(trunk, trunk.column, [link.column for link in trunk.links]) for trunk in channel]
    tracks = assign_tracks(firsts)
    height = max(1, tracks) + 1
    bottom = top + height
    for run in firsts:
        trunk = run.trunk
        start = layer_top + trunk.above.height - 1 if trunk.above.node else layer_top
        for link in trunk.links:
            points = [(run.start, start)]
            step: Run | None = run
            while step is not None:
                goal = step.detour.start if step.detour else link.column
                if goal != points[-1][0]:
                    row = top + step.track
                    points += [(points[-1][0], row), (goal, row)]
                step = step.detour
            link.points = (*points, (link.column, bottom))
    return height


def corners(links: Sequence[Link], left: int) -> tuple[Point, ...]:
    """Return where a line turns on its way over some links, with the column `left` as the first one."""
    points: list[Point] = []
    for point in (point for link in links for point in link.points):
        shifted = (point[0] - left, point[1])
        if points and points[-1] == shifted:
            continue
        if len(points) > 1 and points[-2][0] == points[-1][0] == shifted[0]:
            points[-1] = shifted
        else:
            points.append(shifted)
    return tuple(points)
