"""Where TeamBot keeps things, and how a run is called: decided by what is passed in, never by the project."""

from __future__ import annotations

import secrets
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


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
