"""The layout keeps its promises on any graph: nodes stay apart and where they are, and every line arrives."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from teambot_tui.ui.canvas import Canvas, clip, line_character
from teambot_tui.ui.graph.layout import DENSITIES, Placement
from teambot_tui.ui.graph.painting import EdgeLook, draw
from teambot_tui.ui.graph.ranks import critical_path
from teambot_tui.ui.graph.shapes import Box, Edge, Layout, Node

CONDITIONS = ("on failure", "any", "always")
LABELS = ("", "$", "{issues}", *CONDITIONS)

Graph = tuple[list[Node], list[Edge]]


def node(key: str, width: int = 14) -> Node:
    return Node(key, width, width)


def edge(source: str, target: str, label: str = "") -> Edge:
    return Edge(source, target, label, label in CONDITIONS)


@st.composite
def graphs(draw_from: st.DrawFn) -> Graph:
    count = draw_from(st.integers(0, 16))
    nodes = [node(f"n{number}", draw_from(st.integers(3, 30))) for number in range(count)]
    pairs = st.tuples(st.integers(0, max(0, count - 1)), st.integers(0, max(0, count - 1)))
    edges = {
        (min(pair), max(pair)): edge(f"n{min(pair)}", f"n{max(pair)}", draw_from(st.sampled_from(LABELS)))
        for pair in draw_from(st.lists(pairs, max_size=40))
        if pair[0] != pair[1]
    }
    return nodes, list(edges.values())


def plain(layout: Layout, *, ascii_only: bool = False, start: int = 0, end: int | None = None) -> list[str]:
    end = layout.height if end is None else end
    canvas = draw(
        layout,
        lambda key: (((key, ""),), (("", ""),)),
        lambda edge: EdgeLook(""),
        ascii_only=ascii_only,
        start=start,
        end=end,
    )
    return ["".join(text for text, _ in row).rstrip() for row in canvas.rows(start, end)]


def apart(one: Box, other: Box) -> bool:
    return (
        one.x + one.width < other.x
        or other.x + other.width < one.x
        or one.y + one.height < other.y
        or other.y + other.height < one.y
    )


def whole(layout: Layout, nodes: list[Node]) -> None:
    """Nothing overlaps, every line goes from left to right, and none runs through a node."""
    boxes = layout.boxes
    assert set(boxes) == {each.key for each in nodes}
    some = list(boxes.values())
    assert all(apart(one, other) for index, one in enumerate(some) for other in some[:index])
    assert all(box.x >= 0 and box.y >= 0 for box in some)
    for route in layout.routes:
        source, target = boxes[route.edge.source], boxes[route.edge.target]
        (x, y), (to_x, to_y) = route.points[0], route.points[-1]
        assert (y, to_y) == (source.y, target.y)
        assert source.x < x
        assert target.x - 2 <= to_x < target.x
        assert x <= to_x
        for (one_x, one_y), (other_x, other_y) in pairwise(route.points):
            assert one_x == other_x or one_y == other_y, "lines are upright or level"
            assert one_x <= other_x, "work flows to the right"
            for key, box in boxes.items():
                crossed = any(
                    box.holds(column, row)
                    for column in range(one_x, other_x + 1)
                    for row in range(min(one_y, other_y), max(one_y, other_y) + 1)
                )
                assert not crossed or key == route.edge.source, "no line runs through a node"


@settings(deadline=None, max_examples=150)
@given(graphs(), st.sampled_from(DENSITIES))
def test_any_graph_is_drawn_whole(graph: Graph, density: object) -> None:
    nodes, edges = graph
    layout = Placement(density).lay_out(nodes, edges)  # type: ignore[arg-type]  # it is one
    whole(layout, nodes)
    assert Placement(density).lay_out(nodes, edges) == layout  # type: ignore[arg-type]
    rows = plain(layout)
    for start in range(0, layout.height, 5):
        end = min(layout.height, start + 7)
        assert plain(layout, start=start, end=end) == rows[start:end], "a part is as the whole"


@settings(deadline=None, max_examples=150)
@given(graphs())
def test_every_condition_stands_at_its_line(graph: Graph) -> None:
    layout = Placement().lay_out(*graph)
    rows = plain(layout)
    drawn = {(route.edge.source, route.edge.target): route for route in layout.routes}
    for each in graph[1]:
        if each.label:
            route = drawn[each.source, each.target]
            assert route.label_at is not None
            x, y = route.label_at
            assert rows[y][x : x + len(each.label)] == each.label
            assert y in (layout.boxes[each.source].y, layout.boxes[each.target].y)


@settings(deadline=None, max_examples=150)
@given(graphs(), st.integers(1, 5))
def test_nothing_moves_when_tasks_are_added(graph: Graph, step: int) -> None:
    nodes, edges = graph
    placement, before = Placement(), Layout()
    for count in range(step, len(nodes) + step, step):
        there = nodes[:count]
        names = {each.key for each in there}
        layout = placement.lay_out(
            there, [each for each in edges if {each.source, each.target} <= names], keep=True
        )
        whole(layout, there)
        for key, box in before.boxes.items():
            assert (layout.boxes[key].x, layout.boxes[key].y) == (box.x, box.y)
        before = layout


@settings(deadline=None)
@given(graphs(), st.data())
def test_nothing_moves_when_tasks_are_folded(graph: Graph, data: st.DataObject) -> None:
    nodes, edges = graph
    placement = Placement()
    before = placement.lay_out(nodes, edges)
    kept = [each for each in nodes if data.draw(st.booleans())]
    layout = placement.lay_out(kept, edges, keep=True)
    assert {key: (box.x, box.y) for key, box in layout.boxes.items()} == {
        each.key: (before.boxes[each.key].x, before.boxes[each.key].y) for each in kept
    }


@settings(deadline=None)
@given(graphs())
def test_ascii_stays_ascii(graph: Graph) -> None:
    assert all(row.isascii() for row in plain(Placement().lay_out(*graph), ascii_only=True))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_a_cycle_is_opened_and_strangers_are_left_out(pairs: list[tuple[int, int]]) -> None:
    nodes = [node(str(number), 3) for number in range(5)]
    layout = Placement().lay_out(nodes, [edge(str(one), str(other)) for one, other in pairs])
    whole(layout, nodes)


def test_nothing_takes_no_room() -> None:
    assert Placement().lay_out([], []) == Layout()
    assert plain(Layout()) == []


def test_it_reads_from_left_to_right() -> None:
    nodes = [node(key) for key in ("plan", "reqs", "schema", "api", "page", "bill", "tests", "ship", "mend")]
    edges = [
        *(edge(source, "schema") for source in ("plan", "reqs")),
        *(edge("schema", target) for target in ("api", "page", "bill")),
        *(edge(source, "tests") for source in ("api", "page", "bill")),
        edge("tests", "ship"),
        edge("tests", "mend", "on failure"),
    ]
    assert plain(Placement().lay_out(nodes, edges)) == [
        "plan           ─┬──▶ schema         ─┬──▶ api            ─╮",
        "                │                    │                    │",
        "                │                    │                    │",
        "reqs           ─╯                    ├──▶ page           ─┼──▶ tests          ─┬─────────────▶ ship",
        "                                     │                    │                    ┊",
        "                                     │                    │                    ┊",
        "                                     ╰──▶ bill           ─╯                    ╰┄┄on failure┄▶ mend",
        "",
    ]


def test_a_chain_is_a_straight_line() -> None:
    nodes = [node(f"n{number}") for number in range(30)]
    layout = Placement().lay_out(nodes, [edge(f"n{number}", f"n{number + 1}") for number in range(29)])
    assert {box.y for box in layout.boxes.values()} == {0}
    assert all(len(route.points) == 2 for route in layout.routes)


def test_what_follows_from_others_is_not_drawn() -> None:
    edges = [edge("a", "b"), edge("b", "c"), edge("a", "c")]
    layout = Placement().lay_out([node(key) for key in "abc"], edges)
    assert [(each.edge.source, each.edge.target) for each in layout.routes] == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    "edges",
    [
        [edge("a", "b"), edge("b", "c"), edge("a", "c", "$")],
        [edge("a", "b", "on failure"), edge("b", "c"), edge("a", "c")],
        [edge("a", "b"), edge("b", "c", "any"), edge("a", "c")],
    ],
    ids=["an output goes along", "the other way is for failures", "the other way takes any end"],
)
def test_what_says_something_of_its_own_is_drawn(edges: list[Edge]) -> None:
    assert len(Placement().lay_out([node(key) for key in "abc"], edges).routes) == 3


def test_a_plan_that_turns_round_is_placed_again() -> None:
    placement = Placement()
    placement.lay_out([node("b"), node("c")], [edge("b", "c")])
    layout = placement.lay_out(
        [node("b"), node("c"), node("a")], [edge("b", "c"), edge("c", "a"), edge("a", "b")], keep=True
    )
    whole(layout, [node("a"), node("b"), node("c")])


def test_the_critical_path_is_the_chain_that_takes_longest() -> None:
    seconds = {"a": 5.0, "b": 3.0, "c": 9.0, "d": 1.0, "alone": 99.0}
    assert critical_path(seconds, {"c": ["a", "b"], "d": ["b"], "alone": ["gone"]}) == ("a", "c")
    assert critical_path({"alone": 3.0}, {}) == ()
    assert critical_path({}, {}) == ()


def test_four_times_the_nodes_cost_no_more_than_their_square() -> None:
    def seconds(count: int) -> float:
        nodes = [node(f"n{number}") for number in range(count)]
        edges = [
            edge(f"n{number}", f"n{min(count - 1, number + 1 + number * step % 13)}", "$")
            for number in range(count - 1)
            for step in (3, 7)
        ]
        times: list[float] = []
        for _ in range(3):
            start = process_time()
            Placement().lay_out(nodes, edges)
            times.append(process_time() - start)
        return min(times)

    assert seconds(400) < 16 * seconds(100)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 40])
@pytest.mark.parametrize(
    "text", ["", "pm#1", "漢字" * 9, "👩‍💻👩‍💻👩‍💻", "x" * 100_000, "[/x]", "a\nb\tc", "e\u0301" * 30]
)
def test_clipped_text_fits(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) <= width
    assert "\n" not in clip(text, width)


def test_wide_words_take_two_cells() -> None:
    canvas = Canvas()
    canvas.text(0, 0, "漢a👩‍💻b", "")
    assert canvas.rows(0, 1) == [[("漢a👩‍💻b", "")]]


def test_lines_join_where_they_belong_together_and_else_cross() -> None:
    def crossing(source: str, target: str) -> str:
        canvas = Canvas()
        canvas.line((0, 1), (2, 1), "a", "b", "")
        canvas.line((1, 0), (1, 2), source, target, "")
        return canvas.rows(1, 2)[0][0][0][1]

    assert crossing("a", "c") == "┼"
    assert crossing("c", "b") == "┼"
    assert crossing("c", "d") == "│"


def test_every_line_has_a_character() -> None:
    for directions in range(1, 16):
        for heavy in range(directions + 1):
            if heavy & directions == heavy:
                assert len(line_character(directions, heavy)) == 1
                assert line_character(directions, heavy, ascii_only=True).isascii()
