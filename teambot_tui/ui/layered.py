"""A layered drawing of who feeds whom: pure, and the same for the same input.

What has to happen first stands above. Nodes get layers by their longest path, long edges pass through the
layers between on stand-ins, sweeps by barycentre untangle each layer, and columns follow the neighbours as
far as there is room. Between two layers the lines run on tracks of their own, so that lines of different
origin only ever cross. Parts that are not connected are set side by side, row after row.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from teambot_tui.ui.canvas import Canvas, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_GAP: Final = 3
"""Columns between two boxes of a layer."""
_SHELF_GAP: Final = 1
_MARGIN: Final = 2
"""Columns from a box's corner to the first line that may touch it."""
_SWEEPS: Final = 6
_ENOUGH_LINKS: Final = 3000
"""Beyond so many lines between layers, fewer sweeps have to do."""


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


def lay_out(nodes: Sequence[Node], edges: Iterable[Edge], width: int = 120) -> Layout:
    """Place nodes and edges; parts that are not connected share rows of about `width` columns.

    Edges to nobody and from a node to itself are left out, and so is an edge that would close a circle.
    """
    unique = {node.key: node for node in nodes}
    above = without_circles(unique, edges)
    parts = [
        _Part([unique[key] for key in keys], [edge for key in keys for edge in above[key]]).place()
        for keys in _components(unique, above)
    ]
    return _shelved(parts, width)


@dataclass(frozen=True, slots=True)
class Look:
    """How a node or an edge is painted: names of styles, and words for a node's rows."""

    lines: tuple[tuple[tuple[str, str], ...], ...] = ()
    """Each row as (text, style) pieces."""
    border: str = ""
    heavy: bool = False
    dashed: bool = False


def paint(
    layout: Layout,
    node_look: Callable[[str], Look],
    edge_look: Callable[[Edge], Look],
    *,
    ascii_only: bool = False,
    start: int = 0,
    end: int | None = None,
) -> list[list[tuple[str, str]]]:
    """Draw the rows from `start` to before `end` of a layout, each as pieces of (text, style)."""
    end = layout.height if end is None else end
    return draw(layout, node_look, edge_look, ascii_only=ascii_only, start=start, end=end).rows(start, end)


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
            canvas.text(x - _label_left(route.edge.label), y - 1, route.edge.label, look.border)
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


def _label_left(label: str) -> int:
    return (cell_len(label) - 1) // 2


def _label_right(label: str) -> int:
    return max(0, cell_len(label) - 1 - _label_left(label))


# What belongs together


