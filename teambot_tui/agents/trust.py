"""Which projects the user trusts: what a directory says of the team counts only after a yes.

Trust is given to a directory and to exactly the bytes of all its files that could change something: one that
is changed, added or removed needs a new yes, but for temporary agents, which may go. A record that cannot be
read trusts nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.places import config_directory
from teambot_tui.agents.team_files import TEMPORARY_FOLDER, read_team_files
from teambot_tui.engine.files import SIZE_LIMIT, UnreadableError, read_whole, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from teambot_tui.agents.team_files import TeamFiles

RECORD = "trusted.json"

logger = logging.getLogger(__name__)


def is_trusted(files: TeamFiles, environ: Mapping[str, str]) -> bool:
    """Whether the user has trusted all of these files, as they were read."""
    if not files.content:
        return True
    recorded = _recorded(config_directory(environ) / RECORD).get(_directory(files.directory), {})
    return covers(recorded, _digests(files))


def covers(recorded: Mapping[str, str], present: Mapping[str, str]) -> bool:
    """Whether what is present, as digests by path, is what was recorded."""
    gone = recorded.keys() - present.keys()
    return present.items() <= recorded.items() and all(_is_temporary(path) for path in gone)


def trust(files: TeamFiles, environ: Mapping[str, str]) -> None:
    """Trust these files, as they were read.

    Raises:
        SettingsError: The decision cannot be recorded.
    """
    _change(files.directory, environ, lambda _: _digests(files))


def trust_own(directory: Path, path: Path, environ: Mapping[str, str], content: bytes | None) -> None:
    """Let the record follow a file that we write, or remove (None), if all else there is trusted.

    What cannot be recorded is not trusted, which the user will be told when it counts.
    """
    beside = _digests(read_team_files(directory, environ).without(path))

    def follow(recorded: dict[str, str]) -> dict[str, str]:
        known = {name: digest for name, digest in recorded.items() if name != str(path)}
        if not covers(known, beside):
            return recorded
        return known if content is None else known | {str(path): _digest(content)}

    try:
        _change(directory, environ, follow)
    except SettingsError as error:
        logger.debug("%s", error)


def _change(
    directory: Path, environ: Mapping[str, str], change: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    record = config_directory(environ) / RECORD
    try:
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(record.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)  # sessions that write at the same time both count
            entries = _recorded(record)
            before = entries.pop(_directory(directory), {})
            after = change(dict(before))
            if after == before:
                return
            if after:
                entries[_directory(directory)] = after
            content = json.dumps(entries, indent=2, sort_keys=True).encode()
            if len(content) > SIZE_LIMIT:
                raise SettingsError(record, "", "is full: remove it, and trust again what you use")
            write_whole(record, content)
        finally:
            os.close(folder)
    except OSError as error:
        raise SettingsError(record, "", f"cannot be written: {error.strerror}") from error


def _directory(directory: Path) -> str:
    return str(directory.resolve())


def _digests(files: TeamFiles) -> dict[str, str]:
    return {str(path): _digest(content) for path, content in files.content.items()}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_temporary(path: str) -> bool:
    return path.startswith(f"{TEMPORARY_FOLDER}/")


def _recorded(record: Path) -> dict[str, dict[str, str]]:
    with contextlib.suppress(FileNotFoundError, UnreadableError, ValueError, RecursionError):
        entries = json.loads(read_whole(record))
        if isinstance(entries, dict):
            return {directory: digests for directory, digests in entries.items() if _are_digests(digests)}
    return {}


def _are_digests(digests: object) -> bool:
    return isinstance(digests, dict) and all(isinstance(digest, str) for digest in digests.values())
