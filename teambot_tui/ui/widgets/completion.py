"""What could be meant and what is known of it: a list above the input, which keeps the focus and the keys."""

from __future__ import annotations

import asyncio
import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.content import Content
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
    from textual.visual import VisualType
    from textual.widgets import TextArea

_ARGUMENT: Final = re.compile(r"/(?P<command>[\w-]++) +(?P<stem>[^\s/.~]\S*+|)")
"""A command and the beginning of its first word; what looks like a path is completed as one."""
_ROWS: Final = 8
_AROUND: Final = 4
"""Rows between the top of the screen and the owner that are not for candidates: the frame, and two lines."""
_NAME: Final = 44
_DETAIL: Final = 60
_INCLUDE: Final = r"\{\{[^\S\n]*+(?i:include)[^\S\n]*+:[^\S\n]*+"
_BEHIND_INCLUDE: Final = re.compile(rf"{_INCLUDE}\Z")
_PATH: Final = re.compile(
    rf"(?:{_INCLUDE}(?P<included>[^\s{{}}\"\\]*+)|(?<!\S)(?P<path>(?:\.{{1,2}}/|~/|/)\S*+))\Z"
)
_LONGEST_PATH: Final = 4096
_SCANNED: Final = 5_000
_OFFERED: Final = 200


class Offer(NamedTuple):
    """A candidate as the list shows it: its name, with what may follow it, and a few words about it."""

    text: str
    detail: str = ""


