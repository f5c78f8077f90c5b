"""The prompt as it is or will be sent: what was put in has a bar and says whose it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content

from teambot_tui.engine.text import size_in_bytes
from teambot_tui.ui.glyphs import duration, size_in_words
from teambot_tui.ui.widgets.feed_text import NARROWEST, expand, wrap
from teambot_tui.ui.widgets.inspector_words import NOTHING, fold, quiet, title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.inspector_view import InspectorView


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt: the person's words, or an output and whose it is."""

    text: str
    source: AgentId | None = None


def pieces(prompt: Prompt) -> tuple[Piece, ...]:
    """Take a prompt apart into the person's words and the outputs that were put in."""
    if len(prompt.given) == 1 and prompt.text == prompt.given[0].text:
        return (Piece(prompt.text, prompt.given[0].agent),)
    patterns: list[tuple[str, Piece]] = []
    for given in prompt.given:
        piece = Piece(given.text, given.agent)
        patterns.append((f"=== Output from @{given.agent} ===\n{given.text}", piece))
        patterns.append((f"[Output from @{given.agent}]: {given.text}", piece))
        if given.text.startswith(f"[@{given.agent} "):
            patterns.append((given.text, piece))
    found: list[Piece] = []
    text, position = prompt.text, 0
    places = {pattern: text.find(pattern) for pattern, _ in patterns}
    while True:
        ahead = [
            (places[pattern], -len(pattern), pattern, piece)
            for pattern, piece in patterns
            if places[pattern] >= 0
        ]
        if not ahead:
            break
        start, _, pattern, piece = min(ahead, key=lambda each: each[:2])
        if text[position:start].strip():
            found.append(Piece(text[position:start].strip("\n")))
        found.append(piece)
        position = start + len(pattern)
        for other, place in places.items():
            if 0 <= place < position:
                places[other] = text.find(other, position)
    if text[position:].strip():
        found.append(Piece(text[position:].strip("\n")))
    return tuple(found)


_GIVEN_LINES: Final = 4
_OWN_LINES: Final = 12
_WHOLE_LINES: Final = 400


def prompt_title(view: InspectorView, glyphs: Glyphs, *, whole: bool) -> Content:
    """Say whether the prompt was sent, or when it will be."""
    dot = glyphs["dot"]
    if view.task is None:
        return NOTHING
    if view.prompt is None:
        return NOTHING
    lacking = ", ".join(f"@{agent}" for agent in view.task.waiting_for)
    sent = "as it was sent" if view.task.started else "as it will be sent"
    if lacking:
        sent += f" once {lacking} answered"
    hint = "" if whole else f" {dot} p shows all"
    return title("Prompt") + quiet(
        f" {dot} {sent} {dot} {size_in_words(size_in_bytes(view.prompt.text))}{hint}"
    )


def prompt_text(
    parts: Iterable[Piece], view: InspectorView, glyphs: Glyphs, width: int, *, whole: bool
) -> Content:
    """Return the prompt, its outputs labelled, each of their rows behind a bar."""
    content: list[Content] = []
    for part in parts:
        limit = _WHOLE_LINES if whole else _OWN_LINES if part.source is None else _GIVEN_LINES
        text, more = fold(part.text or "(empty)", limit)
        note = [quiet(f"{glyphs['ellipsis']} +{more} {'line' if more == 1 else 'lines'}")] if more else []
        if part.source is None:
            content += [Content(text), *note]
            continue
        label = Content(_label(part.source, part.text, view, glyphs)).stylize("$reference bold")
        bar = Content(f"{glyphs['bar']} ").stylize("$reference")
        room = max(NARROWEST, width - cell_len(bar.plain))
        rows = (quiet(expand(row.removesuffix("\n"))) for row in wrap(f"{text}\n", room))
        content += [bar + line for line in (label, *rows, *note)]
    return Content("\n").join(content)


def _label(agent: AgentId, text: str, view: InspectorView, glyphs: Glyphs) -> str:
    words = [f"{glyphs['from']} @{agent}"]
    sources = {need.agent: need.task for need in view.needs if need.task is not None}
    if (source := sources.get(agent)) is not None:
        words.append(source.task)
        if source.ended is not None:
            words.append(f"{duration(view.now - source.ended)} ago")
    return f" {glyphs['dot']} ".join([*words, size_in_words(size_in_bytes(text))])
