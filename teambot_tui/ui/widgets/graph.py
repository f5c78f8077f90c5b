"""All tasks as a drawing of who feeds whom, live; where there is no room to draw, as an indented tree.

What is over and was used folds into one node, so that what goes on stays in sight. The drawing is laid out
again only when boxes or lines change, and only the rows in sight are painted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from teambot_tui.engine.board import State
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import Glyphs, duration
from teambot_tui.ui.layered import Box, Edge, Layout, Look, Node, lay_out, paint, without_circles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.style import Style
    from textual import events

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.ui.mirror import TaskView

_DRAWN_FROM: Final = 58
_TITLE: Final = 26
_ROOM: Final = 14
"""Every box has room for a state and a time, so that a running clock moves nothing."""
_FOLD: Final = "\0fold"
_FOLD_FROM: Final = 2
_AFTER: Final = "after"
_ENDED: Final = frozenset({State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED})
_HELP: Final = (
    ("No tasks yet.", "quiet"),
    ("", ""),
    ("@pm plan the release", "title"),
    ("starts a task.", "quiet"),
    ("", ""),
    ("@builder-1 build what $pm planned -> @reviewer check it", "title"),
    ("draws the first lines.", "quiet"),
)

Row = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Item:
    """A node as it is shown."""

    key: str
    state: str
    glyph: str
    title: str
    note: str
    task: TaskId | None = None


@dataclass(slots=True)
class _Picture:
    """What is painted so far, and where the nodes are."""

    rows: dict[int, Row] = field(default_factory=dict)
    boxes: Mapping[str, Box] = field(default_factory=dict)
    width: int = 0
    height: int = 0


class Graph(ScrollView, can_focus=True):
    """The drawing; it says which task was chosen."""

    DEFAULT_CSS = """
    Graph { height: 1fr; width: 1fr; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "graph--title",
        "graph--quiet",
        "graph--idle",
        "graph--cursor",
        "graph--edge",
        "graph--edge-met",
        "graph--edge-broken",
        "graph--edge-after",
        "graph--edge-near",
        *(f"graph--{state}" for state in State),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "go('up')", "Up", show=False),
        Binding("down,j", "go('down')", "Down", show=False),
        Binding("left,h", "go('left')", "Left", show=False),
        Binding("right,l", "go('right')", "Right", show=False),
        Binding("enter", "choose", "Inspect"),
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
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._glyphs = glyphs or Glyphs()
        self._tasks: tuple[TaskView, ...] = ()
        self._now: float | None = None
        self._folds = True
        self._items: dict[str, _Item] = {}
        self._edges: list[Edge] = []
        self._states: dict[str, State] = {}
        self._cursor: str | None = None
        self._layout_key: object = None
        self._placed = Layout()
        self._picture = _Picture()
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
        return _FOLD in self._items

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
        items, edges = self._gather()
        if items == self._items and edges == self._edges and self._picture.height:
            return
        self._items, self._edges = items, edges
        if self._cursor not in items:
            hidden = _FOLD in items and self._cursor in self._states
            self._cursor = _FOLD if hidden else next(iter(items), None)
        self._paint()

    def _gather(self) -> tuple[dict[str, _Item], list[Edge]]:
        """Return the nodes and the lines between them, what is finished folded."""
        states = {str(view.task): view.state for view in self._tasks}
        feeds: dict[str, list[State]] = {}
        for view in self._tasks:
            for source in view.sources:
                if source is not None:
                    feeds.setdefault(source, []).append(view.state)
        done = {
            str(view.task)
            for view in self._tasks
            if view.state is State.COMPLETED and all(state in _ENDED for state in feeds.get(view.task, ()))
        }
        if not self._folds or len(done) < _FOLD_FROM:
            done = set()
        items: dict[str, _Item] = {}
        if done:
            glyph = self._glyphs["completed"]
            items[_FOLD] = _Item(_FOLD, "completed", glyph, f"{len(done)} done", "Enter unfolds")
        for view in self._tasks:
            if view.task not in done:
                items[view.task] = self._item(view)
        labels: dict[tuple[str, str], dict[str, None]] = {}
        for view in self._tasks:
            if view.task in done:
                continue
            for dependency, source in zip(view.dependencies, view.sources, strict=True):
                origin = f"@{dependency.agent}" if source is None else str(source)
                if source is None and origin not in items:
                    items[origin] = _Item(
                        origin, "idle", self._glyphs["idle"], clip(origin, _TITLE), "no output yet"
                    )
                key = _FOLD if origin in done else origin
                labels.setdefault((key, view.task), {})[dependency.via.value] = None
        edges = [Edge(source, target, " ".join(via)) for (source, target), via in labels.items()]
        edges += [
            Edge(one, other, _AFTER, _AFTER) for one, other in self._in_turn() if (one, other) not in labels
        ]
        self._states = states
        return items, edges

    def _in_turn(self) -> Iterable[tuple[str, str]]:
        """Yield which task of an agent comes after which."""
        lanes: dict[str, list[TaskView]] = {}
        for view in self._tasks:
            if view.state not in _ENDED:
                lanes.setdefault(view.agent, []).append(view)
        for lane in lanes.values():
            lane.sort(key=lambda view: view.state is not State.EXECUTING)
            for one, other in pairwise(lane):
                yield one.task, other.task

    def _item(self, view: TaskView) -> _Item:
        return _Item(
            view.task,
            view.state.value,
            self._glyphs[view.state.value],
            clip(view.task, _TITLE, self._glyphs["ellipsis"]),
            clip(self._note(view), _TITLE, self._glyphs["ellipsis"]),
            view.task,
        )

    def _note(self, view: TaskView) -> str:
        match view.state:
            case State.WAITING if view.waiting_for:
                return f"waits @{','.join(view.waiting_for)}"
            case State.EXECUTING if self._now is not None:
                return f"executing {duration(self._now - view.started)}"
            case State.COMPLETED | State.FAILED if view.ended is not None and view.started:
                return f"{view.state} {duration(view.ended - view.started)}"
            case _:
                return view.state.value

    # How it is painted

    def _paint(self) -> None:
        if not self._items:
            self._picture = self._empty()
        elif self.drawn:
            self._picture = self._drawing()
        else:
            self._picture = self._tree()
        self._strips.clear()
        self.virtual_size = Size(self._picture.width, self._picture.height)
        self.refresh()

    def _drawing(self) -> _Picture:
        nodes = [
            Node(item.key, max(_ROOM, self._title_width(item), cell_len(item.note)))
            for item in self._items.values()
        ]
        key = (tuple(nodes), tuple(self._edges), self._room)
        if key != self._layout_key:
            self._layout_key = key
            self._placed = lay_out(nodes, self._edges, self._room - 1)
        # The rows are drawn when they come into sight.
        return _Picture({}, self._placed.boxes, self._placed.width, self._placed.height)

    def _row(self, number: int) -> Row:
        picture = self._picture
        if number not in picture.rows and number < picture.height:
            start = max(0, number - self.size.height // 2)
            end = min(picture.height, number + self.size.height + self.size.height // 2 + 1)
            for index, row in enumerate(self._painted(start, end), start):
                picture.rows[index] = row
        return picture.rows.get(number, [])

    def _painted(self, start: int, end: int) -> list[Row]:
        return paint(
            self._placed,
            self._node_look,
            self._edge_look,
            ascii_only=self._glyphs.ascii_only,
            start=start,
            end=max(start, end),
        )

    @staticmethod
    def _title_width(item: _Item) -> int:
        return cell_len(item.glyph) + 1 + cell_len(item.title)

    def _node_look(self, key: str) -> Look:
        item = self._items[key]
        here = key == self._cursor
        return Look(
            (((item.glyph, item.state), (" ", ""), (item.title, "title")), ((item.note, item.state),)),
            border="cursor" if here else item.state,
            heavy=here,
        )

    def _edge_look(self, edge: Edge) -> Look:
        dashed = edge.kind == _AFTER
        if self._cursor in (edge.source, edge.target):
            return Look(border="edge-near", dashed=dashed, heavy=True)
        return Look(border=self._edge_style(edge), dashed=dashed)

    def _edge_style(self, edge: Edge) -> str:
        if edge.kind == _AFTER:
            return "edge-after"
        match self._items[edge.source].state:
            case State.COMPLETED:
                return "edge-met"
            case State.FAILED | State.SKIPPED | State.CANCELLED:
                return "edge-broken"
            case _:
                return "edge"

    def _tree(self) -> _Picture:
        """Return the tasks as a tree: each one below the one it waits for, or the last one it needed."""
        kept = without_circles(dict.fromkeys(self._items), self._edges)
        arriving: dict[str, list[Edge]] = {}
        for edge in (edge for edges in kept.values() for edge in edges):
            arriving.setdefault(edge.target, []).append(edge)
        children: dict[str, list[Edge]] = {}
        for key in self._items:
            if edges := arriving.get(key):
                main = next(
                    (each for each in edges if self._items[each.source].state not in _ENDED), edges[-1]
                )
                children.setdefault(main.source, []).append(main)
        rows: dict[int, Row] = {}
        boxes: dict[str, Box] = {}
        roots = [key for key in self._items if key not in arriving]
        line: list[tuple[str, str, str, Edge | None]] = [(key, "", "", None) for key in reversed(roots)]
        while line:
            key, indent, branch, by = line.pop()
            row = self._tree_row(key, indent + branch, by, arriving.get(key, []))
            boxes[key] = Box(0, len(boxes), sum(cell_len(text) for text, _ in row), 1)
            rows[len(rows)] = row
            below = indent + ("" if by is None else self._rail(branch))
            some = children.get(key, [])
            for number, child in enumerate(reversed(some)):
                line.append((child.target, below, self._branch(last=number == 0), child))
        return _Picture(rows, boxes, max(box.width for box in boxes.values()), len(rows))

    def _branch(self, *, last: bool) -> str:
        if self._glyphs.ascii_only:
            return "`-" if last else "|-"
        return "╰─" if last else "├─"

    def _rail(self, branch: str) -> str:
        return "  " if branch == self._branch(last=True) else f"{branch[0] if branch[0] == '|' else '│'} "

    def _tree_row(self, key: str, rails: str, edge: Edge | None, arriving: Sequence[Edge]) -> Row:
        item = self._items[key]
        here = key == self._cursor
        row: Row = [(f"{self._glyphs['prompt']} " if here else "  ", "cursor"), (rails, "quiet")]
        if edge is not None:
            row.append((f"{edge.label} ", self._edge_style(edge)))
        row += [
            (f"{item.glyph} ", item.state),
            (f"{item.title} ", "cursor" if here else "title"),
            (item.note, item.state),
        ]
        others = [
            f"{other.label} {other.source}"
            for other in arriving
            if other is not edge and other.source != _FOLD
        ]
        if others:
            row.append((f"  +{', '.join(others)}", "quiet"))
        return row

    def _empty(self) -> _Picture:
        room = max(1, self._room)
        ellipsis = self._glyphs["ellipsis"]
        rows: list[Row] = [[]]
        for text, style in _HELP:
            line = clip(text, room - 2, ellipsis)
            rows.append([(" " * max(0, (min(room, 80) - cell_len(line)) // 2), ""), (line, style)])
        return _Picture(dict(enumerate(rows)), {}, room, len(rows))

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
        return self.get_component_rich_style(f"graph--{name}") if name else self.rich_style

    def notify_style_update(self) -> None:
        """Paint with the new styles."""
        self._strips.clear()
        super().notify_style_update()

    def on_mount(self) -> None:
        self._look_again()

    def on_resize(self) -> None:
        self._items = {}
        self._picture = _Picture()
        self._look_again()

    # What one can do

    def action_go(self, direction: str) -> None:
        """Move to the next node in a direction."""
        target = self._next(direction)
        if target is not None:
            self._move_to(target)

    def action_choose(self) -> None:
        """Unfold what is folded; tell which task was chosen."""
        if self._cursor == _FOLD:
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
        here = boxes.get(self._cursor) if self._cursor else None
        if here is None:
            return next(iter(boxes), None)
        if not self.drawn:
            keys = list(boxes)
            step = -1 if direction in ("up", "left") else 1
            number = keys.index(str(self._cursor)) + step
            return keys[number] if 0 <= number < len(keys) else None
        x, y = here.centre
        upright = direction in ("up", "down")
        forward = 1 if direction in ("down", "right") else -1
        if upright:
            ends = (
                (edge.target, edge.source) if forward > 0 else (edge.source, edge.target)
                for edge in self._edges
            )
            near = [far for far, near in ends if near == self._cursor and far in boxes]
            if near:
                return min(near, key=lambda key: (abs(boxes[key].y - here.y), abs(boxes[key].centre[0] - x)))
        best: tuple[int, str] | None = None
        for key, box in boxes.items():
            across, down = box.centre[0] - x, box.centre[1] - y
            ahead, aside = (down, abs(across)) if upright else (across, 4 * abs(down))
            if ahead * forward <= 0:
                continue
            distance = (4 * abs(ahead) if upright else abs(ahead)) + aside
            if best is None or distance < best[0]:
                best = (distance, key)
        return best[1] if best else None