class CompletionList(Widget, can_focus=False):
    """Candidates, and the one that was chosen; until then Enter means what it always does.

    It lies over what stands above the widget that it is composed before, and covers nothing from there on.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"completion--chosen", "completion--detail"}
    DEFAULT_CSS = """
    CompletionList {
        overlay: screen;
        display: none;
        width: auto;
        max-width: 100%;
        height: auto;
        constrain: inside none;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &.-open { display: block; }
    }
    """

    candidates: reactive[tuple[str, ...]] = reactive((), layout=True)
    offers: reactive[tuple[Offer, ...]] = reactive((), layout=True)
    chosen: reactive[int | None] = reactive(None)

    class Taken(Message):
        """A candidate was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, owner: Widget) -> None:
        super().__init__()
        self._owner = owner

    @property
    def is_open(self) -> bool:
        """Whether there is anything to choose."""
        return self.has_class("-open")

    @property
    def choice(self) -> str | None:
        """The chosen candidate."""
        return None if self.chosen is None else self.candidates[self.chosen]

    def offer(self, candidates: tuple[str, ...], offers: tuple[Offer, ...], column: int) -> None:
        """Show the candidates, from a column of the screen on; who was chosen stays chosen."""
        kept = self.choice if self.is_open else None
        self.chosen = None
        self.candidates, self.offers = candidates, offers
        self.chosen = candidates.index(kept) if kept in candidates else None
        self.styles.offset = (column, "-100%")
        self.add_class("-open")
        self.watch_chosen()
        self.refresh(layout=True)

    def close(self) -> None:
        """Hide the list."""
        self.chosen = None
        self.remove_class("-open")

    def choose(self, by: int) -> None:
        """Choose the next or the previous one, beginning at the end that is nearer; the list is a ring."""
        before = self.chosen if self.chosen is not None else -1 if by > 0 else 0
        self.chosen = (before + by) % len(self.candidates)

    def watch_chosen(self) -> None:
        """Say which keys take one, and how many there are."""
        count = f"{len(self.candidates)} · " if len(self.candidates) > self._room else ""
        keys = "↓ chooses · Tab completes" if self.chosen is None else "Enter takes · Esc closes"
        self.border_subtitle = Content(count + keys)

    @property
    def _room(self) -> int:
        """How many rows are shown at most: few, and never more than there are above."""
        return max(1, min(_ROWS, self._owner.region.y - _AROUND))

    def render(self) -> VisualType:
        names = [shortened(each.text, _NAME) for each in self.offers]
        wide = max(map(cell_len, names), default=0)
        detail = self.get_visual_style("completion--detail")
        chosen = self.get_visual_style("completion--chosen")
        rows = []
        for index in range(self._first, min(self._first + self._room, len(names))):
            name = f" {names[index]}{' ' * (wide - cell_len(names[index]))} "
            words = shortened(self.offers[index].detail, _DETAIL)
            row = Content.assemble(name, (f" {words} ", detail) if words else "")
            rows.append(row.stylize(chosen, 0, len(name)) if index == self.chosen else row)
        return Content("\n").join(rows)

    @property
    def _first(self) -> int:
        """The first visible row: the chosen one is always in sight."""
        room = self._room
        return max(0, min((self.chosen or 0) - room // 2, len(self.candidates) - room))

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

    The list opens by itself while a word is typed that begins like a name or a path, to inform; only a word
    whose list was closed keeps it closed. Which keys choose and take is not decided here.
    """

    def __init__(self, area: TextArea, folder: Path | None) -> None:
        self._area = area
        self.folder = folder
        self.list = CompletionList(area)
        self._span = Span(0, 0)
        """What the list is about."""
        self._dismissed: int | None = None
        """Where the word begins whose list was closed."""
        self.is_typing = False
        """Whether the cursor moves because a character was typed."""
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
        """A few words about `@pm`, `$pm` or `/help`, for when nothing better is known."""
        self.describe: Callable[[Sequence[str]], Sequence[tuple[str, str]]] = lambda _: ()
        """How to show each of these candidates and what is known of it now; or nothing at all."""

    @property
    def _shown(self) -> str:
        return self._area.document.text

    @property
    def _cursor(self) -> int:
        return self._area.document.get_index_from_location(self._area.cursor_location)  # type: ignore[attr-defined, no-any-return]

    def _location(self, index: int) -> Location:
        return self._area.document.get_location_from_index(index)  # type: ignore[attr-defined, no-any-return]

    def follow(self) -> None:
        """Follow the word at the cursor: open the list where one is being typed, close it where none is."""
        if self.is_typing:
            self.list.chosen = None  # what was chosen was chosen of others
            if not (self._offer_names() or self._offer_paths()):
                self.list.close()
                self._dismissed = None
        elif self.list.is_open and not (self._offer_names() or self._offer_paths()):
            self.list.close()

    def dismiss(self) -> None:
        """Close the list, and leave it closed for this word."""
        self._dismissed = self._span.start
        self.list.close()

    def forget(self) -> None:
        """Close the list: the text is another."""
        self._dismissed = None
        self.list.close()

    def complete(self) -> bool:
        """Take what is chosen, or the only one there is, or choose the first; tell whether there is any."""
        if self.list.choice is not None:
            self.take(self.list.choice)
            return True
        self._dismissed = None
        return self._offer_names(by_key=True) or self._offer_paths(by_key=True)

    def tell_again(self) -> None:
        """Show what is known of the candidates by now."""
        if self.list.is_open:
            self.list.offers = self._described(self.list.candidates)

    def _offer_names(self, *, by_key: bool = False) -> bool:
        """Offer agents, outputs, variables or commands; tell whether there are any."""
        from teambot_tui.language.complete import (  # noqa: PLC0415  the first picture offers nothing
            complete,
            rank,
        )

        cursor = self._cursor
        if typed := _ARGUMENT.fullmatch(self._shown, 0, cursor):
            names = tuple(rank(typed["stem"], self.words_for(typed["command"])))
            if names:
                self._offer(names, Span(typed.start("stem"), cursor), by_key=by_key)
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
        self._offer(found.candidates, found.span, by_key=by_key)
        return True

    def _offer_paths(self, *, by_key: bool = False) -> bool:
        """Offer paths once they are found; tell whether a path is being typed."""
        word = path_at(self._shown, self._cursor)
        # A slash alone is more often a word's than a path's: it is completed when it is asked for.
        if word is None or (not (by_key or self.list.is_open) and self._shown.startswith("/", word.start)):
            return False
        self._area.run_worker(self._find_paths(word, by_key=by_key), group="paths", exclusive=True)
        return True

    async def _find_paths(self, word: Span, *, by_key: bool) -> None:
        shown = self._shown
        paths = await asyncio.to_thread(find_paths, shown[slice(*word)], self.folder or Path.cwd())
        if self._shown != shown or self._cursor != word.end:
            return
        if paths:
            self._offer(paths, word, by_key=by_key)
        else:
            self.list.close()

    def _offer(self, candidates: tuple[str, ...], span: Span, *, by_key: bool) -> None:
        if span.start == self._dismissed:
            return
        self._span = span
        typed = self._shown[slice(*span)].casefold()
        likely = [each for each in candidates if each.casefold().startswith(typed)] or candidates
        if by_key and len(likely) == 1:
            self.take(likely[0])
            return
        start = self._area.wrapped_document.location_to_offset(self._location(span.start))
        column = self._area.content_region.x + start.x - self._area.scroll_offset.x
        self.list.offer(candidates, self._described(candidates), max(0, column))
        if by_key:
            self.list.chosen = 0

    def _described(self, candidates: tuple[str, ...]) -> tuple[Offer, ...]:
        known = [Offer(*row) for row in self.describe(candidates)] or map(Offer, candidates)
        return tuple(
            offer if offer.detail else Offer(offer.text, self.details.get(candidate, ""))
            for candidate, offer in zip(candidates, known, strict=True)
        )

    def take(self, candidate: str) -> None:
        """Put a candidate in the place of what is typed."""
        shown = self._shown
        before, following = shown[: self._span.start], shown[self._span.end : self._span.end + 1]
        ends_word = not candidate.endswith("/") and candidate[0] not in "${"
        if ends_word and _BEHIND_INCLUDE.search(before):
            behind = "" if following == "}" else "}}"
        else:
            behind = " " if ends_word and not following.strip() and following != " " else ""
        start, end = self._location(self._span.start), self._location(self._span.end)
        self.list.close()
        self._area._replace_via_keyboard(candidate + behind, start, end)


def shortened(text: str, cells: int) -> str:
    """Return a text that is not wider, with a sign where something was left out."""
    return text if cell_len(text) <= cells else f"{set_cell_size(text, cells - 1).rstrip()}…"


def path_at(source: str, cursor: int) -> Span | None:
    """Return the word before the cursor if it is a path: `./…`, `../…`, `~/…`, `/…`, or what is included."""
    word = _PATH.search(source, max(0, cursor - _LONGEST_PATH), cursor)
    return Span(word.start(word.lastgroup or 0), cursor) if word else None


def find_paths(word: str, folder: Path) -> tuple[str, ...]:
    """Return the paths that a word may be the beginning of; reads a directory, so call it in a thread."""
    from teambot_tui.language.complete import rank  # noqa: PLC0415  not for the first picture

    base, slash, stem = word.rpartition("/")
    found: dict[str, bool] = {}
    try:
        place = folder / Path(base + slash).expanduser()
        with os.scandir(place) as entries:
            for entry in islice(entries, _SCANNED):
                hidden = entry.name.startswith(".") and not stem.startswith(".")
                if not hidden and entry.name.isprintable() and printable(entry.name) == entry.name:
                    found[entry.name] = entry.is_dir()
    except (OSError, RuntimeError, ValueError):
        return ()
    names = rank(stem, sorted(found, key=lambda name: (not found[name], name)))
    return tuple(f"{base}{slash}{name}{'/' if found[name] else ''}" for name in names[:_OFFERED])
