"""In which columns the places of a layer stand: near their neighbours, as far as order and gaps allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.ui.graph.spacing import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.ui.graph.lattice import Lattice, Place

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
