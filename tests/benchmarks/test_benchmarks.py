"""The benchmarks run and give figures. How fast something is, is for a quiet machine to say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import parse
from tests.benchmarks.__main__ import BENCHMARKS
from tests.benchmarks.graphs import SHAPES
from tests.benchmarks.measure import TINY, Scale, at_most
from tests.benchmarks.table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.graphs import Graph

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_gives_figures(name: str) -> None:
    figures = list(BENCHMARKS[name](TINY))
    assert figures
    for figure in figures:
        assert math.isfinite(figure.ratio)
        assert figure.ratio > 0, figure
        assert figure.subject in table(figures)


def test_a_prompt_that_is_sixteen_times_as_long_takes_no_hundred_times_as_long() -> None:
    scale = Scale(rounds=4, tasks=(6,), text=(2 * 1024, 32 * 1024), repeats=20)
    _, *growth = parse.figures(scale)
    for figure in growth:
        assert figure.ratio < 100 / 16, figure


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [6, 100])
def test_graphs_have_their_size_and_only_look_back(shape: Callable[[int], Graph], size: int) -> None:
    graph = shape(size)
    assert len(graph) == size
    assert all(source < number for number, sources in enumerate(graph.sources) for source in sources)


def test_a_table_says_what_was_missed() -> None:
    lines = table([at_most("fast", "1 µs", "x 1 µs", 1.0, 2), at_most("slow", "9 µs", "x 1 µs", 9.0, 2)])
    assert lines.split("\n") == [
        "      cost  baseline  ratio  aim",
        "fast  1 µs  x 1 µs     1.00  ≤ 2  ok",
        "slow  9 µs  x 1 µs     9.00  ≤ 2  MISSED",
    ]
