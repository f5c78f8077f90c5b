"""The `{{…}}` directives in a text: where they stand. What they are replaced by is decided elsewhere.

In a fence nothing is a directive, and a backslash before a brace makes it a brace.
Braces around anything else are text. One pass, and no character is read more than a few times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from teambot_tui.language.fences import RUN, Fences

if TYPE_CHECKING:
    from collections.abc import Iterator


class Kind(StrEnum):
    """What a directive asks for; the value is its word."""

    OUTPUT = "output"
    INPUT = "input"
    INCLUDE = "include"
    STDIN = "STDIN"
    ITERATION = "iteration"


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive; `name` is what stands behind the colon, if anything."""

    kind: Kind
    name: str
    start: int
    end: int


_KINDS: Final = {kind.lower(): kind for kind in Kind}
# What is text here is text for the parser of prompts too: a run of braces is taken as a whole.
_DIRECTIVE: Final = re.compile(
    rf"""
      (?P<fence> {RUN} )
    | (?:\\\\)*+\\\$?\{{++ | \\++
    | \{{\{{[^\S\n]*+
      (?: (?P<named> (?ai: output | input | include ) ) [^\S\n]*+ : (?P<name> [^{{}}\n]*+ )
        | (?P<bare> (?ai: STDIN | iteration ) ) [^\S\n]*+ )
      \}}\}}
    | \{{++
    """,
    re.MULTILINE | re.VERBOSE,
)


def find_directives(text: str) -> Iterator[Directive]:
    """Yield the directives of a text, in order."""
    if "{{" not in text:
        return
    fences = Fences(text)
    position = 0
    while found := _DIRECTIVE.search(text, position):
        position = found.end()
        if found["fence"]:
            position = fences.end(*found.span()) or position
        elif word := found["named"] or found["bare"]:
            yield Directive(_KINDS[word.lower()], (found["name"] or "").strip(), found.start(), found.end())
