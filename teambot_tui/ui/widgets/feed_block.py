"""One task in the feed: its head, as much of its output as is unfolded, and where each row is.

A row has a place that survives what happens around it: rows that fall away at the front or are added behind
do not change the place of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.states import task_state
from teambot_tui.engine.text import printable
from teambot_tui.ui.widgets.feed_heads import (
    BLANK,
    Kind,
    Page,
    Row,
    fold_row,
    output_notes,
    role,
    statement_rows,
    task_rows,
)
from teambot_tui.ui.widgets.feed_text import Output, expand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.style import Style
    from textual.geometry import Offset

    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.widgets.feed_markdown import Parts

FOLDED_ROWS: Final = 8
HEAD: Final = -64
"""The place of the first row: those of the output are counted from zero."""
FOOT: Final = 1 << 31
_LINES: Final = 2 * FOOT


class Block:
    """A task and what it said."""

    def __init__(self, view: TaskView, output: Output) -> None:
        self.view = view
        self.output = output
        self.position = 0
        """Where it stands among those that are shown."""
        self._head: list[Row] = []
        self._foot: list[Row] = []
        self._shown = 0
        self._rendered: list[Parts] | None = None
        self._rendered_as: tuple[int, int] | None = None
        self._rendered_in: Mapping[str, Style] | None = None
        self._is_plain = True
        self._bar = ""
        self._request: bool | None = None
        self._settled = False
        self._folds = False
        self._can_fold = True

    def update(self, view: TaskView) -> None:
        """Take in what became of the task; one that is done again begins with an empty page."""
        old, self.view = self.view, view
        began_again = old.started and view.ended is None and view.started > old.started
        if (old.ended is not None and view.ended is None) or began_again:
            self.output = Output()
            self._request, self._settled, self._folds, self._rendered_as = None, False, False, None

    # Folding

    def settle(self, *, last: bool) -> None:
        """Let a finished block take its final look; the last one stays open."""
        self._settled = self.view.ended is not None
        self._folds = self._settled and not last

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

    def arrange(self, page: Page, styles: Mapping[str, Style], before: Block | None, *, plain: bool) -> None:
        """Make ready what is shown on this page, after another block or at the beginning."""
        self.output.lay_out(page.text_width)
        self._bar = page.bar
        self._is_plain = plain or not self._render(page, styles)
        total = self.output.rows if self._is_plain else len(self._rendered or ())
        self._can_fold = total > FOLDED_ROWS + 1
        folded = self.is_folded and self._can_fold
        self._shown = FOLDED_ROWS if folded else total
        self._foot = [fold_row(self.view, total - self._shown, page)] if folded else []
        opens = before is None or before.view.siblings != self.view.siblings
        apart = page.airy and before is not None and (opens or before.output.size > 0)
        self._head = [
            *([BLANK] if apart else []),
            *(statement_rows(self.view, page) if opens else []),
            *task_rows(self.view, page),
            *output_notes(self.view, self.output, page),
        ]

    def _render(self, page: Page, styles: Mapping[str, Style]) -> bool:
        if not self._settled or self.output.missing or not self.output.size:
            return False
        # Imported when there is something to show: the first picture has none and should not wait.
        from teambot_tui.ui.widgets.feed_markdown import CHARACTERS, render  # noqa: PLC0415

        if self.output.size > CHARACTERS:
            return False
        version = (page.text_width, self.output.size)
        if self._rendered_as != version or self._rendered_in is not styles:
            self._rendered = render(self.output.text, page.text_width, styles)
            self._rendered_as, self._rendered_in = version, styles
        return self._rendered is not None

    @property
    def height(self) -> int:
        """How many rows it has."""
        return len(self._head) + self._shown + len(self._foot)

    @property
    def _first(self) -> int:
        return self.output.first if self._is_plain else 0

    def place(self, index: int) -> int:
        """Return the place of a row, counted from the block's top."""
        if index < len(self._head):
            return HEAD + index
        index -= len(self._head)
        return self._first + index if index < self._shown else FOOT + index - self._shown

    def index(self, place: int) -> int:
        """Return where a place is, counted from the block's top; the nearest one if it is gone."""
        if place < 0:
            index = min(place - HEAD, len(self._head))
        elif place >= FOOT:
            index = len(self._head) + self._shown
        else:
            index = len(self._head) + max(0, place - self._first)
        return min(max(index, 0), self.height - 1)

    def row(self, index: int) -> Row:
        """Return a row, counted from the block's top."""
        if index < len(self._head):
            return self._head[index]
        inner = index - len(self._head)
        if inner >= self._shown:
            return self._foot[inner - self._shown]
        bar = (self._bar, role(task_state(self.view)))
        if not self._is_plain and self._rendered is not None:
            return Row(Kind.OUTPUT, (bar, *self._rendered[inner]), len(self._bar))
        text = printable(self.output.row(self._first + inner)).rstrip("\n")
        return Row(Kind.OUTPUT, (bar, (expand(text), "feed--output")), len(self._bar))

    def line(self, index: int) -> int:
        """Return a number for a row that grows from row to row and from block to block."""
        return self.position * _LINES + self.place(index) - HEAD

    def is_touched(self, start: Offset | None, end: Offset | None) -> bool:
        """Whether rows between these are among its own."""
        first = self.position * _LINES
        return (start is None or start.y < first + _LINES) and (end is None or end.y >= first)

    def read_at(self, place: int, page: Page) -> int | None:
        """Return what is read at a place, as a position in the text, if the rows are about to be others."""
        if place < 0 or not self._is_plain or self.output.is_laid_out(page.text_width):
            return None
        return self.output.start_of(place)

    def text_before(self, index: int) -> int:
        """Return how much of the text is above a row, as a position in it."""
        if (span := self.span(index)) is not None:
            return span[0]
        return self.output.missing + (self.output.size if self.place(index) >= FOOT else 0)

    def column(self, index: int, offset: int) -> int:
        """Return where in the shown row a character of the text is."""
        row = self.output.row(self._first + index - len(self._head))
        return len(expand(row[:offset]))

    def span(self, index: int) -> tuple[int, int] | None:
        """Return where in the text a row begins and ends; None if it is no part of the text."""
        inner = index - len(self._head)
        if not self._is_plain or not 0 <= inner < self._shown:
            return None
        start = self.output.start_of(self._first + inner)
        return start, start + len(self.output.row(self._first + inner))
