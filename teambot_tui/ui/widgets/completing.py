"""Completion at the cursor of a text: names by the language's own rules, paths from the disk."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.geometry import Offset
from textual.reactive import reactive

from teambot_tui.language.names import COMMANDS
from teambot_tui.language.span import Span
from teambot_tui.ui.widgets.completion import CompletionList, find_paths, path_at
from teambot_tui.ui.widgets.language_area import LanguageArea

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teambot_tui.ui.glyphs import Glyphs

_ARGUMENT: Final = re.compile(r"/(?P<command>[\w-]++) +(?P<stem>[^\s/.~]\S*+|)")
"""A command and the beginning of its first word; what looks like a path is completed as one."""


class CompletingArea(LanguageArea):
    """A text area with a list of what could be meant; which keys use it is not decided here."""

    agents: reactive[Sequence[str]] = reactive((), init=False)
    """Who may be named after `@`."""
    outputs: reactive[Sequence[str] | None] = reactive(None, init=False)
    """Who may be named after `$`; nothing: the same."""
    variables: reactive[Sequence[str]] = reactive((), init=False)
    """What may stand in `{}`."""
    commands: reactive[Sequence[str]] = reactive(COMMANDS, init=False)
    """What can follow `/`."""
    words_for: Callable[[str], Sequence[str]] = staticmethod(lambda _: ())
    """What can follow a command."""
    details: reactive[Mapping[str, str]] = reactive(dict, init=False)
    """A few words about `@pm`, `$pm` or `/help`, shown beside it in the list."""

    def __init__(self, glyphs: Glyphs, folder: Path | None, *, placeholder: str = "") -> None:
        super().__init__(glyphs, placeholder=placeholder)
        self.folder = folder
        self._list = CompletionList(self)
        self._span = Span(0, 0)
        """What the list is about."""

    async def on_mount(self) -> None:
        await self.screen.mount(self._list)

    async def on_unmount(self) -> None:
        if self._list.is_attached:
            await self._list.remove()

    def watch_selection(self) -> None:
        """Follow the word at the cursor while the list is open."""
        if self.is_mounted and self._list.is_open and not (self.offer_names() or self.offer_paths()):
            self._list.close()

    def offer_names(self, *, take_single: bool = False) -> bool:
        """Offer agents, outputs, variables or commands; tell whether there are any."""
        from teambot_tui.language.complete import (  # noqa: PLC0415  the first picture offers nothing
            complete,
            rank,
        )

        cursor = self._index(self.cursor_location)
        if typed := _ARGUMENT.fullmatch(self.shown, 0, cursor):
            names = tuple(rank(typed["stem"], self.words_for(typed["command"])))
            if names:
                self._offer(names, Span(typed.start("stem"), cursor), take_single=take_single)
            return bool(names)
        found = complete(
            self.shown,
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

    def offer_paths(self, *, take_single: bool = False) -> bool:
        """Offer paths once they are found; tell whether a path is being typed."""
        word = path_at(self.shown, self._index(self.cursor_location))
        if word is None:
            return False
        self.run_worker(self._find_paths(word, take_single=take_single), group="paths", exclusive=True)
        return True

    async def _find_paths(self, word: Span, *, take_single: bool) -> None:
        shown = self.shown
        paths = await asyncio.to_thread(find_paths, shown[slice(*word)], self.folder or Path.cwd())
        if self.shown != shown or self._index(self.cursor_location) != word.end:
            return
        if paths:
            self._offer(paths, word, take_single=take_single)
        else:
            self._list.close()

    def _offer(self, candidates: tuple[str, ...], span: Span, *, take_single: bool) -> None:
        self._span = span
        typed = self.shown[slice(*span)].casefold()
        likely = [each for each in candidates if each.casefold().startswith(typed)] or candidates
        if take_single and len(likely) == 1:
            self.take(likely[0])
            return
        start = self.wrapped_document.location_to_offset(self._location(span.start))
        place = self.content_region.offset + start - self.scroll_offset
        details = tuple(self.details.get(each, "") for each in candidates)
        self._list.offer(candidates, details, Offset(place.x, self.region.y))

    def take(self, candidate: str) -> None:
        """Put a candidate in the place of what is typed."""
        shown = self.shown
        following = shown[self._span.end : self._span.end + 1]
        ends_word = not candidate.endswith("/") and candidate[0] not in "${"
        blank = " " if ends_word and not following.strip() and following != " " else ""
        start, end = self._location(self._span.start), self._location(self._span.end)
        self._list.close()
        self._replace_via_keyboard(candidate + blank, start, end)

    def on_completion_list_taken(self, message: CompletionList.Taken) -> None:
        message.stop()
        self.take(self._list.candidates[message.index])
