"""Which processes are ours: a child and all it started, by process group and by the mark they carry.

The mark finds on Linux what left its group; elsewhere a child that leaves its group is not found.
"""

from __future__ import annotations

import itertools
import os
import re
from contextlib import suppress
from logging import getLogger
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.guard import CHILD_BITS, VARIABLE, Guard, has_living, kill_carriers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

logger = getLogger(__name__)

KERNEL_LIMIT: Final = 5.0
"""Seconds for what takes the kernel milliseconds: after that it will not happen any more."""

_PASSED_ON: Final = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|SSL_CERT_FILE|SSL_CERT_DIR"
)
_PROGRAM: Final = 1 << 41 | int.from_bytes(os.urandom(5), "big")
_children: Final = itertools.count()

guard: Final = Guard(_PROGRAM)
"""Ends all groups and whoever carries a mark of ours when we are ended without a chance to do it."""


class Group:
    """A process group, never signalled again once it was seen empty: its number may be another's by then."""

    def __init__(self) -> None:
        self.leader: int | None = None

    def begin(self, leader: int) -> None:
        """Take note of a child that leads a new group."""
        self.leader = leader
        guard.watch_group(leader)

    def signal(self, number: int) -> bool:
        """Signal the group and tell whether somebody was there to hear it."""
        leader = self.leader  # read once: other threads signal too
        try:
            if leader is not None:
                os.killpg(leader, number)
        except (ProcessLookupError, PermissionError):
            leader = self.leader = None
        return leader is not None


def new_mark() -> int:
    """Return a number for a child and all it will start, which nobody else carries."""
    return _PROGRAM << CHILD_BITS | next(_children) % (1 << CHILD_BITS)


def environment(variables: Mapping[str, str | None], mark: int) -> dict[str, str]:
    """What a child may know: the harmless of ours, variables of its own (None: as ours is), and its mark."""
    ours = {*variables, *filter(_PASSED_ON.fullmatch, os.environ)}
    passed_on = {name: value for name, value in os.environ.items() if name in ours}
    own = {name: value for name, value in variables.items() if value is not None}
    # A teambot that itself runs as somebody's child keeps that mark, so that its starter finds ours too.
    marks = f"{os.environ.get(VARIABLE, '')} {mark}".strip()
    return {"TERM": "dumb", "NO_COLOR": "1", **passed_on, **own, VARIABLE: marks}


def kill_marked(marks: Collection[int], keep: int | None = None) -> None:
    """Kill whoever carries one of these marks; what has become our own child is reaped, unless it is to keep.

    Where no other process adopts orphans, in a container for instance, they come to us.
    """
    left, ended = kill_carriers(marks.__contains__, os.getsid(0), KERNEL_LIMIT)
    if left:
        logger.warning("processes that cannot be killed: %s", left)
    for process in ended if keep is not None else ():
        if process != keep:
            with suppress(ChildProcessError):  # somebody else's child, as nearly always
                os.waitpid(process, os.WNOHANG)


def is_there(group: Group) -> bool:
    """Tell whether anybody of a group still lives."""
    # A zombie that nobody reaps stays in its group.
    leader = group.leader
    return group.signal(0) and leader is not None and has_living(leader)
