"""The language in colour: which characters of each line of a text have which style."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.language.span import Span
from teambot_tui.ui.pastes import drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def colours(
    shown: str, references: Mapping[str, str], error: Span | None, *, folded: bool
) -> dict[int, list[tuple[int, int, str]]]:
    """Return where in each line a style begins and ends, as far as the text can be understood."""
    if not shown:
        return {}
    from teambot_tui.language.highlight import highlight  # noqa: PLC0415  the first picture shows no text

    spans: list[tuple[Span, str]] = []
    if not folded:  # what is folded away decides what the rest means
        for found in highlight(shown):
            state = references.get(shown[found.span.start + 1 : found.span.end], "")
            known = found.kind == "reference" and state in ("bound", "waiting", "unknown")
            spans.append((found.span, f"reference-{state}" if known else found.kind))
    else:
        for index, (character, sign) in enumerate(zip(shown, drawn(shown, "\0"), strict=True)):
            if character != sign:
                spans.append((Span(index, index + 1), "paste"))
    if error is not None:
        start, end = error
        start = min(start, max(0, len(shown) - 1))
        spans.append((Span(start, max(end, start + 1)), "error"))
    return _by_line(spans, shown)


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
