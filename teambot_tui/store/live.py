"""The mark of a folder that is in use: a locked file in it, which the system unlocks however its owner ends.

Whoever uses a folder and whoever removes it take the same lock, so there is no moment at which a folder that
somebody has just begun to use can be removed.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING, Final

from teambot_tui.store.folders import StoreError

if TYPE_CHECKING:
    from types import TracebackType

MARK: Final = ".live"
"""A leading dot, because no output's file name has one."""
_PATIENCE: Final = 2.0
_PAUSE: Final = 0.02
_OPEN: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class InUseError(StoreError):
    """Somebody else uses the folder."""

    def __init__(self) -> None:
        super().__init__("another teambot uses it")


class LiveMark:
    """Holds the mark of a folder until it is closed."""

    def __init__(self, folder: int, patience: float = 0.0) -> None:
        """Take the mark of an open folder.

        Raises:
            InUseError: Somebody else holds it.
            OSError: The mark cannot be made, or the disk knows no locks.
        """
        self._descriptor = os.open(MARK, _OPEN | os.O_CREAT, 0o600, dir_fd=folder)
        try:
            _lock(self._descriptor, time.monotonic() + patience)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the mark go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> LiveMark:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def mark_patiently(folder: int) -> LiveMark:
    """Take the mark of a folder that is ours; whoever only looks at it has let go of it by then."""
    return LiveMark(folder, _PATIENCE)


def is_live(folder: int) -> bool:
    """Whether somebody uses the folder. What cannot be found out counts as a yes; nothing is changed."""
    try:
        descriptor = os.open(MARK, _OPEN, dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not _locked(descriptor)
    except OSError:
        return True
    finally:
        os.close(descriptor)


def _lock(descriptor: int, deadline: float) -> None:
    while not _locked(descriptor):
        if time.monotonic() >= deadline:
            raise InUseError
        time.sleep(_PAUSE)
    if not os.fstat(descriptor).st_nlink:  # removed with its folder while we waited
        raise InUseError


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
