"""Where the user's own files are: decided by the environment that is passed in, never by the project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT_FILE = "teambot.toml"


def config_directory(environ: Mapping[str, str]) -> Path:
    """Return the directory of the user's settings, whether or not it exists.

    Raises:
        SettingsError: Nothing says where the user is at home.
    """
    configured = Path(environ.get("XDG_CONFIG_HOME", ""))
    if configured.is_absolute():  # a relative one is to be ignored, says the XDG specification
        return configured / "teambot"
    return _home(environ) / ".config" / "teambot"


def user_path(directory: Path, environ: Mapping[str, str]) -> Path | None:
    """Return where the user's own settings are, whether or not they exist; None if there are to be none.

    Raises:
        SettingsError: Nothing says where the user is at home.
    """
    named = environ.get("TEAMBOT_CONFIG")
    if named == os.devnull:
        return None
    return directory / named if named else config_directory(environ) / "config.toml"


def data_directory(environ: Mapping[str, str]) -> Path:
    """Return the directory for what is kept across projects, whether or not it exists.

    Raises:
        SettingsError: Nothing says where the user is at home.
    """
    if home := environ.get("TEAMBOT_HOME"):
        return Path(home).absolute()
    return _home(environ) / ".teambot"


def _home(environ: Mapping[str, str]) -> Path:
    if home := environ.get("HOME"):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError as error:
        raise SettingsError(None, "HOME", "is not set; it must name your home directory") from error
