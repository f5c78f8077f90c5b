"""What follows from the edges alone: no cycles, the column of each node, and which edges say nothing new."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teambot_tui.ui.graph.shapes import Edge


def without_cycles(nodes: Iterable[str], edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    """Return the edges by source, one for each pair and label, without those that would close a cycle."""
    by_source: dict[str, dict[tuple[str, str], Edge]] = {key: {} for key in nodes}
    for edge in edges:
        leaving = by_source.get(edge.source)
        if leaving is not None and edge.target in by_source and edge.source != edge.target:
            leaving.setdefault((edge.target, edge.label), edge)
    kept: dict[str, list[Edge]] = {key: [] for key in by_source}
    open_nodes: set[str] = set()
    closed: set[str] = set()
    for root, leaving_root in by_source.items():
        if root in closed:
            continue
        open_nodes.add(root)
        line = [(root, iter(leaving_root.values()))]
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


def ranks(leaving: Mapping[str, Sequence[Edge]], fixed: Mapping[str, int]) -> dict[str, int]:
    """Return the column of each node: behind the last of its sources, if it is not fixed already."""
    arriving = dict.fromkeys(leaving, 0)
    for edges in leaving.values():
        for edge in edges:
            arriving[edge.target] += 1
    found = {key: fixed.get(key, 0) for key in leaving}
    line = [key for key, count in arriving.items() if not count]
    while line:
        key = line.pop()
        for edge in leaving[key]:
            target = edge.target
            if target not in fixed:
                found[target] = max(found[target], found[key] + 1)
            arriving[target] -= 1
            if not arriving[target]:
                line.append(target)
    return found


def telling(leaving: Mapping[str, Sequence[Edge]], column: Mapping[str, int]) -> list[Edge]:
    """Return the edges without those that follow from others: bare ones beside a longer way of success."""
    arriving: dict[str, list[Edge]] = {key: [] for key in leaving}
    for edges in leaving.values():
        for edge in edges:
            arriving[edge.target].append(edge)
    return [
        edge
        for edges in arriving.values()
        for edge in edges
        if edge.label or len(edges) == 1 or not _follows(edge, arriving, column)
    ]


def _follows(edge: Edge, arriving: Mapping[str, Sequence[Edge]], column: Mapping[str, int]) -> bool:
    last = column[edge.source]
    line = [each.source for each in arriving[edge.target] if each is not edge and not each.conditional]
    seen: set[str] = set()
    while line:
        key = line.pop()
        if key in seen or column[key] <= last:
            continue
        seen.add(key)
        for each in arriving[key]:
            if each.conditional:
                continue
            if each.source == edge.source:
                return True
            line.append(each.source)
    return False


def critical_path(seconds: Mapping[str, float], needs: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the chain of at least two tasks that takes longest in all, from its beginning."""
    longest: dict[str, float] = {}
    before: dict[str, str] = {}
    entered: set[str] = set()
    for root in seconds:
        line = [root]
        while line:
            key = line[-1]
            sources = [each for each in needs.get(key, ()) if each in seconds]
            if key not in entered:
                entered.add(key)
                line += [each for each in sources if each not in entered]
                continue
            line.pop()
            if key in longest:
                continue
            best = max((each for each in sources if each in longest), key=longest.__getitem__, default=None)
            longest[key] = seconds[key] + (longest[best] if best is not None else 0.0)
            if best is not None:
                before[key] = best
    end = max((key for key in longest if key in before), key=longest.__getitem__, default=None)
    path: list[str] = []
    while end is not None:
        path.append(end)
        end = before.get(end)
    return tuple(reversed(path))
