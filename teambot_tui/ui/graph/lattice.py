"""Layers and what runs between them: an edge goes from each layer to the next, on stand-ins where it is long.

The steps that follow only order, place and lead what is here; nothing is added any more.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.ui.canvas import Point
    from teambot_tui.ui.graph.shapes import Edge, Node


def ranks(nodes: Iterable[Node], edges: Iterable[Edge]) -> dict[str, int]:
    """Return the number of each node's layer, from above."""
    arriving: dict[str, int] = {node.key: 0 for node in nodes}
    leaving: dict[str, list[str]] = {node.key: [] for node in nodes}
    for edge in edges:
        arriving[edge.target] += 1
        leaving[edge.source].append(edge.target)
    roots = [key for key, count in arriving.items() if not count]
    layers = dict.fromkeys(arriving, 0)
    line = list(roots)
    while line:
        key = line.pop()
        for target in leaving[key]:
            layers[target] = max(layers[target], layers[key] + 1)
            arriving[target] -= 1
            if not arriving[target]:
                line.append(target)
    for key in roots:
        if leaving[key]:
            layers[key] = min(layers[target] for target in leaving[key]) - 1
    return layers


MARGIN: Final = 2
"""Columns from a box's corner to the first line that may touch it."""


@dataclass(slots=True, eq=False)
class Place:
    """A node, or where a trunk passes through a layer."""

    node: Node | None
    width: int
    height: int
    layer: int
    x: int = 0
    position: int = 0
    """Its place in the layer's order."""
    trunks: list[Trunk] = field(default_factory=list)
    """What leaves it downwards."""
    incoming: list[Link] = field(default_factory=list)

    @property
    def middle(self) -> int:
        """How far its middle is from its left side."""
        return self.width // 2

    @property
    def centre(self) -> int:
        """The column in its middle."""
        return self.x + self.middle

    @property
    def above(self) -> list[Place]:
        """Where its lines come from."""
        return [link.trunk.above for link in self.incoming]

    @property
    def below(self) -> list[Place]:
        """Where its lines go."""
        return [link.below for trunk in self.trunks for link in trunk.links]


@dataclass(slots=True, eq=False)
class Trunk:
    """The lines of one source and one kind, within one channel: they leave together."""

    number: int
    above: Place
    links: list[Link] = field(default_factory=list)
    column: int = 0
    """Where it leaves the place above."""


@dataclass(slots=True, eq=False)
class Link:
    """A line through one channel."""

    trunk: Trunk
    below: Place
    edge: Edge | None
    """The edge that ends here; none where the line goes on."""
    column: int = 0
    """Where it arrives at the place below."""
    points: tuple[Point, ...] = ()


class Lattice:
    """One connected part, layer by layer."""

    def __init__(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        arriving: dict[str, list[Edge]] = defaultdict(list)
        leaving: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            arriving[edge.target].append(edge)
            leaving[edge.source].add(edge.kind)
        layer_of = ranks(nodes, edges)
        self.layers: list[list[Place]] = [[] for _ in range(1 + max(layer_of.values()))]
        self.places: dict[str, Place] = {}
        for node in nodes:
            # Every line gets a column of its own at the border, wide enough for its label.
            room = sum(2 + max(1, cell_len(edge.label)) for edge in arriving[node.key])
            width = max(node.width + 4, room + 2 * MARGIN, 2 * len(leaving[node.key]) + 2 * MARGIN)
            self._add(Place(node, width, node.rows + 2, layer_of[node.key]))
        self.paths: list[tuple[Edge, list[Link]]] = []
        """Each edge, and its links from above to below."""
        self.channels: list[list[Trunk]] = [[] for _ in self.layers]
        """What runs between each layer and the next."""
        self._connect(edges)

    def _add(self, place: Place) -> None:
        place.position = len(self.layers[place.layer])
        self.layers[place.layer].append(place)
        if place.node is not None:
            self.places[place.node.key] = place

    def _connect(self, edges: Sequence[Edge]) -> None:
        """Lead every trunk down to its last target, past the layers between."""
        by_trunk: dict[tuple[str, str], list[Edge]] = defaultdict(list)
        for edge in edges:
            by_trunk[edge.source, edge.kind].append(edge)
        for number, ((source, _), together) in enumerate(by_trunk.items()):
            above = self.places[source]
            by_layer: dict[int, list[Edge]] = defaultdict(list)
            for edge in together:
                by_layer[self.places[edge.target].layer].append(edge)
            last = max(by_layer)
            way: list[Link] = []
            while above.layer < last:
                trunk = Trunk(number, above)
                above.trunks.append(trunk)
                self.channels[above.layer].append(trunk)
                for edge in by_layer[above.layer + 1]:
                    link = self._link(trunk, self.places[edge.target], edge)
                    self.paths.append((edge, [*way, link]))
                if above.layer + 1 == last:
                    break
                passing = Place(None, 1, 0, above.layer + 1)
                self._add(passing)
                way.append(self._link(trunk, passing, None))
                above = passing

    @staticmethod
    def _link(trunk: Trunk, below: Place, edge: Edge | None) -> Link:
        link = Link(trunk, below, edge)
        trunk.links.append(link)
        below.incoming.append(link)
        return link
