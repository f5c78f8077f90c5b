"""A directory as an attacker would publish it: its modules have the names of ours and of what we import."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Final

TEAMBOT: Final = str(Path(sysconfig.get_path("scripts"), "teambot"))
"""The command as it is installed; `python -m teambot_tui` would have the current directory on its path."""

_MODULES: Final = (
    *("teambot_tui", "textual", "rich", "click", "aiohttp", "textual_serve", "yaml", "acp", "mcp", "pip"),
    *("sitecustomize", "usercustomize", "logging", "json", "asyncio", "uvloop"),
)


def plant_modules(folder: Path) -> None:
    """Put modules into a folder that tell when they are run."""
    for name in _MODULES:
        package = folder / name
        package.mkdir()
        for file in ("__init__.py", "__main__.py"):
            told = str(folder / "pwned")
            (package / file).write_text(
                f"open({told!r}, 'a').write({name!r} + '\\n')\nraise SystemExit(99)\n"
            )


def what_was_run(folder: Path) -> list[str]:
    """Return the modules that were run."""
    told = folder / "pwned"
    return told.read_text().splitlines() if told.exists() else []
