"""Where TeamBot keeps things, in folders and under file names that cannot lead elsewhere.

Where that is, is decided by what is passed in, never by the project. Folders are opened one below the other
by descriptor, and a link in the way is refused, not followed. Every task's name, whatever is in it, becomes
exactly one file name, and different names become different ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

SUFFIX: Final = ".txt"
_RUN: Final = re.compile(r"[0-9a-z][0-9a-z-]{0,63}")
_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.#")
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?![^.])")
_LONGEST: Final = 180
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class StoreError(Exception):
    """Something cannot be kept, found or removed; the text says what and why."""


def reason(error: OSError) -> str:
    """Return why the system refused, without the path, which may be anybody's text."""
    return error.strerror or type(error).__name__


def teambot_home(environ: Mapping[str, str]) -> Path:
    """Return the folder in which things are kept, whether or not it exists.

    Raises:
        StoreError: Nothing says where the user is at home.
    """
    if configured := environ.get("TEAMBOT_HOME"):
        return Path(configured).absolute()
    if home := environ.get("HOME"):
        return Path(home).absolute() / ".teambot"
    try:
        return Path.home() / ".teambot"
    except RuntimeError as error:
        raise StoreError("HOME is not set; it must name your home directory, or set TEAMBOT_HOME") from error


def run_id(now: datetime) -> str:
    """Return a new id for a run that begins now; ids sort by the second (UTC) in which they were made."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def is_run_id(name: str) -> bool:
    """Whether a folder of this name can be that of a run."""
    return _RUN.fullmatch(name) is not None


def file_name(task: str) -> str:
    """Return the name of the file that keeps a task's output.

    What is not a lowercase letter, a digit or one of `-_.#` is written as `%` and two digits: capitals too,
    because some disks do not tell them from small ones.
    """
    encoded = "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in task.encode("utf-8", "surrogatepass")
    )
    if encoded.startswith(".") or _RESERVED.match(encoded):
        encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}"
    if len(encoded) > _LONGEST:
        digest = hashlib.sha256(encoded.encode()).hexdigest()[:32]
        encoded = f"{encoded[: _LONGEST - 40]}~{digest}"
    return (encoded or "%") + SUFFIX


@contextlib.contextmanager
def opened(top: Path, place: Iterable[str], *, create: bool = False) -> Iterator[int]:
    """Open a folder by the names that lead to it from `top`, which is the user's choice and may be a link.

    Raises:
        StoreError: One of them is a link or not a folder, or belongs to somebody else.
        OSError: One of them cannot be opened, or made.
    """
    if create:
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        descriptor = os.open(top, _FOLDER & ~os.O_NOFOLLOW)
        stack.callback(os.close, descriptor)
        for name in place:
            descriptor = open_folder(descriptor, name, create=create)
            stack.callback(os.close, descriptor)
        yield descriptor


def open_folder(parent: int, name: str, *, create: bool) -> int:
    """Open a folder in a folder; if we may make it, also make it private.

    Raises:
        StoreError: It is a link or not a folder, or belongs to somebody else.
        OSError: It cannot be opened, or made.
    """
    if create:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
    except OSError as error:
        if _kind(parent, name) in (None, stat.S_IFDIR):
            raise
        raise StoreError("it is a link, or not a folder, and is left alone") from error
    try:
        _make_sure_of(descriptor, private=create)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _make_sure_of(folder: int, *, private: bool) -> None:
    status = os.fstat(folder)
    if status.st_uid != os.geteuid():
        raise StoreError("it belongs to another user")
    if private and stat.S_IMODE(status.st_mode) & 0o077:
        os.fchmod(folder, 0o700)


def _kind(parent: int, name: str) -> int | None:
    try:
        return stat.S_IFMT(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return None
