"""The face for Python: a session of the team that the settings describe."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.agents.persona import load_personas
from teambot_tui.agents.recruiting import Recruiting
from teambot_tui.agents.settings import load_settings
from teambot_tui.agents.team import BASES, assemble
from teambot_tui.engine import session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.agents.settings import Settings
    from teambot_tui.agents.team import Team


@dataclass(frozen=True, slots=True)
class Project:
    """What the files in and above a session say: the settings, the team, and notes for the user.

    `bases` are what further agents can be made of, by `recruit`.
    """

    directory: Path
    settings: Settings
    team: Team
    recruit: Recruiting
    bases: tuple[str, ...]
    notes: tuple[str, ...]


def open_project(
    directory: Path,
    environ: Mapping[str, str],
    *,
    backend: str | None = None,
    max_parallel: int | None = None,
    wait_timeout: float | None = None,
) -> Project:
    """Read settings and personas and make the team; what is given here beats the files.

    Raises:
        AgentsError: A file or an option says something that cannot be used.
    """
    settings = load_settings(directory, environ)
    policy = replace(
        settings.policy,
        max_parallel=max_parallel or settings.policy.max_parallel,
        wait_timeout=wait_timeout or settings.policy.wait_timeout,
    )
    settings = replace(settings, policy=policy)
    personas = load_personas(directory)
    team = assemble(settings, personas, backend=backend)
    return Project(
        directory,
        settings,
        team,
        recruit=Recruiting(team, settings, personas, backend),
        bases=tuple(dict.fromkeys((*BASES, *personas))),
        notes=(*settings.notes, *personas.notes, *team.notes),
    )


class Session(session.Session):
    """A team at work, as the settings of the user and of the directory describe it.

    Raises:
        AgentsError: The settings cannot be used.
    """

    def __init__(
        self,
        *,
        directory: Path | None = None,
        backend: str | None = None,
        max_parallel: int | None = None,
        wait_timeout: float | None = None,
        environ: Mapping[str, str] = os.environ,
        attended: bool = False,
        stdin: str | None = None,
        context: Mapping[str, object] | None = None,
    ) -> None:
        directory = directory or Path.cwd()
        self.project = open_project(
            directory, environ, backend=backend, max_parallel=max_parallel, wait_timeout=wait_timeout
        )
        super().__init__(
            self.project.team.members.values(),
            default_agent=self.project.team.default,
            policy=self.project.settings.policy,
            directory=directory,
            attended=attended,
            bases=self.project.bases,
            recruit=self.project.recruit,
            stdin=stdin,
            context=context,
        )
