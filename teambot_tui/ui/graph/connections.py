"""What belongs together: no cycles are left, and each connected part stands for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from teambot_tui.ui.graph.shapes import Edge


def without_cycles(nodes: Mapping[str, object], edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    """Return the edges by source, one for each pair and kind, without those that would close a cycle."""
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


def components(nodes: Iterable[str], edges: Mapping[str, list[Edge]]) -> list[list[str]]:
    """Return the nodes of each connected part; nodes and parts in the order in which they came."""
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
