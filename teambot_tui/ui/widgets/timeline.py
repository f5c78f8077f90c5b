"""Who did what when: a row for each agent, its work, its waits, and when it needed the person, live.

What is shown is made again when it is drawn, so never while nobody can see it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from teambot_tui.engine.spans import Spent
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import Glyphs, duration, money, tokens
from teambot_tui.ui.keys import bound
from teambot_tui.ui.lanes import TimeTable, names_of, time_table, waited_for
from teambot_tui.ui.widgets.graph_items import ENDED, title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.lanes import AgentRow, Bar

_HEAD: Final = 3
"""Rows above the first agent: the summary, a blank one, the times."""
_FOOT: Final = 2
"""Rows below the last one: what is at the cursor, and what the signs mean."""
_NAME: Final = 14
_TICK: Final = 10
"""Cells between two times at least."""
_NARROW: Final = 60

Row = list[tuple[str, str]]


class Timeline(Widget, can_focus=True):
    """The timeline; it says which task was chosen."""

    DEFAULT_CSS = """
    Timeline { height: 1fr; width: 1fr; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"timeline--{name}"
        for name in (
            [
                "title",
                "quiet",
                "name",
                "numbers",
                "rule",
                "working",
                "critical",
                "waiting",
                "asking",
                "failed",
                "failed-critical",
                "cursor",
            ]
        )
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        bound("up", "go_lane(-1)"),
        bound("down", "go_lane(1)"),
        bound("left", "go(-1)"),
        bound("right", "go(1)"),
        bound("inspect", "choose"),
        bound("timeline", "screen.press('timeline')"),
    ]

    class Chosen(Message):
        """Someone wants to see this task."""

        def __init__(self, timeline: Timeline, task: TaskId) -> None:
            super().__init__()
            self.timeline = timeline
            self.task = task

        @property
        def control(self) -> Timeline:
            """The timeline."""
            return self.timeline

    def __init__(
        self,
        glyphs: Glyphs | None = None,
        *,
        id: str | None = "timeline",  # noqa: A002  as every widget calls it
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs or Glyphs()
        self._clock = clock
        self._tasks: tuple[TaskView, ...] = ()
        self._now = 0.0
        self._table: TimeTable | None = None
        """None when it has to be made again."""
        self._left = 0
        """Where the bars begin."""
        self._room = 1
        """Cells for the bars."""
        self._rows: dict[int, Row] = {}
        self._cursor: TaskId | None = None
        self._top = 0
        """The first agent in sight."""

    # What is shown

    def show(self, tasks: Sequence[TaskView], now: float | None = None) -> None:
        """Show these tasks as they are; what goes on reaches until `now`."""
        self._tasks = tuple(tasks)
        self._now = now if now is not None else self._clock() if self._clock is not None else self._now
        self._make_again()

    def tick(self) -> None:
        """Let what goes on go on."""
        if self._clock is not None and any(view.state not in ENDED for view in self._tasks):
            self.show(self._tasks)

    @property
    def cursor(self) -> TaskId | None:
        """The task the cursor is on."""
        return self._cursor

    @property
    def text(self) -> str:
        """The picture as plain text."""
        return "\n".join("".join(text for text, _ in self._row(y)).rstrip() for y in range(self.size.height))

    def on_resize(self) -> None:
        self._make_again()

    def _make_again(self) -> None:
        self._table = None
        self._rows.clear()
        self.refresh()

    @property
    def _shown(self) -> TimeTable:
        if self._table is None:
            self._table = time_table(self._tasks, self._now)
            lanes = self._table.lanes
            self._left = 2 + min(_NAME, max((cell_len(lane.agent) for lane in lanes), default=0))
            numbers = 2 + max((cell_len(self._numbers(lane)) for lane in lanes), default=0)
            self._room = max(1, self.size.width - self._left - numbers)
            if all(view.task != self._cursor for view in self._tasks):
                self._cursor = self._tasks[-1].task if self._tasks else None
        return self._table

    # How it is painted

    @property
    def _step(self) -> int:
        """Rows from one agent to the next."""
        return 2 if _HEAD + 2 * len(self._shown.lanes) + _FOOT <= self.size.height else 1

    @property
    def _visible(self) -> int:
        """How many agents are in sight."""
        return max(1, (self.size.height - _HEAD - _FOOT) // self._step)

    def _column(self, time: float) -> int:
        scale = self._shown.scale  # before the room, which follows from it
        return self._left + min(self._room - 1, int(scale.at(time) * self._room / scale.total))

    def _row(self, y: int) -> Row:
        row = self._rows.get(y)
        if row is None:
            row = self._rows[y] = self._made(y)
        return row

    def _made(self, y: int) -> Row:
        if not self._shown.lanes:
            return [("No tasks yet.", "quiet")] if y == 0 else []
        if y == 0:
            return self._summary()
        if y == _HEAD - 1:
            return self._times()
        if y == self.size.height - 2:
            return self._at_cursor()
        if y == self.size.height - 1:
            return self._legend()
        number, within = divmod(y - _HEAD, self._step)
        if y < _HEAD or number >= self._visible or self._top + number >= len(self._shown.lanes):
            return []
        return self._lane(self._shown.lanes[self._top + number]) if within == 0 else self._rule()

    def _summary(self) -> Row:
        table, dot = self._shown, f" {self._glyphs['dot']} "
        clauses = [f"{duration(table.scale.total)} in all"]
        if table.critical_seconds:
            clauses.append(f"critical path {duration(table.critical_seconds)}")
        if table.needed_seconds:
            clauses.append(f"you were needed {duration(table.needed_seconds)}")
        if (wait := table.longest_wait) is not None:
            seconds = duration(wait.seconds)
            whom = f"{wait.view.agent} {self._glyphs['waiting']} {names_of(wait.span.agents)}"
            clauses.append(f"longest wait {whom} {seconds}")
        return [
            ("timeline", "title"),
            ("   ", ""),
            (clip(dot.join(clauses), self.size.width - 11, self._glyphs["ellipsis"]), "quiet"),
        ]

    def _times(self) -> Row:
        cells = _Cells(self.size.width)
        for tick, x in self._ticks():
            cells.put(x, duration(tick), "quiet")
        return cells.row()

    def _ticks(self) -> list[tuple[float, int]]:
        scale = self._shown.scale
        total, room = scale.total, self._room
        ticks = scale.ticks(room // _TICK)
        return [
            (tick, self._left + int(tick * room / total)) for tick in ticks if tick * room / total <= room - 4
        ]

    def _rule(self) -> Row:
        cells = _Cells(self.size.width)
        self._put_rules(cells)
        return cells.row()

    def _put_rules(self, cells: _Cells) -> None:
        for _, x in self._ticks():
            cells.put(x, ":" if self._glyphs.ascii_only else "┊", "rule")

    def _lane(self, lane: AgentRow) -> Row:
        cells = _Cells(self.size.width)
        cells.put(0, clip(lane.agent, _NAME, self._glyphs["ellipsis"]), "name")
        self._put_rules(cells)
        ordered = sorted(lane.bars, key=lambda bar: (bar.span.spent is not Spent.WAITING, bar.is_critical))
        for bar in ordered:
            self._put_bar(cells, bar)
        self._put_titles(cells, lane)
        numbers = self._numbers(lane)
        cells.put(self.size.width - cell_len(numbers), numbers, "numbers")
        return cells.row()

    def _put_bar(self, cells: _Cells, bar: Bar) -> None:
        start = self._column(bar.span.start)
        length = max(1, self._column(bar.end) - start)
        here = bar.view.task == self._cursor
        signs = ("=", ".", "?", "x") if self._glyphs.ascii_only else (" ", "╌", "▒", " ")
        if bar.span.spent is Spent.WAITING:
            cells.put(start, signs[1] * length, "cursor-line" if here else "waiting")
        elif bar.span.spent is Spent.NEEDING_YOU:
            cells.put(start, signs[2] * length, "asking")
        else:
            cells.put(start, signs[3 if bar.span.failed else 0] * length, self._style_of(bar))

    def _style_of(self, bar: Bar) -> str:
        if bar.view.task == self._cursor:
            return "cursor"
        if bar.span.failed:
            return "failed-critical" if bar.is_critical else "failed"
        return "critical" if bar.is_critical else "working"

    def _put_titles(self, cells: _Cells, lane: AgentRow) -> None:
        """Write on every bar whose it is, or for whom it waits, as far as there is room."""
        ellipsis, told = self._glyphs["ellipsis"], ""
        for bar in lane.bars:
            start = self._column(bar.span.start)
            room = self._column(bar.end) - start - 2
            if bar.span.spent is Spent.WAITING and bar.span.agents:
                words = clip(names_of(bar.span.agents), room - 2, ellipsis)
                if len(words) > len(ellipsis):
                    cells.put(start + 1, f" {words} ", "waiting")
            elif bar.span.spent is Spent.WORKING and told != bar.view.task:
                mark = f"{self._glyphs['failed']} " if bar.span.failed else ""
                words = clip(f"{mark}{title(bar.view)}", room, ellipsis)
                told = "" if bar.span.failed else bar.view.task
                if len(words) > len(mark):
                    cells.put(start + 1, words, self._style_of(bar))

    def _numbers(self, lane: AgentRow) -> str:
        if self.size.width < _NARROW:
            return ""
        known = [tokens(lane.tokens)] if lane.tokens else []
        if lane.cost is not None:
            known.append(money(lane.cost))
        return "  ".join(known)

    def _at_cursor(self) -> Row:
        view = next((view for view in self._tasks if view.task == self._cursor), None)
        if view is None:
            return []
        clauses = [f"{self._glyphs['asking' if view.requests else view.state.value]} {view.agent}"]
        spent = dict.fromkeys(Spent, 0.0)
        for span in view.spans:
            spent[span.spent] += span.seconds(self._now)
        if spent[Spent.WORKING]:
            clauses.append(f"worked {duration(spent[Spent.WORKING])}")
        if spent[Spent.WAITING]:
            whom = names_of(waited_for(view))
            clauses.append(f"waited {duration(spent[Spent.WAITING])}{f' for {whom}' if whom else ''}")
        if spent[Spent.NEEDING_YOU]:
            clauses.append(f"needed you {duration(spent[Spent.NEEDING_YOU])}")
        ellipsis, width = self._glyphs["ellipsis"], self.size.width
        words = clip(f" {self._glyphs['dot']} ".join(clauses), width, ellipsis)
        name = clip(title(view), width - cell_len(words) - 2, ellipsis)
        return [(name, "title"), ("  " if name else "", ""), (words, "quiet")]

    def _legend(self) -> Row:
        ascii_only = self._glyphs.ascii_only
        working, waiting, asking, failed = "=.?x" if ascii_only else " ╌▒ "
        return [
            (working, "critical"),
            (" critical path  ", "quiet"),
            (working, "working"),
            (" working  ", "quiet"),
            (waiting, "waiting"),
            (" waiting  ", "quiet"),
            (asking, "asking"),
            (" needed you  ", "quiet"),
            (failed, "failed-critical"),
            (" failed", "quiet"),
        ]

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        segments = [Segment(text, self._style(style)) for text, style in self._row(y)]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)

    def _style(self, name: str) -> Style:
        if name == "cursor-line":
            return self.get_component_rich_style("timeline--title")
        return self.get_component_rich_style(f"timeline--{name}") if name else self.rich_style

    # What one can do

    def action_choose(self) -> None:
        """Tell which task was chosen."""
        if self._cursor is not None:
            self.post_message(self.Chosen(self, self._cursor))

    def action_go(self, by: int) -> None:
        """Move to the next task of the agent."""
        lane = self._lane_of_cursor()
        if lane is None:
            return
        tasks = list(dict.fromkeys(bar.view.task for bar in self._shown.lanes[lane].bars))
        if self._cursor in tasks:
            number = tasks.index(self._cursor) + by
            self._move_to(tasks[min(max(number, 0), len(tasks) - 1)])

    def action_go_lane(self, by: int) -> None:
        """Move to another agent, to what it did at the same time."""
        lane = self._lane_of_cursor()
        if lane is None:
            return
        here = next((bar for bar in self._shown.lanes[lane].bars if bar.view.task == self._cursor), None)
        time = here.span.start if here is not None else 0.0
        number = lane + by
        while 0 <= number < len(self._shown.lanes):
            if bars := self._shown.lanes[number].bars:
                self._move_to(min(bars, key=lambda bar: abs(bar.span.start - time)).view.task)
                return
            number += by

    def on_click(self, event: events.Click) -> None:
        """Choose the task under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        number, within = divmod(offset.y - _HEAD, self._step)
        if within or not 0 <= number < self._visible or self._top + number >= len(self._shown.lanes):
            return
        for bar in reversed(self._shown.lanes[self._top + number].bars):
            start = self._column(bar.span.start)
            if start <= offset.x < max(start + 1, self._column(bar.end)):
                self._move_to(bar.view.task)
                self.action_choose()
                return

    def _lane_of_cursor(self) -> int | None:
        agent = next((view.agent for view in self._tasks if view.task == self._cursor), None)
        lanes = self._shown.lanes
        return next((number for number, lane in enumerate(lanes) if lane.agent == agent), None)

    def _move_to(self, task: TaskId) -> None:
        self._cursor = task
        lane = self._lane_of_cursor() or 0
        self._top = min(max(self._top, lane - self._visible + 1), lane)
        self._rows.clear()
        self.refresh()


class _Cells:
    """A row of cells; what is put later covers what is there."""

    def __init__(self, width: int) -> None:
        self._cells: list[tuple[str, str]] = [(" ", "")] * width

    def put(self, x: int, text: str, style: str) -> None:
        for character in text:
            cells = cell_len(character)
            if not cells:
                continue
            if x < 0 or x + cells > len(self._cells):
                return
            self._cells[x] = (character, style)
            for covered in range(1, cells):
                self._cells[x + covered] = ("", style)
            x += cells

    def row(self) -> Row:
        row: Row = []
        for text, style in self._cells:
            if row and row[-1][1] == style:
                row[-1] = (row[-1][0] + text, style)
            else:
                row.append((text, style))
        return row
