"""The graphs that are run: for each task, which tasks it needs. The same ones for every contestant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Graph:
    """What each task needs, by number, and how many agents there are to share the tasks."""

    shape: str
    sources: tuple[tuple[int, ...], ...]
    team: int

    def __len__(self) -> int:
        return len(self.sources)

    def __str__(self) -> str:
        return f"{self.shape}, {len(self):,}"


def chain(size: int) -> Graph:
    """Each task needs the one before it; ten agents take turns."""
    return Graph("chain", ((), *((number - 1,) for number in range(1, size))), min(10, size))


def fan_in(size: int) -> Graph:
    """The last task needs all the others, which run at the same time: each has its own agent."""
    return Graph("fan-in", (*((),) * (size - 1), tuple(range(size - 1))), size)


def layers(size: int) -> Graph:
    """Each task needs the whole layer before its own; a layer is one task of each of ten agents."""
    width = min(10, max(2, size // 3))
    return Graph(
        f"layers of {width}",
        tuple(tuple(range(begin - width, begin)) if begin else () for begin in _begins(size, width)),
        width,
    )


def _begins(size: int, width: int) -> list[int]:
    """Return for each task the number of the first task in its layer."""
    return [number - number % width for number in range(size)]


SHAPES = (chain, fan_in, layers)
