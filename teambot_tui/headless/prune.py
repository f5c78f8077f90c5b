"""`teambot prune`: what would go is told before anything goes, and somebody has to say yes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.ages import age_in_words, size_in_words
from teambot_tui.engine.text import one_line
from teambot_tui.store.folders import StoreError
from teambot_tui.store.prune import CATEGORIES, find, remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from teambot_tui.store.prune import Leftover

_SHOWN: Final = 10


def prune(
    home: Path,
    project: Path,
    older_than: float,
    categories: Iterable[str] | None,
    *,
    dry_run: bool,
    ask: Callable[[str], bool] | None,
    say: Callable[[str], None],
    complain: Callable[[str], None],
) -> int:
    """Show what is older than so many seconds and remove it after a yes; `ask` is missing if nobody is there.

    Returns the exit status: 0, 1 if something could not be removed, 2 if nobody could be asked.
    """
    now = time.time()
    leftovers = find(home, project, older_than, now, categories)
    if not leftovers:
        say("Nothing to remove.")
        return 0
    for line in _lines(leftovers, now):
        say(line)
    total = _amount(leftovers)
    if dry_run:
        say(f"Would remove {total}.")
        return 0
    if ask is None:
        complain("Nothing was removed: there is no terminal to ask on. Say yes with: teambot prune -y")
        return 2
    if not ask(f"Remove {total}?"):
        say("Nothing was removed.")
        return 0
    removed = [leftover for leftover in leftovers if _removed(leftover, older_than, complain)]
    say(f"Removed {_amount(removed)}." if removed else "Nothing was removed.")
    return 0 if len(removed) == len(leftovers) else 1


def _removed(leftover: Leftover, older_than: float, complain: Callable[[str], None]) -> bool:
    try:
        remove(leftover, older_than)
    except StoreError as error:
        complain(one_line(str(error)))
        return False
    return True


def _lines(leftovers: list[Leftover], now: float) -> Iterator[str]:
    for category in CATEGORIES.values():
        found = [leftover for leftover in leftovers if leftover.category == category.name]
        if not found:
            continue
        count = f"{len(found)} {category.one}{'s' * (len(found) != 1)}"
        yield f"{category.words}: {count}, {_size(found)}"
        for leftover in found[:_SHOWN]:
            age = age_in_words(now - leftover.changed)
            yield f"  {one_line(leftover.name, 80)}  {size_in_words(leftover.size)}, {age} old"
        if len(found) > _SHOWN:
            yield f"  … and {len(found) - _SHOWN} more"


def _amount(leftovers: list[Leftover]) -> str:
    files = sum(leftover.files for leftover in leftovers)
    return f"{files} file{'s' * (files != 1)}, {_size(leftovers)}"


def _size(leftovers: list[Leftover]) -> str:
    return size_in_words(sum(leftover.size for leftover in leftovers))
