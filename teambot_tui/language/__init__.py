"""The language: text in, values out. It knows no team, no clock and no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teambot_tui.language.errors import StatementError
    from teambot_tui.language.parser import parse

__all__ = ["StatementError", "parse"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  a module's attributes have any type
    # Whoever needs only the names of the language does not wait for its patterns.
    if name == "StatementError":
        from teambot_tui.language.errors import StatementError  # noqa: PLC0415

        return StatementError
    if name == "parse":
        from teambot_tui.language.parser import parse  # noqa: PLC0415

        return parse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
