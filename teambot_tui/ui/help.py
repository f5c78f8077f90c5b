"""The help, made from the table of actions, so that it cannot be out of date.

Names have a column of their own and words another, however wide the screen is.
"""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from teambot_tui.help import TOPICS, search
from teambot_tui.language.names import did_you_mean
from teambot_tui.ui.action_table import PLACES, SLASH_COMMANDS
from teambot_tui.ui.commands import CommandError
from teambot_tui.ui.keys import key_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.ui.action_table import Action
    from teambot_tui.ui.keys import Keys

_SEVERAL: Final = 3
_WIDEST_NAME: Final = 26
_MARGIN: Final = 2
_DEEPER: Final = 4
_LEAST_WORDS: Final = 16
_WIDEST_WORDS: Final = 76
_MARKS: Final = re.compile(r"[`*]{1,2}(?=\S)|(?<=\S)[`*]{1,2}")
_CELLS: Final = re.compile(r"(?<!\\)\|")


class Section(NamedTuple):
    """A part of the help: what it is about, and names with what they do."""

    title: str
    entries: tuple[tuple[str, str], ...]


def help_sections(keys: Keys, topic: str = "") -> list[Section]:
    """Return all keys by place, all commands and topics; or what is known about one beside its page.

    Raises:
        CommandError: Nothing is.
    """
    places = dict.fromkeys(key.where for key in keys.table)
    if not topic:
        return [*(_place(where, keys.table) for where in places), _commands(), _topics()]
    name = topic.removeprefix("/")
    found = [_place(where, keys.table) for where in places if name in where.split(", ")]
    if command := SLASH_COMMANDS.get(name):
        usage = f"/{name} {command.arguments}".rstrip()
        found.insert(0, Section("command", ((usage, command.words),)))
    if not found and name not in TOPICS:
        near = did_you_mean(name, (*SLASH_COMMANDS, *PLACES, *TOPICS))
        hint = f"Did you mean {near}?" if near else "/help alone lists all topics."
        raise CommandError(f"There is no help about {name}. {hint}")
    return found


def _place(where: str, table: Iterable[Action]) -> Section:
    entries = tuple((_written(key.keys), key.words) for key in table if key.where == where)
    return Section(f"keys: {where}", entries)


def _commands() -> Section:
    entries = (
        (f"/{name} {command.arguments}".rstrip(), command.words) for name, command in SLASH_COMMANDS.items()
    )
    return Section("commands", tuple(entries))


def _topics() -> Section:
    return Section("manual", tuple((f"/help {topic}", words) for topic, words in TOPICS.items()))


def _written(keys: str) -> str:
    several = [key_name(key) for key in keys.split(",")]
    return ", ".join(several) if len(several) <= _SEVERAL else f"{several[0]}…{several[-1]}"


def laid_out(sections: Sequence[Section], width: int) -> Content:
    """Return the sections for a width, each with its names and words in two columns."""
    lines: list[Content] = []
    for section in sections:
        if lines:
            lines.append(Content(""))
        lines.append(Content(section.title).stylize("bold"))
        for name, words in section.entries:
            lines += _entry(name, words, width)
    return Content("\n").join(lines)


def _entry(name: str, words: str, width: int) -> list[Content]:
    names = max(1, min(_WIDEST_NAME, width - 2 * _MARGIN - _LEAST_WORDS))
    indent = _MARGIN + names + _MARGIN
    said = wrap(words, max(_LEAST_WORDS, min(_WIDEST_WORDS, width - indent))) or [""]
    if len(name) <= names:
        first = Content(f"{' ' * _MARGIN}{name:{names}}{' ' * _MARGIN}").stylize("$accent")
        return [first + Content(said[0]), *(Content(" " * indent + line) for line in said[1:])]
    long = wrap(name, max(1, width - _DEEPER), break_long_words=True)
    return [
        Content(f"{' ' * (_DEEPER if number else _MARGIN)}{line}").stylize("$accent")
        for number, line in enumerate(long)
    ] + [Content(" " * indent + line) for line in said]


def found_text(sections: Sequence[Section], wanted: str) -> str:
    """Return everything that says a text, as plain text: of the keys and commands, then of the manual."""
    blocks: list[str] = []
    for section in sections:
        found = [f"{name}: {words}" for name, words in section.entries if _has(f"{name}: {words}", wanted)]
        if found:
            blocks.append("\n".join([f"── {section.title} ──", *found]))
    topic = ""
    for passage in search(wanted):
        plain = _plain(passage.text)
        if not _has(plain, wanted):
            continue  # only its markup says it
        if passage.topic != topic:
            topic = passage.topic
            plain = f"── /help {topic} ──\n{plain}"
        blocks.append(plain)
    return "\n\n".join(blocks)


def _has(text: str, wanted: str) -> bool:
    return wanted.casefold() in text.casefold()


def _plain(passage: str) -> str:
    """Return a passage of the manual without its markup; of a table the rows."""
    if passage.startswith("```"):
        return "\n".join(passage.splitlines()[1:-1])
    if passage.startswith("|"):
        rows = ([cell.strip() for cell in _CELLS.split(row)[1:-1]] for row in passage.splitlines()[2:])
        passage = "\n".join(": ".join(filter(None, row)).replace("\\|", "|") for row in rows)
        return _MARKS.sub("", passage)
    return _MARKS.sub("", passage).replace("\n", " ")
