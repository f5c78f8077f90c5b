"""The list of what could be meant, above the input, which keeps the focus and the keys."""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from teambot_tui.engine.text import printable
from teambot_tui.language.span import Span

if TYPE_CHECKING:
    from textual import events
    from textual.message_pump import MessagePump
    from textual.visual import VisualType

_ROWS: Final = 8
_DETAIL: Final = 48
_PATH: Final = re.compile(r"(?<!\S)(?:\.{1,2}/|~/|/)\S*+\Z")
_LONGEST_PATH: Final = 4096
_SCANNED: Final = 5_000
_OFFERED: Final = 200


class CompletionList(Widget, can_focus=False):
    """Candidates, one of them chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"completion--chosen", "completion--detail"}
    DEFAULT_CSS = """
    CompletionList {
        overlay: screen;
        position: absolute;
        display: none;
        width: auto;
        height: auto;
        constrain: inside none;
        &.-open { display: block; }
    }
    """

    candidates: reactive[tuple[str, ...]] = reactive((), layout=True)
    details: reactive[tuple[str, ...]] = reactive((), layout=True)
    chosen: reactive[int] = reactive(0)

    class Taken(Message):
        """A candidate was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, owner: MessagePump) -> None:
        super().__init__()
        self._owner = owner

    @property
    def is_open(self) -> bool:
        """Whether there is anything to choose."""
        return self.has_class("-open")

    @property
    def choice(self) -> str:
        """The chosen candidate."""
        return self.candidates[self.chosen]

    def offer(self, candidates: tuple[str, ...], details: tuple[str, ...], above: Offset) -> None:
        """Show the candidates so that the list ends above a place of the screen."""
        kept = self.choice if self.is_open else ""
        self.candidates, self.details = candidates, details
        self.chosen = candidates.index(kept) if kept in candidates else 0
        rows = min(_ROWS, len(candidates)) + self.styles.gutter.height
        self.absolute_offset = Offset(max(0, above.x), max(0, above.y - rows))
        self.border_subtitle = Content(f"{len(candidates)}") if len(candidates) > _ROWS else Content("")
        self.add_class("-open")
        self.refresh(layout=True)

    def close(self) -> None:
        """Hide the list."""
        self.remove_class("-open")

    def choose(self, by: int) -> None:
        """Choose the next or the previous one; the list is a ring."""
        self.chosen = (self.chosen + by) % len(self.candidates)

    def render(self) -> VisualType:
        wide = max(map(len, self.candidates), default=0)
        detail = self.get_visual_style("completion--detail")
        chosen = self.get_visual_style("completion--chosen")
        rows = []
        for index in range(self._first, min(self._first + _ROWS, len(self.candidates))):
            name = f" {self.candidates[index]:<{wide}} "
            words = self.details[index][:_DETAIL] if index < len(self.details) else ""
            row = Content.assemble(name, (f" {words} ", detail) if words else "")
            rows.append(row.stylize(chosen, 0, len(name)) if index == self.chosen else row)
        return Content("\n").join(rows)

    @property
    def _first(self) -> int:
        """The first visible row: the chosen one is always in sight."""
        return max(0, min(self.chosen - _ROWS // 2, len(self.candidates) - _ROWS))

    def on_click(self, event: events.Click) -> None:
        index = self._first + event.get_content_offset_capture(self).y
        event.stop()
        if 0 <= index < len(self.candidates):
            self._owner.post_message(self.Taken(index))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.choose(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.choose(-1)


def path_at(source: str, cursor: int) -> Span | None:
    """Return the word before the cursor if it is written like a path: `./…`, `../…`, `~/…` or `/…`."""
    word = _PATH.search(source, max(0, cursor - _LONGEST_PATH), cursor)
    return Span(word.start(), cursor) if word else None


def find_paths(word: str, folder: Path) -> tuple[str, ...]:
    """Return the paths that a word may be the beginning of; reads a directory, so call it in a thread."""
    from teambot_tui.language.complete import rank  # noqa: PLC0415  not for the first picture

    base, _, stem = word.rpartition("/")
    found: dict[str, bool] = {}
    try:
        place = folder / Path(base + "/").expanduser()
        with os.scandir(place) as entries:
            for entry in islice(entries, _SCANNED):
                hidden = entry.name.startswith(".") and not stem.startswith(".")
                if not hidden and entry.name.isprintable() and printable(entry.name) == entry.name:
                    found[entry.name] = entry.is_dir()
    except (OSError, RuntimeError, ValueError):
        return ()
    names = rank(stem, sorted(found, key=lambda name: (not found[name], name)))
    return tuple(f"{base}/{name}{'/' if found[name] else ''}" for name in names[:_OFFERED])
