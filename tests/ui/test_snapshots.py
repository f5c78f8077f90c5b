"""Pictures of the screen at three sizes: whatever changes on them was meant to.

When one differs, look at what the message shows, then at the new picture (`pytest -m thorough
--snapshot-update` and `git diff`); `python -m tests.screenshots` draws the README's from the same scenes.
"""

from __future__ import annotations

import html
import re
from difflib import unified_diff
from typing import TYPE_CHECKING, Final

import pytest
import textual
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.ui import scenes
from tests.ui.stage import LARGE, NORMAL, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syrupy.assertion import SnapshotAssertion

    from tests.ui.scenes import Scene

DRAWN_WITH: Final = "8.2.8"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        textual.__version__ != DRAWN_WITH,
        reason=f"the pictures were drawn with textual {DRAWN_WITH}, this is {textual.__version__}",
    ),
]

SCENES: Final[dict[str, Scene | None]] = {
    "idle": None,
    "planned": scenes.planned,
    "working": scenes.working,
    "completing": scenes.completing,
    "pasted": scenes.pasted,
    "finding": scenes.finding,
    "mistaken": scenes.mistaken,
    "inspected": scenes.inspected,
    "drawn": scenes.drawn,
    "timeline": scenes.timeline,
    "done": scenes.done,
    "asking": scenes.asking,
    "approving": scenes.approving,
    "listed": scenes.listed,
    "helped": scenes.helped,
    "compared": scenes.side_by_side,
    "previewed": scenes.previewed,
    "upped": scenes.upped,
}
_CELL: Final = 12.2  # rich's width of a character


class Picture(SingleFileSnapshotExtension):
    """An SVG in a file of its own; a difference is told in rows of text."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"

    def diff_lines(self, serialized_data: str | bytes, snapshot_data: str | bytes) -> Iterator[str]:
        """Tell what is drawn differently."""
        before, after = rows(str(snapshot_data)), rows(str(serialized_data))
        if before == after:
            yield "The text is the same, but its colours, styles or places are not."
        yield from unified_diff(before, after, "recorded", "now", n=1, lineterm="")
        yield "If this was meant: pytest -m thorough --snapshot-update, then look at the pictures."


def rows(svg: str) -> list[str]:
    """Return the text of a picture, row by row."""
    found: dict[int, list[str]] = {}
    texts = re.finditer(r'<text [^>]*x="([\d.]+)"[^>]*terminal-line-(\d+)\)">([^<]*)</text>', svg)
    for place, line, text in (match.groups() for match in texts):
        row = found.setdefault(int(line), [])
        column = round(float(place) / _CELL)
        row += [" "] * (column - len(row))
        row[column:] = html.unescape(text).replace("\xa0", " ").strip("\n")
    return ["".join(row).rstrip() for _, row in sorted(found.items())]


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Picture)


@pytest.mark.parametrize("size", [SMALL, NORMAL, LARGE], ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("scene", SCENES)
async def test_picture(scene: str, size: tuple[int, int], picture: SnapshotAssertion) -> None:
    assert await scenes.picture(SCENES[scene], size) == picture


async def test_a_picture_is_the_same_every_time() -> None:
    first = await scenes.picture(scenes.building, NORMAL, scenes.LIGHT)
    assert await scenes.picture(scenes.building, NORMAL, scenes.LIGHT) == first


def test_a_difference_is_told_in_rows_of_text() -> None:
    def draw(text: str) -> str:
        cell = '<text class="r1" x="{}" y="20" textLength="1" clip-path="url(#terminal-line-0)">{}</text>'
        return cell.format("12.2", "@pm") + cell.format("61", text) + cell.format("976", "\n")

    assert rows(draw("idle&#160;&amp;")) == [" @pm idle &"]
    told = list(Picture().diff_lines(draw("waiting"), draw("idle")))
    assert "- @pm idle" in told
    assert "+ @pm waiting" in told
    assert "pytest -m thorough --snapshot-update" in told[-1]
