"""Which branch of which repository the work goes into, read from git's own file: no program is started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.files import UnreadableError, decode, read_whole
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST: Final = 40
_SHORT_COMMIT: Final = 7


def branch_of(folder: Path) -> str:
    """Return the branch that is checked out in a folder or above it, or the commit; nothing without one."""
    for place in (folder, *folder.parents):
        try:
            git = place / ".git"
            if git.is_file():  # a worktree or a submodule: the file says where it is
                git = place / _first_line(git).removeprefix("gitdir: ")
            head = _first_line(git / "HEAD")
        except (OSError, UnreadableError):
            continue
        name = head.removeprefix("ref: refs/heads/")
        return one_line(name if name != head else head[:_SHORT_COMMIT], _LONGEST)
    return ""


def _first_line(path: Path) -> str:
    return decode(read_whole(path)).partition("\n")[0]
