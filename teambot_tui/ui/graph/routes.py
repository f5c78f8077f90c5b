"""Where every line runs: out of a node, up or down on a track of the channel behind it, into the next column.

Lines with the same label that lead to the same nodes share a track. A line past other columns runs in an
empty row, or between rows. A channel that has a column on its right keeps its width; what finds no track of
its own there shares the last one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

from teambot_tui.ui.graph.shapes import Route

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teambot_tui.ui.canvas import Point
    from teambot_tui.ui.graph.shapes import Box, Edge, Node

_BEFORE, _BEHIND = 2, 4
"""Cells of a channel before its first track and behind its last: for the line, the arrow and blanks."""


@dataclass(slots=True, eq=False)
class Stretch:
    """Lines that share a track through one channel."""

    exits: set[int]
    entries: set[int]
    track: int = -1
    """None of its own while everything goes straight on."""

    @property
    def top(self) -> int:
        """The upper end."""
        return min(*self.exits, *self.entries)

    @property
    def bottom(self) -> int:
        """The lower end."""
        return max(*self.exits, *self.entries)

    @property
    def is_straight(self) -> bool:
        """Whether it needs no track."""
        return self.top == self.bottom

    @property
    def turn(self) -> tuple[bool, int]:
        """The order in which lines take tracks so that those going the same way do not cross."""
        leaves = max(self.exits)
        goes_up = 2 * leaves > self.top + self.bottom
        return goes_up, leaves if goes_up else -leaves


@dataclass(slots=True)
class _Channel:
    """The room between a column and the next."""

    tracks: int = 1
    before: int = 0
    """Room for labels behind the sources."""
    behind: int = 0
    """Room for labels before the targets."""


@dataclass(slots=True)
class Channels:
    """The channels of a drawing, and the lines through them."""

    is_slim: bool = False
    """Whether there are no labels, and no blanks beside the lines."""
    _channels: list[_Channel] = field(default_factory=list)
    _steps: dict[tuple[str, str, str], list[tuple[int, Stretch, int]]] = field(default_factory=dict)
    """Of each edge: the channels it runs through, with whom, and on which row it comes out."""
    _at_source: set[tuple[str, str, str]] = field(default_factory=set)
    """The edges whose label stands behind the source."""

    def width(self, column: int) -> int:
        """How wide the channel behind a column is."""
        if column >= len(self._channels):
            return 0
        channel = self._channels[column]
        tracks = 2 * channel.tracks - 1
        return tracks + 1 if self.is_slim else _BEFORE + channel.before + tracks + channel.behind + _BEHIND

    def route(
        self,
        edges: Sequence[Edge],
        column: Mapping[str, int],
        rows: Mapping[str, int],
        pitch: int,
        room: Mapping[str, int],
        columns: int,
    ) -> None:
        """Find the way of every edge; `room` is what the words of a node leave of its column."""
        known = len(self._channels)
        self._steps = {}
        runs: list[dict[object, Stretch]] = [{} for _ in range(max(0, columns - 1))]
        lanes = _Lanes(column, rows, pitch)
        trunks: dict[tuple[str, str], list[Edge]] = {}
        for edge in edges:
            trunks.setdefault((edge.source, edge.label), []).append(edge)
        for (source, label), together in trunks.items():
            self._lead(source, label, together, column, rows, lanes, runs)
        self._channels += [_Channel() for _ in range(known, columns - 1)]
        for number, some in enumerate(runs):
            channel = self._channels[number]
            limit = channel.tracks if number < known else None
            used = assign_tracks(list(some.values()), limit)
            if limit is None:
                channel.tracks = max(1, used)
        if not self.is_slim:
            self._make_room(edges, column, room, known)

    def _lead(
        self,
        source: str,
        label: str,
        together: Sequence[Edge],
        column: Mapping[str, int],
        rows: Mapping[str, int],
        lanes: _Lanes,
        runs: list[dict[object, Stretch]],
    ) -> None:
        first, last = column[source], max(column[edge.target] for edge in together)
        y = rows[source]
        far = [rows[edge.target] for edge in together if column[edge.target] > first + 1]
        lane = lanes.take(first + 1, last - 1, [*far, y]) if far else y
        exit_row = y
        way: list[tuple[int, Stretch, int]] = []
        for number in range(first, last):
            targets = {rows[edge.target] for edge in together if column[edge.target] == number + 1}
            entries = targets | ({lane} if number + 1 < last else set())
            run = runs[number].setdefault((label, frozenset(entries)), Stretch(set(), entries))
            run.exits.add(exit_row)
            for edge in together:
                if column[edge.target] == number + 1:
                    self._steps[_key(edge)] = [*way, (number, run, rows[edge.target])]
            way.append((number, run, lane))
            exit_row = lane

    def _make_room(
        self, edges: Iterable[Edge], column: Mapping[str, int], room: Mapping[str, int], known: int
    ) -> None:
        """Decide where labels stand: before the target, or behind the source if others arrive there."""
        arriving: dict[str, set[str]] = {}
        leaving: dict[str, set[str]] = {}
        for edge in edges:
            arriving.setdefault(edge.target, set()).add(edge.label)
            leaving.setdefault(edge.source, set()).add(edge.label)
        self._at_source = {
            _key(edge) for edge in edges if len(arriving[edge.target]) > 1 and len(leaving[edge.source]) == 1
        }
        before: dict[str, dict[str, None]] = {}
        for edge in edges:
            if edge.label:
                if _key(edge) in self._at_source:
                    channel = column[edge.source]
                    wanted = cell_len(edge.label) + 1 - room[edge.source]
                    if channel >= known:
                        self._channels[channel].before = max(self._channels[channel].before, wanted)
                else:
                    before.setdefault(edge.target, {})[edge.label] = None
        for target, labels in before.items():
            channel = column[target] - 1
            if channel >= known:
                wanted = cell_len(" ".join(labels)) + 1
                self._channels[channel].behind = max(self._channels[channel].behind, wanted)

    def routes(
        self, edges: Sequence[Edge], boxes: Mapping[str, Box], nodes: Mapping[str, Node], ends: Sequence[int]
    ) -> tuple[Route, ...]:
        """Return the ways of the edges in cells; `ends` is where each column's right end is."""
        found: list[Route] = []
        labelled: dict[str, dict[str, int]] = {}
        for edge in edges:
            source, target = boxes[edge.source], boxes[edge.target]
            head = min(nodes[edge.source].head, source.width)
            blank = 0 if self.is_slim else 1
            points: list[Point] = [(source.x + head + blank, source.y)]
            for number, run, row in self._steps[_key(edge)]:
                if row != points[-1][1]:
                    channel = self._channels[number]
                    first = ends[number] + (0 if self.is_slim else _BEFORE + channel.before)
                    x = first + 2 * max(0, run.track)
                    points += [(x, points[-1][1]), (x, row)]
            points.append((target.x - 1 - blank, points[-1][1]))
            at: Point | None = None
            if self.is_slim:
                pass
            elif edge.label and _key(edge) in self._at_source:
                at = (points[0][0] + 1, points[0][1])
            elif edge.label:
                there = labelled.setdefault(edge.target, {})
                if edge.label not in there:
                    taken = sum(cell_len(each) + 1 for each in there)
                    there[edge.label] = target.x - 3 - taken - cell_len(edge.label)
                at = (there[edge.label], target.y)
            found.append(Route(edge, tuple(points), at))
        return tuple(found)


