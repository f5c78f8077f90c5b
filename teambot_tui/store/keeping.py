"""How long captured outputs are kept: until they are too old, until the session ends, or not at all."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.ages import age_in_words, parse_age
from teambot_tui.store.errors import StoreError
from teambot_tui.store.folders import opened
from teambot_tui.store.outputs import FOLDER
from teambot_tui.store.prune import prune_outputs, remove_outputs

if TYPE_CHECKING:
    from pathlib import Path

_AT_LEAST: Final = 60.0
"""Seconds: a run that has just begun may not be marked as in use yet."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What becomes of the outputs in TeamBot's home; `setting` is an age, `session` or `none`."""

    home: Path
    setting: str

    @property
    def writes(self) -> bool:
        """Whether outputs are written at all."""
        return self.setting != "none"

    def begin(self) -> None:
        """Remove what is too old, in a thread that nobody waits for; a run that is going on is left alone."""
        age = _AT_LEAST if self.setting in ("session", "none") else parse_age(self.setting).total_seconds()
        threading.Thread(
            target=prune_outputs, args=(self.home, max(age, _AT_LEAST)), name="old outputs", daemon=True
        ).start()

    def end(self, run: str) -> None:
        """Remove what a run that has ended has written, if it is to be kept no longer."""
        if self.setting == "session":
            with contextlib.suppress(StoreError):  # the next session removes it
                remove_outputs(self.home, run)

    def tell_once(self) -> str | None:
        """Say where outputs are kept, and how long, if there never were any; it is not said again."""
        if not self.writes or (self.home / FOLDER).exists():
            return None
        try:
            with opened(self.home, (FOLDER,), create=True):
                pass
        except (OSError, StoreError):
            return None  # whoever writes the first one tells why not
        age = None if self.setting == "session" else parse_age(self.setting).total_seconds()
        how_long = "until the session ends" if age is None else f"for {age_in_words(age)}"
        place = self.home / FOLDER
        return f"Outputs are kept in {place} {how_long}; keep_outputs in your settings changes that."
