"""Answers to the same task side by side, line by line, with what differs marked.

The first answer is what the others are held against. What is compared is given to it as texts, and what
becomes of the chosen one is decided elsewhere.
"""

from __future__ import annotations

import asyncio
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from teambot_tui.ui.canvas import clip
from teambot_tui.ui.keys import bound
from teambot_tui.ui.widgets.feed_text import NARROWEST, expand, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.keys import Keys

_MOST_LINES: Final = 4000  # the time to compare grows faster than their number
_LEAST_WIDTH: Final = 32
_BETWEEN: Final = 3


class Side(NamedTuple):
    """A line of an answer, and whether another answer says something else in its place."""

    text: str
    differs: bool


Lines = tuple[Side | None, ...]
"""What the answers say in one place, in their order; nothing where one has no such line."""


class Candidate(NamedTuple):
    """An answer, the task it is from, and what is over it."""

    task: TaskId
    head: str
    text: str


def compared(texts: Sequence[str]) -> list[Lines]:
    """Return the lines of the texts beside each other, those that are the same in one row.

    The first is the measure: a line of another differs if it is not what the first says there.
    """
    base, *others = ([line.rstrip() for line in text.splitlines()[:_MOST_LINES]] for text in texts)
    inserted: list[dict[int, list[str]]] = []
    matched: list[dict[int, str]] = []
    for lines in others:
        before: dict[int, list[str]] = {}
        beside: dict[int, str] = {}
        for _, start, end, from_, to in SequenceMatcher(None, base, lines).get_opcodes():
            paired = min(end - start, to - from_)
            beside |= {start + place: lines[from_ + place] for place in range(paired)}
            if to - from_ > paired:
                before[end] = lines[from_ + paired : to]
        inserted.append(before)
        matched.append(beside)
    rows: list[Lines] = []
    for place in range(len(base) + 1):
        blocks = [before.get(place, []) for before in inserted]
        for number in range(max(map(len, blocks), default=0)):
            sides = (Side(block[number], differs=True) if number < len(block) else None for block in blocks)
            rows.append((None, *sides))
        if place < len(base):
            said = [beside.get(place) for beside in matched]
            others_differ = [text is not None and text != base[place] for text in said]
            is_alone = any(text != base[place] for text in said)
            rows.append(
                (
                    Side(base[place], is_alone),
                    *(
                        None if text is None else Side(text, differs)
                        for text, differs in zip(said, others_differ, strict=True)
                    ),
                )
            )
    return rows


def differences(rows: Sequence[Lines]) -> list[int]:
    """Return the rows at which a difference begins."""
    differing = [any(side is None or side.differs for side in row) for row in rows]
    return [at for at, differs in enumerate(differing) if differs and not (at and differing[at - 1])]


class Columns(ScrollView, can_focus=False):
    """Draws the rows in columns; wrapped once for a width, painted when in sight."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "columns--head",
        "columns--chosen",
        "columns--differs",
        "columns--missing",
        "columns--rule",
    }

    def __init__(self, heads: Sequence[str], glyphs: Glyphs) -> None:
        super().__init__()
        self._heads = heads
        self._glyphs = glyphs
        self._compared: Sequence[Lines] = ()
        self._rows: list[Lines] = []
        self._starts: list[int] = []
        """Where each row of what is compared begins."""
        self._laid_out: tuple[int, int, int] | None = None
        self._chosen = 0
        self._first = 0
        """The first column that is in sight, where there is no room for all."""

    def show(self, rows: Sequence[Lines]) -> None:
        """Show these lines."""
        self._compared = rows
        self._laid_out = None
        self._lay_out()

    def choose(self, column: int) -> None:
        """Mark a column, and bring it into sight."""
        self._chosen = column
        self._first = max(min(self._first, column), column - self._shown + 1)
        self._lay_out()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002
        self.choose(self._chosen)

    def row_of(self, line: int) -> int:
        """Return where a row of what is compared begins on the screen."""
        return self._starts[line] if line < len(self._starts) else 0

    @property
    def _shown(self) -> int:
        return min(len(self._heads), max(1, (self.size.width + _BETWEEN) // (_LEAST_WIDTH + _BETWEEN)))

    @property
    def _width(self) -> int:
        room = self.scrollable_content_region.width - _BETWEEN * (self._shown - 1)
        return max(NARROWEST, room // self._shown)

    def _lay_out(self) -> None:
        self._first = min(self._first, len(self._heads) - self._shown)
        wanted = (self._width, self._first, self._shown)
        if wanted == self._laid_out:
            return
        self._laid_out = wanted
        self._rows, self._starts = [], []
        for row in self._compared:
            self._starts.append(len(self._rows))
            cells = [
                None if side is None else [expand(each) for each in wrap(side.text, self._width)] or [""]
                for side in row[self._first : self._first + self._shown]
            ]
            for number in range(max(len(cell or [""]) for cell in cells)):
                self._rows.append(
                    tuple(
                        None if cell is None or side is None
                        else Side(cell[number] if number < len(cell) else "", side.differs)
                        for cell, side in zip(cells, row[self._first :], strict=False)
                    )
                )  # fmt: skip
        self.virtual_size = Size(0, len(self._rows) + 1)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the heads, or a row."""
        self._lay_out()
        base = self.rich_style
        width = self.scrollable_content_region.width
        segments: list[Segment] = []
        index = self.scroll_offset.y + y - 1
        for column in range(self._shown):
            if column:
                rule = self.get_component_rich_style("columns--rule", partial=True)
                segments.append(Segment(" | " if self._glyphs.ascii_only else " │ ", base + rule))
            if y == 0:
                is_chosen = self._first + column == self._chosen
                mark = f"{self._glyphs['plan']} " if is_chosen else "  "
                text = mark + clip(
                    self._heads[self._first + column], self._width - 2, self._glyphs["ellipsis"]
                )
                role = "chosen" if is_chosen else "head"
            elif index >= len(self._rows):
                text, role = "", ""
            else:
                side = self._rows[index][column]
                text, role = ("", "missing") if side is None else (side.text, "differs" * side.differs)
            style = self.get_component_rich_style(f"columns--{role}", partial=True) if role else base
            segments.append(Segment(text + " " * (self._width - cell_len(text)), base + style))
        return Strip(segments).crop_extend(0, width, base)


