"""What the feed is made of: statements, and under each the tasks of it that have started, with their output.

Each has an order that never changes, and a row has a place in it that survives what happens around it: rows
that fall away at the front or are added behind do not change the place of the others.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from teambot_tui.engine.board import State
from teambot_tui.engine.states import task_state
from teambot_tui.ui.widgets.feed_heads import (
    BLANK,
    Kind,
    Page,
    Row,
    first_in_strip,
    fold_row,
    output_notes,
    pending_row,
    role,
    skipped_row,
    statement_row,
    strip_row,
    task_rows,
)
from teambot_tui.ui.widgets.feed_text import Output

if TYPE_CHECKING:
    from textual.geometry import Offset

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView

FOLDED_ROWS: Final = 4
HEAD: Final = -64
"""The place of the first row: those of the output are counted from zero."""
FOOT: Final = 1 << 31
_LINES: Final = 2 * FOOT
_STRIP: Final = 12
"""So many stages are always shown from the first."""


def has_block(view: TaskView) -> bool:
    """Whether a task has something to show of its own: it works, or it did."""
    return view.state in (State.EXECUTING, State.COMPLETED, State.FAILED) or (
        view.state is State.CANCELLED and view.started > 0
    )


class Statement:
    """What was submitted at once: its line, and one for its tasks that have no block."""

    def __init__(self, view: TaskView, order: int) -> None:
        self.view = view
        self.order = order
        self.orders = {task: order + 1 + number for number, task in enumerate(view.siblings)}
        """The order of each of its tasks."""
        self.views: dict[TaskId, TaskView] = {}
        self._counts: Counter[State] = Counter()
        self._skipped: dict[TaskId | None, dict[TaskId, str]] = {}
        self._first_unfinished = 0
        self._blocks = 0
        self._ended: float = 0.0
        self._rows: list[Row] = []

    def update(self, view: TaskView) -> None:
        """Take in what became of one of its tasks."""
        old = self.views.get(view.task)
        if old is not None:
            self._counts[old.state] -= 1
            self._blocks -= has_block(old)
            if old.state is State.SKIPPED:
                self._skipped.get(old.cause, {}).pop(view.task, None)
        self.views[view.task] = view
        self._counts[view.state] += 1
        self._blocks += has_block(view)
        if view.state is State.SKIPPED:
            self._skipped.setdefault(view.cause, {})[view.task] = view.reason
        if view.ended is not None:
            self._ended = max(self._ended, view.ended)
        else:
            number = self.orders.get(view.task, self.order + 1) - self.order - 1
            self._first_unfinished = min(self._first_unfinished, number)

    @property
    def is_over(self) -> bool:
        """Whether all its tasks have ended."""
        return not self.unfinished and len(self.views) >= len(self.view.siblings)

    @property
    def unfinished(self) -> int:
        """How many of its tasks have not ended."""
        return sum(self._counts[state] for state in (State.QUEUED, State.WAITING, State.EXECUTING))

    @property
    def task(self) -> TaskId | None:
        """The task that keys act on, if it has no block to stand for it."""
        if self._blocks:
            return None
        return next((task for task, view in self.views.items() if view.ended is None), self.view.task)

    def arrange(self, page: Page, *, is_first: bool) -> None:
        """Make ready what is shown on this page."""
        view, count = self.view, len(self.view.siblings)
        rows = [] if is_first or not page.airy else [BLANK]
        last = self._ended if not self.unfinished else page.now
        seconds = None if last is None else last - view.created
        rows.append(statement_row(view, self._counts, seconds, page))
        if count == 1:
            only = self.views.get(view.task, view)
            if not has_block(only):
                rows.append(pending_row(only, page))
        elif self._blocks + self._counts[State.SKIPPED] < count:
            rows.append(self._strip(page))
        if count > 1:
            for cause, tasks in self._skipped.items():
                if tasks:
                    rows.append(skipped_row(cause, tasks, next(iter(tasks.values())), page))
        self._rows = rows

    def _strip(self, page: Page) -> Row:
        siblings = self.view.siblings
        while self._first_unfinished < len(siblings):
            view = self.views.get(siblings[self._first_unfinished])
            if view is None or view.state is not State.COMPLETED:
                break
            self._first_unfinished += 1
        first = first_in_strip(self._first_unfinished, _STRIP)
        stages = (self.views.get(task) for task in islice(siblings, first, None))
        return strip_row(stages, len(siblings), first, page)

    @property
    def height(self) -> int:
        """How many rows it has."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """Return a row, counted from its top."""
        return self._rows[index]

    def place(self, index: int) -> int:
        """Return the place of a row, counted from its top."""
        return index

    def index(self, place: int) -> int:
        """Return where a place is, counted from its top; the nearest one if it is gone."""
        return min(max(place, 0), max(0, len(self._rows) - 1))

    def line(self, index: int) -> int:
        """Return a number for a row that grows from row to row and from item to item."""
        return self.order * _LINES + index

    @property
    def opening(self) -> int:
        """How many rows at the top are blank."""
        return int(bool(self._rows) and self._rows[0] is BLANK)


class Block:
    """A task and what it said."""

    def __init__(self, view: TaskView, output: Output, statement: Statement) -> None:
        self.view = view
        self.output = output
        self.statement = statement
        self.order = statement.orders.get(view.task, statement.order + 1)
        self._head: list[Row] = []
        self._page: Page | None = None
        self._told: TaskView | None = None
        self._around: tuple[object, ...] = ()
        self._foot: list[Row] = []
        self._shown = 0
        self._bar = ""
        self._look = ""
        self._request: bool | None = None
        self._folds = False
        self._can_fold = True

    def update(self, view: TaskView) -> None:
        """Take in what became of the task; one that is done again begins with an empty page."""
        old, self.view = self.view, view
        began_again = old.started and view.ended is None and view.started > old.started
        if (old.ended is not None and view.ended is None) or began_again:
            self.output = Output()
            self._request, self._folds = None, False

    @property
    def task(self) -> TaskId:
        """The task that keys act on."""
        return self.view.task

    @property
    def is_live(self) -> bool:
        """Whether it executes."""
        return self.view.state is State.EXECUTING

    # Folding

    def settle(self, *, last: bool) -> None:
        """Let a finished block take its final look; the last one stays open."""
        self._folds = self.view.ended is not None and not last

    @property
    def is_folded(self) -> bool:
        """Whether only the first rows are shown, if there are more."""
        return self._folds if self._request is None else self._request

    def toggle(self) -> None:
        """Fold or unfold it, if there is anything to hide."""
        if self._can_fold:
            self._request = not self.is_folded

    def unfold(self) -> None:
        """Show all of it."""
        self._request = False

    # Rows

    def arrange(self, page: Page, *, apart: bool) -> None:
        """Make ready what is shown on this page."""
        self.output.lay_out(page.text_width)
        self._bar = page.bar
        self._look = role(task_state(self.view))
        total = self.output.rows
        self._can_fold = total > FOLDED_ROWS + 1
        folded = self.is_folded and self._can_fold
        self._shown = FOLDED_ROWS if folded else total
        while folded and self._shown > 1 and self.output.is_blank(self.output.first + self._shown - 1):
            self._shown -= 1
        self._foot = [fold_row(self.view, total - self._shown, page)] if folded else []
        around = (
            apart,
            self.output.missing,
            self.output.size > 0,
            tuple(page.state_of(source) for source in self.view.sources if source is not None),
            tuple(page.skipped_by(self.view.task)),
        )
        if self._page is not page or self._told is not self.view or self._around != around:
            self._page, self._told, self._around = page, self.view, around
            self._head = [
                *([BLANK] if page.airy and apart else []),
                *task_rows(self.view, page, has_words=len(self.view.siblings) > 1),
                *output_notes(self.view, self.output, page),
            ]

    @property
    def height(self) -> int:
        """How many rows it has."""
        return len(self._head) + self._shown + len(self._foot)

    @property
    def head_height(self) -> int:
        """How many of them stand above the output."""
        return len(self._head)

    @property
    def shown(self) -> int:
        """How many rows of the output are shown."""
        return self._shown

    @property
    def opening(self) -> int:
        """How many rows at the top are blank."""
        return int(bool(self._head) and self._head[0] is BLANK)

    def place(self, index: int) -> int:
        """Return the place of a row, counted from the block's top."""
        if index < len(self._head):
            return HEAD + index
        index -= len(self._head)
        return self.output.first + index if index < self._shown else FOOT + index - self._shown

    def index(self, place: int) -> int:
        """Return where a place is, counted from the block's top; the nearest one if it is gone."""
        if place < 0:
            index = min(place - HEAD, len(self._head))
        elif place >= FOOT:
            index = len(self._head) + self._shown
        else:
            index = len(self._head) + max(0, place - self.output.first)
        return min(max(index, 0), self.height - 1)

    def row(self, index: int) -> Row:
        """Return a row, counted from the block's top."""
        if index < len(self._head):
            return self._head[index]
        inner = index - len(self._head)
        if inner >= self._shown:
            return self._foot[inner - self._shown]
        return Row(
            Kind.OUTPUT,
            ((self._bar, self._look), *self.output.parts(self.output.first + inner)),
            len(self._bar),
        )

    def line(self, index: int) -> int:
        """Return a number for a row that grows from row to row and from item to item."""
        return self.order * _LINES + self.place(index) - HEAD

    def read_at(self, place: int, page: Page) -> int | None:
        """Return what is read at a place, as a position in the text, if the rows are about to be others."""
        if place < 0 or self.output.is_laid_out(page.text_width):
            return None
        return self.output.start_of(place)

    def text_before(self, index: int) -> int:
        """Return how much of the text is above a row, as a position in it."""
        if (span := self.span(index)) is not None:
            return span[0]
        return self.output.missing + (self.output.size if self.place(index) >= FOOT else 0)

    def column(self, index: int, offset: int) -> int:
        """Return where in the shown row a character of the text is."""
        return self.output.column(self.output.first + index - len(self._head), offset)

    def span(self, index: int) -> tuple[int, int] | None:
        """Return where in the text a row begins and ends; None if it is no part of the text."""
        inner = index - len(self._head)
        if not 0 <= inner < self._shown:
            return None
        start = self.output.start_of(self.output.first + inner)
        return start, start + len(self.output.row(self.output.first + inner))


Item: TypeAlias = Statement | Block


def is_touched(item: Item, start: Offset | None, end: Offset | None) -> bool:
    """Whether rows between these are among an item's own."""
    first = item.order * _LINES
    return (start is None or start.y < first + _LINES) and (end is None or end.y >= first)
