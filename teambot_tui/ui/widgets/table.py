"""Rows in columns under a head: however many there are, only those in sight are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from teambot_tui.engine.states import Role
from teambot_tui.ui.canvas import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events

    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.table_rows import Cell, Column, TableRow

_GAP: Final = 2
_WIDEST: Final = 28
_LEAST: Final = 16
"""What the column that fills keeps, before spare ones go."""
_ROLES: Final = ("strong", *Role)


class TableLines(ScrollView, can_focus=False):
    """Shows the rows; a cursor is on one of them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--head",
        "table--cursor",
        "table--note",
        *(f"table--{role}" for role in _ROLES),
    }

    class Chosen(Message):
        """The mouse went to a row; `opens` if it was meant to be opened."""

        def __init__(self, index: int, *, opens: bool) -> None:
            super().__init__()
            self.index = index
            self.opens = opens

    class HeadChosen(Message):
        """The mouse was at the head of a column."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(self, columns: Sequence[Column], glyphs: Glyphs, nothing: str) -> None:
        super().__init__()
        self._columns = columns
        self._glyphs = glyphs
        self._nothing = nothing
        self._rows: Sequence[TableRow] = ()
        self._cursor = 0
        self._sorted_by: int | None = None
        self._natural: list[int] = [cell_len(column.title) for column in columns]
        """How wide each column would like to be."""

    def show(self, rows: Sequence[TableRow], cursor: int, sorted_by: int | None) -> None:
        """Show these rows."""
        if rows != self._rows or sorted_by != self._sorted_by:
            self._rows, self._sorted_by = rows, sorted_by
            self._natural = [
                min(
                    _WIDEST,
                    max([cell_len(column.title) + 2, *(cell_len(row.cells[place].text) for row in rows)]),
                )
                for place, column in enumerate(self._columns)
            ]
            self.virtual_size = Size(0, len(rows) + 1)
            self.refresh()
        self.go(cursor)

    def go(self, cursor: int) -> None:
        """Put the cursor on a row, and bring it into sight."""
        if cursor != self._cursor:
            self._cursor = cursor
            self.refresh()
        room = self.page
        top = self.scroll_offset.y
        wanted = min(max(top, cursor - room + 1), cursor)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        self.go(self._cursor)

    @property
    def page(self) -> int:
        """How many rows are in sight at once."""
        return max(1, self.scrollable_content_region.height - 1)

    def render_line(self, y: int) -> Strip:
        """Return the head, or a row."""
        width = self.scrollable_content_region.width
        base = self.rich_style
        if y == 0:
            style = base + self.get_component_rich_style("table--head", partial=True)
            heads = [(self._head(place), style) for place in range(len(self._columns))]
            return self._draw(heads, width, style)
        index = self.scroll_offset.y + y - 1
        if not self._rows and y == 1:
            style = base + self.get_component_rich_style("table--note", partial=True)
            return Strip([Segment(f"  {clip(self._nothing, max(1, width - 2))}", style)]).crop_extend(
                0, width, base
            )
        if index >= len(self._rows):
            return Strip.blank(width, base)
        mark = ""
        if index == self._cursor:
            base += self.get_component_rich_style("table--cursor", partial=True)
            mark = self._glyphs["plan"]
        return self._draw(
            [(cell.text, self._style(cell, base)) for cell in self._rows[index].cells], width, base, mark
        )

    def _head(self, place: int) -> str:
        title = self._columns[place].title
        return f"{title} {self._glyphs['below']}".lstrip() if place == self._sorted_by else title

    def _style(self, cell: Cell, base: Style) -> Style:
        return (
            base + self.get_component_rich_style(f"table--{cell.role}", partial=True) if cell.role else base
        )

    def _draw(self, cells: Sequence[tuple[str, Style]], width: int, base: Style, mark: str = "") -> Strip:
        segments = [Segment(f"{mark:{_GAP}}", base)]
        for place, room in enumerate(self._widths(width)):
            if not room:
                continue
            text, style = cells[place]
            text = clip(text, room, self._glyphs["ellipsis"])
            blank = " " * (room - cell_len(text))
            text = blank + text if self._columns[place].right else text + blank
            segments += [Segment(text, style), Segment(" " * _GAP, base)]
        return Strip(segments).crop_extend(0, width, base)

    def _widths(self, width: int) -> list[int]:
        """Share out the width; where it is short, the spare columns go."""
        widths = [0 if column.fills else self._natural[place] for place, column in enumerate(self._columns)]
        spare = [place for place, column in enumerate(self._columns) if column.spare]

        def left() -> int:
            return width - _GAP - sum(each + _GAP for each in widths if each) - _GAP

        while spare and left() < _LEAST:
            widths[spare.pop()] = 0
        fills = next(place for place, column in enumerate(self._columns) if column.fills)
        widths[fills] = max(0, left())
        return widths

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            place = _GAP
            for column, room in enumerate(self._widths(self.scrollable_content_region.width)):
                if room and place <= event.x < place + room + _GAP:
                    self.post_message(self.HeadChosen(column))
                place += room + _GAP if room else 0
            return
        index = self.scroll_offset.y + event.y - 1
        if index < len(self._rows):
            self.post_message(self.Chosen(index, opens=event.chain > 1))
