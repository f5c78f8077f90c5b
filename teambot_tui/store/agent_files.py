"""The files of temporary agents: private, replaced in one step, in a folder that is marked while it is used.

Nothing is made on disk before there is something to keep. A session replaces, and at its end removes, only
what it has written itself: what an earlier one left, or somebody put there, stays until a person decides.
Whoever finds the folder marked by another session leaves what is in it alone.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.files import UnreadableError, read_at
from teambot_tui.store.folders import StoreError, open_folder, reason
from teambot_tui.store.live import MARK, LiveMark, is_live
from teambot_tui.store.prune import TEMPORARY_AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX: Final = ".md"
_TOP: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST: Final = 200
_PATIENCE: Final = 0.2
"""Seconds in which whoever only looks at the mark has let go of it."""


class AgentFiles:
    """The folder of a project's temporary agents, as one session uses it; for one thread at a time."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._folder: int | None = None
        self._mark: LiveMark | None = None
        self._written: set[str] = set()

    def begin(self) -> None:
        """Make the folder and mark it as used.

        Raises:
            StoreError: It cannot be used; the text says why.
        """
        if self._folder is not None:
            return
        try:
            self._take()
        except FileNotFoundError:  # a session that ended has just removed it
            self._take()

    def _take(self) -> None:
        try:
            with project_folder(self._project, *TEMPORARY_AGENTS.parts, private=True) as folder:
                mark = LiveMark(folder, _PATIENCE)
                self._folder, self._mark = os.dup(folder), mark
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(reason(error)) from error

    def write(self, name: str, text: str) -> None:
        """Write an agent's file, or write it again.

        Raises:
            StoreError: It cannot be written, or another one is there that is not of this session.
        """
        self.begin()
        assert self._folder is not None
        try:
            if name not in self._written and name + SUFFIX in os.listdir(self._folder):  # noqa: PTH208  as below
                raise StoreError(f"{name}{SUFFIX} is there from before this session")
            replace_file(self._folder, name + SUFFIX, text.encode("utf-8", "replace"), 0o600)
        except OSError as error:
            raise StoreError(reason(error)) from error
        self._written.add(name)

    def remove(self, name: str) -> None:
        """Remove an agent's file, whoever wrote it."""
        self.begin()
        self._written.discard(name)
        with contextlib.suppress(OSError):
            os.unlink(name + SUFFIX, dir_fd=self._folder)

    def close(self) -> tuple[str, ...]:
        """Remove what this session has written, the folder too if nothing else is in it; return what was."""
        written = tuple(self._written)
        for name in written:
            self.remove(name)
        if self._folder is None or self._mark is None:
            return written
        with contextlib.suppress(OSError):
            if os.listdir(self._folder) == [MARK]:  # noqa: PTH208  a path could be led astray
                os.unlink(MARK, dir_fd=self._folder)
                (self._project / TEMPORARY_AGENTS).rmdir()
                (self._project / TEMPORARY_AGENTS).parent.rmdir()
        self._mark.close()
        os.close(self._folder)
        self._folder = self._mark = None
        return written


def read_agent_files(project: Path) -> list[tuple[Path, bytes]]:
    """Return the files of temporary agents that no other session uses, by name.

    Raises:
        StoreError: The folder, or a file in it, cannot be read.
    """
    place = project / TEMPORARY_AGENTS
    found: list[tuple[Path, bytes]] = []
    try:
        with project_folder(project, *TEMPORARY_AGENTS.parts, create=False) as folder:
            if is_live(folder):
                return []
            names = sorted(name for name in os.listdir(folder) if _is_agent_file(name))  # noqa: PTH208
            found = [(place / name, _read(folder, name)) for name in names[:_MOST]]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(reason(error)) from error
    return found


def _is_agent_file(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _read(folder: int, name: str) -> bytes:
    """Return the content of a file; what cannot be read, or is no file, is as if it were empty."""
    try:
        return read_at(folder, name)
    except (OSError, UnreadableError):
        return b""


@contextlib.contextmanager
def project_folder(project: Path, *place: str, create: bool = True, private: bool = False) -> Iterator[int]:
    """Open a folder of a project; only the last one on the way is made private, if so wanted.

    Raises:
        StoreError: One on the way is a link, not a folder, or belongs to somebody else.
        OSError: One of them cannot be opened, or made.
    """
    with contextlib.ExitStack() as stack:
        descriptor = os.open(project, _TOP)
        stack.callback(os.close, descriptor)
        for number, name in enumerate(place, start=1):
            ours = create and private and number == len(place)
            if create and not ours:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            descriptor = open_folder(descriptor, name, create=ours)
            stack.callback(os.close, descriptor)
        yield descriptor


def replace_file(folder: int, name: str, content: bytes, mode: int) -> None:
    """Put a new file in the place of whatever is there, in one step.

    Raises:
        OSError: It cannot be written; what was there is as it was.
    """
    draft = f".{name}.{os.getpid()}.part"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=folder)
    descriptor = os.open(draft, _NEW, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise
