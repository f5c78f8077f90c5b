"""What a person is asked to allow: shown whole, character by character, and known by exactly what was asked.

Two requests that differ anywhere have different keys, even where they look the same. A request that is too
large to be shown is cut, says so, and cannot be allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.text import visible

if TYPE_CHECKING:
    from teambot_tui.engine.ports import Permission

LARGEST: Final = 256 * 1024  # characters
_KEPT: Final = 16 * 1024
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """A request as it is shown; `is_whole` says that nothing of it is missing, `key` what it exactly is."""

    tool: str
    kind: str
    detail: str
    key: str
    is_whole: bool


def show(request: Permission) -> Shown:
    """Make every character of a request visible."""
    key = _key(request.tool, request.kind, request.detail, request.exact)
    size = len(request.tool) + len(request.kind) + len(request.detail)
    if size <= LARGEST:
        shown = Shown(_line(request.tool), _line(request.kind), visible(request.detail), key, is_whole=True)
        if len(shown.tool) + len(shown.kind) + len(shown.detail) <= LARGEST:
            return shown
    note = f"… ({size:,} characters in all: too much to be shown, so it cannot be allowed)"
    beginning = f"{visible(request.detail[:_KEPT])}\n{note}"
    name, kind = (_line(text[:_LONGEST_NAME]) for text in (request.tool, request.kind))
    return Shown(name, kind, beginning, key, is_whole=False)


def _line(text: str) -> str:
    return visible(text, layout=False)


def _key(*parts: str) -> str:
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8))
        digest.update(data)
    return digest.hexdigest()
