"""A picture of the tasks as rows of styled words, whose rows may be painted as late as they are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.cells import cell_len

from teambot_tui.engine.board import State
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.graph.connections import without_cycles
from teambot_tui.ui.graph.shapes import Box
from teambot_tui.ui.widgets.graph_items import AFTER, ENDED, FOLD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.graph.shapes import Edge
    from teambot_tui.ui.widgets.graph_items import Item

_UNICODE: Final = (("├─", "│ "), ("╰─", "  "))
_ASCII: Final = (("|-", "| "), ("`-", "  "))
"""What leads to a child, and what passes beside those below it: for any child, and for the last."""


def tree(items: Mapping[str, Item], edges: Sequence[Edge], cursor: str | None, glyphs: Glyphs) -> Picture:
    """Return the tasks as a tree."""
    arriving: dict[str, list[Edge]] = {}
    for leaving in without_cycles(items, edges).values():
        for edge in leaving:
            arriving.setdefault(edge.target, []).append(edge)
    children: dict[str, list[Edge]] = {}
    for key in items:
        if some := arriving.get(key):
            main = next((each for each in some if items[each.source].state not in ENDED), some[-1])
            children.setdefault(main.source, []).append(main)
    any_child, last_child = _ASCII if glyphs.ascii_only else _UNICODE
    rows: dict[int, Row] = {}
    boxes: dict[str, Box] = {}
    line: list[tuple[str, str, str, Edge | None]] = [
        (key, "", "", None) for key in reversed(list(items)) if key not in arriving
    ]
    while line:
        key, rails, below, by = line.pop()
        others = [each for each in arriving.get(key, ()) if each is not by and each.source != FOLD]
        row: Row = [(f"{glyphs['prompt']} " if key == cursor else "  ", "cursor"), (rails, "quiet")]
        if by is not None:
            row.append((f"{by.label} ", edge_style(by, items)))
        row += _words(items[key], others, here=key == cursor)
        boxes[key] = Box(0, len(rows), sum(cell_len(text) for text, _ in row), 1)
        rows[len(rows)] = row
        branch, rail = last_child
        for child in reversed(children.get(key, ())):
            line.append((child.target, below + branch, below + rail, child))
            branch, rail = any_child
    return Picture(rows, boxes, max(box.width for box in boxes.values()), len(rows))


def _words(item: Item, others: Sequence[Edge], *, here: bool) -> Row:
    row: Row = [
        (f"{item.glyph} ", item.state),
        (f"{item.title} ", "cursor" if here else "title"),
        (item.note, item.state),
    ]
    if others:
        row.append((f"  +{', '.join(f'{other.label} {other.source}' for other in others)}", "quiet"))
    return row


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
