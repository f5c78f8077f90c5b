"""A place in a text. It is apart from the values that have one, for whoever needs only this."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """The characters `start` up to, not including, `end` of the submitted text."""

    start: int
    end: int
