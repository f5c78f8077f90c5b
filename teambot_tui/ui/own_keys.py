"""A person's own keys: each names something of the table, can be sent by a terminal and is taken once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.keys import Keys as KnownKeys
from textual.keys import _character_to_key
from textual.widgets import TextArea

from teambot_tui.agents.checks import unknown
from teambot_tui.engine.text import one_line
from teambot_tui.ui.action_table import ACTIONS, Action
from teambot_tui.ui.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.agents.errors import SettingsError
    from teambot_tui.agents.settings import Settings

_MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_NEVER: Final = {
    "ctrl+h": "terminals send Backspace for it",
    "ctrl+i": "terminals send Tab for it",
    "ctrl+m": "terminals send Enter for it",
    "ctrl+left_square_bracket": "terminals send Esc for it",
    "alt+enter": "many terminals send plain Enter for it",
    **{f"alt+{digit}": "many terminals type something else for it" for digit in range(10)},
}
_EXAMPLES: Final = "f5, ctrl+n, alt+left or pageup"


def own_keys(settings: Settings) -> Keys:
    """Return the keys as the settings have them.

    Raises:
        SettingsError: One names nothing, cannot be sent, or is taken.
    """
    named = {key.name: key for key in ACTIONS if key.name and key.keys}
    own: dict[str, str] = {}
    for name, wanted in settings.keys.items():
        if name not in named:
            raise settings.error(f"keys.{name}", unknown("action", name, named))
        own[name] = ",".join(dict.fromkeys(_key(settings, named[name], each) for each in wanted))
    keys = Keys(own)
    if clash := _clash(keys.table, own):
        raise clash_error(settings, *clash)
    return keys


def clash_error(settings: Settings, mine: Action, key: str, other: str) -> SettingsError:
    """Return the error about a key that two things want."""
    return settings.error(f"keys.{mine.name}", f"{key} is taken by {other}; give one of them another key")


def _key(settings: Settings, for_what: Action, written: str) -> str:
    """Return a key as Textual names it."""
    shown = one_line(written, 40)
    place = f"keys.{for_what.name}"
    *modifiers, last = _parts(written.strip())
    base = _character_to_key(last) if len(last) == 1 else last.lower()
    known = len(last) == 1 or base in _KNOWN | _TYPED
    if not known or not last.isprintable() or len(set(modifiers)) < len(modifiers):
        raise settings.error(place, f"{shown} is no key. A key is, for instance, {_EXAMPLES}")
    if strange := [each for each in modifiers if each not in _MODIFIERS]:
        raise settings.error(place, unknown("modifier", strange[0], _MODIFIERS))
    if modifiers and len(last) == 1:
        base = base.lower()
    key = "+".join([*sorted(modifiers), base])
    if (as_written := "+".join([*modifiers, last])) == "ctrl+@":
        return as_written  # the one that Textual does not name by its character
    if key in _NEVER:
        raise settings.error(place, f"{shown} cannot be used: {_NEVER[key]}. Use, for instance, {_EXAMPLES}")
    types_text = set(modifiers) <= {"shift"} and (len(last) == 1 or base in _TYPED)
    if types_text and for_what.where in ("input", "anywhere"):
        raise settings.error(place, f"{shown} is text in the input. Use, for instance, {_EXAMPLES}")
    return key


def _parts(written: str) -> list[str]:
    """Take `ctrl+f` apart; the last part may be the plus sign itself."""
    if written == "+" or written.endswith("++"):
        return [*(each.lower() for each in written[:-2].split("+") if each), "+"]
    *modifiers, last = written.split("+")
    return [*(each.lower() for each in modifiers), last]


def _clash(table: Iterable[Action], own: Iterable[str]) -> tuple[Action, str, str] | None:
    """Find a moved key that something else has where both would be heard."""
    ours = {each for key in ACTIONS for each in key.keys.split(",")}
    editing = {each.strip() for binding in TextArea.BINDINGS for each in _keys_of(binding)} - ours
    rows = list(table)
    for mine in rows:
        if mine.name not in own:
            continue
        for each in mine.keys.split(","):
            for other in rows:
                together = other.where == mine.where or "anywhere" in (other.where, mine.where)
                if other is not mine and together and each in other.keys.split(","):
                    return mine, each, other.name or other.words
            if mine.where == "anywhere" and each in editing:
                return mine, each, "editing in the input"
    return None


def _keys_of(binding: object) -> list[str]:
    key = getattr(binding, "key", None)
    return key.split(",") if isinstance(key, str) else []


_TYPED: Final = {_character_to_key(chr(code)) for code in range(ord(" "), ord("~") + 1)}
_KNOWN: Final = {key.value for key in KnownKeys if "+" not in key.value and "<" not in key.value}
