"""From what somebody says after `up` to a workflow that is ready to begin: found, read, checked, chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.monitor import log_refusal
from teambot_tui.workflows.compose import load_compose
from teambot_tui.workflows.directives import asks_for_stdin
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.selection import select
from teambot_tui.workflows.up import Up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teambot_tui.engine.session import Session
    from teambot_tui.workflows.schema import ComposeFile
    from teambot_tui.workflows.selection import Selection

DEFAULT_FILES: Final = ("teambot.yaml", "swarm/swarm.yaml")


def open_up(
    session: Session,
    directory: Path,
    file: Path | None = None,
    names: Sequence[str] = (),
    iterations: int | None = None,
    *,
    stdin: Callable[[], str | None] = lambda: None,
    run: str = "",
) -> Up:
    """Return a workflow of a compose file, by default of the one in the directory; `Up.begin` starts it.

    `stdin` is called only if one of its tasks asks for what was piped in.

    Raises:
        ComposeError: There is no such file, or something in it is wrong, or it has no such name.
    """
    compose, selection = read_up(session.roster.agents, directory, file, names, iterations)
    piped = stdin() if any(map(asks_for_stdin, selection.tasks)) else None
    with log_refusal("workflow", ComposeError):
        return Up(session, compose, selection, piped, run)


@log_refusal("workflow", ComposeError)
def read_up(
    agents: Sequence[str],
    directory: Path,
    file: Path | None = None,
    names: Sequence[str] = (),
    iterations: int | None = None,
) -> tuple[ComposeFile, Selection]:
    """Return what a compose file says and what of it is to run, for a team of these agents.

    Raises:
        ComposeError: There is no such file, or something in it is wrong, or it has no such name.
    """
    path = file or _default(directory)
    # A short path is easier to read, where it leads to the same place.
    at_hand = path if directory == Path.cwd() else directory / path
    compose = load_compose(at_hand, directory, agents)
    return compose, select(compose, names, iterations)


def _default(directory: Path) -> Path:
    for name in DEFAULT_FILES:
        if (directory / name).exists():
            return Path(name)
    raise ComposeError(directory, 0, 0, f"has no {' and no '.join(DEFAULT_FILES)}", "name one with -f FILE")
