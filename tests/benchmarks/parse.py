"""The parser: a prompt as people write it, and how the time grows when a prompt is enormous."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teambot_tui.language import parse
from tests.benchmarks.measure import Figure, at_most, best, in_time, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measure import Scale

LIMIT = 50e-6
GROWTH_LIMIT = 2.0

PROMPT = "@writer Sum up " + ", ".join(f"$agent-{number} on its part" for number in range(10))
_SIMPLE_REFERENCE = re.compile(r"\$[a-z-]+")

SHAPES = {
    "words": "plan the next release and say why ",
    "references": "compare $pm with $builder-1, ",
    "statements": "@pm,ba Plan the release &\n",
    "stages": "Plan -> @pm,ba ",
    "arrows to nobody": "-> ",
    "blanks after arrows": "->" + " " * 200,
    "backslashes": "\\",
    "escapes": "\\$pm \\-> @pm \\{x} ",
    "dollars": "$",
    "dollar signs apart": "$ ",
    "long ids": "$a-b",
    "open fence": "```\n",
    "code": "```python\nx -> $pm\n```\n",
    "agents in a list": ",pm",
    "newlines": "\n",
}
"""What an enormous prompt consists of, again and again."""


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure the parser."""
    ours, simple = best(
        scale.rounds * 3,
        repeated(lambda: parse(PROMPT), scale.repeats // 10),
        repeated(lambda: _SIMPLE_REFERENCE.findall(PROMPT), scale.repeats),
    )
    yield Figure(
        "a prompt with 10 references",
        in_time(ours),
        f"re.findall {in_time(simple)}",
        ours / simple,
        f"< {in_time(LIMIT)}",
        ours < LIMIT,
    )
    for name, unit in SHAPES.items():
        yield _growth(name, unit, scale)


def _growth(name: str, unit: str, scale: Scale) -> Figure:
    """Compare the time per byte of a large text with that of a smaller one of the same shape."""
    small, large = (_text(unit, size) for size in scale.text)
    a_small, a_large = best(
        max(2, scale.rounds // 2),
        repeated(lambda: parse(small), max(1, len(large) // len(small) // 2)),
        repeated(lambda: parse(large), 1),
    )
    base, cost = a_small / len(small), a_large / len(large)
    return at_most(
        f"{scale.text[1] // 1024:,} KB of {name}",
        f"{in_time(cost)}/byte",
        f"{scale.text[0] // 1024:,} KB {in_time(base)}",
        cost / base,
        GROWTH_LIMIT,
    )


def _text(unit: str, size: int) -> str:
    start = "@pm" if unit.startswith(",") else "@pm Do\n"
    return start + unit * ((size - len(start)) // len(unit)) + (" it" if unit.startswith(",") else "")
