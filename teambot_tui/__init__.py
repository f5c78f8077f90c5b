"""Lead a team of AI agents from the keyboard, from a script, or from Python:

from teambot_tui import Session

async with Session() as session:
    result = await session.run("@pm Plan the release -> @ba Check it")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teambot_tui.api import Session
    from teambot_tui.language.errors import StatementError

__all__ = ["Session", "StatementError"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  a module's attributes have any type
    # Starting fast is a feature: `import teambot_tui` alone loads nothing.
    if name == "Session":
        from teambot_tui.api import Session  # noqa: PLC0415

        return Session
    if name == "StatementError":
        from teambot_tui.language.errors import StatementError  # noqa: PLC0415

        return StatementError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