class _Lanes:
    """The rows in which lines run past columns."""

    def __init__(self, column: Mapping[str, int], rows: Mapping[str, int], pitch: int) -> None:
        self._nodes = {(column[key], rows[key]) for key in rows}
        self._pitch = pitch
        self._lanes: set[tuple[int, int]] = set()

    def take(self, first: int, last: int, wanted: Sequence[int]) -> int:
        """Return a row that is free from one column to another: a wanted one, else between rows nearby."""
        columns = range(first, last + 1)
        row = next((row for row in wanted if self._is_free(columns, row)), None)
        if row is None:
            pitch = self._pitch
            start = min(wanted[0], wanted[-1]) // pitch
            step = 0
            while row is None:
                for index in (start + step, start - step):
                    if index >= 0 and self._is_free(columns, index * pitch + pitch - 1):
                        row = index * pitch + pitch - 1
                        break
                step += 1
        self._lanes.update((column, row) for column in columns)
        return row

    def _is_free(self, columns: Iterable[int], row: int) -> bool:
        return all((each, row) not in self._nodes and (each, row) not in self._lanes for each in columns)


def assign_tracks(runs: Sequence[Stretch], limit: int | None) -> int:
    """Give every run of a channel its track; return how many there are.

    Where a row is one run's way out and another's way in, the one that leaves turns off first.
    """
    bent = [run for run in runs if not run.is_straight]
    by_exit: dict[int, list[int]] = {}
    for number, run in enumerate(bent):
        for row in run.exits:
            by_exit.setdefault(row, []).append(number)
    before: list[set[int]] = [
        {other for row in run.entries for other in by_exit.get(row, ()) if other != number}
        for number, run in enumerate(bent)
    ]
    after: list[list[int]] = [[] for _ in bent]
    for number, others in enumerate(before):
        for other in others:
            after[other].append(number)
    open_rows: list[list[tuple[int, int]]] = []
    left = [set(others) for others in before]
    ready = [(run.turn, number) for number, run in enumerate(bent) if not left[number]]
    heapq.heapify(ready)
    waiting = {number for number in range(len(bent)) if left[number]}
    while ready or waiting:
        if not ready:  # a cycle: no order is right, so any is
            number = min(waiting)
            waiting.discard(number)
            heapq.heappush(ready, (bent[number].turn, number))
        _, number = heapq.heappop(ready)
        run = bent[number]
        floor = 1 + max((bent[other].track for other in before[number]), default=-1)
        run.track = _free_track(open_rows, run, floor, limit)
        for other in after[number]:
            left[other].discard(number)
            if not left[other] and other in waiting:
                waiting.discard(other)
                heapq.heappush(ready, (bent[other].turn, other))
    return len(open_rows)


def _free_track(tracks: list[list[tuple[int, int]]], run: Stretch, floor: int, limit: int | None) -> int:
    top, bottom = run.top, run.bottom
    number = floor
    while limit is None or number < limit:
        while len(tracks) <= number:
            tracks.append([])
        if all(bottom < high or low < top for high, low in tracks[number]):
            tracks[number].append((top, bottom))
            return number
        number += 1
    return limit - 1


def _key(edge: Edge) -> tuple[str, str, str]:
    return edge.source, edge.target, edge.label
