"""Opening the screen: the project read, what is wrong with it told, and then as little as possible loaded.

Nothing here needs the command line's library, so `teambot` alone does not wait for it.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import AgentsError
from teambot_tui.agents.project import open_project

if TYPE_CHECKING:
    from teambot_tui.agents.project import Project

_PAGE_DRIVER = "textual.drivers.web_driver:WebDriver"  # what a web server tells the process behind a page


class CannotOpenError(Exception):
    """There is nothing to open or nowhere to show it; the text says why."""


def open_here(
    backend: str | None, max_parallel: int | None = None, wait_timeout: float | None = None
) -> Project:
    """Read the project of the current directory, and print what the user should know of it.

    Raises:
        CannotOpenError: The settings cannot be used.
    """
    try:
        project = open_project(
            Path.cwd(), os.environ, backend=backend, max_parallel=max_parallel, wait_timeout=wait_timeout
        )
    except AgentsError as error:
        raise CannotOpenError(str(error)) from error
    for note in project.notes:
        sys.stderr.write(f"{note}\n")
    return project


def open_screen(backend: str | None = None, *, ascii_only: bool = False) -> int:
    """Show a session in the terminal, or on the page it is behind; return the exit status.

    Raises:
        CannotOpenError: There is no terminal, or the settings cannot be used.
    """
    # The screen is imported only to be shown.
    if os.environ.get("TEXTUAL_DRIVER") == _PAGE_DRIVER:
        from teambot_tui.ui.page import show  # noqa: PLC0415

        return show(open_here(backend), ascii_only=ascii_only)
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise CannotOpenError("The screen needs a terminal. For scripts there is: teambot run '@pm Plan it'")
    gc.disable()  # nothing is garbage yet; the screen enables it when it is complete
    project = open_here(backend)
    from teambot_tui.ui.start import start  # noqa: PLC0415

    return start(project, ascii_only=ascii_only)
