"""What a task costs from its creation to its end, when the agent has nothing to do."""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import TYPE_CHECKING

from tests.benchmarks.contestants import (
    by_generator,
    by_hand,
    by_langgraph,
    by_session,
    by_text,
    has_langgraph,
)
from tests.benchmarks.graphs import SHAPES, chain, fan_in, layers
from tests.benchmarks.measure import Figure, at_most, best, in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.benchmarks.graphs import Graph
    from tests.benchmarks.measure import Scale

LIMITS = {chain: 6.0, fan_in: 5.0, layers: 8.0}
GENERATOR_LIMIT = 3.0
"""Of a task group that does as much as the outside sees of a session."""
GROWTH_LIMIT = 2.0
LANGGRAPH_LIMIT = 0.1
_COMPARED = 1_000
"""So many tasks make a round; a smaller graph is run several times in it, a larger one in fewer rounds."""


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure tasks."""
    for shape in SHAPES:
        costs: list[float] = []
        for size in scale.tasks:
            graph = shape(size)
            rounds = scale.rounds * 3 if size <= _COMPARED else max(1, scale.rounds // 3)
            repeats = max(1, min(_COMPARED, scale.repeats) // size)
            ours, bare = best(rounds, partial(by_session, graph, repeats), partial(by_hand, graph, repeats))
            costs.append(ours / size)
            limit = LIMITS[shape] if size == _COMPARED else None
            yield _ratio(str(graph), ours / size, "TaskGroup", bare / size, limit)
        yield at_most(
            f"{shape(scale.tasks[-1])}, growth",
            f"{in_time(costs[-1])}/task",
            f"{scale.tasks[1]:,} tasks {in_time(costs[1])}",
            costs[-1] / costs[1],
            GROWTH_LIMIT,
        )
    size = min(_COMPARED, scale.tasks[-1])
    for shape in SHAPES:
        graph = shape(size)
        ours, theirs = best(scale.rounds * 3, partial(by_session, graph), partial(by_generator, graph))
        name = "draining, telling"
        yield _ratio(str(graph), ours / size, name, theirs / size, GENERATOR_LIMIT)
    typed, fed = best(scale.rounds, partial(by_text, chain(size)), partial(by_session, chain(size)))
    yield _ratio(f"chain, {size:,}, as typed", typed / size, "resolved", fed / size, None)
    for shape in SHAPES:
        yield _memory(shape(size))
    if has_langgraph():
        for shape in SHAPES:
            yield _against_langgraph(shape(size), scale, compiling=False)
            yield _against_langgraph(shape(size), scale, compiling=True)


def notes() -> str:
    """Say what was left out, and how to have it."""
    if has_langgraph():
        return ""
    return (
        "langgraph is not installed, so it was not compared. To have it, in an environment of its own:\n"
        "  python -m venv /tmp/langgraph && /tmp/langgraph/bin/pip install langgraph -e '.[dev]'\n"
        "  /tmp/langgraph/bin/python -m tests.benchmarks tasks"
    )


def _against_langgraph(graph: Graph, scale: Scale, *, compiling: bool) -> Figure:
    rounds = max(1, scale.rounds // 3)
    ours, theirs = best(rounds, partial(by_session, graph), partial(by_langgraph, graph, compiling=compiling))
    name = "langgraph, compiling and running" if compiling else "langgraph, running"
    return _ratio(str(graph), ours / len(graph), name, theirs / len(graph), LANGGRAPH_LIMIT)


def _ratio(subject: str, ours: float, name: str, base: float, limit: float | None) -> Figure:
    cost, baseline = f"{in_time(ours)}/task", f"{name} {in_time(base)}"
    if limit is None:
        return Figure(subject, cost, baseline, ours / base)
    return at_most(subject, cost, baseline, ours / base, limit)


def _memory(graph: Graph) -> Figure:
    ours, bare = (_peak(run, graph) / len(graph) for run in (by_session, by_hand))
    return Figure(f"{graph}, peak memory", f"{ours:,.0f} B/task", f"TaskGroup {bare:,.0f} B", ours / bare)


def _peak(run: Callable[[Graph], float], graph: Graph) -> float:
    """Return how many bytes a run needs at most; what asyncio allocates once is there after the first."""
    run(graph)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        run(graph)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
