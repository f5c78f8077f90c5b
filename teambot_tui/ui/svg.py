"""The graph and the timeline as pictures that stand alone: SVG, dark, in the machine's own monospace font."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from teambot_tui.engine.spans import Spent
from teambot_tui.engine.text import printable
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import Glyphs, duration, money, tokens
from teambot_tui.ui.graph.layout import Density, Placement
from teambot_tui.ui.graph.shapes import Node
from teambot_tui.ui.lanes import names_of, time_table
from teambot_tui.ui.widgets.graph_items import Gathering, critical, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.graph.shapes import Route
    from teambot_tui.ui.lanes import Bar

_CELL, _ROW, _SIZE = 8.4, 20.0, 14
_EDGE: Final = 24.0
"""Room around a picture."""
_FONTS: Final = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
_BACKGROUND, _RULE, _TEXT, _STRONG, _QUIET = "#10141c", "#2b3344", "#d5dce8", "#ffffff", "#8592a8"
_WORK, _WAIT, _DONE, _FAIL, _YOU, _FLOW = "#5cc8ff", "#f2b84b", "#7fd88f", "#ff7a85", "#ff9be8", "#7dcfb6"
_LINE: Final = "#5a6577"
_DIM_WORK: Final = "#2a5f7c"
_COLOURS: Final = {
    "executing": _WORK,
    "waiting": _WAIT,
    "completed": _DONE,
    "failed": _FAIL,
    "asking": _YOU,
}
_DENSITY: Final = Density(widest=36)
_BARS: Final = 900.0
_LANE: Final = 34.0
_BAR: Final = 20.0


class _Picture:
    def __init__(self) -> None:
        self._parts: list[str] = []

    def text(
        self, x: float, y: float, words: str, colour: str, *, bold: bool = False, at: str = "start"
    ) -> None:
        """Write words; `y` is the middle of the row."""
        weight = ' font-weight="bold"' if bold else ""
        anchor = f' text-anchor="{at}"' if at != "start" else ""
        words = escape(printable(words), quote=False)
        self._parts.append(
            f'<text x="{x:.1f}" y="{y + _SIZE * 0.36:.1f}" fill="{colour}"{weight}{anchor}>{words}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, colour: str, *, faint: bool = False
    ) -> None:
        opacity = ' fill-opacity="0.55"' if faint else ""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(2.0, width):.1f}" height="{height:.1f}" rx="3" '
            f'fill="{colour}"{opacity}/>'
        )

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, *, wide: float = 1.5, dashed: bool = False
    ) -> None:
        way = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        dashes = ' stroke-dasharray="4 4"' if dashed else ""
        self._parts.append(
            f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="{wide}" '
            f'stroke-linejoin="round"{dashes}/>'
        )

    def arrow(self, x: float, y: float, colour: str) -> None:
        self._parts.append(
            f'<path d="M{x - 9:.1f} {y - 4.5:.1f} L{x:.1f} {y:.1f} L{x - 9:.1f} {y + 4.5:.1f}Z" '
            f'fill="{colour}"/>'
        )

    def written(self, width: float, height: float, name: str) -> str:
        """Return the file."""
        body = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{_FONTS}" font-size="{_SIZE}" '
            f'xml:space="preserve">\n<title>{escape(name)}</title>\n'
            f'<rect width="100%" height="100%" rx="8" fill="{_BACKGROUND}"/>\n{body}\n</svg>\n'
        )


def graph_svg(tasks: Sequence[TaskView], now: float) -> str:
    """Return the graph of these tasks as SVG."""
    glyphs = Glyphs()
    items, edges = Gathering(glyphs).gather(tasks, now)
    placement = Placement(_DENSITY)
    widest = placement.density.widest
    nodes = []
    for item in items.values():
        head = 2 + cell_len(clip(item.title, widest - 2))
        nodes.append(Node(item.key, min(widest, max(head, 2 + cell_len(item.note))), head))
    layout = placement.lay_out(nodes, edges)
    before, seconds = critical(tasks, now)
    picture, top = _Picture(), _EDGE + 2 * _ROW
    clauses = [f"{len(tasks)} task{'s' * (len(tasks) != 1)}"]
    if before:
        clauses.append(f"critical path {duration(seconds)}")
    picture.text(_EDGE, _EDGE + _ROW / 2, "graph", _STRONG, bold=True)
    picture.text(_EDGE + 8 * _CELL, _EDGE + _ROW / 2, " · ".join(clauses), _QUIET)
    for bright in (False, True):
        for route in layout.routes:
            if (before.get(route.edge.target) == route.edge.source) is bright:
                _draw_route(picture, route, top, bright=bright)
    for key, box in layout.boxes.items():
        item, width = items[key], placement.width_of(key) - 2
        x, y = _EDGE + box.x * _CELL, top + (box.y + 0.5) * _ROW
        picture.text(x, y, item.glyph, _COLOURS.get(item.state, _QUIET), bold=True)
        bright = key in before
        picture.text(x + 2 * _CELL, y, clip(item.title, width), _STRONG if bright else _TEXT, bold=bright)
        picture.text(x + 2 * _CELL, y + _ROW, clip(item.note, width), _QUIET)
    return picture.written(
        max(320.0, 2 * _EDGE + layout.width * _CELL), top + layout.height * _ROW + _EDGE, "teambot graph"
    )


def _draw_route(picture: _Picture, route: Route, top: float, *, bright: bool) -> None:
    edge = route.edge
    colour = _FLOW if bright else _FAIL if "on failure" in edge.label else _LINE
    points = [(_EDGE + (x + 0.5) * _CELL, top + (y + 0.5) * _ROW) for x, y in route.points]
    end_x, end_y = points[-1]
    points[-1] = (end_x - 4, end_y)
    straight = [points[0]]
    for point, following in pairwise([*points[1:], points[-1]]):
        if not (straight[-1][1] == point[1] == following[1] and point != following):
            straight.append(point)
    picture.line(straight, colour, wide=2.5 if bright else 1.5, dashed=edge.conditional)
    picture.arrow(end_x + 4, end_y, colour)
    if route.label_at is not None:
        x, y = _EDGE + route.label_at[0] * _CELL, top + (route.label_at[1] + 0.5) * _ROW
        picture.box(x - 3, y - 8, cell_len(edge.label) * _CELL + 6, 16, _BACKGROUND)
        picture.text(x, y, edge.label, colour if colour != _LINE else _QUIET)


def timeline_svg(tasks: Sequence[TaskView], now: float) -> str:
    """Return the timeline of these tasks as SVG."""
    table, picture = time_table(tasks, now), _Picture()
    left = _EDGE + (2 + max((cell_len(lane.agent) for lane in table.lanes), default=0)) * _CELL
    top = _EDGE + 3 * _ROW
    bottom = top + len(table.lanes) * _LANE
    clauses = [f"{duration(table.scale.total)} in all"]
    if table.critical_seconds:
        clauses.append(f"critical path {duration(table.critical_seconds)}")
    if table.needed_seconds:
        clauses.append(f"you were needed {duration(table.needed_seconds)}")
    if (wait := table.longest_wait) is not None:
        seconds = duration(wait.seconds)
        clauses.append(f"longest wait {wait.view.agent} for {names_of(wait.span.agents)} {seconds}")
    picture.text(_EDGE, _EDGE + _ROW / 2, "timeline", _STRONG, bold=True)
    picture.text(_EDGE + 11 * _CELL, _EDGE + _ROW / 2, " · ".join(clauses), _QUIET)

    def across(time: float) -> float:
        return left + table.scale.at(time) * _BARS / table.scale.total

    for tick in table.scale.ticks(10):
        x = left + tick * _BARS / table.scale.total
        picture.text(x, top - _ROW / 2, duration(tick), _QUIET)
        picture.line([(x, top), (x, bottom)], _RULE, wide=1, dashed=True)
    right = left + _BARS
    for number, lane in enumerate(table.lanes):
        middle = top + (number + 0.5) * _LANE
        picture.text(_EDGE, middle, lane.agent, _STRONG, bold=True)
        told = ""
        for bar in lane.bars:
            told = _draw_bar(picture, bar, across(bar.span.start), across(bar.end), middle, told)
        known = [tokens(lane.tokens)] if lane.tokens else []
        if lane.cost is not None:
            known.append(money(lane.cost))
        picture.text(right + 16 * _CELL, middle, "  ".join(known), _QUIET, at="end")
    x, y = left, bottom + _ROW
    for colour, words in (
        (_WORK, "critical path"),
        (_DIM_WORK, "working"),
        (_WAIT, "waiting"),
        (_YOU, "needed you"),
        (_FAIL, "failed"),
    ):
        picture.box(x, y - 5, 10, 10, colour)
        picture.text(x + 16, y, words, _QUIET)
        x += 16 + (cell_len(words) + 3) * _CELL
    width = max(right + 16 * _CELL, _EDGE + (11 + cell_len(" · ".join(clauses))) * _CELL) + _EDGE
    return picture.written(width, y + _ROW + _EDGE / 2, "teambot timeline")


def _draw_bar(picture: _Picture, bar: Bar, start: float, end: float, middle: float, told: str) -> str:
    """Draw a bar, and whose it is where that was not told; return what is told now."""
    top = middle - _BAR / 2
    room = int((end - start) / _CELL) - 1
    match bar.span.spent:
        case Spent.WAITING:
            words = clip(names_of(bar.span.agents), room - 2)
            begin = start
            if len(words) > 1:
                picture.text(start + _CELL, middle, words, _WAIT)
                begin += (cell_len(words) + 2) * _CELL
            picture.line([(begin, middle), (end, middle)], _WAIT, dashed=True)
        case Spent.NEEDING_YOU:
            picture.box(start, top, end - start, _BAR, _YOU)
        case Spent.WORKING:
            dim = "#8c3a44" if bar.span.failed else _DIM_WORK
            bright = _FAIL if bar.span.failed else _WORK
            picture.box(start, top, end - start, _BAR, bright if bar.is_critical else dim)
            mark = "✗ " if bar.span.failed else ""
            words = clip(f"{mark}{title(bar.view)}", room)
            if told != bar.view.task and len(words) > 1 + len(mark):
                picture.text(
                    start + _CELL / 2, middle, words, _BACKGROUND if bar.is_critical else _STRONG, bold=True
                )
            return "" if bar.span.failed else bar.view.task
    return told
