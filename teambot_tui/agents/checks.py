"""What a setting may be: every check knows what it allows, in words, and returns only what it allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from teambot_tui.engine.ages import parse_age
from teambot_tui.engine.text import one_line, printable
from teambot_tui.language.names import RESERVED, RESERVED_WORDS, did_you_mean, is_agent_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

T = TypeVar("T")
Word = TypeVar("Word", bound=str)

_LONGEST_NAME = 64
_LONGEST_TEXT = 200
_LARGEST_INTEGER = 2**63 - 1
_COMPARED = 2000
_LISTED = 40
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._:\[\]-]+(?:/[A-Za-z0-9._~%/-]*)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Check(Generic[T]):
    """What a value may be. `accept` returns the value to use, or None to refuse: no value in TOML is None.

    A refused text is shown only where `shown` says so, because people put secrets into the wrong place.
    """

    allowed: str
    accept: Callable[[object], T | None]
    shown: bool = False

    def __call__(self, value: object) -> T:
        """Return the value to use.

        Raises:
            ValueError: It is not allowed; the text says what is.
        """
        accepted = self.accept(value)
        if accepted is None:
            given = one_line(value, 40) if self.shown and isinstance(value, str) else ""
            raise ValueError(f"must be {self.allowed}, not {given or kind(value)}")
        return accepted


@dataclass(frozen=True, slots=True)
class TableShape:
    """The keys a table may have, what each may be, and which must be there."""

    keys: Mapping[str, Check[Any]]
    required: tuple[str, ...] = ()


def kind(value: object) -> str:
    """Say what sort of value it is, in the words of TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() if abs(value) > _LARGEST_INTEGER:
            return "a very large number"  # Python may refuse to write it out
        case int() | float():
            return str(value)
        case str():
            return "this text" if value else "an empty text"
        case list():
            return "this list" if value else "an empty list"
        case dict():
            return "a table"
        case _:
            return "a date or a time"


def unknown(what: str, name: str, known: Collection[str]) -> str:
    """Say that a name is not known, which one may be meant, and which there are, as far as one can read."""
    shown = one_line(name, 40)
    near = did_you_mean(shown, (one_line(each, 40) for each in islice(known, _COMPARED)))
    listed = ", ".join(one_line(each, 40) for each in islice(known, _LISTED))
    more = ", …" if len(known) > _LISTED else ""
    hint = f" Did you mean {near}?" if near else ""
    return f"unknown {what} {shown or '(empty)'}.{hint} Known: {listed or 'none'}{more}"


def integer(at_least: int = -_LARGEST_INTEGER, at_most: int = _LARGEST_INTEGER) -> Check[int]:
    """Allow an integer between two limits."""

    def accept(value: object) -> int | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return value if at_least <= value <= at_most else None

    return Check(f"an integer from {at_least} to {at_most}", accept)


def number(*, at_most: int, zero: bool = False) -> Check[float]:
    """Allow a number that is positive, or also zero, up to a limit."""

    def accept(value: object) -> float | None:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        # NaN is on neither side of a limit, so it is refused too.
        return float(value) if 0 < value <= at_most or (zero and value == 0) else None

    return Check(f"a number {'from 0 to' if zero else 'above 0 and up to'} {at_most}", accept)


def one_of(choices: Iterable[Word]) -> Check[Word]:
    """Allow a few words, or the values of an enumeration, whose member is returned."""
    known = {str(choice): choice for choice in choices}
    return Check(
        f"one of {', '.join(known)}",
        lambda value: known.get(value) if isinstance(value, str) else None,
        shown=True,
    )


def some_of(choices: tuple[str, ...]) -> Check[tuple[str, ...]]:
    """Allow a list of a few words, which may be empty."""

    def accept(value: object) -> tuple[str, ...] | None:
        words = _strings(value)
        return words if words is not None and set(words) <= set(choices) else None

    return Check(f"a list of any of {', '.join(choices)}", accept)


