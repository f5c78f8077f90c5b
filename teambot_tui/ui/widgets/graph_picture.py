"""A picture of the tasks as rows of styled words, whose rows may be painted as late as they are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.cells import cell_len

from teambot_tui.engine.board import State
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.widgets.graph_items import AFTER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.ui.graph.shapes import Box, Edge
    from teambot_tui.ui.widgets.graph_items import Item

Row: TypeAlias = list[tuple[str, str]]
"""Words, each with the name of its style."""

_HELP: Final = (
    ("No tasks yet.", "quiet"),
    ("", ""),
    ("@pm plan the release", "title"),
    ("starts a task.", "quiet"),
    ("", ""),
    ("@builder-1 build what $pm planned -> @reviewer check it", "title"),
    ("draws the first lines.", "quiet"),
)
_HELP_ROOM: Final = 80


@dataclass(slots=True)
class Picture:
    """What is painted so far, and where the nodes are."""

    rows: dict[int, Row] = field(default_factory=dict)
    boxes: Mapping[str, Box] = field(default_factory=dict)
    width: int = 0
    height: int = 0


def edge_style(edge: Edge, items: Mapping[str, Item]) -> str:
    """Return the name of the style that tells what became of a line's source."""
    if edge.kind == AFTER:
        return "edge-after"
    match items[edge.source].state:
        case State.COMPLETED:
            return "edge-met"
        case State.FAILED | State.SKIPPED | State.CANCELLED:
            return "edge-broken"
        case _:
            return "edge"


def picture_of_nothing(room: int, ellipsis: str) -> Picture:
    """Return what is shown before there are tasks: what to type."""
    rows: list[Row] = [[]]
    for text, style in _HELP:
        line = clip(text, room - 2, ellipsis)
        rows.append([(" " * max(0, (min(room, _HELP_ROOM) - cell_len(line)) // 2), ""), (line, style)])
    return Picture(dict(enumerate(rows)), {}, room, len(rows))
