"""`/up` as a person types it: a file, what of it, and how often."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean

EXAMPLE: Final = "/up flow.yaml main --iterations 3"
MOST_ITERATIONS: Final = 1000
_OPTIONS: Final = ("--iterations", "--file", "-f")
_SUFFIXES: Final = (".yaml", ".yml")


class UpCommandError(Exception):
    """An `/up` that says something that cannot be understood, and what to type."""


@dataclass(frozen=True, slots=True)
class UpCommand:
    """What a person wants run; see `open_up`."""

    file: Path | None = None
    names: tuple[str, ...] = ()
    iterations: int | None = None

    @property
    def text(self) -> str:
        """The command that asks for it."""
        words = ["/up"]
        if self.file is not None:
            words += ["-f", str(self.file)]
        words += self.names
        if self.iterations is not None:
            words += ["--iterations", str(self.iterations)]
        return shlex.join(words)


def is_compose_file(word: str) -> bool:
    """Whether a word means a file: names of pipelines and tasks have no such end, and no slash."""
    return word.lower().endswith(_SUFFIXES) or "/" in word


def parse_up(text: str) -> UpCommand:
    """Return what the words behind `/up` ask for.

    Raises:
        UpCommandError: They cannot be understood.
    """
    try:
        words = iter(shlex.split(text))
    except ValueError as error:
        raise UpCommandError(f"A quote is not closed. Try: {EXAMPLE}") from error
    file: Path | None = None
    names: list[str] = []
    iterations: int | None = None
    for word in words:
        option, equals, value = word.partition("=")
        if option in _OPTIONS:
            value = value if equals else next(words, "")
            if not value:
                _fail(f"{option} needs a value.")
            if option == "--iterations":
                iterations = _number(value)
                continue
        elif word.startswith("-"):
            near = did_you_mean(option, _OPTIONS)
            _fail(f"Unknown option: {one_line(option, 40)}." + (f" Did you mean {near}?" if near else ""))
        elif names or file is not None or not is_compose_file(word):
            names.append(word)
            continue
        else:
            value = word
        if file is not None:
            _fail("Two files are given.")
        file = Path(value).expanduser() if value.startswith("~/") else Path(value)
    return UpCommand(file, tuple(names), iterations)


def _number(value: str) -> int:
    is_number = value.isascii() and value.isdigit() and len(value) <= len(str(MOST_ITERATIONS))
    if not is_number or not 1 <= int(value) <= MOST_ITERATIONS:
        _fail(f"--iterations must be a number from 1 to {MOST_ITERATIONS}, not {one_line(value, 40)}.")
    return int(value)


def _fail(message: str) -> NoReturn:
    raise UpCommandError(f"{message} Try: {EXAMPLE}")