class CompareScreen(ModalScreen["TaskId | None"]):
    """Shows the answers; closes with the one that is to be handed on, or with none."""

    AUTO_FOCUS = ""  # the keys are the screen's
    BINDINGS: ClassVar[list[BindingType]] = [
        bound("back", "leave"),
        Binding("enter,greater_than_sign", "hand_on", "Hand on"),
        bound("compare", "leave"),
        bound("left", "choose(-1)"),
        bound("right", "choose(1)"),
        bound("up", "scroll(-1)"),
        bound("down", "scroll(1)"),
        bound("scroll-up", "page(-1)"),
        bound("scroll-down", "page(1)"),
        bound("oldest", "end(0)"),
        bound("follow", "end(1)"),
        bound("next-match", "go(1)"),
        bound("previous-match", "go(-1)"),
    ]

    def __init__(
        self,
        answers: Sequence[Candidate],
        glyphs: Glyphs,
        keys: Keys,
        copy: Callable[[str], None],
        chosen: int = 0,
    ) -> None:
        super().__init__()
        self._answers = answers
        self._glyphs = glyphs
        self._keys = keys
        self._copy = copy
        self._chosen = chosen
        self._rows: list[Lines] = []
        self._differences: list[int] = []
        self._at = -1

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog compare") as box:
            box.border_subtitle = Content("Left, Right choose · Enter hand on · n next · y copy · Esc close")
            yield Columns([answer.head for answer in self._answers], self._glyphs)

    def on_mount(self) -> None:
        self._columns.choose(self._chosen)
        self._tell("comparing…")
        self._compare()

    @work(group="compare", exclusive=True)
    async def _compare(self) -> None:
        self._rows = await asyncio.to_thread(compared, [answer.text for answer in self._answers])
        self._differences = differences(self._rows)
        self._columns.show(self._rows)
        self._show_place()

    def _show_place(self) -> None:
        count = len(self._differences)
        here = (
            f"difference {self._at + 1}/{count}"
            if self._at >= 0
            else f"{count} difference{'s' * (count != 1)}"
        )
        self._tell(here if count else "they say the same")

    def _tell(self, words: str) -> None:
        title = f"Compare {len(self._answers)} answers · {words}"
        self.query_one(".compare", Vertical).border_title = Content(title)

    @property
    def _columns(self) -> Columns:
        return self.query_one(Columns)

    # Keys

    def action_choose(self, by: int) -> None:
        """Choose the answer to the right, or to the left."""
        self._chosen = min(max(0, self._chosen + by), len(self._answers) - 1)
        self._columns.choose(self._chosen)

    def action_scroll(self, by: int) -> None:
        """Scroll by a row."""
        self._columns.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by what is in sight."""
        self._columns.scroll_relative(y=by * max(1, self._columns.size.height - 2), animate=False)

    def action_end(self, end: int) -> None:
        """Scroll to the beginning, or to the end."""
        if end:
            self._columns.scroll_end(animate=False)
        else:
            self._columns.scroll_home(animate=False)

    def action_go(self, by: int) -> None:
        """Go to the next difference, or the one before."""
        if self._differences:
            self._at = (self._at + by if self._at >= 0 else 0) % len(self._differences)
            row = self._columns.row_of(self._differences[self._at])
            self._columns.scroll_to(y=max(0, row - 1), animate=False)
            self._show_place()

    def key_y(self) -> None:
        """Copy the chosen answer."""
        self._copy(self._answers[self._chosen].text)

    def action_hand_on(self) -> None:
        """Close with the chosen answer."""
        self.dismiss(self._answers[self._chosen].task)

    def action_leave(self) -> None:
        """Close with none."""
        self.dismiss(None)
