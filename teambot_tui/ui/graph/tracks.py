"""On which track between two layers a line runs: lines of different trunks cross there, and never touch."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.ui.graph.lattice import Trunk


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
            # A circle of trunks that want each other's columns: one of them steps aside first.
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
