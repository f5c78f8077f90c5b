"""In which layer a node stands: below everything it comes after, and not far above what it feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
