"""Ages and sizes as people write them: `7d`, `12h`, `1.2 MiB`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from teambot_tui.engine.text import one_line

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE: Final = re.compile(r"([0-9]{1,6})([mhdw])")


def parse_age(text: str) -> timedelta:
    """Return the age that a text such as `7d`, `12h`, `30m` or `2w` means.

    Raises:
        ValueError: It means none; the text says what is expected.
    """
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise ValueError(
            f"{one_line(text, 40) or 'an empty text'} is not an age: expected a number and m, h, d or w"
            " for minutes, hours, days or weeks, such as 7d or 12h"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def age_in_words(seconds: float) -> str:
    """Return an age in its largest whole unit."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit}{'s' * (number != 1)}"
    return "less than a minute"


def size_in_words(size: float) -> str:
    """Return a number of bytes in a unit that suits it."""
    if size < 1024:
        return f"{size:.0f} byte{'s' * (size != 1)}"
    for unit in ("KiB", "MiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} GiB"
