"""What is wrong with the place where things are kept, as one line for the user."""

from __future__ import annotations


class StoreError(Exception):
    """Something cannot be kept, found or removed; the text says what and why."""


def reason(error: OSError) -> str:
    """Return why the system refused, without the path, which may be anybody's text."""
    return error.strerror or type(error).__name__
