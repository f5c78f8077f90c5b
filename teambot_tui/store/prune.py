"""How long things are kept: what is old is found, shown and then removed.

Never what is in use, never through a link. What can be pruned is a table of categories. Each finds its own
leftovers; whether one may go is decided again, under its folder's mark, at the moment at which it goes.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import stat
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.ages import age_in_words, parse_age
from teambot_tui.store.folders import StoreError, is_run_id, open_folder, opened, reason
from teambot_tui.store.live import LiveMark, is_live
from teambot_tui.store.outputs import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

TEMPORARY_AGENTS: Final = Path(".teambot", "temp-agents")
_AT_LEAST: Final = 60.0
"""Seconds: a run that has just begun may not be marked as in use yet."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something old: a file, or a folder with all that is in it, by the names that lead to it from `top`."""

    category: str
    top: Path
    place: tuple[str, ...]
    files: int
    size: int
    changed: float

    @property
    def name(self) -> str:
        """What it is called in its place."""
        return self.place[-1]


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of things that can be pruned."""

    name: str
    words: str
    one: str
    find: Callable[[Path, Path, float], Iterator[Leftover]]
    """Yields what was last changed before a time, in TeamBot's home or in the project."""
    remove: Callable[[int, str, float], None]
    """Removes what is of this name in a folder, if that is still so."""


def find(
    home: Path, project: Path, older_than: float, now: float, categories: Iterable[str] | None = None
) -> list[Leftover]:
    """Return what has not changed for so many seconds and is not in use, the oldest of each kind first."""
    chosen = CATEGORIES.keys() if categories is None else categories
    return [
        leftover
        for name in chosen
        for leftover in sorted(
            CATEGORIES[name].find(home, project, now - older_than),
            key=lambda found: (found.changed, found.place),
        )
    ]


def remove(leftover: Leftover, older_than: float) -> None:
    """Remove one leftover, unless it has come into use or was changed since it was found.

    Raises:
        StoreError: It was left, as a whole or in part; the text says why.
    """
    try:
        with opened(leftover.top, leftover.place[:-1]) as parent:
            CATEGORIES[leftover.category].remove(parent, leftover.name, time.time() - older_than)
    except FileNotFoundError:
        return  # somebody else was faster
    except OSError as error:
        raise StoreError(f"{leftover.name} cannot be removed: {reason(error)}") from error
    except StoreError as error:
        raise StoreError(f"{leftover.name} is left: {error}") from error


def prune_outputs(home: Path, older_than: float) -> None:
    """Remove the captured outputs of runs that are older, without a word; what cannot be removed stays."""
    for leftover in find(home, home, older_than, time.time(), ("outputs",)):
        with contextlib.suppress(StoreError):
            remove(leftover, older_than)


def remove_outputs(home: Path, run: str) -> None:
    """Remove the captured outputs of a run that has ended.

    Raises:
        StoreError: They were left, as a whole or in part; the text says why.
    """
    remove(Leftover("outputs", home, (FOLDER, run), 0, 0, 0.0), -math.inf)


def _remove_run(parent: int, name: str, before: float) -> None:
    folder = open_folder(parent, name, create=False)
    try:
        _, _, changed = _measure(folder)
        with LiveMark(folder):
            if changed >= before:
                raise StoreError("it has just changed")
            shutil.rmtree(name, dir_fd=parent)
    finally:
        os.close(folder)


def _remove_file(parent: int, name: str, before: float) -> None:
    with LiveMark(parent):
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or status.st_mtime >= before:
            raise StoreError("it has just changed")
        os.unlink(name, dir_fd=parent)


def _find_outputs(home: Path, project: Path, before: float) -> Iterator[Leftover]:  # noqa: ARG001
    for run in _names(home, (FOLDER,)):
        if not is_run_id(run):
            continue
        with contextlib.suppress(OSError, StoreError), opened(home, (FOLDER, run)) as folder:
            files, size, changed = _measure(folder)
            if changed < before and not is_live(folder):
                yield Leftover("outputs", home, (FOLDER, run), files, size, changed)


def _find_temporary_agents(home: Path, project: Path, before: float) -> Iterator[Leftover]:  # noqa: ARG001
    parts = TEMPORARY_AGENTS.parts
    names = [name for name in _names(project, parts) if name.endswith(".md")]
    with contextlib.suppress(OSError, StoreError), opened(project, parts) as folder:
        if names and is_live(folder):
            return
        for name in names:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_mtime < before:
                yield Leftover("temp-agents", project, (*parts, name), 1, status.st_size, status.st_mtime)


CATEGORIES: Final = {
    category.name: category
    for category in (
        Category("outputs", "captured outputs", "run", _find_outputs, _remove_run),
        Category(
            "temp-agents",
            "temporary agents left in this project",
            "file",
            _find_temporary_agents,
            _remove_file,
        ),
    )
}


def _names(top: Path, place: tuple[str, ...]) -> list[str]:
    with contextlib.suppress(OSError, StoreError), opened(top, place) as folder:
        return os.listdir(folder)  # noqa: PTH208  a path could be led astray, a descriptor cannot
    return []


def _measure(folder: int) -> tuple[int, int, float]:
    """Return how many files are in a folder, their size, and when anything in it was last changed."""
    files, size, changed = 0, 0, os.fstat(folder).st_mtime
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            changed = max(changed, status.st_mtime)
            if not entry.name.startswith("."):
                files += 1
                size += status.st_size
    return files, size, changed


@dataclass(frozen=True, slots=True)
class Keeping:
    """What becomes of the outputs in TeamBot's home; `setting` is an age, `session` or `none`."""

    home: Path
    setting: str

    @property
    def writes(self) -> bool:
        """Whether outputs are written at all."""
        return self.setting != "none"

    def begin(self) -> None:
        """Remove what is too old, in a thread that nobody waits for; a run that is going on is left alone."""
        age = _AT_LEAST if self.setting in ("session", "none") else parse_age(self.setting).total_seconds()
        threading.Thread(
            target=prune_outputs, args=(self.home, max(age, _AT_LEAST)), name="old outputs", daemon=True
        ).start()

    def end(self, run: str) -> None:
        """Remove what a run that has ended has written, if it is to be kept no longer."""
        if self.setting == "session":
            with contextlib.suppress(StoreError):  # the next session removes it
                remove_outputs(self.home, run)

    def tell_once(self) -> str | None:
        """Say where outputs are kept, and how long, if there never were any; it is not said again."""
        if not self.writes or (self.home / FOLDER).exists():
            return None
        try:
            with opened(self.home, (FOLDER,), create=True):
                pass
        except (OSError, StoreError):
            return None  # whoever writes the first one tells why not
        age = None if self.setting == "session" else parse_age(self.setting).total_seconds()
        how_long = "until the session ends" if age is None else f"for {age_in_words(age)}"
        place = self.home / FOLDER
        return f"Outputs are kept in {place} {how_long}; keep_outputs in your settings changes that."
