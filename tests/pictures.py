"""Pictures that look the same everywhere: the font is inside, and several stills make one that moves."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_FONTS: Final = Path(__file__).parent / "fonts"
_FAMILY: Final = "teambot"
_SECONDS: Final = 3.0
"""How long a still of a moving picture is in sight."""


def with_font(svg: str) -> str:
    """Return a picture with its font embedded."""
    faces = "".join(
        f"@font-face {{ font-family: {_FAMILY}; font-weight: {weight}; "
        f"src: url(data:font/woff2;base64,{b64encode((_FONTS / file).read_bytes()).decode()}) }}\n"
        for weight, file in (("normal", "regular.woff2"), ("bold", "bold.woff2"))
    )
    svg = svg.replace("font-family: Fira Code, monospace", f"font-family: {_FAMILY}, monospace")
    return svg.replace("<style>", f"<style>\n{faces}", 1)


def moving(stills: Sequence[str]) -> str:
    """Return a picture that shows these one after the other, for ever; all must be of one size."""
    first = stills[0]
    box = re.search(r'viewBox="([^"]*)"', first)
    assert box is not None, "a picture has a size"
    share = 100 / len(stills)
    rules = (
        f"@keyframes turn {{ 0%, {share:.3f}% {{ visibility: visible }} "
        f"{share + 0.001:.3f}%, 100% {{ visibility: hidden }} }}\n"
        f".still {{ visibility: hidden; animation: turn {_SECONDS * len(stills):g}s infinite step-end }}"
    )
    parts = []
    for number, still in enumerate(stills):
        own = re.sub(r"terminal-(\w)", rf"t{number}-\1", still)
        delay = f"{_SECONDS * number:g}s"
        parts.append(f'<g class="still" style="animation-delay: {delay}">{own}</g>')
    return with_font(
        f'<svg viewBox="{box[1]}" xmlns="http://www.w3.org/2000/svg"><style>{rules}</style>\n'
        + "\n".join(parts)
        + "</svg>\n"
    )
