"""The shared context: what a whole family of runs is told, beside its task and never in it.

A run sees what the session says, what its parents say, and what it says itself; each extends or overrides the
one before, for itself and what it starts, and never the other way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.outcomes import ending
from teambot_tui.engine.text import one_line, printable, size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.engine.board import Board, Task

HEADING = "[Shared Context]:"
LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """A key, its value as JSON, who said it, and who had said otherwise before."""

    key: str
    value: str
    origin: str
    overridden: tuple[str, ...] = ()


def as_json(value: object) -> str:
    """Return a value as one line of JSON in which nothing is left that a terminal would obey.

    Raises:
        ValueError: it cannot be written as JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"it cannot be written as JSON: {error}") from error
    return text if printable(text) == text else json.dumps(value, allow_nan=False)


def entries(task: Task | None, board: Board) -> tuple[Entry, ...]:
    """Return what a run is told, or without a run what the session says."""
    family: list[Task] = []
    while task is not None:
        family.append(task)
        task = task.parent
    found = {key: Entry(key, value, "session") for key, value in board.context.items()}
    for member in reversed(family):
        for key, value in _own(member).items():
            before = found.pop(key, None)
            overridden = (*before.overridden, before.origin) if before else ()
            found[key] = Entry(key, value, member.id, overridden)
    return tuple(found.values())


def render(told: tuple[Entry, ...], limit: int) -> str:
    """Return the context as an agent reads it; what is too large is cut, visibly."""
    if not told:
        return ""
    lines = [HEADING]
    room = limit
    for number, entry in enumerate(told):
        line = f"- {one_line(entry.key, LONGEST_KEY)}: {entry.value}"
        if size_in_bytes(line) > room:
            cut = line.encode()[: max(0, room)].decode("utf-8", "ignore")
            rest = len(told) - number - 1
            lines.append(f"{cut} … [{size_in_bytes(line) - size_in_bytes(cut):,} bytes are left out here]")
            if rest:
                lines.append(f"[{rest} more keys are left out here]")
            break
        room -= size_in_bytes(line)
        lines.append(line)
    return "\n".join(lines)


def _own(task: Task) -> Mapping[str, str]:
    own = dict(task.plan.context)
    for dependency, source in zip(task.plan.dependencies, task.sources, strict=True):
        if dependency.via is Via.CONTEXT and source is not None:
            said = f"[{ending(source)}]" if source.spoiled else source.output.text.rstrip("\n")
            own[dependency.name] = as_json(said)
    return own
