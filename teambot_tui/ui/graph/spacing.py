"""Columns near the wanted ones that keep their order and their distance, in the sense of least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def pooled(wanted: Sequence[float], weights: Sequence[float]) -> list[int]:
    """Return the rising whole numbers nearest to the wanted ones: neighbours out of order are averaged."""
    blocks: list[tuple[float, float, int]] = []
    for want, weight in zip(wanted, weights, strict=True):
        total, heft, count = want * weight, weight, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / heft:
            before, some, many = blocks.pop()
            total, heft, count = total + before, heft + some, count + many
        blocks.append((total, heft, count))
    return [round(total / heft) for total, heft, count in blocks for _ in range(count)]


def spread(wanted: Sequence[float], apart: Sequence[int], low: int, high: int) -> list[int]:
    """Return columns between `low` and `high` near the wanted ones, each `apart` from the one before."""
    starts: list[int] = []
    x = 0
    for space in apart:
        x += space
        starts.append(x)
    span = starts[-1]
    shifts = pooled([want - start for want, start in zip(wanted, starts, strict=True)], [1.0] * len(starts))
    most = max(low, high - span)
    return [start + min(max(shift, low), most) for start, shift in zip(starts, shifts, strict=True)]
