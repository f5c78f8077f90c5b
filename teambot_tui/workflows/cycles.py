"""x"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of one cycle, each waiting for the next and the last for the first; or nothing."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        backwards: list[str] = error.args[1]
        return backwards[:0:-1]
    return []
