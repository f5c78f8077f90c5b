"""Corner by corner, where every line runs: out of a box, along its tracks, into the next layer."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from teambot_tui.ui.graph.lattice import MARGIN
from teambot_tui.ui.graph.spacing import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.ui.canvas import Point
    from teambot_tui.ui.graph.lattice import Lattice, Link, Place, Trunk


def leave(layer: Iterable[Place]) -> None:
    """Give the trunks of a layer the columns in which they leave it."""
    for place in layer:
        if place.node is None:
            for trunk in place.trunks:
                trunk.column = place.x
            continue
        if not place.trunks:
            continue
        middle = place.centre
        low, high = place.x + MARGIN, place.x + place.width - 1 - MARGIN
        wanted: list[tuple[float, Trunk]] = []
        for trunk in place.trunks:
            column: float = middle
            if len(trunk.links) == 1:
                # A line that can go straight down does.
                below = trunk.links[0].below
                margin = MARGIN if below.node else 0
                left = max(low, below.x + margin)
                right = min(high, below.x + below.width - 1 - margin)
                if left <= right:
                    column = min(max(_straight(place, below), left), right)
            wanted.append((column, trunk))
        order = sorted(
            wanted,
            key=lambda each: sum(link.below.centre for link in each[1].links) / len(each[1].links),
        )
        columns = spread([column for column, _ in order], [0] + [2] * (len(order) - 1), low, high)
        for column, (_, trunk) in zip(columns, order, strict=True):
            trunk.column = column


def _straight(place: Place, below: Place) -> int:
    """Return the column two places have in common that is most in the middle of both."""
    if below.node is None:
        return below.x
    return (place.centre + below.centre) // 2


def arrive(layer: Iterable[Place]) -> None:
    """Give the lines that end in a layer the columns in which they arrive."""
    for place in layer:
        if place.node is None:
            for link in place.incoming:
                link.column = place.x
            continue
        links = sorted(place.incoming, key=lambda link: link.trunk.column)
        reach = [link.edge.label_reach if link.edge else (0, 0) for link in links]
        apart = [0] + [right + 2 + left for (_, right), (left, _) in pairwise(reach)]
        low = place.x + max(MARGIN, reach[0][0])
        high = place.x + place.width - 1 - max(MARGIN, reach[-1][1])
        wanted = [min(max(link.trunk.column, low), high) for link in links]
        if len(links) == 1 and wanted[0] != links[0].trunk.column:
            wanted = [place.centre]
        for column, link in zip(spread(wanted, apart, low, high), links, strict=True):
            link.column = column


@dataclass(slots=True, eq=False)
class Run:
    """A trunk's way along one track: from a column above to some columns below."""

    trunk: Trunk
    start: int
    ends: list[int]
    detour: Run | None = None
    """Where a way is taken in two steps, the second one."""
    track: int = -1

    @property
    def left(self) -> int:
        """Where it begins."""
        return min(self.start, *self.ends)

    @property
    def right(self) -> int:
        """Where it ends."""
        return max(self.start, *self.ends)

    @property
    def level(self) -> bool:
        """Whether it needs a track at all."""
        return any(end != self.start for end in self.ends)


def assign_tracks(runs: Sequence[Run]) -> int:
    """Find tracks on which no two trunks touch; return how many there are."""
    line = list(runs)
    owners = {run.start: run for run in line}
    before: dict[Run, set[Run]] = {}
    after: dict[Run, list[Run]] = defaultdict(list)
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

    def release(run: Run) -> None:
        for other in after[run]:
            before[other].discard(run)
            if not before[other] and other in waiting:
                del waiting[other]
                heapq.heappush(ready, (_turn(other), numbers[other]))

    while ready or waiting:
        if not ready:
            # A cycle of trunks that want each other's columns: one of them steps aside first.
            run = next(iter(waiting))
            aside = _free_column(taken, run)
            run.detour = Run(run.trunk, aside, run.ends)
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


def _columns_above(run: Run, line: Sequence[Run]) -> list[Run]:
    ends = set(run.ends)
    return [
        other
        for other in line
        if other is not run and other.track >= 0 and (other.start in ends or other.detour is run)
    ]


def _first_free(tracks: list[list[tuple[int, int]]], run: Run, floor: int) -> int:
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


def _turn(run: Run) -> tuple[bool, int]:
    """Return the order in which trunks take tracks so that those going the same way do not cross."""
    goes_right = 2 * run.start <= run.left + run.right
    return goes_right, -run.start if goes_right else run.start


def _free_column(taken: list[int], run: Run) -> int:
    column = run.start
    for step in range(1, 2 * len(taken) + 3):
        for candidate in (column + step, column - step):
            index = bisect_left(taken, candidate)
            if index == len(taken) or taken[index] != candidate:
                taken.insert(index, candidate)
                return candidate
    raise AssertionError("there are more columns than trunks")


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
