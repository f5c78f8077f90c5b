"""Files for an agent: inside the working directory, regular, of a bounded size, and never through a link.

A path is resolved first; then each part of what came out is opened from the one before it without following
links, so that nobody can swap a directory for a link in between. A file is written only if it still holds
what the person was shown.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from teambot_tui.engine.files import SIZE_LIMIT, UnreadableError, open_inside, read_inside, read_open


class FileRefusedError(Exception):
    """The file is not for the agent, or not to be had; the text says why."""


class ChangedError(Exception):
    """The file is no longer as it was when somebody looked."""


@dataclass(frozen=True, slots=True)
class Before:
    """What is at a path before it is written: where that really is, and what the file there holds, if any."""

    place: Path
    data: bytes | None

    @property
    def text(self) -> str | None:
        """What it holds, as text."""
        return None if self.data is None else self.data.decode()


class Files:
    """What an agent may see of the files in a directory."""

    def __init__(self, directory: Path) -> None:
        self._root = Path(os.path.realpath(directory))

    def within(self, path: str) -> Path:
        """Return the resolved path.

        Raises:
            FileRefusedError: It leads out of the working directory, or is none.
        """
        if "\0" in path or not Path(path).is_absolute():
            raise FileRefusedError("a path must be absolute")
        resolved = Path(os.path.realpath(path))
        if not resolved.is_relative_to(self._root):
            raise FileRefusedError(f"{path} is outside of the working directory {self._root}")
        return resolved

    def read(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """Return the text of a file, or `limit` lines of it from a line on, which count from 1.

        Raises:
            FileRefusedError: The agent may not read it, or nobody can.
        """
        text = self._content(self.within(path)).decode()
        if line is None and limit is None:
            return text
        start = max(0, (line or 1) - 1)
        return "".join(text.splitlines(keepends=True)[start:][:limit])

    def before(self, path: str, content: str) -> Before:
        """Return what writing the content would replace.

        Raises:
            FileRefusedError: The agent may not write it.
        """
        resolved = self.within(path)
        _sized(path, content)
        return Before(resolved, self._content(resolved) if os.path.lexists(resolved) else None)

    def write(self, path: str, content: str, before: Before) -> None:
        """Replace the text of a file, or create it and the directories it lies in.

        Raises:
            ChangedError: It is not, or not there, as it was before; nothing was written.
            FileRefusedError: The agent may not write it, or nobody can.
        """
        data = _sized(path, content)
        place = self.within(path)
        if place != before.place or os.path.lexists(place) != (before.data is not None):
            raise ChangedError
        new = os.O_CREAT | os.O_EXCL if before.data is None else 0
        try:
            file = open_inside(self._root, place, os.O_RDWR | new, create=bool(new))
            with os.fdopen(file, "r+b") as stream:
                if before.data is not None and read_open(file) != before.data:
                    raise ChangedError
                stream.seek(0)
                stream.truncate()
                stream.write(data)
        except UnreadableError as error:
            raise ChangedError from error
        except OSError as error:
            raise FileRefusedError(f"{path} cannot be written: {error.strerror}") from error

    def _content(self, path: Path) -> bytes:
        try:
            data = read_inside(self._root, path)
            data.decode()
        except FileNotFoundError as error:
            raise FileRefusedError(f"{path} does not exist") from error
        except UnreadableError as error:
            raise FileRefusedError(f"{path} {error}") from error
        except UnicodeDecodeError as error:
            raise FileRefusedError(f"{path} is not UTF-8 text") from error
        return data


def _sized(path: str, content: str) -> bytes:
    data = content.encode("utf-8", "replace")
    if len(data) > SIZE_LIMIT:
        raise FileRefusedError(f"{path} would be larger than {SIZE_LIMIT} bytes")
    return data
