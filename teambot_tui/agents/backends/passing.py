"""Failures that may pass by themselves, and how long to wait for that."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import Final

from teambot_tui.engine.ports import BackendError

_FIRST_WAIT: Final = 0.5  # seconds
_LONGEST_WAIT: Final = 60.0  # seconds; a server that wants more is told to the user instead


class PassingError(BackendError):
    """A failure after which another attempt may help; `after` is how long the server asks to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after

    def wait(self, attempt: int) -> float | None:
        """Return the seconds to wait after that attempt, counted from 0; none if they would be too many."""
        if self.after is not None:
            return self.after if self.after <= _LONGEST_WAIT else None
        # Agents that were turned away together must not come back together.
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**attempt)
        return random.uniform(longest / 2, longest)  # noqa: S311  not a secret


def retry_after(header: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or until a date."""
    if header.strip().isdecimal():
        return float(header[:12])
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
