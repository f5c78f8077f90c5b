"""The help, made from the table of actions, so that it cannot be out of date."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from textual.content import Content

from teambot_tui.help import TOPICS
from teambot_tui.language.names import did_you_mean
from teambot_tui.ui.action_table import PLACES, SLASH_COMMANDS
from teambot_tui.ui.commands import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.ui.action_table import Action
    from teambot_tui.ui.keys import Keys

_SEVERAL = 3
_NAMES, _WORDS = 26, 36
"""How wide the two columns are: together they fit into the smallest terminal people use."""


def help_text(keys: Keys, topic: str = "") -> Content:
    """Return all keys by place, all commands and topics; or what is known about one beside its page.

    Raises:
        CommandError: Nothing is.
    """
    if not topic:
        parts = [_place(where, keys.table) for where in _places(keys.table)]
        return Content("\n").join([*parts, _commands(), _topics()])
    name = topic.removeprefix("/")
    found = [_place(where, keys.table) for where in _places(keys.table) if name in where.split(", ")]
    if command := SLASH_COMMANDS.get(name):
        usage = Content(f"/{name} {command.arguments}".rstrip()).stylize("$reference")
        found.insert(0, usage + Content(f"\n  {command.words}\n"))
    if not found and name not in TOPICS:
        near = did_you_mean(name, (*SLASH_COMMANDS, *PLACES, *TOPICS))
        hint = f"Did you mean {near}?" if near else "/help alone lists all topics."
        raise CommandError(f"There is no help about {name}. {hint}")
    return Content("\n").join(found)


def _places(table: Iterable[Action]) -> list[str]:
    return list(dict.fromkeys(key.where for key in table))


def _place(where: str, table: Iterable[Action]) -> Content:
    lines = [_entry(_written(key.keys), key.words) for key in table if key.where == where]
    return Content("\n").join([Content(f"keys: {where}").stylize("bold"), *lines, Content("")])


def _commands() -> Content:
    lines = [
        _entry(f"/{name} {command.arguments}".rstrip(), command.words)
        for name, command in SLASH_COMMANDS.items()
    ]
    return Content("\n").join([Content("commands").stylize("bold"), *lines])


def _topics() -> Content:
    lines = [_entry(f"/help {topic}", words) for topic, words in TOPICS.items()]
    return Content("\n").join([Content("\nmanual").stylize("bold"), *lines])


def _entry(name: str, words: str) -> Content:
    """Return a name and, in a column of their own however many rows they take, its words."""
    beside = f"\n{' ' * (_NAMES + 4)}"
    first, *more = wrap(words, _WORDS)
    if len(name) > _NAMES:
        name = "\n    ".join(wrap(name, _NAMES + _WORDS))
        return Content(f"  {name}").stylize("$reference") + Content(beside + beside.join([first, *more]))
    return Content(f"  {name:{_NAMES}}  ").stylize("$reference") + Content(beside.join([first, *more]))


def _written(keys: str) -> str:
    several = keys.replace("slash", "/").replace("underscore", "_").split(",")
    return ", ".join(several) if len(several) <= _SEVERAL else f"{several[0]}…{several[-1]}"
