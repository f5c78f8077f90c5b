"""Whether tasks wait for each other in a circle, found without recursion, each edge walked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of one circle, each waiting for the next and the last for the first; or nothing."""
    done: set[str] = set()
    for start in needs:
        if start in done:
            continue
        path = {start: iter(needs[start])}
        while path:
            name, rest = next(reversed(path.items()))
            following = next((task for task in rest if task not in done), None)
            if following is None:
                done.add(name)
                path.popitem()
            elif following in path:
                names = list(path)
                return names[names.index(following) :]
            else:
                path[following] = iter(needs.get(following, ()))
    return []