def without_circles(nodes: Mapping[str, object], edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    """Return the edges by source, one for each pair and kind, without those that would close a circle."""
    by_source: dict[str, dict[tuple[str, str], Edge]] = {key: {} for key in nodes}
    for edge in edges:
        if edge.source in nodes and edge.target in nodes and edge.source != edge.target:
            by_source[edge.source].setdefault((edge.target, edge.kind), edge)
    kept: dict[str, list[Edge]] = {key: [] for key in nodes}
    open_nodes: set[str] = set()
    closed: set[str] = set()
    for root in nodes:
        if root in closed:
            continue
        open_nodes.add(root)
        line = [(root, iter(by_source[root].values()))]
        while line:
            key, rest = line[-1]
            for edge in rest:
                if edge.target in open_nodes:
                    continue
                kept[key].append(edge)
                if edge.target not in closed:
                    open_nodes.add(edge.target)
                    line.append((edge.target, iter(by_source[edge.target].values())))
                    break
            else:
                line.pop()
                open_nodes.discard(key)
                closed.add(key)
    return kept


def _components(nodes: Mapping[str, Node], edges: Mapping[str, list[Edge]]) -> list[list[str]]:
    neighbours: dict[str, list[str]] = {key: [] for key in nodes}
    for edge in (edge for some in edges.values() for edge in some):
        neighbours[edge.source].append(edge.target)
        neighbours[edge.target].append(edge.source)
    component: dict[str, int] = {}
    count = 0
    for root in nodes:
        if root in component:
            continue
        component[root] = count
        line = [root]
        while line:
            for key in neighbours[line.pop()]:
                if key not in component:
                    component[key] = count
                    line.append(key)
        count += 1
    parts: list[list[str]] = [[] for _ in range(count)]
    for key in nodes:
        parts[component[key]].append(key)
    return parts


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
        x += part.width + _GAP
    return Layout(widest, y + shelf if parts else 0, boxes, tuple(routes))


# One connected part


@dataclass(slots=True, eq=False)
class _Place:
    """A node, or where a trunk passes through a layer."""

    node: Node | None
    width: int
    height: int
    layer: int
    x: int = 0
    wanted: float = 0.0
    position: int = 0
    """Its place in the layer's order."""
    trunks: list[_Trunk] = field(default_factory=list)
    """What leaves it downwards."""
    incoming: list[_Link] = field(default_factory=list)

    @property
    def middle(self) -> int:
        return self.width // 2


@dataclass(slots=True, eq=False)
class _Trunk:
    """The lines of one source and one kind, within one channel: they leave together."""

    number: int
    above: _Place
    links: list[_Link] = field(default_factory=list)
    column: int = 0
    """Where it leaves the place above."""


@dataclass(slots=True, eq=False)
class _Link:
    """A line through one channel."""

    trunk: _Trunk
    below: _Place
    edge: Edge | None
    """The edge that ends here; none where the line goes on."""
    column: int = 0
    """Where it arrives at the place below."""
    points: tuple[Point, ...] = ()


class _Part:
    """Places one connected part."""

    def __init__(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        self._edges = edges
        arriving: dict[str, list[Edge]] = defaultdict(list)
        leaving: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            arriving[edge.target].append(edge)
            leaving[edge.source].add(edge.kind)
        layers = _layers(nodes, edges)
        self._layers: list[list[_Place]] = [[] for _ in range(1 + max(layers.values()))]
        self._places: dict[str, _Place] = {}
        for node in nodes:
            # Every line gets a column of its own at the border, wide enough for its label.
            room = sum(2 + max(1, cell_len(edge.label)) for edge in arriving[node.key])
            width = max(node.width + 4, room + 2 * _MARGIN, 2 * len(leaving[node.key]) + 2 * _MARGIN)
            self._add(_Place(node, width, node.rows + 2, layers[node.key]))
        self._paths: list[tuple[Edge, list[_Link]]] = []
        self._channels: list[list[_Trunk]] = [[] for _ in self._layers]
        self._connect(edges)

    def place(self) -> Layout:
        """Return where everything is."""
        self._order()
        self._find_columns()
        tops, height = self._route()
        left = min((place.x for layer in self._layers for place in layer), default=0)
        columns = [point[0] for _, links in self._paths for link in links for point in link.points]
        left = min([left, *columns])
        boxes = {
            key: Box(place.x - left, tops[place.layer], place.width, place.height)
            for key, place in self._places.items()
        }
        routes = tuple(
            Route(edge, _corners(links, left), links[0].trunk.number) for edge, links in self._paths
        )
        right = max(
            [*(box.x + box.width for box in boxes.values()), *(column - left + 1 for column in columns)]
        )
        return Layout(right, height, boxes, routes)

    def _add(self, place: _Place) -> None:
        place.position = len(self._layers[place.layer])
        self._layers[place.layer].append(place)
        if place.node is not None:
            self._places[place.node.key] = place

    def _connect(self, edges: Sequence[Edge]) -> None:
        """Lead every trunk down to its last target, past the layers between."""
        by_trunk: dict[tuple[str, str], list[Edge]] = defaultdict(list)
        for edge in edges:
            by_trunk[edge.source, edge.kind].append(edge)
        for number, ((source, _), together) in enumerate(by_trunk.items()):
            above = self._places[source]
            by_layer: dict[int, list[Edge]] = defaultdict(list)
            for edge in together:
                by_layer[self._places[edge.target].layer].append(edge)
            last = max(by_layer)
            way: list[_Link] = []
            while above.layer < last:
                trunk = _Trunk(number, above)
                above.trunks.append(trunk)
                self._channels[above.layer].append(trunk)
                for edge in by_layer[above.layer + 1]:
                    link = self._link(trunk, self._places[edge.target], edge)
                    self._paths.append((edge, [*way, link]))
                if above.layer + 1 == last:
                    break
                passing = _Place(None, 1, 0, above.layer + 1)
                self._add(passing)
                way.append(self._link(trunk, passing, None))
                above = passing

    @staticmethod
    def _link(trunk: _Trunk, below: _Place, edge: Edge | None) -> _Link:
        link = _Link(trunk, below, edge)
        trunk.links.append(link)
        below.incoming.append(link)
        return link

    # Order within the layers

    def _order(self) -> None:
        links = sum(len(trunk.links) for channel in self._channels for trunk in channel)
        sweeps = _SWEEPS if links <= _ENOUGH_LINKS else 2
        best = self._crossings()
        kept = [list(layer) for layer in self._layers]
        for sweep in range(sweeps):
            if not best:
                break
            if sweep % 2:
                for layer in reversed(self._layers[:-1]):
                    self._sort(layer, _below)
            else:
                for layer in self._layers[1:]:
                    self._sort(layer, _above)
            crossings = self._crossings()
            if crossings < best:
                best, kept = crossings, [list(layer) for layer in self._layers]
        self._layers = kept
        for layer in kept:
            for position, place in enumerate(layer):
                place.position = position

    @staticmethod
    def _sort(layer: list[_Place], neighbours: Callable[[_Place], list[_Place]]) -> None:
        for place in layer:
            near = neighbours(place)
            place.wanted = sum(each.position for each in near) / len(near) if near else place.position
        layer.sort(key=lambda place: place.wanted)
        for position, place in enumerate(layer):
            place.position = position

    def _crossings(self) -> int:
        count = 0
        for channel in self._channels:
            ends = sorted(
                (trunk.above.position, link.below.position) for trunk in channel for link in trunk.links
            )
            seen: list[int] = []
            for _, position in ends:
                count += len(seen) - bisect_right(seen, position)
                insort(seen, position)
        return count

    # Columns

    def _find_columns(self) -> None:
        for layer in self._layers:
            _settle(layer, [0.0] * len(layer))
        for _ in range(3):
            for layer in self._layers[1:]:
                self._pull(layer, _above)
            for layer in reversed(self._layers[:-1]):
                self._pull(layer, _below)
        for layer in self._layers[1:]:
            self._pull(layer, _above_then_below)

    @staticmethod
    def _pull(layer: list[_Place], neighbours: Callable[[_Place], list[_Place]]) -> None:
        wanted: list[float] = []
        for place in layer:
            near = neighbours(place)
            middle = (
                sum(each.x + each.middle for each in near) / len(near) if near else place.x + place.middle
            )
            wanted.append(middle - place.middle)
        _settle(layer, wanted)

    # Lines

    def _route(self) -> tuple[list[int], int]:
        """Find the way of every line; return the row of every layer, and the height of all."""
        tops: list[int] = []
        y = 0
        for layer, channel in zip(self._layers, self._channels, strict=True):
            tops.append(y)
            height = max(place.height for place in layer)
            y += max(1, height)
            if not channel:
                continue
            _leave(layer)
            _arrive({link.below: None for trunk in channel for link in trunk.links})
            y += _route_channel(channel, tops[-1], y)
        return tops, y


def _layers(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the layer of each node: below everything it comes after, and not far above what it feeds."""
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


def _above(place: _Place) -> list[_Place]:
    return [link.trunk.above for link in place.incoming]


def _below(place: _Place) -> list[_Place]:
    return [link.below for trunk in place.trunks for link in trunk.links]


def _above_then_below(place: _Place) -> list[_Place]:
    return _above(place) or _below(place)


def _settle(layer: Sequence[_Place], wanted: Sequence[float]) -> None:
    """Put each place as near to its wanted column as order and gaps allow, in the sense of least squares."""
    starts: list[int] = []
    x = 0
    for index, place in enumerate(layer):
        starts.append(x)
        following = layer[index + 1] if index + 1 < len(layer) else None
        narrow = following is not None and (following.node is None or place.node is None)
        x += place.width + (2 if narrow else _GAP)
    shifts = _pooled(
        [want - start for want, start in zip(wanted, starts, strict=True)],
        # Long lines are kept straight before boxes are kept central.
        [1.0 if place.node else 50.0 for place in layer],
    )
    for place, start, shift in zip(layer, starts, shifts, strict=True):
        place.x = start + shift


def _pooled(wanted: Sequence[float], weights: Sequence[float]) -> list[int]:
    """Return the rising whole numbers nearest to the wanted ones: neighbours out of order are averaged."""
    blocks: list[tuple[float, float, int]] = []
    for want, weight in zip(wanted, weights, strict=True):
        total, heft, count = want * weight, weight, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / heft:
            before, some, many = blocks.pop()
            total, heft, count = total + before, heft + some, count + many
        blocks.append((total, heft, count))
    return [round(total / heft) for total, heft, count in blocks for _ in range(count)]


def _spread(wanted: Sequence[float], apart: Sequence[int], low: int, high: int) -> list[int]:
    """Return columns between `low` and `high` near the wanted ones, each `apart` from the one before."""
    starts: list[int] = []
    x = 0
    for space in apart:
        x += space
        starts.append(x)
    span = starts[-1]
    shifts = _pooled([want - start for want, start in zip(wanted, starts, strict=True)], [1.0] * len(starts))
    most = max(low, high - span)
    return [start + min(max(shift, low), most) for start, shift in zip(starts, shifts, strict=True)]


def _leave(layer: Sequence[_Place]) -> None:
    """Give the trunks of a layer the columns in which they leave it."""
    for place in layer:
        if place.node is None:
            for trunk in place.trunks:
                trunk.column = place.x
            continue
        if not place.trunks:
            continue
        middle = place.x + place.middle
        low, high = place.x + _MARGIN, place.x + place.width - 1 - _MARGIN
        wanted: list[tuple[float, _Trunk]] = []
        for trunk in place.trunks:
            column: float = middle
            if len(trunk.links) == 1:
                # A line that can go straight down does.
                below = trunk.links[0].below
                margin = _MARGIN if below.node else 0
                left = max(low, below.x + margin)
                right = min(high, below.x + below.width - 1 - margin)
                if left <= right:
                    column = min(max(_straight(place, below), left), right)
            wanted.append((column, trunk))
        order = sorted(
            wanted,
            key=lambda each: (
                sum(link.below.x + link.below.middle for link in each[1].links) / len(each[1].links)
            ),
        )
        columns = _spread([column for column, _ in order], [0] + [2] * (len(order) - 1), low, high)
        for column, (_, trunk) in zip(columns, order, strict=True):
            trunk.column = column


def _straight(place: _Place, below: _Place) -> int:
    """Return the column two places have in common that is most in the middle of both."""
    if below.node is None:
        return below.x
    return (place.x + place.middle + below.x + below.middle) // 2


def _arrive(layer: Iterable[_Place]) -> None:
    """Give the lines that end in a layer the columns in which they arrive."""
    for place in layer:
        if place.node is None:
            for link in place.incoming:
                link.column = place.x
            continue
        links = sorted(place.incoming, key=lambda link: link.trunk.column)
        labels = [link.edge.label if link.edge else "" for link in links]
        apart = [0] + [_label_right(one) + 2 + _label_left(other) for one, other in pairwise(labels)]
        low = place.x + max(_MARGIN, _label_left(labels[0]))
        high = place.x + place.width - 1 - max(_MARGIN, _label_right(labels[-1]))
        wanted = [min(max(link.trunk.column, low), high) for link in links]
        if len(links) == 1 and wanted[0] != links[0].trunk.column:
            wanted = [place.x + place.middle]
        for column, link in zip(_spread(wanted, apart, low, high), links, strict=True):
            link.column = column


# Tracks between two layers


@dataclass(slots=True, eq=False)
class _Run:
    """A trunk's way along one track: from a column above to some columns below."""

    trunk: _Trunk
    start: int
    ends: list[int]
    detour: _Run | None = None
    """Where a way is taken in two steps, the second one."""
    track: int = -1

    @property
    def left(self) -> int:
        return min(self.start, *self.ends)

    @property
    def right(self) -> int:
        return max(self.start, *self.ends)

    @property
    def level(self) -> bool:
        return any(end != self.start for end in self.ends)


def _route_channel(channel: Sequence[_Trunk], layer_top: int, top: int) -> int:
    """Give every trunk of a channel its tracks and every link its points; return the channel's height."""
    firsts = [_Run(trunk, trunk.column, [link.column for link in trunk.links]) for trunk in channel]
    tracks = _assign_tracks(firsts)
    height = max(1, tracks) + 1
    bottom = top + height
    for run in firsts:
        trunk = run.trunk
        start = layer_top + trunk.above.height - 1 if trunk.above.node else layer_top
        for link in trunk.links:
            points = [(run.start, start)]
            step: _Run | None = run
            while step is not None:
                goal = step.detour.start if step.detour else link.column
                if goal != points[-1][0]:
                    row = top + step.track
                    points += [(points[-1][0], row), (goal, row)]
                step = step.detour
            link.points = (*points, (link.column, bottom))
    return height


def _assign_tracks(runs: Sequence[_Run]) -> int:
    """Find tracks on which no two trunks touch; return how many there are."""
    line = list(runs)
    owners = {run.start: run for run in line}
    before: dict[_Run, set[_Run]] = {}
    after: dict[_Run, list[_Run]] = defaultdict(list)
    for run in line:
        # Who comes down a column must have left it before another one turns into it.
        before[run] = {owners[end] for end in run.ends if end in owners and owners[end] is not run}
        for other in before[run]:
            after[other].append(run)
    taken = sorted({*owners, *(end for run in line for end in run.ends)})
    tracks: list[list[tuple[int, int]]] = []
    ready = [(_turn(run), index) for index, run in enumerate(line) if not before[run]]
    heapq.heapify(ready)
    numbers = {run: index for index, run in enumerate(line)}
    waiting = {run: None for run in line if before[run]}

    def release(run: _Run) -> None:
        for other in after[run]:
            before[other].discard(run)
            if not before[other] and other in waiting:
                del waiting[other]
                heapq.heappush(ready, (_turn(other), numbers[other]))

    while ready or waiting:
        if not ready:
            # A circle of trunks that want each other's columns: one of them steps aside first.
            run = next(iter(waiting))
            aside = _free_column(taken, run)
            run.detour = _Run(run.trunk, aside, run.ends)
            run.ends = [aside]
            second = run.detour
            line.append(second)
            numbers[second] = len(line) - 1
            before[second] = before[run] | {run}
            for other in before[run]:
                after[other].append(second)
            before[run] = set()
            after[run].append(second)
            del waiting[run]
            waiting[second] = None
            heapq.heappush(ready, (_turn(run), numbers[run]))
        _, index = heapq.heappop(ready)
        run = line[index]
        if run.level:
            floor = 1 + max((other.track for other in _columns_above(run, line)), default=-1)
            run.track = _first_free(tracks, run, floor)
        release(run)
    return len(tracks)


def _columns_above(run: _Run, line: Sequence[_Run]) -> list[_Run]:
    ends = set(run.ends)
    return [
        other
        for other in line
        if other is not run and other.track >= 0 and (other.start in ends or other.detour is run)
    ]


def _first_free(tracks: list[list[tuple[int, int]]], run: _Run, floor: int) -> int:
    left, right = run.left, run.right
    for number in range(floor, len(tracks)):
        # Intervals of a track are apart and sorted; a cell stays free between two.
        index = bisect_left(tracks[number], (left, left))
        before_fits = index == 0 or tracks[number][index - 1][1] + 1 < left
        if before_fits and (index == len(tracks[number]) or right + 1 < tracks[number][index][0]):
            tracks[number].insert(index, (left, right))
            return number
    while len(tracks) <= floor:
        tracks.append([])
    if tracks[-1]:
        tracks.append([])
    tracks[-1].append((left, right))
    return len(tracks) - 1


def _turn(run: _Run) -> tuple[bool, int]:
    """Return the order in which trunks take tracks so that those going the same way do not cross."""
    goes_right = 2 * run.start <= run.left + run.right
    return goes_right, -run.start if goes_right else run.start


def _free_column(taken: list[int], run: _Run) -> int:
    column = run.start
    for step in range(1, 2 * len(taken) + 3):
        for candidate in (column + step, column - step):
            index = bisect_left(taken, candidate)
            if index == len(taken) or taken[index] != candidate:
                taken.insert(index, candidate)
                return candidate
    raise AssertionError("there are more columns than trunks")


def _corners(links: Sequence[_Link], left: int) -> tuple[Point, ...]:
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
