"""Where lines touch a box: each in a column of its own, straight below where it came from if that can be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from teambot_tui.ui.graph.lattice import MARGIN
from teambot_tui.ui.graph.spacing import spread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.ui.graph.lattice import Place, Trunk


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
