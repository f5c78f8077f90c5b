"""All tasks as a drawing of who feeds whom, live; where there is no room to draw, as an indented tree.

The drawing is laid out again only when nodes or lines come or go, and what is there keeps its place as long
as anything is unfinished. Only the rows in sight are painted. It follows the work until the person moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from teambot_tui.engine.board import State
from teambot_tui.engine.states import STATES, Role, role_of
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import Glyphs, duration
from teambot_tui.ui.graph.layout import DENSITIES, LOOSE, Density, Placement
from teambot_tui.ui.graph.painting import EdgeLook, NodeLook, draw
from teambot_tui.ui.graph.shapes import Layout, Node
from teambot_tui.ui.keys import bound
from teambot_tui.ui.widgets.graph_items import ENDED, FOLD, Gathering, critical
from teambot_tui.ui.widgets.graph_picture import (
    Picture,
    picture_of_nothing,
    step_in_drawing,
    step_in_tree,
    tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.style import Style
    from textual import events

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.graph.shapes import Box, Edge
    from teambot_tui.ui.widgets.graph_items import Item
    from teambot_tui.ui.widgets.graph_picture import Row

_DRAWN_FROM: Final = 58
_AGENT: Final = 4
"""Cells that an agent's name keeps at least, where its state needs room."""
_TIME: Final = 5
"""Every node has room for a time, so that a running clock moves nothing."""


