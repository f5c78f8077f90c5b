"""A picture of the tasks as rows of styled words, whose rows may be painted as late as they are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.cells import cell_len

from teambot_tui.ui.canvas import clip
from teambot_tui.ui.graph.ranks import without_cycles
from teambot_tui.ui.graph.shapes import Box
from teambot_tui.ui.widgets.graph_items import ENDED, FOLD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.graph.shapes import Edge
    from teambot_tui.ui.widgets.graph_items import Item

Row: TypeAlias = list[tuple[str, str]]
"""Words, each with the name of its style."""

_UNICODE: Final = (("├", "│  "), ("╰", "   "), "▶ ")
_ASCII: Final = (("|", "|  "), ("`", "   "), "> ")
"""What leads to a child and passes beside those below it, for any child and for the last; the arrow."""
_OTHER: Final = 16
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
    any_child, last_child, arrow = _ASCII if glyphs.ascii_only else _UNICODE
    rows: dict[int, Row] = {}
    boxes: dict[str, Box] = {}
    line: list[tuple[str, str, str, Edge | None]] = [
        (key, "", "", None) for key in reversed(list(items)) if key not in arriving
    ]
    while line:
        key, rails, below, by = line.pop()
        others = [each.source for each in arriving.get(key, ()) if each is not by and each.source != FOLD]
        row: Row = [(f"{glyphs['prompt']} ", "title") if key == cursor else ("  ", "")]
        if by is not None:
            row += [(rails, "quiet"), (by.label, "label"), (arrow, "quiet")]
        row += _words(items, key, others, here=key == cursor, ellipsis=glyphs["ellipsis"])
        boxes[key] = Box(0, len(rows), sum(cell_len(text) for text, _ in row), 1)
        rows[len(rows)] = row
        branch, rail = last_child
        for child in reversed(children.get(key, ())):
            line.append((child.target, below + branch, below + rail, child))
            branch, rail = any_child
    return Picture(rows, boxes, max(box.width for box in boxes.values()), len(rows))


def _words(items: Mapping[str, Item], key: str, others: Sequence[str], *, here: bool, ellipsis: str) -> Row:
    item = items[key]
    row: Row = [
        (f"{item.glyph} ", item.state),
        (item.title, "cursor" if here else "title"),
        (" ", ""),
        (item.note, "note"),
    ]
    if others:
        names = ", ".join(clip(items[other].title, _OTHER, ellipsis) for other in others)
        row.append((f"  + {names}", "quiet"))
    return row


def step_in_tree(boxes: Mapping[str, Box], cursor: str, direction: str) -> str | None:
    """Return the node above or below in a tree."""
    keys = list(boxes)
    number = keys.index(cursor) + (-1 if direction in ("up", "left") else 1)
    return keys[number] if 0 <= number < len(keys) else None


def step_in_drawing(
    boxes: Mapping[str, Box], edges: Sequence[Edge], cursor: str, direction: str
) -> str | None:
    """Return the next node of a drawing: along a line where there is one, else the nearest ahead."""
    here = boxes[cursor]
    level = direction in ("left", "right")
    forward = 1 if direction in ("down", "right") else -1
    if level:
        ends = ((edge.target, edge.source) if forward > 0 else (edge.source, edge.target) for edge in edges)
        linked = [far for far, near in ends if near == cursor and far in boxes]
        if linked:
            return min(linked, key=lambda key: (abs(boxes[key].y - here.y), abs(boxes[key].x - here.x)))
    distances: dict[str, int] = {}
    for key, box in boxes.items():
        across, down = box.x - here.x, box.y - here.y
        if (across if level else down) * forward > 0:
            distances[key] = abs(across) + 8 * abs(down) if level else 4 * abs(across) + abs(down)
    return min(distances, key=distances.__getitem__, default=None)


def picture_of_nothing(room: int, ellipsis: str) -> Picture:
    """Return what is shown before there are tasks: what to type."""
    rows: list[Row] = [[]]
    for text, style in _HELP:
        line = clip(text, room - 2, ellipsis)
        rows.append([(" " * max(0, (min(room, _HELP_ROOM) - cell_len(line)) // 2), ""), (line, style)])
    return Picture(dict(enumerate(rows)), {}, room, len(rows))
