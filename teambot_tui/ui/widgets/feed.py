"""The output of the team, one block per task in order of submission, however much and fast it comes.

Text is put on a list when it arrives and becomes rows when a frame is asked for, and only where the frame
shows it. It is data, never markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from teambot_tui.ui.keys import bound
from teambot_tui.ui.widgets.feed_block import Block
from teambot_tui.ui.widgets.feed_find import Search, Sieve
from teambot_tui.ui.widgets.feed_heads import Kind, Page, Row
from teambot_tui.ui.widgets.feed_paint import ROLES, Painter, stylize
from teambot_tui.ui.widgets.feed_text import Output
from teambot_tui.ui.widgets.feed_view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType
    from textual.geometry import Region
    from textual.selection import Selection

    from teambot_tui.engine.board import State
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
    ]

    follow: reactive[bool] = reactive(True, init=False)
    """Whether the newest is kept in view."""

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

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="output")
        self._glyphs = glyphs
        self._blocks: dict[TaskId, Block] = {}
        self._early: dict[TaskId, Output] = {}
        self._sieve = Sieve()
        self._view = View(self._arrange)
        self._cursor: Block | None = None
        self._search: Search | None = None
        self._page = Page(0, False, glyphs, self._state_of)
        self._wall_clock_ahead = 0.0
        self._painter = Painter(self, glyphs)
        self._drawn: list[tuple[Strip, Block, Row]] = []
        """The rows of the last frame: until the next one the mouse points at them, whatever happens."""

    # What is shown

    def say(self, task: TaskId, text: str) -> None:
        """Take in more of what a task says."""
        block = self._blocks.get(task)
        if block is None:
            self._early.setdefault(task, Output()).append(text)
            return
        block.output.append(text)
        if block in self._view.seen:
            self.refresh()

    def follow_wall_clock(self, ahead: float) -> None:
        """Show times of day by a wall clock that is so many seconds ahead of the session's."""
        if abs(ahead - self._wall_clock_ahead) >= 1:  # it was set, and is right now
            self._wall_clock_ahead = ahead
            self.refresh()

    def show_task(self, view: TaskView) -> None:
        """Take in a new task, or what became of one."""
        block = self._blocks.get(view.task)
        if block is not None:
            block.update(view)
        else:
            block = self._blocks[view.task] = Block(view, self._early.pop(view.task, Output()))
            if self._sieve.lets_through(block):
                self._view.add(block)
        self.refresh()

    def show_activity(self, view: TaskView) -> None:
        """Take in what a task does besides talking; out of sight it costs nothing."""
        block = self._blocks.get(view.task)
        if block is not None:
            block.update(view)
            if block in self._view.seen:
                self.refresh()

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
        self._sift()
        self.to_end()

    def _sift(self) -> None:
        self._view.show([block for block in self._blocks.values() if self._sieve.lets_through(block)])
        self._cursor = None

    def toggle_fold(self, task: TaskId) -> None:
        """Fold a block, or unfold it; if it is in view, it stays there."""
        block = self._blocks[task]
        if block in self._view.seen:
            self._view.keep(block, block.toggle)
            self._scrolled()
        else:
            block.toggle()

    def text_of(self, task: TaskId) -> str:
        """Return what a task has said, as far as it is kept here."""
        return self._blocks[task].output.text

    @property
    def cursor(self) -> TaskId | None:
        """The task that keys act on: the newest, until one is chosen."""
        blocks = self._view.blocks
        block = self._cursor or (blocks[-1] if blocks else None)
        return block.view.task if block else None

    # Scrolling

    def page(self, direction: int) -> None:
        """Scroll by a page, keeping a row of the last one."""
        self.scroll_rows(direction * max(1, self.size.height - 1))

    def scroll_rows(self, rows: int) -> None:
        """Scroll down, or up where the number is negative."""
        if self._view.blocks:
            self._view.scroll_to(self._view.walk(self._view.top(), rows))
            self._scrolled()

    def to_end(self) -> None:
        """Show the newest, and follow it."""
        self._view.hook = None
        self._scrolled()

    def to_start(self) -> None:
        """Show the oldest."""
        if self._view.blocks:
            self._view.scroll_to((0, 0))
            self._scrolled()

    def _scrolled(self) -> None:
        self.follow = self._view.hook is None
        self.refresh()

    def watch_follow(self, follow: bool) -> None:
        if follow:
            self._view.hook = None
        elif self._view.hook is None and self._view.blocks:
            self._view.hang_on(self._view.top())
        self.post_message(self.FollowChanged(follow))

    # Finding

    def find(self, text: str) -> int:
        """Look for a text in what is shown of all tasks; return how often it is there."""
        self._search = Search(text) if text else None
        self.refresh()
        return sum(len(self._search.matches(block)) for block in self._view.blocks) if self._search else 0

    @property
    def found(self) -> tuple[int, int]:
        """Which match is at hand, counted from 1 or 0 for none, and how many there are."""
        return self._search.count(self._view.blocks) if self._search else (0, 0)

    @property
    def filtered(self) -> tuple[int, int]:
        """How many tasks the filter leaves, and of how many."""
        agent = self._sieve.agent
        every = sum(agent in (None, block.view.agent) for block in self._blocks.values())
        return len(self._view.blocks), every

    def find_next(self, direction: int = 1) -> None:
        """Go to the next match, or back to the one before, unfolding what hides it."""
        view, search = self._view, self._search
        if search is None or not view.blocks:
            return
        number, index = view.top()
        search.move(view.blocks, (number, view.blocks[number].text_before(index)), direction)
        if search.at is None:
            return
        block, position = search.at
        block.unfold()
        self._cursor = block
        self._arrange(block)
        row = block.index(block.output.row_at(position))
        view.hang_on(view.walk((block.position, row), -(self.size.height // 3)))
        self._scrolled()

    def filter(self, text: str) -> int:
        """Show only the tasks whose output or statement has a text; return how many there are."""
        self._search = self._sieve.about = Search(text) if text else None
        self._sift()
        self.to_end()
        return len(self._view.blocks)

    def filter_again(self) -> int | None:
        """Let in what has come to speak of the text since then; return how many there are now."""
        if self._sieve.about is None:
            return None
        at, kept = self._cursor, self._view.hook
        self._sift()
        self._cursor = at if at in self._view.blocks else None
        self._view.hook = kept if kept is not None and kept[0] in self._view.blocks else None
        self.refresh()
        return len(self._view.blocks)

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
        blocks = self._view.blocks
        if not blocks:
            return
        position = (self._cursor or blocks[-1]).position + step
        if position >= len(blocks):
            self.to_end()
        elif position >= 0:
            self._cursor = blocks[position]
            self._view.bring_in(blocks[position])
            self._scrolled()

    def action_choose(self) -> None:
        """Fold or unfold the block at hand, and say that it was chosen."""
        if (task := self.cursor) is not None:
            self.toggle_fold(task)
            self.post_message(self.Chosen(task))

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
        _, block, row = self._drawn[offset.y]
        self._cursor = block
        if row.kind in (Kind.HEAD, Kind.FOLD):
            self.toggle_fold(block.view.task)
        self.refresh()
        self.post_message(self.Chosen(block.view.task))

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
        for block in self._view.blocks:
            if not block.is_touched(selection.start, selection.end):
                continue
            self._arrange(block)
            for index in range(block.height):
                if (span := selection.get_span(block.line(index))) is not None:
                    row = block.row(index)
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
        self._turn_page()
        self._view.compose()
        self._drawn = [
            (self._draw(block, index), block, block.row(index)) for block, index in self._view.rows
        ]
        if not self.follow and len(self._drawn) > _MARKED_FROM:
            strip, block, row = self._drawn[-1]
            tasks = len(self._view.blocks) - block.position - 1
            self._drawn[-1] = (self._painter.mark_below(strip, tasks), block, row)
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

    def _draw(self, block: Block, index: int) -> Strip:
        row = block.row(index)
        has_cursor = self.has_focus and row.kind is Kind.HEAD and block.view.task == self.cursor
        strip = self._painter.strip(row, has_cursor=has_cursor)
        for start, end, style in self._marks(block, index, row):
            strip = stylize(strip, start, end, style)
        return strip.apply_offsets(0, block.line(index))

    def _marks(self, block: Block, index: int, row: Row) -> Iterator[tuple[int, int, Style]]:
        """What is found or selected in a row."""
        if self._search is not None and (span := block.span(index)) is not None:
            for start, end, is_here in self._search.within(block, *span):
                first, last = (row.gutter + block.column(index, each - span[0]) for each in (start, end))
                yield first, last, self._painter.styles["feed--found-here" if is_here else "feed--found"]
        if (selection := self.text_selection) is not None:
            selected = selection.get_span(block.line(index))
            if selected is not None:
                end = selected[1] if selected[1] >= 0 else row.gutter + len(row.text)
                style = self.screen.get_component_rich_style("screen--selection")
                yield max(selected[0], row.gutter), end, style

    def _turn_page(self) -> None:
        """Follow the size of the widget and the time of day."""
        width, height = self.size
        width, airy = min(width, _WIDEST), height >= _AIRY
        self._view.height = height
        ahead = self._wall_clock_ahead
        if (self._page.width, self._page.airy, self._page.wall_clock_ahead) != (width, airy, ahead):
            self._page = Page(width, airy, self._glyphs, self._state_of, ahead)

    def _arrange(self, block: Block) -> None:
        """Make a block ready to be looked at; what is in view keeps its look while the user reads."""
        self._turn_page()
        blocks, hook = self._view.blocks, self._view.hook
        if hook is None or block not in self._view.seen:
            block.settle(last=block.position == len(blocks) - 1)
        read = block.read_at(hook[1], self._page) if hook is not None and hook[0] is block else None
        before = blocks[block.position - 1] if block.position else None
        plain = self._search is not None and bool(self._search.matches(block))
        block.arrange(self._page, self._painter.styles, before, plain=plain)
        if read is not None:
            self._view.hook = (block, block.output.row_at(read))

    def _state_of(self, task: TaskId) -> State | None:
        block = self._blocks.get(task)
        return block.view.state if block else None
