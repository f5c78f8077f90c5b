"""Whose words a prompt is made of: the person's, and the outputs that were put in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.injection import Prompt


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
