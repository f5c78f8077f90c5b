"""In which order the places of a layer stand: sweeps by barycentre untangle, the fewest crossings win."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.ui.graph.lattice import Lattice, Place, Trunk

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
