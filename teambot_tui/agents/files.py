"""Files that somebody else wrote are read once, whole and bounded: no pipe can hang us, no size drown us.

Ours are written whole and in one step, for nobody's eyes but the user's.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

SIZE_LIMIT = 1024 * 1024


class UnreadableError(Exception):
    """The file is there but cannot be used; the text says why."""


def read_whole(path: Path) -> bytes:
    """Return the content of a regular file of at most `SIZE_LIMIT` bytes.

    Raises:
        FileNotFoundError: There is no such file.
        UnreadableError: It is too large, not a regular file, or may not be read.
    """
    try:
        # Opening a pipe that has no writer would wait for one.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableError("is not a regular file")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(SIZE_LIMIT + 1)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(str(path)) from error
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or type(error).__name__}") from error
    except ValueError as error:
        raise UnreadableError("cannot be read: its path is not valid") from error
    if len(content) > SIZE_LIMIT:
        raise UnreadableError(f"is larger than {SIZE_LIMIT} bytes")
    return content


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that a crash leaves the old one or the new one.

    Raises:
        OSError: It cannot be written.
    """
    path = path.resolve()  # a link stays one
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # made with mode 0600
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def decode(content: bytes) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises:
        UnreadableError: It is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"is not UTF-8 text (line {line})") from error
