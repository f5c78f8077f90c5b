"""Opening the screen: the project read, what is wrong with it told, and then as little as possible loaded.

Nothing here needs the command line's library, so `teambot` alone does not wait for it.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teambot_tui.agents.project import Project
    from teambot_tui.workflows.up_command import UpCommand

_PAGE_DRIVER = "textual.drivers.web_driver:WebDriver"  # what a web server tells the process behind a page


class CannotOpenError(Exception):
    """There is nothing to open or nowhere to show it; the text says why."""


def here() -> Path:
    """Return the current directory.

    Raises:
        CannotOpenError: It has been deleted.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise CannotOpenError("The current directory has been deleted: change to another one.") from error


def open_here(
    backend: str | None, max_parallel: int | None = None, wait_timeout: float | None = None
) -> Project:
    """Read the project of the current directory, and print what the user should know of it.

    Raises:
        CannotOpenError: There is no current directory, or its settings cannot be used.
    """
    from teambot_tui.agents.errors import AgentsError  # noqa: PLC0415  as below
    from teambot_tui.agents.project import open_project  # noqa: PLC0415

    try:
        project = open_project(
            here(), os.environ, backend=backend, max_parallel=max_parallel, wait_timeout=wait_timeout
        )
    except AgentsError as error:
        raise CannotOpenError(str(error)) from error
    for note in project.notes:
        with suppress(OSError):  # nobody can be told
            sys.stderr.write(f"{note}\n")
    return project


def has_terminal() -> bool:
    """Whether somebody can see a screen and type."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def open_screen(
    backend: str | None = None,
    *,
    ascii_only: bool = False,
    ephemeral: bool = False,
    max_parallel: int | None = None,
    wait_timeout: float | None = None,
    up: UpCommand | None = None,
) -> int:
    """Show a session in the terminal, or on the page it is behind; return the exit status.

    With `up` it begins with that workflow.

    Raises:
        CannotOpenError: There is no terminal, or the settings or the workflow cannot be used.
    """
    is_page = os.environ.get("TEXTUAL_DRIVER") == _PAGE_DRIVER
    if not is_page and not has_terminal():
        raise CannotOpenError("The screen needs a terminal. For scripts there is: teambot run '@pm Plan it'")
    # Nothing of what is loaded now is garbage, but the collector would look through it again and again. The
    # screen switches it on when it is complete.
    gc.disable()
    # What is wrong is told before the screen is loaded.
    project = open_here(backend, max_parallel, wait_timeout)
    if up is not None:
        _check(up, project)
    from teambot_tui.agents.errors import AgentsError  # noqa: PLC0415

    try:
        if is_page:
            from teambot_tui.ui.page import show  # noqa: PLC0415

            return show(project, ascii_only=ascii_only, ephemeral=ephemeral)
        from teambot_tui.ui.start import start  # noqa: PLC0415

        return start(project, ascii_only=ascii_only, ephemeral=ephemeral, up=up)
    except AgentsError as error:
        raise CannotOpenError(str(error)) from error


def _check(up: UpCommand, project: Project) -> None:
    from teambot_tui.workflows.errors import ComposeError  # noqa: PLC0415  few start with a workflow
    from teambot_tui.workflows.opening import read_up  # noqa: PLC0415

    try:
        read_up(tuple(project.team.members), project.directory, up.file, up.names, up.iterations)
    except ComposeError as error:
        raise CannotOpenError(str(error)) from error
