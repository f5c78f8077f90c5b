"""What may stand at the cursor: an agent, a reference, a variable, a command or an option, where one is read.

The question is put to the highlighter: if a name stood here, would it be one? So nothing is offered inside a
fence, behind a backslash or in the middle of a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from teambot_tui.language.fences import TICKS
from teambot_tui.language.highlight import highlight
from teambot_tui.language.names import COMMANDS, EVERYONE
from teambot_tui.language.nodes import Span
from teambot_tui.language.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BEFORE: Final = re.compile(r"(?P<sigil>(?<!\S)--|[@$/{]?)(?P<stem>[\w-]*+)\Z")
_LONGEST_WORD: Final = 128
_AFTER: Final = re.compile(r"[\w-]*+")
_AFTER_BRACE: Final = re.compile(r"\w*+\}?+")
_IN_LIST: Final = re.compile(r",[^\S\n]*+\Z")
_NAMES: Final = {"@": "a", "$": "a", "/": COMMANDS[0], "{": "a}", "--": f"no-{next(iter(OPTIONS))}", "": "a"}

Kind: TypeAlias = Literal["agent", "reference", "variable", "command", "option"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What is being typed, and the texts that could stand in its place, best first."""

    kind: Kind
    span: Span
    candidates: tuple[str, ...]


def complete(
    source: str,
    cursor: int,
    *,
    agents: Sequence[str],
    outputs: Sequence[str],
    commands: Sequence[str] = COMMANDS,
    variables: Sequence[str] = (),
) -> Completion | None:
    """Return what could be meant at the cursor; nothing where no name can stand or none fits."""
    cursor = min(max(cursor, 0), len(source))
    word = _BEFORE.search(source, max(0, cursor - _LONGEST_WORD), cursor)
    if word is None or (TICKS in source and _is_in_fence(source, cursor)):
        return None
    sigil, stem = word["sigil"], word["stem"]
    if not sigil and not _IN_LIST.search(source, max(0, word.start() - _LONGEST_WORD), word.start()):
        return None
    probe = source[: word.start()] + sigil + _NAMES[sigil]
    last = highlight(probe)[-1:]
    if not last or last[0].span != (word.start(), len(probe)):
        return None
    after = (_AFTER_BRACE if sigil == "{" else _AFTER).match(source, cursor)
    span = Span(word.start(), after.end() if after else cursor)
    match last[0].kind:
        case "agent":
            names = rank(stem, [*agents, EVERYONE] if sigil else agents)
            kind: Kind = "agent"
        case "reference":
            names, kind = rank(stem, outputs), "reference"
        case "variable":
            names, kind = [f"{name}}}" for name in rank(stem, variables)], "variable"
        case "command":
            names, kind = rank(stem, commands), "command"
        case "option":
            names, kind = rank(stem, (*OPTIONS, *(f"no-{name}" for name in OPTIONS))), "option"
        case _:
            return None
    return Completion(kind, span, tuple(sigil + name for name in names)) if names else None


def _is_in_fence(source: str, cursor: int) -> bool:
    """Whether a fence surrounds the cursor, which what stands before it may not tell."""
    return any(
        each.kind == "fence" and each.span.start < cursor < each.span.end for each in highlight(source)
    )


def rank(stem: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with the stem, then those that contain its characters in order."""
    wanted = stem.casefold()
    known = list(dict.fromkeys(names))
    first = [name for name in known if name.casefold().startswith(wanted)]
    scattered = [
        (distance, name)
        for name in known
        if name not in first and (distance := _distance(wanted, name.casefold())) is not None
    ]
    return first + [name for _, name in sorted(scattered, key=lambda found: found[0])]


def _distance(wanted: str, name: str) -> int | None:
    """How far apart the wanted characters lie in a name, or nothing if they do not occur in order."""
    position = -1
    start = None
    for character in wanted:
        position = name.find(character, position + 1)
        if position < 0:
            return None
        start = position if start is None else start
    return position - (start or 0)
