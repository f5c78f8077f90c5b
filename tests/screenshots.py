"""`python -m tests.screenshots` draws the pictures of the README: the same bytes every time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.ui import scenes
from tests.ui.stage import LARGE, NORMAL, SMALL

if TYPE_CHECKING:
    from tests.ui.scenes import Scene

FOLDER: Final = Path(__file__).parent.parent / "screenshots"

PICTURES: Final[dict[str, tuple[Scene | None, tuple[int, int], str]]] = {
    "idle": (None, NORMAL, scenes.DARK),
    "working": (scenes.working, NORMAL, scenes.DARK),
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
    "story-1": (scenes.typed, SMALL, scenes.DARK),
    "story-2": (scenes.planned, SMALL, scenes.DARK),
    "story-3": (scenes.working, SMALL, scenes.DARK),
    "story-4": (scenes.done, SMALL, scenes.DARK),
}


def draw_all(folder: Path) -> None:
    """Draw every picture, and remove those that are no longer made."""
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("*.svg"):
        if stale.stem not in PICTURES:
            stale.unlink()
    for name, (scene, size, theme) in PICTURES.items():
        svg = asyncio.run(scenes.picture(scene, size, theme))
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
        print(f"{name}.svg")


if __name__ == "__main__":
    draw_all(FOLDER)
