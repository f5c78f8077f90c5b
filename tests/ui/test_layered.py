"""The layout keeps its promises on any graph: boxes stay apart, every line arrives, lines only cross."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teambot_tui.ui.canvas import Canvas, clip
from teambot_tui.ui.graph.layout import lay_out
from teambot_tui.ui.graph.painting import Look, draw
from teambot_tui.ui.graph.shapes import Box, Edge, Layout, Node

LABELS = ("", "$", "->", "after", "$ ->")


@st.composite
def graphs(draw_from: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    count = draw_from(st.integers(0, 16))
    nodes = [
        Node(f"n{number}", draw_from(st.integers(1, 20)), draw_from(st.integers(1, 3)))
        for number in range(count)
    ]
    pairs = st.tuples(st.integers(0, max(0, count - 1)), st.integers(0, max(0, count - 1)))
    edges = [
        Edge(
            f"n{min(pair)}",
            f"n{max(pair)}",
            draw_from(st.sampled_from(LABELS)),
            draw_from(st.sampled_from(("", "after"))),
        )
        for pair in draw_from(st.lists(pairs, max_size=40))
        if pair[0] != pair[1]
    ]
    return nodes, edges


def plain(layout: Layout, *, ascii_only: bool = False, start: int = 0, end: int | None = None) -> list[str]:
    end = layout.height if end is None else end
    canvas = draw(
        layout,
        lambda key: Look((((key, ""),),)),
        lambda edge: Look(),
        ascii_only=ascii_only,
        start=start,
        end=end,
    )
    return ["".join(text for text, _ in row) for row in canvas.rows(start, end)]


def apart(one: Box, other: Box) -> bool:
    return (
        one.x + one.width < other.x
        or other.x + other.width < one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


@settings(deadline=None, max_examples=150)
@given(graphs())
def test_any_graph_is_drawn_whole(graph: tuple[list[Node], list[Edge]]) -> None:
    nodes, edges = graph
    layout = lay_out(nodes, edges, 80)
    boxes = list(layout.boxes.values())
    assert set(layout.boxes) == {node.key for node in nodes}
    assert all(apart(one, other) for index, one in enumerate(boxes) for other in boxes[:index])
    drawn = {(route.edge.source, route.edge.target, route.edge.kind) for route in layout.routes}
    assert drawn == {(edge.source, edge.target, edge.kind) for edge in edges}
    for route in layout.routes:
        source, target = layout.boxes[route.edge.source], layout.boxes[route.edge.target]
        (x, y), (to_x, to_y) = route.points[0], route.points[-1]
        assert y == source.y + source.height - 1
        assert source.x < x < source.x + source.width - 1
        assert to_y == target.y
        assert target.x < to_x < target.x + target.width - 1
        assert y < to_y, "work flows downwards"
        for (one_x, one_y), (other_x, other_y) in zip(route.points, route.points[1:], strict=False):
            assert (one_x == other_x) != (one_y == other_y), "lines are upright or level"
            for box in boxes:
                crossed = [
                    (column, row)
                    for column in range(min(one_x, other_x), max(one_x, other_x) + 1)
                    for row in range(min(one_y, other_y), max(one_y, other_y) + 1)
                    if box.holds(column, row)
                ]
                assert not crossed or box in (source, target), "no line runs through a stranger's box"
                assert len(crossed) <= 1
    canvas = draw(layout, lambda key: Look(), lambda edge: Look())
    assert canvas.clashes == 0, "lines of different trunks only cross"
    rows = plain(layout)
    assert len(rows) == layout.height
    assert all(len(row) <= layout.width for row in rows)
    assert lay_out(nodes, edges, 80) == layout
    for start in range(0, layout.height, 5):
        end = min(layout.height, start + 7)
        assert plain(layout, start=start, end=end) == rows[start:end], "a part is as the whole"
    for route in layout.routes:
        x, y = route.points[-1]
        assert rows[y][x] == "▼"
        if label := route.edge.label:
            assert label in rows[y - 1][max(0, x - 2) : x + 4]


@settings(deadline=None)
@given(graphs())
def test_ascii_stays_ascii(graph: tuple[list[Node], list[Edge]]) -> None:
    assert all(row.isascii() for row in plain(lay_out(*graph), ascii_only=True))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_a_cycle_is_opened_and_strangers_are_left_out(pairs: list[tuple[int, int]]) -> None:
    layout = lay_out([Node(str(number), 3) for number in range(5)], [Edge(str(a), str(b)) for a, b in pairs])
    assert len(layout.boxes) == 5
    assert all(route.points[0][1] < route.points[-1][1] for route in layout.routes)


def test_nothing_takes_no_room() -> None:
    assert lay_out([], []) == Layout()
    assert plain(Layout()) == []


def test_a_chain_is_a_straight_line() -> None:
    layout = lay_out([Node("a", 4), Node("b", 9)], [Edge("a", "b", "$")])
    assert len(layout.routes[0].points) == 2
    assert [row.strip() for row in plain(layout)] == [
        "╭──────╮",
        "│ a    │",
        "│      │",
        "╰───┬──╯",
        "│",
        "$",
        "╭─────▼─────╮",
        "│ b         │",
        "│           │",
        "╰───────────╯",
    ]


def test_a_join_reads_from_above() -> None:
    layout = lay_out([Node(key, 4, 1) for key in "abc"], [Edge("a", "c", "$"), Edge("b", "c", "->")])
    a, b, c = (layout.boxes[key] for key in "abc")
    assert a.y == b.y < c.y
    assert a.x < c.x < b.x
    assert len({route.points[-1] for route in layout.routes}) == 2, "each line has its own arrow"


def test_a_long_edge_passes_the_layers_between() -> None:
    layout = lay_out([Node(key, 4) for key in "abc"], [Edge("a", "b"), Edge("b", "c"), Edge("a", "c")])
    assert layout.boxes["a"].y < layout.boxes["b"].y < layout.boxes["c"].y
    assert len(layout.routes) == 3


def test_parts_that_are_not_connected_share_rows() -> None:
    layout = lay_out([Node(str(number), 10) for number in range(9)], [], 60)
    assert layout.width <= 60
    assert len({box.y for box in layout.boxes.values()}) == 3


def test_four_times_the_nodes_cost_no_more_than_their_square() -> None:
    def seconds(count: int) -> float:
        nodes = [Node(f"n{number}", 14) for number in range(count)]
        edges = [
            Edge(f"n{number}", f"n{min(count - 1, number + 1 + number * step % 13)}", "$")
            for number in range(count - 1)
            for step in (3, 7)
        ]
        times: list[float] = []
        for _ in range(3):
            start = process_time()
            lay_out(nodes, edges)
            times.append(process_time() - start)
        return min(times)

    assert seconds(400) < 16 * seconds(100)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 40])
@pytest.mark.parametrize(
    "text", ["", "pm#1", "漢字" * 9, "👩‍💻👩‍💻👩‍💻", "x" * 100_000, "[/x]", "a\nb\tc", "e\u0301" * 30]
)
def test_clipped_text_fits(text: str, width: int) -> None:
    from rich.cells import cell_len

    assert cell_len(clip(text, width)) <= width
    assert "\n" not in clip(text, width)


def test_wide_words_take_two_cells() -> None:
    canvas = Canvas()
    canvas.text(0, 0, "漢a👩‍💻b", "")
    assert canvas.rows(0, 1) == [[("漢a👩‍💻b", "")]]
