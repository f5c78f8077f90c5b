"""The text files of a project: read whole and bounded, and only if they really lie in it.

Links are resolved first; then the file is opened folder by folder without following any, so that what was
checked is what is read.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.text import printable
from teambot_tui.workflows.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST: Final = 1024 * 1024
_CHECK: Final = (
    "check the spelling: a path counts from the file that names it, a typed one from the project's folder"
)
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ProjectFiles:
    """Reads text files below one folder, each once."""

    def __init__(self, project: Path) -> None:
        self._project = project.resolve()
        self._texts: dict[Path, str] = {}

    def shown(self, path: Path) -> str:
        """Return how a path is shown to the user: from the project on, if it is in it."""
        return str(path.relative_to(self._project) if path.is_relative_to(self._project) else path)

    def find(self, path: Path) -> Path:
        """Return where a path really leads.

        Raises:
            FileError: It leads out of the project, or nowhere.
        """
        try:
            found = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links is one or the other
            raise FileError("cannot be found: its path is not valid", _CHECK) from error
        if not found.is_relative_to(self._project):
            raise FileError("is outside the project", f"copy it into {self._project}")
        return found

    def read(self, path: Path) -> str:
        """Return the text of a file that `find` has found.

        Raises:
            FileError: It does not exist, is not a text, or is too large.
        """
        if path not in self._texts:
            self._texts[path] = printable(decode(self._content(path)))
        return self._texts[path]

    def _content(self, path: Path) -> bytes:
        *folders, name = path.relative_to(self._project).parts or (".",)
        descriptor = -1
        try:
            descriptor = os.open(self._project, _OPEN | os.O_DIRECTORY)
            for folder in folders:
                descriptor = _step(descriptor, folder, os.O_DIRECTORY)
            descriptor = _step(descriptor, name, 0)
            return read_bounded(descriptor, LARGEST)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileError("does not exist", _CHECK) from error
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "its path is not valid"
            raise FileError(f"cannot be read: {why}", _CHECK) from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _step(folder: int, name: str, flags: int) -> int:
    """Open what is in a folder, and let go of the folder if that went well."""
    descriptor = os.open(name, _OPEN | flags, dir_fd=folder)
    os.close(folder)
    return descriptor


def read_bounded(descriptor: int, largest: int) -> bytes:
    """Return the content of an open regular file.

    Raises:
        FileError: It is not a regular file, or is too large.
        OSError: It cannot be read.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise FileError("is not a regular file", "name a text file")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise FileError(f"is too large: more than {largest // 1024**2} MiB", "include the part that matters")
    return content


def decode(content: bytes) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises:
        FileError: It is not text.
    """
    if b"\0" in content:
        raise FileError("is a binary file, not a text", "tell the agent its path instead")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"is not UTF-8 text (line {line})", "save it as UTF-8") from error
