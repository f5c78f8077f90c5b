"""Where everything is: each connected part is laid out alone, and the parts are set side by side.

What has to happen first stands above. Nodes get layers by their longest path, sweeps untangle each layer,
columns follow the neighbours as far as there is room, and lines run on tracks of their own.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING, Final

from teambot_tui.ui.graph.connections import components, without_cycles
from teambot_tui.ui.graph.lattice import Lattice
from teambot_tui.ui.graph.routes import corners, find_routes
from teambot_tui.ui.graph.shapes import Box, Layout, Route
from teambot_tui.ui.graph.spacing import pooled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.ui.graph.lattice import Place, Trunk
    from teambot_tui.ui.graph.shapes import Edge, Node

GAP: Final = 3
"""Columns between two boxes of a layer."""


def find_columns(lattice: Lattice) -> None:
    """Give every place its column."""
    for layer in lattice.layers:
        _settle(layer, [0.0] * len(layer))
    for _ in range(3):
        for layer in lattice.layers[1:]:
            _pull(layer, [place.above for place in layer])
        for layer in reversed(lattice.layers[:-1]):
            _pull(layer, [place.below for place in layer])
    for layer in lattice.layers[1:]:
        _pull(layer, [place.above or place.below for place in layer])


def _pull(layer: Sequence[Place], neighbours: Sequence[Sequence[Place]]) -> None:
    _settle(
        layer,
        [
            (sum(each.centre for each in near) / len(near) if near else place.centre) - place.middle
            for place, near in zip(layer, neighbours, strict=True)
        ],
    )


def _settle(layer: Sequence[Place], wanted: Sequence[float]) -> None:
    """Put each place as near to its wanted column as order and gaps allow, in the sense of least squares."""
    starts: list[int] = []
    x = 0
    for index, place in enumerate(layer):
        starts.append(x)
        following = layer[index + 1] if index + 1 < len(layer) else None
        narrow = following is not None and (following.node is None or place.node is None)
        x += place.width + (2 if narrow else GAP)
    shifts = pooled(
        [want - start for want, start in zip(wanted, starts, strict=True)],
        # Long lines are kept straight before boxes are kept central.
        [1.0 if place.node else 50.0 for place in layer],
    )
    for place, start, shift in zip(layer, starts, shifts, strict=True):
        place.x = start + shift


_SWEEPS: Final = 6
_ENOUGH_LINKS: Final = 3000
"""Beyond so many lines between layers, fewer sweeps have to do."""


def untangle(lattice: Lattice) -> None:
    """Order the places of each layer."""
    links = sum(len(trunk.links) for channel in lattice.channels for trunk in channel)
    sweeps = _SWEEPS if links <= _ENOUGH_LINKS else 2
    best = _crossings(lattice.channels)
    kept = [list(layer) for layer in lattice.layers]
    for sweep in range(sweeps):
        if not best:
            break
        if sweep % 2:
            for layer in reversed(lattice.layers[:-1]):
                _sort(layer, [place.below for place in layer])
        else:
            for layer in lattice.layers[1:]:
                _sort(layer, [place.above for place in layer])
        crossings = _crossings(lattice.channels)
        if crossings < best:
            best, kept = crossings, [list(layer) for layer in lattice.layers]
    lattice.layers = kept
    for layer in kept:
        _number(layer)


def _sort(layer: list[Place], neighbours: Sequence[Sequence[Place]]) -> None:
    wanted = {
        place: sum(each.position for each in near) / len(near) if near else place.position
        for place, near in zip(layer, neighbours, strict=True)
    }
    layer.sort(key=wanted.__getitem__)
    _number(layer)


def _number(layer: Sequence[Place]) -> None:
    for position, place in enumerate(layer):
        place.position = position


def _crossings(channels: Sequence[Sequence[Trunk]]) -> int:
    count = 0
    for channel in channels:
        ends = sorted(
            (trunk.above.position, link.below.position) for trunk in channel for link in trunk.links
        )
        seen: list[int] = []
        for _, position in ends:
            count += len(seen) - bisect_right(seen, position)
            insort(seen, position)
    return count


_SHELF_GAP: Final = 1


def lay_out(nodes: Sequence[Node], edges: Iterable[Edge], width: int = 120) -> Layout:
    """Place nodes and edges; parts that are not connected share rows of about `width` columns.

    Edges to nobody and from a node to itself are left out, and so is an edge that would close a cycle.
    """
    unique = {node.key: node for node in nodes}
    above = without_cycles(unique, edges)
    parts = [
        _part([unique[key] for key in keys], [edge for key in keys for edge in above[key]])
        for keys in components(unique, above)
    ]
    return _shelved(parts, width)


def _part(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layout:
    """Lay out one connected part."""
    lattice = Lattice(nodes, edges)
    untangle(lattice)
    find_columns(lattice)
    tops, height = find_routes(lattice)
    columns = [column for _, links in lattice.paths for link in links for column, _ in link.points]
    left = min([*(place.x for layer in lattice.layers for place in layer), *columns])
    boxes = {
        key: Box(place.x - left, tops[place.layer], place.width, place.height)
        for key, place in lattice.places.items()
    }
    routes = tuple(Route(edge, corners(links, left), links[0].trunk.number) for edge, links in lattice.paths)
    right = max([*(box.x + box.width for box in boxes.values()), *(column - left + 1 for column in columns)])
    return Layout(right, height, boxes, routes)


def _shelved(parts: Sequence[Layout], width: int) -> Layout:
    boxes: dict[str, Box] = {}
    routes: list[Route] = []
    x = y = shelf = widest = trunks = 0
    for part in parts:
        if x and x + part.width > width:
            x, y, shelf = 0, y + shelf + _SHELF_GAP, 0
        for key, box in part.boxes.items():
            boxes[key] = Box(box.x + x, box.y + y, box.width, box.height)
        routes += [
            Route(
                route.edge,
                tuple((column + x, row + y) for column, row in route.points),
                route.trunk + trunks,
            )
            for route in part.routes
        ]
        trunks += 1 + max((route.trunk for route in part.routes), default=0)
        widest = max(widest, x + part.width)
        shelf = max(shelf, part.height)
        x += part.width + GAP
    return Layout(widest, y + shelf, boxes, tuple(routes))
