"""The prompt as it is or will be sent: what was put in has a bar and says whose it is."""

from __future__ import annotations

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
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.inspector_view import InspectorView
    from teambot_tui.ui.widgets.prompt_pieces import Piece

_GIVEN_LINES: Final = 4
_OWN_LINES: Final = 12
_WHOLE_LINES: Final = 400


def prompt_title(view: InspectorView, glyphs: Glyphs, *, whole: bool) -> Content:
    """Say whether the prompt was sent, or when it will be."""
    dot = glyphs["dot"]
    if view.task is None:
        return NOTHING
    if view.prompt is None:
        lacking = ", ".join(f"@{agent}" for agent in view.task.waiting_for)
        when = f"once {lacking} answered" if lacking else "once it is its turn"
        return title("Prompt") + quiet(f" {dot} {when}")
    sent = "as it was sent" if view.task.started else "as it will be sent"
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
        label = Content(_label(part.source, part.text, view, glyphs)).stylize("$text-accent bold")
        bar = Content(f"{glyphs['bar']} ").stylize("$accent")
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
