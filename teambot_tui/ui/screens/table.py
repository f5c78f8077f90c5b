"""A table over the session: live while it is open, filtered, sorted, with keys for the row at its cursor.

It knows no task and no agent: what its rows say and what its keys do is given to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from teambot_tui.ui.keys import bindings, bound
from teambot_tui.ui.widgets.table import TableLines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.keys import Keys
    from teambot_tui.ui.table_rows import Column, TableRow

_BEAT: Final = 0.25
_LEAST: Final = 6
"""For so many rows there is always room: a table that grows does not move what is over it."""
_AROUND: Final = 6  # its frame, the head of its columns, the line to filter, and two for its keys


@dataclass(frozen=True, slots=True)
class TableSetup:
    """What a table shows, and what is done with the row at its cursor."""

    title: str
    columns: Sequence[Column]
    rows: Callable[[], Sequence[TableRow]]
    """The rows as they are now, in the order in which they are shown unless they are sorted."""
    nothing: str
    """What is said where there are none."""
    opens: str
    """What Enter does, in a word."""
    open: Callable[[TableRow], None]
    acts: Mapping[str, Callable[[TableRow], None]]
    """What other keys do, by the names of the actions."""
    stays: bool = False
    """Whether it stays open when a row is opened."""
    starts_at: str = ""
    """The key of the row at which the cursor begins, if that is not the first."""


class TableScreen(ModalScreen[None]):
    """Shows a table."""

    AUTO_FOCUS = ""  # the keys are the screen's
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("tables"),
        bound("back", "close"),
        bound("tasks", "dismiss"),
        bound("inspect", "open"),
        bound("up", "step(-1)"),
        bound("down", "step(1)"),
        bound("scroll-up", "page(-1)"),
        bound("scroll-down", "page(1)"),
        bound("oldest", "end(0)"),
        bound("follow", "end(-1)"),
        bound("filter", "filter"),
        *(bound(name, f"act({name!r})") for name in ("cancel", "retry", "again", "copy", "compare")),
    ]

    def __init__(self, table: TableSetup, glyphs: Glyphs, keys: Keys) -> None:
        super().__init__()
        self._table = table
        self._glyphs = glyphs
        self._keys = keys
        self._all: Sequence[TableRow] = ()
        self._rows: Sequence[TableRow] = ()
        self._wanted = ""
        self._sorted_by: int | None = None
        self._cursor = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog table"):
            yield TableLines(self._table.columns, self._glyphs, self._table.nothing)
            yield Input(placeholder="show only rows with", compact=True, id="table-filter")
            yield Static(self._hint(), id="table-keys", markup=False)

    def on_mount(self) -> None:
        self.refresh_rows()
        if self._table.starts_at:
            self._go(next((i for i, row in enumerate(self._rows) if row.key == self._table.starts_at), 0))
        self.set_interval(_BEAT, self.refresh_rows)

    # What is shown

    @property
    def rows(self) -> Sequence[TableRow]:
        """The rows that are shown, in their order."""
        return self._rows

    @property
    def chosen(self) -> TableRow | None:
        """The row at the cursor."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    def refresh_rows(self) -> None:
        """Show the rows as they are now; the cursor stays on its row, wherever that has gone."""
        rows = self._table.rows()
        if rows != self._all:
            self._all = rows
            self.query_one(".table").styles.height = max(_LEAST, len(rows)) + _AROUND
            self._arrange()

    def _arrange(self) -> None:
        here = self.chosen
        words = self._wanted.casefold().split()
        rows = [
            row
            for row in self._all
            if not words
            or all(word in " ".join(cell.text for cell in row.cells).casefold() for word in words)
        ]
        if (column := self._sorted_by) is not None:
            is_downwards = self._table.columns[column].right  # of numbers, the largest matter
            rows.sort(key=lambda row: row.cells[column].rank, reverse=is_downwards)
        self._rows = rows
        places = (index for index, row in enumerate(rows) if here is not None and row.key == here.key)
        self._cursor = next(places, min(self._cursor, max(0, len(rows) - 1)))
        self._draw()

    def _draw(self) -> None:
        self.query_one(TableLines).show(self._rows, self._cursor, self._sorted_by)
        where = f"{self._cursor + 1}/{len(self._rows)}" if self._rows else "0"
        of = f" of {len(self._all)}" if len(self._rows) != len(self._all) else ""
        self.query_one(".table", Vertical).border_title = Content(f"{self._table.title} {where}{of}")

    def _hint(self) -> Content:
        named = [
            (self._keys.said("inspect"), self._table.opens),
            *((self._keys.said(name), name) for name in self._table.acts),
            (self._keys.said("filter"), "filter"),
            (self._keys.said("sort"), "sort"),
            (self._keys.said("back"), "close"),
        ]
        hints = (Content(key).stylize("bold") + Content(f"\N{NO-BREAK SPACE}{words}") for key, words in named)
        return Content("  ").join(hints)

    # Keys

    def action_step(self, by: int) -> None:
        """Go to the next row, or the one before."""
        self._go(self._cursor + by)

    def action_page(self, by: int) -> None:
        """Go as many rows on as are in sight."""
        self._go(self._cursor + by * self.query_one(TableLines).page)

    def action_end(self, end: int) -> None:
        """Go to the first row, or the last."""
        self._go(0 if end == 0 else len(self._rows) - 1)

    def _go(self, cursor: int) -> None:
        self._cursor = min(max(0, cursor), max(0, len(self._rows) - 1))
        self._draw()

    def action_open(self) -> None:
        """Do what the table is for with the row at the cursor."""
        if (row := self.chosen) is None:
            return
        if not self._table.stays:
            self.dismiss()
        self._table.open(row)
        if self._table.stays:
            self.refresh_rows()

    def action_act(self, name: str) -> None:
        """Do what another key does with the row at the cursor."""
        if (row := self.chosen) is not None and (act := self._table.acts.get(name)) is not None:
            act(row)

    def action_sort(self) -> None:
        """Sort by the next column; after the last one, not at all."""
        self._sort(0 if self._sorted_by is None else self._sorted_by + 1)

    def _sort(self, column: int) -> None:
        self._sorted_by = column if column < len(self._table.columns) else None
        self._arrange()

    def action_filter(self) -> None:
        """Open the line that says which rows to show."""
        self.add_class("-filtering")
        self.query_one(Input).focus()

    def action_close(self) -> None:
        """Show all rows again, else close."""
        if self.has_class("-filtering"):
            self.remove_class("-filtering")
            self.query_one(Input).clear()
            self.set_focus(None)
        else:
            self.dismiss()

    def on_input_changed(self, message: Input.Changed) -> None:
        self._wanted = message.value
        self._arrange()

    def on_input_submitted(self) -> None:
        """Go from the line to the rows that it found; they stay as they are."""
        self.set_focus(None)

    def on_table_lines_chosen(self, message: TableLines.Chosen) -> None:
        self._go(message.index)
        if message.opens:
            self.action_open()

    def on_table_lines_head_chosen(self, message: TableLines.HeadChosen) -> None:
        self._sort(len(self._table.columns) if self._sorted_by == message.column else message.column)
