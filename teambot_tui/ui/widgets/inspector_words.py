"""The inspector's ways of saying: titles, asides, and long texts cut to what is worth a look."""

from __future__ import annotations

from typing import Final

from textual.content import Content

NOTHING: Final = Content("")
_LINE: Final = 2000


def title(text: str) -> Content:
    """Return the title of a section."""
    return Content(text).stylize("bold $strong")


def quiet(text: str) -> Content:
    """Return words that stay in the background."""
    return Content(text).stylize("$quiet")


def fold(text: str, limit: int) -> tuple[str, int]:
    """Return the first lines of a text, none of them endless, and how many lines are left out."""
    lines = text.rstrip("\n").split("\n", limit)
    kept = "\n".join(line if len(line) <= _LINE else line[:_LINE] + "…" for line in lines[:limit])
    return kept, lines[limit].count("\n") + 1 if len(lines) > limit else 0
