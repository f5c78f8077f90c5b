"""The options of a task, `@pm --model opus Plan`: one table, and how they are written.

They stand right behind the ids of an `@` statement or stage, or behind an exact call. What is read here is as
much of an option as is there; what is missing tells what is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from teambot_tui.language.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class OptionKind:
    """An option: its name, its letter, what its value is in words, by example and as a pattern."""

    name: str
    letter: str
    expected: str
    example: str
    value: re.Pattern[str]


OPTIONS: Final = {
    kind.name: kind
    for kind in (
        OptionKind("model", "m", "the name of a model", "opus", re.compile(r"[\w./~](?:[^`-]|-(?!>))*+")),
    )
}
_BY_LETTER: Final = {kind.letter: kind.name for kind in OPTIONS.values()}
_OFF: Final = "no-"

_BLANK = r"[^\S\n]"
_END = r"(?=[\s=]|\Z)"
_NAME = rf"--(?P<name>[a-z][A-Za-z-]*+){_END}"
_OPTION = re.compile(rf"{_BLANK}++(?P<word>{_NAME}|-(?P<letter>[A-Za-z]){_END})")
_VALUE = re.compile(
    rf"""
    (?: = | {_BLANK}++ )
    (?P<value>
        " (?P<double> (?: [^"\\\n]++ | \\[^\n]?+ )*+ ) (?P<double_end> "?+ )
      | ' (?P<single> [^'\n]*+ ) (?P<single_end> '?+ )
      | (?P<bare> \S++ )
    )?+
    """,
    re.VERBOSE,
)
_ESCAPED = re.compile(rf"{_BLANK}++(?P<slashes>\\++)(?:{_NAME}|-(?P<letter>[A-Za-z]){_END})")
_CHARACTER = re.compile(r'\\(["\\])')
_NEEDS_QUOTES = re.compile(r"[\"']|.*\s|\Z")
LOOKS_LIKE_OPTION: Final = re.compile(rf"\\*+(?:{_NAME}|-[A-Za-z]{_END})")
"""What is read as an option, or as an escaped one, where options stand."""


@dataclass(frozen=True, slots=True)
class WrittenOption:
    """An option as it stands in the text.

    No kind: there is no such option. No value: it is missing, or the option is switched off.
    """

    kind: OptionKind | None
    word: str
    value: str | None
    is_off: bool
    is_closed: bool
    """Whether a value that begins with a quote also ends with one."""
    span: Span
    word_span: Span
    value_span: Span


def read_options(source: str, position: int) -> Iterator[WrittenOption]:
    """Yield the options that stand at a position; none behind one that does not exist."""
    is_first = True
    while found := _OPTION.match(source, position):
        name = found["name"] or _BY_LETTER.get(found["letter"])
        if name is None and is_first:  # `@pm -x` is text
            return
        is_off = name is not None and name not in OPTIONS and name.removeprefix(_OFF) in OPTIONS
        kind = OPTIONS.get((name or "").removeprefix(_OFF) if is_off else name or "")
        option = _written(source, found, kind, is_off=is_off)
        yield option
        if kind is None:
            return
        position = option.span.end
        is_first = False


def escaped_option(source: str, position: int, *, is_first: bool) -> re.Match[str] | None:
    """Return the backslashes that make what would be an option here text, as the group `slashes`."""
    found = _ESCAPED.match(source, position)
    if found is None or (found["letter"] and is_first and found["letter"] not in _BY_LETTER):
        return None
    return found


def written_value(value: str) -> str:
    """Return how a value is written."""
    if _NEEDS_QUOTES.match(value) is None:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(source: str, found: re.Match[str], kind: OptionKind | None, *, is_off: bool) -> WrittenOption:
    word_span = Span(*found.span("word"))
    value = None if kind is None or is_off else _VALUE.match(source, found.end())
    if value is None or value["value"] is None:
        has_equals = value is not None and source[found.end()] == "="
        end = found.end() + has_equals
        return WrittenOption(
            kind, found["word"], None, is_off, True, Span(word_span.start, end), word_span, Span(end, end)
        )
    value_span = Span(*value.span("value"))
    if (text := value["double"]) is not None:
        text, closed = _CHARACTER.sub(r"\1", text), bool(value["double_end"])
    elif (text := value["single"]) is not None:
        closed = bool(value["single_end"])
    else:
        text, closed = value["bare"], True
    return WrittenOption(
        kind,
        found["word"],
        text,
        is_off,
        closed,
        Span(word_span.start, value_span.end),
        word_span,
        value_span,
    )
