"""What the screen is told before there is a session: where it is, who the team is, and how it is drawn."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teambot_tui.ui.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.history import History


@dataclass(frozen=True, slots=True)
class Profile:
    """What an agent is: what it runs on, what it may do unasked, and who it was told to be."""

    backend: str = ""
    permissions: str = ""
    persona: str = ""


@dataclass(frozen=True, slots=True)
class ScreenSetup:
    """Where the session is and how it is drawn."""

    folder: Path
    backends: Mapping[AgentId, str]
    descriptions: Mapping[AgentId, str]
    models: Mapping[AgentId, str | None]
    glyphs: Glyphs
    history: History | None = None
    wall_clock: Callable[[], float] = time.time
    """For times of day, and nothing else: the session's clock tells how long something took."""
    profiles: Mapping[AgentId, Profile] = field(default_factory=dict)
    keys: Keys = field(default_factory=Keys)
    notify: Collection[str] = ("toast",)
    """How the person is called: by a notice, by the terminal's bell, by a notification of the desktop."""
    theme: str = "teambot-dark"
    keep_theme: Callable[[str], object] | None = None
    """Writes the name of a theme into the person's settings."""
