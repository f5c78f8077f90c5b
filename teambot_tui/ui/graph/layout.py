"""Where everything is: each connected part is laid out alone, and the parts are set side by side.

What has to happen first stands above. Nodes get layers by their longest path, sweeps untangle each layer,
columns follow the neighbours as far as there is room, and lines run on tracks of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.ui.graph.columns import GAP, find_columns
from teambot_tui.ui.graph.connections import components, without_circles
from teambot_tui.ui.graph.lattice import Lattice
from teambot_tui.ui.graph.ordering import untangle
from teambot_tui.ui.graph.routes import corners, find_routes
from teambot_tui.ui.graph.shapes import Box, Layout, Route

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.ui.graph.shapes import Edge, Node

_SHELF_GAP: Final = 1


def lay_out(nodes: Sequence[Node], edges: Iterable[Edge], width: int = 120) -> Layout:
    """Place nodes and edges; parts that are not connected share rows of about `width` columns.

    Edges to nobody and from a node to itself are left out, and so is an edge that would close a circle.
    """
    unique = {node.key: node for node in nodes}
    above = without_circles(unique, edges)
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
