"""The keys of the table of actions: as Textual binds them, as a person moves them, and in words."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.binding import Binding

from teambot_tui.ui.action_table import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping


def bindings(where: str) -> list[Binding]:
    """Return Textual's bindings for one place."""
    found: list[Binding] = []
    for key in ACTIONS:
        if key.where == where and key.action == "choose_number":
            found += [
                Binding(number, f"choose_number({number})", show=False) for number in key.keys.split(",")
            ]
        elif key.where == where and key.action:
            found.append(Binding(key.keys, key.action, key.words, show=False, id=key.name))
    return found


def bound(name: str, action: str) -> Binding:
    """Return the binding of a widget that does something of its own at a key of the table."""
    key = next(key for key in ACTIONS if key.name == name)
    return Binding(key.keys, action, key.words, show=False, id=name)


class FooterKey(NamedTuple):
    """A key in the footer: what it does, by name and in words, and the key, by name and as on keyboards."""

    name: str
    key: str
    written: str
    words: str


class Keys:
    """The table with a person's own keys in it."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """Take the own keys by the names of what they do; of several the keys are joined by commas."""
        self.own = dict(own or {})
        self.table = tuple(key._replace(keys=self.own.get(key.name, key.keys)) for key in ACTIONS if key.keys)

    def said(self, name: str) -> str:
        """Return how the first key for something is named in a sentence: `Esc`, `Ctrl+C`."""
        keys = next(key.keys for key in self.table if key.name == name)
        return key_name(keys.split(",")[0])

    def footer(self, where: str, *, running: bool = False) -> list[FooterKey]:
        """Return the keys to show while the focus is there, its own first, as they are on keyboards.

        How to cancel is told while something runs, and only then.
        """
        shown = [
            self.in_footer(key.name, key.short)
            for place in (where, "anywhere")
            for key in self.table
            if key.where == place and key.short and (running or key.name != "cancel")
        ]
        if running and where == "input":
            interrupt = self.in_footer("interrupt", "cancel")
            shown.insert(1, interrupt._replace(written=f"{interrupt.written} {interrupt.written}"))
        return shown

    def in_footer(self, name: str, words: str) -> FooterKey:
        """Return the first key for something, as the footer shows it."""
        keys = next(key.keys for key in self.table if key.name == name)
        return FooterKey(name, keys.split(",")[0], _written(keys), words)


_NAMES: Final = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "slash": "/",
    "backslash": "\\",
    "underscore": "_",
    "at": "@",
    "minus": "-",
    "plus": "+",
    "question_mark": "?",
    "equals_sign": "=",
    "greater_than_sign": ">",
}


def key_name(key: str) -> str:
    """Return how people call a key: `Esc`, `Ctrl+C`, `Ctrl+_`; a letter alone stays as it is typed."""
    if len(key) == 1:
        return key
    return "+".join(_NAMES.get(part) or _sign(part) or part.capitalize() for part in key.split("+"))


def _sign(part: str) -> str:
    """Return the character that Textual calls by its name in Unicode, if it is one."""
    try:
        return unicodedata.lookup(part.replace("_", " ")) if "_" in part else ""
    except KeyError:
        return ""


def _written(keys: str) -> str:
    first, *_, last = keys.split(",") * 2
    if first == "1" and last == "9":
        return "1–9"
    if first.startswith("ctrl+") and len(first) == len("ctrl+x"):
        return f"^{first[-1].upper()}"
    return key_name(first).replace("Left", "←").replace("Right", "→")
