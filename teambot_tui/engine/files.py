"""Files that somebody else wrote are read once, whole and bounded: no pipe can hang us, no size drown us.

Below a root, a file is opened folder by folder and no link is followed, so that what was checked is what is
read. Ours are written whole and in one step, for nobody's eyes but the user's.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE_LIMIT: Final = 1024 * 1024
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe that has no writer would wait for one


class UnreadableError(Exception):
    """The file is there but cannot be used; the text says why, and `hint` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def read_whole(path: Path, limit: int = SIZE_LIMIT) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises:
        FileNotFoundError: There is no such file.
        UnreadableError: It is too large, not a regular file, or may not be read.
    """
    with _errors(path):
        return _read_and_close(os.open(path, os.O_RDONLY | _FILE), limit)


def read_inside(root: Path, path: Path, limit: int = SIZE_LIMIT) -> bytes:
    """Return the same of a file below a root, both given by their real paths.

    Raises:
        FileNotFoundError: There is no such file.
        UnreadableError: It is too large, not a regular file, or may not be read.
    """
    with _errors(path):
        return _read_and_close(open_inside(root, path), limit)


def read_at(folder: int, name: str, limit: int = SIZE_LIMIT) -> bytes:
    """Return the same of a file in an open folder; a link is not followed.

    Raises:
        OSError: It cannot be opened or read.
        UnreadableError: It is too large, or not a regular file.
    """
    return _read_and_close(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _FILE, dir_fd=folder), limit)


def read_open(descriptor: int, limit: int = SIZE_LIMIT) -> bytes:
    """Return the same of an open file.

    Raises:
        OSError: It cannot be read.
        UnreadableError: It is too large, or not a regular file.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise UnreadableError("is not a regular file", "name a text file")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise UnreadableError(
            f"is too large: more than {limit // 1024**2} MiB", "include the part that matters"
        )
    return content


def open_inside(root: Path, path: Path, flags: int = os.O_RDONLY, *, create: bool = False) -> int:
    """Open a file below a root, both given by their real paths; with `create`, make the folders on the way.

    Raises:
        OSError: It cannot be opened, or a link is in the way.
    """
    *folders, name = path.relative_to(root).parts or (".",)
    folder = os.open(root, _FOLDER)
    try:
        for each in folders:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(each, dir_fd=folder)
            inner = os.open(each, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, flags | os.O_NOFOLLOW | _FILE, 0o666, dir_fd=folder)
    finally:
        os.close(folder)


def _read_and_close(descriptor: int, limit: int) -> bytes:
    try:
        return read_open(descriptor, limit)
    finally:
        os.close(descriptor)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(str(path)) from error
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or type(error).__name__}") from error
    except ValueError as error:
        raise UnreadableError("cannot be read: its path is not valid") from error


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
        raise UnreadableError(f"is not UTF-8 text (line {line})", "save it as UTF-8") from error


def decode_text(content: bytes) -> str:
    """Return the same of a file that may be of any kind.

    Raises:
        UnreadableError: It is not UTF-8, or a binary file.
    """
    if b"\0" in content:
        raise UnreadableError("is a binary file, not a text", "tell the agent its path instead")
    return decode(content)
