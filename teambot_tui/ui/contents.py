"""What Textual leaves out of the comparison of contents: the same words in other colours differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.content import Content


def looks_like(one: Content | None, other: Content | None) -> bool:
    """Tell whether two contents look the same: Textual compares their text only."""
    if one is None or other is None:
        return one is other
    return one.plain == other.plain and one.spans == other.spans