def _text(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return None
    return one_line(value, _LONGEST_TEXT) or None


def _agent_id(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > _LONGEST_NAME or value in RESERVED:
        return None
    return value if is_agent_id(value) else None


def _bare_key(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        return None
    return value if _BARE_KEY.fullmatch(value) else None


def _program(value: object) -> tuple[str, ...] | None:
    words = _words(value)
    return words if words and words[0] else None


def _words(value: object) -> tuple[str, ...] | None:
    words = _strings(value)
    return words if words is not None and all(printable(word) == word for word in words) else None


def _variables(value: object) -> dict[str, str | None] | None:
    if isinstance(value, list):
        value = dict.fromkeys(names, True) if (names := _strings(value)) is not None else None
    if not isinstance(value, dict) or not all(map(_VARIABLE.fullmatch, value)):
        return None
    known = {name: None if given is True else given for name, given in value.items()}
    fit = all(given is None or (isinstance(given, str) and "\0" not in given) for given in known.values())
    return known if fit else None


def _texts(value: object) -> dict[str, str] | None:
    known = _variables(value) if isinstance(value, dict) else None
    texts = {name: text for name, text in (known or {}).items() if text is not None}
    return texts if known is not None and len(texts) == len(known) else None


def _strings(value: object) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(word, str) for word in value) else None


def _keys(value: object) -> tuple[str, ...] | None:
    keys = (value,) if isinstance(value, str) else _strings(value)
    return keys if keys and all(key.strip() and len(key) <= _LONGEST_NAME for key in keys) else None


def _address(value: object) -> str | None:
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        return None
    try:
        parts = urlsplit(value)
        usable = parts.hostname and parts.port != 0
    except ValueError:
        return None
    return value if usable else None


def _variable(value: object) -> str | None:
    return value if isinstance(value, str) and _VARIABLE.fullmatch(value) else None


def _file(value: object) -> str | None:
    return value if isinstance(value, str) and value and printable(value) == value else None


def _kept_for(value: object) -> str | None:
    if not isinstance(value, str) or value in ("session", "none"):
        return value if isinstance(value, str) else None
    try:
        return value if parse_age(value) else None
    except ValueError:
        return None


boolean = Check("true or false", lambda value: value if isinstance(value, bool) else None)

table = Check("a table", lambda value: value if isinstance(value, dict) else None)

text = Check(f"a text of 1 to {_LONGEST_TEXT} characters", _text)
"""Cleaned, because it will be shown."""

agent_id = Check(
    "an agent id (lowercase letters and digits in groups joined by hyphens, a letter first, at most"
    f" {_LONGEST_NAME} characters, such as builder-1; {RESERVED_WORDS}: rename it)",
    _agent_id,
    shown=True,
)

agent_id_or_nothing = Check(
    f'{agent_id.allowed}, or "" for none',
    lambda value: "" if value == "" else _agent_id(value),
    shown=True,
)

backend_name = Check(
    f"the name of a backend (letters, digits, hyphens and underscores, at most {_LONGEST_NAME} characters)",
    _bare_key,
    shown=True,
)
"""What TOML takes as a key without quotes, so that a dotted key is never ambiguous."""

keys = Check('a key such as "f5" or "ctrl+n", or a list of keys such as ["f5", "g"]', _keys, shown=True)
"""Which keys there are is known to the screen."""

arguments = Check(
    'a program and its arguments, such as ["program", "--option"], without control characters', _program
)
"""Passed on exactly, so it is refused rather than cleaned."""

more_arguments = Check('a list of arguments, such as ["--option"], without control characters', _words)

variables = Check(
    'a list of names of environment variables, such as ["SOME_KEY"], or a table of them, where true passes'
    ' yours on and a text sets another value, such as {SOME_KEY = true, SOME_HOME = "/srv/some"}',
    _variables,
)
"""By name, with the value to set, or None for the one that we have."""

texts_by_variable = Check(
    'a table of environment variables and their values, such as {SOME_CONFIG = "{tools}"}', _texts
)

variable_name = Check("the name of an environment variable, not its value, such as SERVER_KEY", _variable)

address = Check(
    "the address of a server, such as http://127.0.0.1:8080/v1, without a user, a password or a query",
    _address,
)

file = Check("the path of a file", _file)

kept_for = Check('an age such as "30d", "12h" or "2w", or "session", or "none"', _kept_for, shown=True)
