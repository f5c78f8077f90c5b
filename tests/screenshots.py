"""`python -m tests.screenshots` draws the pictures of the README: the same bytes every time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.pictures import moving, with_font
from tests.ui import scenes
from tests.ui.stage import LARGE, NORMAL, SMALL

if TYPE_CHECKING:
    from tests.ui.scenes import Scene

STORY: Final = ("story-1", "story-2", "story-3", "story-4", "story-5")
"""The stills of the picture that moves, in order."""
FOLDER: Final = Path(__file__).parent.parent / "screenshots"

PICTURES: Final[dict[str, tuple[Scene | None, tuple[int, int], str]]] = {
    "idle": (None, NORMAL, scenes.DARK),
    "working": (scenes.working, NORMAL, scenes.DARK),
    "six": (scenes.all_six, NORMAL, scenes.DARK),
    "fan-out": (scenes.fanned_out, LARGE, scenes.DARK),
    "timeline": (scenes.timeline, NORMAL, scenes.DARK),
    "tables": (scenes.listed, NORMAL, scenes.DARK),
    "compare": (scenes.side_by_side, NORMAL, scenes.DARK),
    "error": (scenes.mistaken, NORMAL, scenes.DARK),
    "inspector": (scenes.inspected, NORMAL, scenes.DARK),
    "approvals": (scenes.approving, NORMAL, scenes.DARK),
    "graph": (scenes.drawn, NORMAL, scenes.DARK),
    "temporary": (scenes.temporary, NORMAL, scenes.DARK),
    "up": (scenes.previewed, NORMAL, scenes.DARK),
    "up-running": (scenes.upped, NORMAL, scenes.DARK),
    "narrow": (scenes.building, SMALL, scenes.DARK),
    "wide": (scenes.inspected, LARGE, scenes.DARK),
    "light": (scenes.building, NORMAL, scenes.LIGHT),
    "story-1": (scenes.typed, NORMAL, scenes.DARK),
    "story-2": (scenes.planned, NORMAL, scenes.DARK),
    "story-3": (scenes.working, NORMAL, scenes.DARK),
    "story-4": (scenes.done, NORMAL, scenes.DARK),
    "story-5": (scenes.timeline, NORMAL, scenes.DARK),
}


def draw_all(folder: Path) -> None:
    """Draw every picture, and remove those that are no longer made."""
    folder.mkdir(exist_ok=True)
    drawn = {
        name: asyncio.run(scenes.picture(scene, size, theme))
        for name, (scene, size, theme) in PICTURES.items()
    }
    files = {name: with_font(svg) for name, svg in drawn.items() if name not in STORY}
    files["story"] = moving([drawn[name] for name in STORY])
    for stale in folder.glob("*.svg"):
        if stale.stem not in files:
            stale.unlink()
    for name, svg in files.items():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
        print(f"{name}.svg")


if __name__ == "__main__":
    draw_all(FOLDER)
