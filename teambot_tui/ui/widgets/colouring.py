"""The language in colour: which characters of each line of a text have which style."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.language.names import ALIASES, EVERYONE
from teambot_tui.language.span import Span
from teambot_tui.ui.pastes import LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from teambot_tui.ui.pastes import Pastes


def colours(
    shown: str, references: Mapping[str, str], error: Span | None, *, pastes: Pastes, cursor: int
) -> dict[int, list[tuple[int, int, str]]]:
    """Return where in each line a style begins and ends, as far as the text can be understood.

    `references` tells of each agent what a reference to it would be. Nothing is called unknown while the
    cursor stands directly behind it: it is incomplete.
    """
    if not shown:
        return {}
    marks = pastes.marks(shown)
    spans = [(mark, "paste") for mark in marks]
    if len(whole := pastes.unfold(shown)) <= LIMIT:  # else nobody can follow it while they type
        for span, name in _meanings(whole, references, pastes.exact_index(shown, cursor)):
            place = pastes.shown_span(shown, span) if marks else span
            if not any(place.start < mark.end and mark.start < place.end for mark in marks):
                spans.append((place, name))
    if error is not None:
        start, end = error
        start = min(start, max(0, len(shown) - 1))
        spans.append((Span(start, max(end, start + 1)), "error"))
    return _by_line(spans, shown)


def _meanings(source: str, references: Mapping[str, str], cursor: int) -> Iterator[tuple[Span, str]]:
    """Return what the characters of a text mean, and of names whether they are known."""
    from teambot_tui.language.highlight import highlight  # noqa: PLC0415  the first picture shows no text

    known = {*references, *ALIASES, EVERYONE}
    named: set[str] = set()
    """Who gets something to do before, so that there will be an output."""
    for kind, span in ((found.kind, found.span) for found in highlight(source)):
        word = source[slice(*span)]
        name, _, _ = word.lstrip("@$").partition(".")
        state = ""
        match kind:
            case "agent":
                if word.startswith("$"):
                    known.add(name)  # it is defined here
                state = "" if name in known or not references else "unknown"
                named.add(ALIASES.get(name, name))
            case "reference":
                state = references.get(name, "unknown" if references else "")
                if state == "unknown" and name in named:
                    state = "waiting"
        if state == "unknown" and span.end == cursor:
            yield span, "incomplete"
        else:
            yield span, f"{kind}-{state}" if state else kind


def _by_line(spans: Sequence[tuple[Span, str]], text: str) -> dict[int, list[tuple[int, int, str]]]:
    """Cut spans of a text into spans of its lines."""
    lines: dict[int, list[tuple[int, int, str]]] = {}
    row, begin = 0, 0
    for (start, end), name in sorted(spans, key=lambda found: found[0]):
        while (next_line := text.find("\n", begin, start)) >= 0:
            row, begin = row + 1, next_line + 1
        at, first = row, begin
        while True:
            stop = text.find("\n", max(first, start if at == row else first), end)
            lines.setdefault(at, []).append(
                (max(0, start - first), (end if stop < 0 else stop) - first, name)
            )
            if stop < 0:
                break
            at, first = at + 1, stop + 1
    return lines
