"""Which projects the user trusts: a project's settings can name programs to start, so they wait for a yes.

Trust is given to a directory and to exactly the bytes of its file: a changed file has to be trusted again.
A record that cannot be read trusts nothing.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.files import UnreadableError, read_whole, write_whole
from teambot_tui.agents.places import config_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RECORD = "trusted.json"


def is_trusted(project_file: Path, content: bytes, environ: Mapping[str, str]) -> bool:
    """Whether the user has trusted this content in this directory. Only the same bytes may then be used."""
    return _recorded(config_directory(environ) / RECORD).get(_directory(project_file)) == _digest(content)


def trust(project_file: Path, environ: Mapping[str, str]) -> None:
    """Trust the file as it is now.

    Raises:
        SettingsError: There is no such file, or the decision cannot be recorded.
    """
    try:
        content = read_whole(project_file)
    except FileNotFoundError as error:
        raise SettingsError(project_file, "", "does not exist") from error
    except UnreadableError as error:
        raise SettingsError(project_file, "", str(error)) from error
    record = config_directory(environ) / RECORD
    try:
        entries = _recorded(record) | {_directory(project_file): _digest(content)}
        write_whole(record, json.dumps(entries, indent=2, sort_keys=True).encode())
    except OSError as error:
        raise SettingsError(record, "", f"cannot be written: {error.strerror}") from error


def _directory(project_file: Path) -> str:
    return str(project_file.parent.resolve())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _recorded(record: Path) -> dict[str, str]:
    try:
        entries = json.loads(read_whole(record))
    except (FileNotFoundError, UnreadableError, ValueError, RecursionError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {directory: digest for directory, digest in entries.items() if isinstance(digest, str)}
