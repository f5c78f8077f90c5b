"""The list of what could be meant, above the input, which keeps the focus and the keys."""

from __future__ import annotations

import asyncio
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
from teambot_tui.language.names import COMMANDS
from teambot_tui.language.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual import events
    from textual.document._document import Location
    from textual.message_pump import MessagePump
    from textual.visual import VisualType
    from textual.widgets import TextArea

_ARGUMENT: Final = re.compile(r"/(?P<command>[\w-]++) +(?P<stem>[^\s/.~]\S*+|)")
"""A command and the beginning of its first word; what looks like a path is completed as one."""
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


class Completer:
    """Completes the word at the cursor of a text: names by the language's own rules, paths from the disk.

    Which keys use it is not decided here.
    """

    def __init__(self, area: TextArea, folder: Path | None) -> None:
        self._area = area
        self.folder = folder
        self.list = CompletionList(area)
        self._span = Span(0, 0)
        """What the list is about."""
        self.agents: Sequence[str] = ()
        """Who may be named after `@`."""
        self.outputs: Sequence[str] | None = None
        """Who may be named after `$`; nothing: the same."""
        self.variables: Sequence[str] = ()
        """What may stand in `{}`."""
        self.commands: Sequence[str] = COMMANDS
        """What can follow `/`."""
        self.words_for: Callable[[str], Sequence[str]] = lambda _: ()
        """What can follow a command."""
        self.details: Mapping[str, str] = {}
        """A few words about `@pm`, `$pm` or `/help`, shown beside it in the list."""

    @property
    def _shown(self) -> str:
        return self._area.document.text

    @property
    def _cursor(self) -> int:
        return self._area.document.get_index_from_location(self._area.cursor_location)  # type: ignore[attr-defined, no-any-return]

    def _location(self, index: int) -> Location:
        return self._area.document.get_location_from_index(index)  # type: ignore[attr-defined, no-any-return]

    def follow(self) -> None:
        """Follow the word at the cursor while the list is open."""
        if self.list.is_open and not (self._offer_names() or self._offer_paths()):
            self.list.close()

    def offer(self) -> bool:
        """Complete the word at the cursor, or offer what it could be; tell whether there is anything."""
        return self._offer_names(take_single=True) or self._offer_paths(take_single=True)

    def _offer_names(self, *, take_single: bool = False) -> bool:
        """Offer agents, outputs, variables or commands; tell whether there are any."""
        from teambot_tui.language.complete import (  # noqa: PLC0415  the first picture offers nothing
            complete,
            rank,
        )

        cursor = self._cursor
        if typed := _ARGUMENT.fullmatch(self._shown, 0, cursor):
            names = tuple(rank(typed["stem"], self.words_for(typed["command"])))
            if names:
                self._offer(names, Span(typed.start("stem"), cursor), take_single=take_single)
            return bool(names)
        found = complete(
            self._shown,
            cursor,
            agents=self.agents,
            outputs=self.agents if self.outputs is None else self.outputs,
            commands=self.commands,
            variables=self.variables,
        )
        if found is None:
            return False
        self._offer(found.candidates, found.span, take_single=take_single)
        return True

    def _offer_paths(self, *, take_single: bool = False) -> bool:
        """Offer paths once they are found; tell whether a path is being typed."""
        word = path_at(self._shown, self._cursor)
        if word is None:
            return False
        self._area.run_worker(self._find_paths(word, take_single=take_single), group="paths", exclusive=True)
        return True

    async def _find_paths(self, word: Span, *, take_single: bool) -> None:
        shown = self._shown
        paths = await asyncio.to_thread(find_paths, shown[slice(*word)], self.folder or Path.cwd())
        if self._shown != shown or self._cursor != word.end:
            return
        if paths:
            self._offer(paths, word, take_single=take_single)
        else:
            self.list.close()

    def _offer(self, candidates: tuple[str, ...], span: Span, *, take_single: bool) -> None:
        self._span = span
        typed = self._shown[slice(*span)].casefold()
        likely = [each for each in candidates if each.casefold().startswith(typed)] or candidates
        if take_single and len(likely) == 1:
            self.take(likely[0])
            return
        start = self._area.wrapped_document.location_to_offset(self._location(span.start))
        place = self._area.content_region.offset + start - self._area.scroll_offset
        details = tuple(self.details.get(each, "") for each in candidates)
        self.list.offer(candidates, details, Offset(place.x, self._area.region.y))

    def take(self, candidate: str | None = None) -> None:
        """Put a candidate, or else the chosen one, in the place of what is typed."""
        candidate = candidate or self.list.choice
        shown = self._shown
        following = shown[self._span.end : self._span.end + 1]
        ends_word = not candidate.endswith("/") and candidate[0] not in "${"
        blank = " " if ends_word and not following.strip() and following != " " else ""
        start, end = self._location(self._span.start), self._location(self._span.end)
        self.list.close()
        self._area._replace_via_keyboard(candidate + blank, start, end)


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
