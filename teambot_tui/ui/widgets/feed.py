"""The output of the team: what was asked, and one block for each task that works or did.

It follows the work: what executes is in sight until somebody scrolls up. Text is put on a list when it
arrives and becomes rows when a frame is asked for, and only where the frame shows it. It is data, never
markup.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Final

from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import agent_of
from teambot_tui.ui.keys import bound
from teambot_tui.ui.widgets.feed_block import Block, Item, Statement, has_block, is_touched
from teambot_tui.ui.widgets.feed_find import Search, Sieve
from teambot_tui.ui.widgets.feed_heads import Kind, Page, Row
from teambot_tui.ui.widgets.feed_paint import ROLES, Painter, stylize
from teambot_tui.ui.widgets.feed_text import Output
from teambot_tui.ui.widgets.feed_view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType
    from textual.geometry import Region
    from textual.selection import Selection

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.glyphs import Glyphs

_WIDEST: Final = 110
_AIRY: Final = 20
_WHEEL: Final = 3
_MARKED_FROM: Final = 3
"""Fewer rows are too few to give one away."""


class Feed(Widget, can_focus=True):
    """Shows what was asked, what became of it, and what was answered."""

    DEFAULT_CSS = "Feed { width: 1fr; height: 1fr; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = set(ROLES)
    BINDINGS: ClassVar[list[BindingType]] = [
        bound("up", "move(-1)"),
        bound("down", "move(1)"),
        bound("inspect", "choose"),
        bound("scroll-up", "page(-1)"),
        bound("scroll-down", "page(1)"),
        bound("oldest", "to_start"),
        bound("follow", "to_end"),
        bound("address", "address"),
        bound("use-output", "use_output"),
        bound("edit-again", "edit_again"),
    ]

    follow: reactive[bool] = reactive(True, init=False)
    """Whether the work is kept in view."""

    class Chosen(Message):
        """A block was clicked on or entered."""

        def __init__(self, task: TaskId) -> None:
            super().__init__()
            self.task = task

    class FollowChanged(Message):
        """The feed began or ceased to follow the newest."""

        def __init__(self, follow: bool) -> None:
            super().__init__()
            self.follow = follow

    class DraftRequested(Message):
        """The person wants to write about a task: the input is to hold this text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, glyphs: Glyphs, clock: Callable[[], float] | None = None) -> None:
        super().__init__(id="output")
        self._glyphs = glyphs
        self._clock = clock
        self._statements: dict[TaskId, Statement] = {}
        self._next_order = 0
        self._blocks: dict[TaskId, Block] = {}
        self._views: dict[TaskId, TaskView] = {}
        self._skipped: dict[TaskId, dict[TaskId, None]] = {}
        self._early: dict[TaskId, Output] = {}
        self._sieve = Sieve()
        self._view = View(self._arrange)
        self._cursor: Item | None = None
        self._search: Search | None = None
        self._page = Page(0, False, glyphs, self._state_of, self._skipped_by)
        self._wall_clock_ahead = 0.0
        self._painter = Painter(self, glyphs)
        self._is_stale = False
        """Whether a frame that shows what was said has been asked for already."""
        self._drawn: list[tuple[Strip, Item, Row]] = []
        """The rows of the last frame: until the next one the mouse points at them, whatever happens."""

    # What is shown

    def say(self, task: TaskId, text: str) -> None:
        """Take in more of what a task says."""
        block = self._blocks.get(task)
        if block is None:
            self._early.setdefault(task, Output()).append(text)
            return
        block.output.append(text)
        if not self._is_stale and block in self._view.seen:
            self._is_stale = True
            self.refresh()

    def follow_wall_clock(self, ahead: float) -> None:
        """Show times of day by a wall clock that is so many seconds ahead of the session's."""
        set_anew = abs(ahead - self._wall_clock_ahead) >= 1  # it was set, and is right now
        if set_anew:
            self._wall_clock_ahead = ahead
        if set_anew or self._view.live:
            self.refresh()

    def show_task(self, view: TaskView) -> None:
        """Take in a new task, or what became of one."""
        self._take_in(view)
        self.refresh()

    def show_activity(self, view: TaskView) -> None:
        """Take in what a task does besides talking; out of sight it costs nothing."""
        self._take_in(view)
        block = self._blocks.get(view.task)
        if block is not None and block in self._view.seen:
            self.refresh()

    def _take_in(self, view: TaskView) -> None:
        statement = self._statements.get(view.siblings[0])
        if statement is None:
            statement = self._statements[view.siblings[0]] = Statement(view, self._next_order)
            self._next_order += len(view.siblings) + 1
        old = self._views.get(view.task)
        if old is not None and old.cause is not None:
            self._skipped[old.cause].pop(view.task, None)
        if view.cause is not None and view.state is State.SKIPPED:
            self._skipped.setdefault(view.cause, {})[view.task] = None
        self._views[view.task] = view
        statement.update(view)
        block = self._blocks.get(view.task)
        if block is not None:
            block.update(view)
        elif has_block(view):
            output = self._early.pop(view.task, None) or Output()
            block = self._blocks[view.task] = Block(view, output, statement)
        if block is not None:
            if has_block(view) and self._sieve.lets_through(block):
                self._view.add(block)
                self._view.add(statement)
            elif not has_block(view):
                self._view.remove(block)
        if self._sieve.lets_through_task(view, statement):
            self._view.add(statement)

    def choose(self, agent: AgentId | None) -> None:
        """Show all tasks, or one agent's."""
        if agent != self._sieve.agent:
            self._sieve.agent = agent
            self._sift()
            if self._search is not None:
                self._search.at = None
            self.to_end()

    def clear(self) -> None:
        """Take off what has ended."""
        self._blocks = {task: block for task, block in self._blocks.items() if block.view.ended is None}
        self._statements = {task: each for task, each in self._statements.items() if not each.is_over}
        kept = {task for each in self._statements.values() for task in each.views}
        self._views = {task: view for task, view in self._views.items() if task in kept}
        self._sift()
        self.to_end()

    def _sift(self) -> None:
        items: dict[Item, None] = {}
        for statement in self._statements.values():
            if any(self._sieve.lets_through_task(view, statement) for view in statement.views.values()):
                items[statement] = None
        for block in self._blocks.values():
            if has_block(block.view) and self._sieve.lets_through(block):
                items[block] = items[block.statement] = None
        self._view.show(items)
        self._cursor = None

    def toggle_fold(self, task: TaskId) -> None:
        """Fold a block, or unfold it; if it is in view, it stays there. One that executes is shown whole."""
        block = self._blocks.get(task)
        if block is None:
            return
        if block.is_live and self.follow:
            self._arrange(block)
            if block.height > 1:
                self._view.scroll_to((self._view.number(block), 0))
                self._scrolled()
        elif block in self._view.seen:
            self._view.keep(block, block.toggle)
            self._scrolled()
        else:
            block.toggle()

    def text_of(self, task: TaskId) -> str:
        """Return what a task has said, as far as it is kept here."""
        block = self._blocks.get(task)
        output = block.output if block is not None else self._early.get(task)
        return output.text if output is not None else ""

    @property
    def cursor(self) -> TaskId | None:
        """The task that keys act on: the newest, until one is chosen."""
        item = self._at_cursor()
        return item.task if item is not None else None

    def _at_cursor(self) -> Item | None:
        if self._cursor is not None and self._cursor in self._view and self._cursor.task is not None:
            return self._cursor
        return self._next_stop(len(self._view.items), -1)

    def _next_stop(self, number: int, step: int) -> Item | None:
        """Return the next item that stands for a task, before or after one."""
        number += step
        while 0 <= number < len(self._view.items):
            if self._view.items[number].task is not None:
                return self._view.items[number]
            number += step
        return None

    # Scrolling

    def page(self, direction: int) -> None:
        """Scroll by a page, keeping a row of the last one."""
        self.scroll_rows(direction * max(1, self.size.height - 1))

    def scroll_rows(self, rows: int) -> None:
        """Scroll down, or up where the number is negative."""
        if self._view.items and (rows < 0 or not self.follow):
            self._turn_page()
            self._view.scroll_to(self._view.walk(self._view.top(), rows))
            self._scrolled()

    def to_end(self) -> None:
        """Follow the work, or show the newest where nothing executes."""
        self._view.hook = None
        self._cursor = None
        self._scrolled()

    def to_start(self) -> None:
        """Show the oldest."""
        if self._view.items:
            self._view.scroll_to((0, 0))
            self._scrolled()

    def _scrolled(self) -> None:
        self.follow = self._view.hook is None
        self.refresh()

    def watch_follow(self, follow: bool) -> None:
        if follow:
            self._view.hook = None
        elif self._view.hook is None and self._view.items:
            self._view.hang_on(self._view.top())
        self.post_message(self.FollowChanged(follow))

    # Finding

    def find(self, text: str) -> int:
        """Look for a text in what is shown of all tasks; return how often it is there."""
        self._search = Search(text) if text else None
        self.refresh()
        return sum(len(self._search.matches(block)) for block in self._shown_blocks()) if self._search else 0

    def _shown_blocks(self) -> list[Block]:
        return [item for item in self._view.items if isinstance(item, Block)]

    @property
    def found(self) -> tuple[int, int]:
        """Which match is at hand, counted from 1 or 0 for none, and how many there are."""
        return self._search.count(self._shown_blocks()) if self._search else (0, 0)

    @property
    def filtered(self) -> tuple[int, int]:
        """How many tasks the filter leaves, and of how many."""
        agent = self._sieve.agent
        every = sum(agent in (None, block.view.agent) for block in self._blocks.values())
        return len(self._shown_blocks()), every

    def find_next(self, direction: int = 1) -> None:
        """Go to the next match, or back to the one before, unfolding what hides it."""
        view, search, blocks = self._view, self._search, self._shown_blocks()
        if search is None or not blocks:
            return
        number, index = view.top()
        item = view.items[number]
        start = sum(block.order < item.order for block in blocks)
        search.move(blocks, (start, item.text_before(index) if isinstance(item, Block) else 0), direction)
        if search.at is None:
            return
        block, position = search.at
        block.unfold()
        self._cursor = block
        self._arrange(block)
        row = block.index(block.output.row_at(position))
        view.hang_on(view.walk((view.number(block), row), -(self.size.height // 3)))
        self._scrolled()

    def filter(self, text: str) -> int:
        """Show only the tasks whose output or statement has a text; return how many there are."""
        self._search = self._sieve.about = Search(text) if text else None
        self._sift()
        self.to_end()
        return self._count()

    def filter_again(self) -> int | None:
        """Let in what has come to speak of the text since then; return how many there are now."""
        if self._sieve.about is None:
            return None
        at, kept = self._cursor, self._view.hook
        self._sift()
        self._cursor = at if at is not None and at in self._view else None
        self._view.hook = kept if kept is not None and kept[0] in self._view else None
        self.refresh()
        return self._count()

    def _count(self) -> int:
        return sum(item.task is not None for item in self._view.items)

    def stop_find(self) -> None:
        """Look for nothing any more, and show everything again."""
        self._search = None
        if self._sieve.about is not None:
            self._sieve.about = None
            self._sift()
            self.to_end()
        self.refresh()

    # Keys and mouse

    def action_move(self, step: int) -> None:
        """Go to the block before or after."""
        at = self._at_cursor()
        if at is None:
            return
        item = self._next_stop(self._view.number(at), step)
        if item is not None:
            self._view.bring_in(item)
            self._cursor = item
            self._scrolled()
        elif step > 0:
            self.to_end()

    def action_choose(self) -> None:
        """Fold or unfold the block at hand, and say that it was chosen."""
        if (task := self.cursor) is not None:
            self.toggle_fold(task)
            self.post_message(self.Chosen(task))

    def action_address(self) -> None:
        """Begin a task for the agent at hand."""
        name = f"{agent_of(self.cursor)} " if self.cursor is not None else ""
        self.post_message(self.DraftRequested(f"@{name}"))

    def action_use_output(self) -> None:
        """Begin a statement that uses the output of the agent at hand."""
        if (task := self.cursor) is not None:
            self.post_message(self.DraftRequested(f"${agent_of(task)} "))

    def action_edit_again(self) -> None:
        """Have the statement at hand to change it and submit it again."""
        if (task := self.cursor) is not None:
            self.post_message(self.DraftRequested(self._views[task].statement))

    def action_page(self, direction: int) -> None:
        """Scroll by a page."""
        self.page(direction)

    def action_to_start(self) -> None:
        """Show the oldest."""
        self.to_start()

    def action_to_end(self) -> None:
        """Follow the newest."""
        self.to_end()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._drawn) or self.text_selection is not None:
            return
        _, item, row = self._drawn[offset.y]
        task = item.task or item.view.task
        if item.task is not None:
            self._cursor = item
        if row.kind in (Kind.HEAD, Kind.FOLD) and not (isinstance(item, Block) and item.is_live):
            self.toggle_fold(task)
        self.refresh()
        self.post_message(self.Chosen(task))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(_WHEEL)

    # Selecting

    def text_select_all(self) -> None:
        """Select nothing: who clicks twice does not want to copy a whole session."""

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text without what is drawn around it."""
        lines: list[str] = []
        for item in self._view.items:
            if not is_touched(item, selection.start, selection.end):
                continue
            self._arrange(item)
            for index in range(item.height):
                if (span := selection.get_span(item.line(index))) is not None:
                    row = item.row(index)
                    start, end = (max(0, each - row.gutter) if each >= 0 else None for each in span)
                    lines.append(row.text[start:end].rstrip())
        return "\n".join(lines), "\n"

    # Drawing

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.forget()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the rows in sight.

        Textual would put them into a frame, which the feed has not, and make new strips in every frame of the
        screen. The same strips again remember what they look like, wherever they have scrolled to.
        """
        self._is_stale = False
        self._turn_page()
        self._view.compose()
        self._drawn = [(self._draw(item, index), item, item.row(index)) for item, index in self._view.rows]
        if not self.follow and len(self._drawn) > _MARKED_FROM:
            self._mark_position()
        _, background = self.background_colors
        filters = self.get_line_filters()
        strips = []
        for y in crop.line_range:
            strip = self.render_line(y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip.crop(*crop.column_span))
        return strips

    def render_line(self, y: int) -> Strip:
        if y < len(self._drawn):
            return self._drawn[y][0]
        return Strip.blank(self.size.width, self.rich_style)

    def _mark_position(self) -> None:
        """Say where this is: a scrollbar that counts tasks, and how many are below."""
        items, height = self._view.items, len(self._drawn)
        first, last = (self._view.number(self._drawn[at][1]) for at in (0, -1))
        begin = first * height // len(items)
        end = max(begin + 1, (last + 1) * height // len(items))
        for y, (strip, item, row) in enumerate(self._drawn):
            self._drawn[y] = (self._painter.mark_place(strip, is_here=begin <= y < end), item, row)
        strip, item, row = self._drawn[-1]
        below = len(items) - last - 1
        self._drawn[-1] = (self._painter.mark_below(strip, below), item, row)

    def _draw(self, item: Item, index: int) -> Strip:
        row = item.row(index)
        has_cursor = (
            self.has_focus
            and item is self._at_cursor()
            and (row.kind is Kind.HEAD or (row.kind is Kind.STATEMENT and item.height - item.opening == 1))
        )
        strip = self._painter.strip(row, has_cursor=has_cursor)
        for start, end, style in self._marks(item, index, row):
            strip = stylize(strip, start, end, style)
        return strip.apply_offsets(0, item.line(index))

    def _marks(self, item: Item, index: int, row: Row) -> Iterator[tuple[int, int, Style]]:
        """What is found or selected in a row."""
        if self._search is not None and isinstance(item, Block) and (span := item.span(index)) is not None:
            for start, end, is_here in self._search.within(item, *span):
                first, last = (row.gutter + item.column(index, each - span[0]) for each in (start, end))
                yield first, last, self._painter.styles["feed--found-here" if is_here else "feed--found"]
        if (selection := self.text_selection) is not None:
            selected = selection.get_span(item.line(index))
            if selected is not None:
                end = selected[1] if selected[1] >= 0 else row.gutter + len(row.text)
                style = self.screen.get_component_rich_style("screen--selection")
                yield max(selected[0], row.gutter), end, style

    def _turn_page(self) -> None:
        """Follow the size of the widget and the time of day."""
        width, height = self.size
        width, airy = max(0, min(width - 1, _WIDEST)), height >= _AIRY  # a column is the scrollbar's
        self._view.height = height
        now = math.floor(self._clock()) if self._clock is not None else None
        page = self._page
        if (page.width, page.airy, page.wall_clock_ahead, page.now) != (
            width,
            airy,
            self._wall_clock_ahead,
            now,
        ):
            self._page = page._replace(
                width=width, airy=airy, wall_clock_ahead=self._wall_clock_ahead, now=now
            )

    def _arrange(self, item: Item) -> None:
        """Make an item ready to be looked at; what is in view keeps its look while the user reads."""
        view, hook = self._view, self._view.hook
        if isinstance(item, Statement):
            item.arrange(self._page, is_first=not view.items or view.items[0] is item)
            return
        if hook is None or item not in view.seen:
            item.settle(last=not view.live and bool(view.items) and view.items[-1] is item)
        read = item.read_at(hook[1], self._page) if hook is not None and hook[0] is item else None
        item.arrange(self._page, apart=self._stands_apart(item))
        if read is not None:
            view.hook = (item, item.output.row_at(read))

    def _stands_apart(self, block: Block) -> bool:
        """Whether there is a blank row above it: not below a statement that has one line."""
        number = self._view.number(block)
        before = self._view.items[number - 1] if number else None
        if isinstance(before, Statement):
            self._arrange(before)
            return before.height - before.opening > 1
        return before is not None

    def _state_of(self, task: TaskId) -> State | None:
        view = self._views.get(task)
        return view.state if view is not None else None

    def _skipped_by(self, task: TaskId) -> Iterable[TaskId]:
        return self._skipped.get(task, ())
