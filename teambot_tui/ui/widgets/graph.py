"""All tasks as a drawing of who feeds whom, live; where there is no room to draw, as an indented tree.

The drawing is laid out again only when boxes or lines change, and only the rows in sight are painted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from teambot_tui.engine.states import STATES, Role, role_of
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.graph.layout import lay_out
from teambot_tui.ui.graph.painting import Look, draw
from teambot_tui.ui.graph.shapes import Layout, Node
from teambot_tui.ui.keys import bound
from teambot_tui.ui.widgets.graph_items import AFTER, FOLD, gather
from teambot_tui.ui.widgets.graph_picture import Picture, edge_style, picture_of_nothing, tree
from teambot_tui.ui.widgets.graph_steps import step_in_drawing, step_in_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.graph.shapes import Box, Edge
    from teambot_tui.ui.widgets.graph_items import Item
    from teambot_tui.ui.widgets.graph_picture import Row

_DRAWN_FROM: Final = 58
_ROOM: Final = 14
"""Every box has room for a state and a time, so that a running clock moves nothing."""


class Graph(ScrollView, can_focus=True):
    """The drawing; it says which task was chosen."""

    DEFAULT_CSS = """
    Graph { height: 1fr; width: 1fr; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "graph--title",
        "graph--cursor",
        "graph--edge",
        "graph--edge-met",
        "graph--edge-broken",
        "graph--edge-after",
        "graph--edge-near",
        *(f"graph--{role}" for role in Role),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        bound("up", "go('up')"),
        bound("down", "go('down')"),
        bound("left", "go('left')"),
        bound("right", "go('right')"),
        bound("inspect", "choose"),
        Binding("space", "fold", "Fold"),
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
        most: int = 12,
    ) -> None:
        """Make a graph in which, of more tasks than `most`, the finished ones fold."""
        super().__init__(id=id, classes=classes)
        self._most = most
        self._glyphs = glyphs or Glyphs()
        self._tasks: tuple[TaskView, ...] = ()
        self._now: float | None = None
        self._folds = True
        self._items: dict[str, Item] = {}
        self._edges: list[Edge] = []
        self._cursor: str | None = None
        self._layout_key: object = None
        self._placed = Layout()
        self._picture = Picture()
        self._strips: dict[int, Strip] = {}

    # What is shown

    def show(self, tasks: Sequence[TaskView], now: float | None = None) -> None:
        """Show these tasks as they are; `now` lets the clocks of the executing ones run."""
        shown = tuple(tasks)
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
        rows = [self._row(number) for number in range(self._picture.height)]
        return "\n".join("".join(text for text, _ in row) for row in rows)

    @property
    def drawn(self) -> bool:
        """Whether there is room for the drawing."""
        return self._room >= _DRAWN_FROM

    @property
    def folded(self) -> bool:
        """Whether finished tasks are out of sight."""
        return FOLD in self._items

    def box(self, task: TaskId) -> Box | None:
        """Where a task is in the picture."""
        return self._picture.boxes.get(task)

    @property
    def _room(self) -> int:
        # Scrollbars do not count: one that comes and goes must not turn the drawing into a tree and back.
        return self.outer_size.width - self.styles.gutter.width

    def _look_again(self) -> None:
        if not self.is_attached or not self.size:
            return
        items, edges = self._gathered()
        if items == self._items and edges == self._edges and self._picture.height:
            return
        self._items, self._edges = items, edges
        if self._cursor not in items:
            hidden = FOLD in items and any(view.task == self._cursor for view in self._tasks)
            self._cursor = FOLD if hidden else next(iter(items), None)
        self._paint()

    def _gathered(self) -> tuple[dict[str, Item], list[Edge]]:
        return gather(self._tasks, self._glyphs, self._now, most=self._most if self._folds else None)

    # How it is painted

    def _paint(self) -> None:
        if not self._items:
            self._picture = picture_of_nothing(max(1, self._room), self._glyphs["ellipsis"])
        elif self.drawn:
            self._picture = self._drawing()
        else:
            self._picture = tree(self._items, self._edges, self._cursor, self._glyphs)
        self._strips.clear()
        # Its place does not depend on what it shows: a new size is news to the scrollbars only, not a layout.
        self.set_reactive(Graph.virtual_size, Size(self._picture.width, self._picture.height))
        self._scroll_update(self.virtual_size)
        self.refresh()

    def _drawing(self) -> Picture:
        nodes = [
            Node(item.key, max(_ROOM, cell_len(f"{item.glyph} {item.title}"), cell_len(item.note)))
            for item in self._items.values()
        ]
        key = (tuple(nodes), tuple(self._edges), self._room)
        if key != self._layout_key:
            self._layout_key = key
            self._placed = lay_out(nodes, self._edges, self._room - 1)
        # The rows are drawn when they come into sight.
        return Picture({}, self._placed.boxes, self._placed.width, self._placed.height)

    def _row(self, number: int) -> Row:
        picture = self._picture
        if number not in picture.rows and number < picture.height:
            start = max(0, number - self.size.height // 2)
            end = min(picture.height, number + self.size.height + self.size.height // 2 + 1)
            for index, row in enumerate(self._painted(start, end), start):
                picture.rows[index] = row
        return picture.rows.get(number, [])

    def _painted(self, start: int, end: int) -> list[Row]:
        ascii_only = self._glyphs.ascii_only
        canvas = draw(
            self._placed, self._node_look, self._edge_look, ascii_only=ascii_only, start=start, end=end
        )
        return canvas.rows(start, end)

    def _node_look(self, key: str) -> Look:
        item = self._items[key]
        here = key == self._cursor
        return Look(
            (((item.glyph, item.state), (" ", ""), (item.title, "title")), ((item.note, item.state),)),
            border="cursor" if here else item.state,
            heavy=here,
        )

    def _edge_look(self, edge: Edge) -> Look:
        dashed = edge.kind == AFTER
        if self._cursor in (edge.source, edge.target):
            return Look(border="edge-near", dashed=dashed, heavy=True)
        return Look(border=edge_style(edge, self._items), dashed=dashed)

    def render_line(self, y: int) -> Strip:
        """Return a row in sight."""
        scroll_x, scroll_y = self.scroll_offset
        number = y + scroll_y
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

    def on_resize(self) -> None:
        self._items = {}
        self._picture = Picture()
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
        """Fold what is finished, or show it again."""
        self._folds = not self._folds
        self._look_again()
        self._show_cursor()

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
        if key != self._cursor:
            self._cursor = key
            self._paint()
        self._show_cursor()

    def _show_cursor(self) -> None:
        box = self._picture.boxes.get(self._cursor) if self._cursor else None
        if box is not None:
            self.scroll_to_region(Region(box.x, box.y, box.width, box.height), animate=False, force=True)

    def _next(self, direction: str) -> str | None:
        boxes = self._picture.boxes
        if self._cursor is None or self._cursor not in boxes:
            return next(iter(boxes), None)
        if self.drawn:
            return step_in_drawing(boxes, self._edges, self._cursor, direction)
        return step_in_tree(boxes, self._cursor, direction)
