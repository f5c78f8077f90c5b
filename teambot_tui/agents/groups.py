"""Which processes are ours: a child and all it started, by process group and by a mark in the environment.

The mark finds on Linux what left its group; elsewhere a child that leaves its group is not found.
"""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

logger = getLogger(__name__)

KERNEL_LIMIT: Final = 5.0
"""Seconds for what takes the kernel milliseconds: after that it will not happen any more."""
POLL: Final = 0.02
"""Seconds between two looks at what no event tells."""

_PASSED_ON: Final = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|SSL_CERT_FILE|SSL_CERT_DIR"
)
_MARK: Final = "TEAMBOT_PROCESS"
_PROC: Final = Path("/proc")


class Group:
    """A process group, never signalled again once it was seen empty: its number may be another's by then."""

    def __init__(self) -> None:
        self.leader: int | None = None

    def signal(self, number: int) -> bool:
        """Signal the group and tell whether somebody was there to hear it."""
        leader = self.leader  # read once: other threads signal too
        try:
            if leader is not None:
                os.killpg(leader, number)
        except (ProcessLookupError, PermissionError):
            leader = self.leader = None
        return leader is not None


def environment(names: Iterable[str], variables: Mapping[str, str], mark: str) -> dict[str, str]:
    """What a child may know: the harmless and the named of ours, variables of its own, and its mark."""
    known = {*names, *filter(_PASSED_ON.fullmatch, os.environ)}
    passed_on = {name: value for name, value in os.environ.items() if name in known}
    # A teambot that itself runs as somebody's child keeps that mark, so that its starter finds ours too.
    marks = f"{os.environ.get(_MARK, '')} {mark}".strip()
    return {"TERM": "dumb", "NO_COLOR": "1", **passed_on, **variables, _MARK: marks}


def marked(marks: Iterable[str]) -> list[int]:
    """The processes whose environment holds one of the marks; a zombie has no environment any more."""
    wanted = [mark.encode() for mark in marks]
    found = []
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            with suppress(OSError):  # it ended meanwhile, or is another user's
                seen = (entry / "environ").read_bytes()
                if any(mark in seen for mark in wanted):
                    found.append(int(entry.name))
    return found


def kill_marked(marks: Iterable[str]) -> None:
    """Kill until nobody carries a mark: while we look, a process can start another one."""
    give_up = time.monotonic() + KERNEL_LIMIT
    while strays := marked(marks):
        for stray in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        if time.monotonic() > give_up:
            logger.warning("processes that cannot be killed: %s", strays)
            return
        time.sleep(POLL)


def is_there(group: Group, mark: str) -> bool:
    """Tell whether anybody of a group still lives."""
    # A zombie that nobody reaps stays in its group, but has no environment any more.
    return group.signal(0) and bool(not _PROC.is_dir() or marked([mark]))
