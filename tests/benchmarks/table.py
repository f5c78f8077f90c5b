"""Figures as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.benchmarks.measure import Figure

_HEADINGS = ("", "cost", "baseline", "ratio", "aim", "")
_TO_THE_RIGHT = (False, True, False, True, True, False)


def table(figures: Sequence[Figure]) -> str:
    """Return the lines of a table."""
    rows = [_HEADINGS, *map(_row, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def _row(figure: Figure) -> tuple[str, ...]:
    ratio = f"{figure.ratio:.2f}" if figure.ratio >= 0.1 else f"{figure.ratio:.3g}"
    return (figure.subject, figure.cost, figure.baseline, ratio, figure.aim, figure.verdict)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (
        cell.rjust(width) if to_the_right else cell.ljust(width)
        for cell, width, to_the_right in zip(row, widths, _TO_THE_RIGHT, strict=True)
    )
    return "  ".join(cells).rstrip()
