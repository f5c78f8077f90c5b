"""Walking and searching the history: which text to show next, with whatever was changed on the way kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teambot_tui.ui.history import History


class Recall:
    """Where the person is in the past. Each step returns the text to show, or nothing if there is none."""

    def __init__(self, past: History) -> None:
        self.past = past
        self.words: str | None = None
        """What is searched for, while searching."""
        self._found: int | None = None
        self._back = 0
        """How many entries back; 0 is the draft. Counted from the end, as the past may still be loading."""
        self._kept: dict[int, str] = {}

    @property
    def is_searching(self) -> bool:
        """Whether what is typed is searched for."""
        return self.words is not None

    @property
    def missed(self) -> bool:
        """Whether the search finds nothing."""
        return bool(self.words) and self._found is None

    def step(self, text: str, by: int) -> str | None:
        """Go so many entries back, or forward if negative, from a text that may have been changed."""
        back = self._back + by
        if not 0 <= back <= len(self.past.entries):
            return None
        self._kept[self._back] = text
        self._back = back
        return self._kept.get(back, self.past.entries[-back] if back else "")

    def restart(self) -> None:
        """Be at the draft again, with nothing kept."""
        self._back = 0
        self._kept.clear()

    def begin_search(self, text: str) -> None:
        """Keep the text at hand and search from now on."""
        self._kept[self._back] = text
        self.words, self._found = "", None

    def look_for(self, words: str) -> str | None:
        """Search the newest entry with these words."""
        self.words = words
        self._found = self.past.search(words) if words else None
        return self._entry()

    def look_older(self) -> str | None:
        """Search on, towards the past; with nothing older, stay."""
        older = self.past.search(self.words or "", self._found)
        self._found = self._found if older is None else older
        return self._entry()

    def look_newer(self) -> str | None:
        """Search back, towards the present; with nothing newer, stay."""
        if self._found is not None:
            newer = range(self._found + 1, len(self.past.entries))
            words = self.words or ""
            self._found = next(
                (each for each in newer if self.past.search(words, each + 1) == each), self._found
            )
        return self._entry()

    def end_search(self) -> str:
        """Stop searching; return the text that was there before."""
        self.words = self._found = None
        return self._kept.get(self._back, "")

    def _entry(self) -> str | None:
        return None if self._found is None else self.past.entries[self._found]
