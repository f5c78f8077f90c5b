"""How fast foreign text passes the door, piece by piece as a backend delivers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.text import Cleaner
from tests.benchmarks.measure import at_most, best, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measure import Figure, Scale

PLAIN_LIMIT = 6.0
CONTROLS_LIMIT = 20.0
_PIECE = 4096
_CONTROLS = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)])

TEXTS = {
    "plain text": ("The build is green and the release notes are written.\n", PLAIN_LIMIT),
    "text in German and Greek": ("Größe prüfen, dann λόγος schreiben.\n", PLAIN_LIMIT),
    "lines that end in CR LF": ("The build is green and the release notes are written.\r\n", CONTROLS_LIMIT),
    "coloured output": (
        "\x1b[1m\x1b[32mtests/test_a.py\x1b[0m \x1b[32mPASSED\x1b[0m [ 50%]\n",
        CONTROLS_LIMIT,
    ),
    "a progress bar": ("\r\x1b[2K\x1b[36m━━━━━━━━\x1b[0m 50%", CONTROLS_LIMIT),
}
"""What a stream consists of, again and again, and how many times the baseline it may cost."""


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure the cleaner."""
    for name, (unit, limit) in TEXTS.items():
        yield _cleaning(name, unit, limit, scale)


def _cleaning(name: str, unit: str, limit: float, scale: Scale) -> Figure:
    text = unit * (scale.text[-1] // len(unit))
    pieces = [text[begin : begin + _PIECE] for begin in range(0, len(text), _PIECE)]

    def clean() -> None:
        cleaner = Cleaner()
        for piece in pieces:
            cleaner.feed(piece)

    def translate() -> None:
        for piece in pieces:
            piece.translate(_CONTROLS)

    ours, simple = best(scale.rounds, repeated(clean, 1), repeated(translate, 1))
    megabytes = len(text.encode()) / 1e6
    return at_most(
        name,
        f"{megabytes / ours:,.0f} MB/s",
        f"str.translate {megabytes / simple:,.0f} MB/s",
        ours / simple,
        limit,
    )
