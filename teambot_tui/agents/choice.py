"""What agents run on, once chosen, is kept in the user's own settings, where nothing else changes."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.files import UnreadableError, decode, read_whole, write_whole
from teambot_tui.agents.places import user_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def remember_backend(backend: str, directory: Path, environ: Mapping[str, str]) -> Path | None:
    """Let the user's settings name this backend; return their file, or None if there is to be none.

    Raises:
        SettingsError: They name another already, or cannot be read, understood or written.
    """
    path = user_path(directory, environ)
    if path is None:
        return None
    try:
        before = decode(read_whole(path))
    except FileNotFoundError:
        before = ""
    except UnreadableError as error:
        raise SettingsError(path, "", str(error)) from error
    # At the top: after the first table, a line would belong to that table.
    after = f'backend = "{backend}"\n{before}'
    try:
        said = tomllib.loads(before)
        if "backend" in said:
            raise SettingsError(path, "backend", "is set already")
        understood = tomllib.loads(after) == {**said, "backend": backend}
    except (ValueError, RecursionError) as error:
        raise SettingsError(path, "", "is not valid TOML") from error
    if not understood:
        raise SettingsError(path, "backend", "cannot be set to this name")
    try:
        write_whole(path, after.encode())
    except OSError as error:
        raise SettingsError(path, "", f"cannot be written: {error.strerror}") from error
    return path
