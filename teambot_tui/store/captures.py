"""The file of one captured output: readable while it grows, replaced in one step at its end, never too large.

While a task runs its file is appended to; before it would pass the limit it is replaced by its own last
half, so that the work per byte does not depend on how much there is. At the end it is replaced by the last
bytes that fit. What cannot be written leaves the file as it was, and is part of the next attempt.
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

from teambot_tui.engine.text import Tail, last_bytes, size_in_bytes

SMALLEST_LIMIT: Final = 1024
_ROOM_FOR_NOTE: Final = 100
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MORE: Final = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class OutputFile:
    """What is known of one file; used by one thread."""

    __slots__ = ("_identity", "_limit", "_name", "_size", "_tail")

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._tail = Tail(limit)
        self._identity: tuple[int, int] | None = None
        self._size = 0

    def write(self, folder: int, news: Tail, *, ended: bool) -> None:
        """Write what is new.

        Raises:
            OSError: It cannot be written now; what was given is kept for the next time.
        """
        text = news.text
        if news.missing:  # what was skipped lies between the old text and the new
            total = self._tail.total + news.missing
            self._tail = Tail(self._limit)
            self._tail.total = total
        self._tail.append(text)
        content = text.encode("utf-8", "replace")
        if ended:
            self._replace(folder, self._limit)
        elif news.missing or self._size + len(content) > self._limit or not self._append(folder, content):
            self._replace(folder, self._limit if self._fits() else self._limit // 2)

    def _fits(self) -> bool:
        return self._tail.total <= self._limit

    def _append(self, folder: int, content: bytes) -> bool:
        """Add to the file, if it still is the one we made."""
        if self._identity is None:
            return False
        try:
            descriptor = os.open(self._name, _MORE, dir_fd=folder)
        except OSError:
            return False
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) != self._identity or status.st_size != self._size:
                return False
            try:
                _write_all(descriptor, content)
            except OSError:
                self._identity = None
                os.ftruncate(descriptor, self._size)
                raise
        finally:
            os.close(descriptor)
        self._size += len(content)
        return True

    def _replace(self, folder: int, room: int) -> None:
        """Put a new file in the place of whatever is there, in one step."""
        self._identity = None
        draft = f".{self._name}.part"
        content = _document(self._tail, room)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        descriptor = os.open(draft, _NEW, 0o600, dir_fd=folder)
        try:
            try:
                _write_all(descriptor, content)
                status = os.fstat(descriptor)
            finally:
                os.close(descriptor)
            os.rename(draft, self._name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise
        self._identity = (status.st_dev, status.st_ino)
        self._size = len(content)


def _document(tail: Tail, room: int) -> bytes:
    """Return what is kept, in at most `room` bytes; the first line tells what is not."""
    if tail.total <= room and not tail.missing:
        return tail.text.encode("utf-8", "replace")
    kept = last_bytes(tail.text, room - _ROOM_FOR_NOTE)
    missing = tail.total - size_in_bytes(kept)
    return f"[The first {missing:,} bytes of this output are not kept.]\n{kept}".encode("utf-8", "replace")


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