class Graph(ScrollView, can_focus=True):
    """The drawing; it says which task was chosen."""

    DEFAULT_CSS = """
    Graph { height: 1fr; width: 1fr; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "graph--title",
        "graph--critical",
        "graph--note",
        "graph--quiet",
        "graph--cursor",
        "graph--label",
        "graph--edge",
        "graph--edge-failure",
        "graph--edge-broken",
        "graph--edge-near",
        "graph--edge-critical",
        *(f"graph--{role}" for role in Role),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        bound("up", "go('up')"),
        bound("down", "go('down')"),
        bound("left", "go('left')"),
        bound("right", "go('right')"),
        bound("inspect", "choose"),
        bound("centre", "centre"),
        bound("fit", "fit"),
        bound("fold", "fold"),
        bound("timeline", "screen.press('timeline')"),
        Binding("space", "fold", show=False),
    ]

    class Chosen(Message):
        """Someone wants to see this task."""

        def __init__(self, graph: Graph, task: TaskId) -> None:
            super().__init__()
            self.graph = graph
            self.task = task

        @property
        def control(self) -> Graph:
            """The graph."""
            return self.graph

    def __init__(
        self,
        glyphs: Glyphs | None = None,
        *,
        id: str | None = "graph",  # noqa: A002  as every widget calls it
        classes: str | None = None,
        most: int | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Make a graph in which, of more tasks than `most`, those that are done fold by themselves."""
        super().__init__(id=id, classes=classes)
        self._glyphs = glyphs or Glyphs()
        self._gathering = Gathering(self._glyphs, most)
        self._clock = clock
        self._tasks: tuple[TaskView, ...] = ()
        self._now: float | None = None
        self._items: dict[str, Item] = {}
        self._edges: list[Edge] = []
        self._critical: dict[str, str] = {}
        """The tasks of the critical path, each with the one before it."""
        self._cursor: str | None = None
        self._follows = True
        """Whether the cursor is where the work is."""
        self._is_live = False
        self._fits = False
        self._placement = Placement()
        self._layout_key: object = None
        self._placed = Layout()
        self._picture = Picture()
        self._strips: dict[int, Strip] = {}
        self._columns = range(0)
        """The columns that are painted."""

    # What is shown

    def show(self, tasks: Sequence[TaskView], now: float | None = None) -> None:
        """Show these tasks as they are; `now` lets the clocks of the executing ones run."""
        shown = tuple(tasks)
        if now is None and self._clock is not None:
            now = self._clock()
        if shown == self._tasks and now == self._now:
            return
        self._tasks, self._now = shown, now
        self._look_again()

    @property
    def cursor(self) -> TaskId | None:
        """The task the cursor is on."""
        item = self._items.get(self._cursor) if self._cursor else None
        return item.task if item else None

    @property
    def text(self) -> str:
        """The picture as plain text."""
        rows = [self._picture.rows.get(number, []) for number in range(self._picture.height)]
        if self._items and self.drawn:
            rows = self._painted(0, self._picture.height, range(self._picture.width))
        return "\n".join("".join(text for text, _ in row) for row in rows)

    @property
    def drawn(self) -> bool:
        """Whether there is room for the drawing."""
        return self._room >= _DRAWN_FROM

    @property
    def folded(self) -> bool:
        """Whether what is done is out of sight."""
        return FOLD in self._items

    def box(self, task: TaskId) -> Box | None:
        """Where a task is in the picture."""
        return self._picture.boxes.get(task)

    @property
    def _room(self) -> int:
        # Scrollbars do not count: one that comes and goes must not turn the drawing into a tree and back.
        return self.outer_size.width - self.styles.gutter.width

    def _look_again(self) -> None:
        if not self.is_attached or not self.size or not self.is_on_screen:
            return
        items, edges = self._gathered()
        was_live, self._is_live = self._is_live, any(view.state not in ENDED for view in self._tasks)
        chain, seconds = critical(self._tasks, self._now or 0.0)
        same = items == self._items and edges == self._edges and self._critical == chain
        if same and self._picture.height:
            return
        self._items, self._edges, self._critical = items, edges, chain
        self._tell(seconds)
        if self._cursor not in items:
            hidden = FOLD in items and any(view.task == self._cursor for view in self._tasks)
            self._cursor = FOLD if hidden else next(iter(items), None)
        moved = self._follow_work()
        self._paint(keep=was_live)
        if moved:
            self._centre_cursor()

    def _gathered(self) -> tuple[dict[str, Item], list[Edge]]:
        return self._gathering.gather(self._tasks, self._now)

    def _tell(self, seconds: float) -> None:
        """Say above the drawing how far it is."""
        clauses = []
        if self._tasks and self.drawn:
            over = sum(view.state in ENDED for view in self._tasks)
            clauses.append(f"{over}/{len(self._tasks)}")
        if self._critical and self.drawn:
            line = "=" if self._glyphs.ascii_only else "━"
            clauses.append(f"{line} critical path {duration(seconds)}")
        words = f" {self._glyphs['dot']} ".join(clauses)
        if str(self.border_title or "") != words:
            self.border_title = Content(words)

    def _follow_work(self) -> bool:
        """Bring the cursor to what executes, if it is not at such a task already; say whether it moved."""
        if not self._follows:
            return False
        busy = [view.task for view in self._tasks if view.state is State.EXECUTING]
        if not busy or self._cursor in busy:
            return self._layout_key is None
        self._cursor = busy[-1]
        return True

    def tick(self) -> None:
        """Let the clocks go on."""
        if self._clock is not None and self._is_live:
            self.show(self._tasks, self._clock())

    # How it is painted

    def _paint(self, *, keep: bool = True) -> None:
        if not self._items:
            self._picture = picture_of_nothing(max(1, self._room), self._glyphs["ellipsis"])
        elif self.drawn:
            self._picture = self._drawing(keep=keep)
        else:
            self._picture = tree(self._items, self._edges, self._cursor, self._glyphs)
        self._strips.clear()
        # Its place does not depend on what it shows: a new size is news to the scrollbars only, not a layout.
        self.set_reactive(Graph.virtual_size, Size(self._picture.width, self._picture.height))
        self._scroll_update(self.virtual_size)
        self.refresh()

    def _drawing(self, *, keep: bool) -> Picture:
        key = (tuple(self._items), tuple(self._edges), self._fits)
        if key != self._layout_key:
            self._layout_key = key
            self._placed = self._laid_out(keep=keep)
        # The rows are drawn when they come into sight.
        return Picture({}, self._placed.boxes, self._placed.width, self._placed.height)

    def _laid_out(self, *, keep: bool) -> Layout:
        def lay_out(placement: Placement, *, keep: bool) -> Layout:
            nodes = [self._node(item, placement.density) for item in self._items.values()]
            return placement.lay_out(nodes, self._edges, keep=keep)

        if not self._fits:
            return lay_out(self._placement, keep=keep)
        placed = lay_out(self._placement, keep=keep)
        for density in DENSITIES:
            if placed.width <= self.size.width and placed.height <= self.size.height:
                break
            self._placement = Placement(density)
            placed = lay_out(self._placement, keep=False)
        return placed

    def _node(self, item: Item, density: Density) -> Node:
        head = 2 + cell_len(clip(item.title, density.widest - 2))
        agent = item.note.partition(" ")[0] if item.task else item.note
        note = 2 + cell_len(agent) + (1 + _TIME if item.task else 0)
        return Node(item.key, min(density.widest, max(head, note) if density.rows > 1 else head), head)

    def _row(self, number: int) -> Row:
        picture = self._picture
        if number not in picture.rows and number < picture.height:
            start = max(0, number - self.size.height // 2)
            end = min(picture.height, number + self.size.height + self.size.height // 2 + 1)
            for index, row in enumerate(self._painted(start, end, self._columns), start):
                picture.rows[index] = row
        return picture.rows.get(number, [])

    def _painted(self, start: int, end: int, columns: range) -> list[Row]:
        canvas = draw(
            self._placed,
            self._node_look,
            self._edge_look,
            ascii_only=self._glyphs.ascii_only,
            start=start,
            end=end,
            left=columns.start,
            right=columns.stop,
        )
        return canvas.rows(start, end)

    def _node_look(self, key: str) -> NodeLook:
        item = self._items[key]
        room, ellipsis = self._placement.width_of(key) - 2, self._glyphs["ellipsis"]
        style = "cursor" if key == self._cursor else "critical" if key in self._critical else "title"
        agent, _, words = item.note.partition(" ")
        for_agent = room - 1 - cell_len(words)
        note = f"{clip(agent, for_agent, ellipsis)} {words}" if for_agent >= _AGENT else item.note
        return (
            ((item.glyph, item.state), (" ", ""), (clip(item.title, room, ellipsis), style)),
            (("  ", ""), (clip(note, room, ellipsis), "asking" if item.state == "asking" else "note")),
        )

    def _edge_look(self, edge: Edge) -> EdgeLook:
        if self._critical.get(edge.target) == edge.source:
            return EdgeLook("edge-critical", 3, heavy=True)
        if self._cursor in (edge.source, edge.target):
            return EdgeLook("edge-near", 2)
        if edge.conditional:
            return EdgeLook("edge-failure" if "on failure" in edge.label else "edge")
        if self._items[edge.source].state in ("failed", "skipped", "cancelled"):
            return EdgeLook("edge-broken", 1)
        return EdgeLook("edge", 1)  # above the conditional ones, with which it shares its beginning

    def render_line(self, y: int) -> Strip:
        """Return a row in sight."""
        scroll_x, scroll_y = self.scroll_offset
        number = y + scroll_y
        if (
            self._items
            and self.drawn
            and not self._columns.start <= scroll_x <= self._columns.stop - self.size.width
        ):
            self._columns = range(max(0, scroll_x - self.size.width), scroll_x + 2 * self.size.width)
            self._strips.clear()
            self._picture.rows.clear()
        strip = self._strips.get(number)
        if strip is None:
            strip = Strip([Segment(text, self._style(style)) for text, style in self._row(number)])
            self._strips[number] = strip
        return strip.crop_extend(scroll_x, scroll_x + self.size.width, self.rich_style)

    def _style(self, name: str) -> Style:
        name = role_of(name) if name in STATES else name
        return self.get_component_rich_style(f"graph--{name}") if name else self.rich_style

    def notify_style_update(self) -> None:
        """Paint with the new styles."""
        self._strips.clear()
        super().notify_style_update()

    def on_mount(self) -> None:
        self._look_again()

    def on_show(self) -> None:
        self._look_again()

    def on_resize(self) -> None:
        self._items = {}
        self._picture = Picture()
        self._columns = range(0)
        self._look_again()

    # What one can do

    def action_go(self, direction: str) -> None:
        """Move to the next node in a direction."""
        target = self._next(direction)
        if target is not None:
            self._move_to(target)

    def action_choose(self) -> None:
        """Unfold what is folded; tell which task was chosen."""
        if self._cursor == FOLD:
            self.action_fold()
        elif (task := self.cursor) is not None:
            self.post_message(self.Chosen(self, task))

    def action_fold(self) -> None:
        """Fold what is done, or show it again."""
        self._gathering.folds = not self._gathering.folds
        self._look_again()
        self._layout_key = None
        self._paint(keep=False)
        self._show_cursor()

    def action_fit(self) -> None:
        """Draw as small as it takes to see all, or as large as before."""
        self._fits = not self._fits
        self._placement = Placement(LOOSE)
        self._paint(keep=False)
        self._centre_cursor()

    def action_centre(self) -> None:
        """Follow the work again."""
        self._follows = True
        self._follow_work()
        self._paint()
        self._centre_cursor()

    def on_click(self, event: events.Click) -> None:
        """Choose the node under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        x, y = offset + self.scroll_offset
        for key, box in self._picture.boxes.items():
            if box.holds(x, y):
                self._move_to(key)
                self.action_choose()
                return

    def _move_to(self, key: str) -> None:
        self._follows = False
        if key != self._cursor:
            self._cursor = key
            self._paint()
        self._show_cursor()

    def _show_cursor(self) -> None:
        box = self._picture.boxes.get(self._cursor) if self._cursor else None
        if box is not None:
            region = Region(box.x, box.y, box.width, box.height)
            if not self.drawn:  # the rows of a tree are read from their beginning
                region = Region(0, box.y, 1, box.height)
            self.scroll_to_region(region, animate=False, force=True)

    def _centre_cursor(self) -> None:
        """Bring the cursor's node into the middle, if it is not in sight as a whole."""
        box = self._picture.boxes.get(self._cursor) if self._cursor else None
        if box is None:
            return
        x, y = self.scroll_offset
        width, height = self.size
        if not self.drawn:
            self._show_cursor()
            return
        right, bottom = box.x + box.width - x, box.y + box.height - y
        if x <= box.x and right <= width and y <= box.y and bottom <= height:
            return
        self.scroll_to(
            max(0, box.x + (box.width - width) // 2),
            max(0, box.y + (box.height - height) // 2),
            animate=False,
            force=True,
        )

    def _next(self, direction: str) -> str | None:
        boxes = self._picture.boxes
        if self._cursor is None or self._cursor not in boxes:
            return next(iter(boxes), None)
        if self.drawn:
            return step_in_drawing(boxes, self._edges, self._cursor, direction)
        return step_in_tree(boxes, self._cursor, direction)
