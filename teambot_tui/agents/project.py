"""All that the files in and above a directory say of a session, read at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teambot_tui.agents.persona import load_personas
from teambot_tui.agents.recruiting import Recruiting
from teambot_tui.agents.settings import load_settings
from teambot_tui.agents.team import BASES, assemble

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from teambot_tui.agents.settings import Settings
    from teambot_tui.agents.team import Team


@dataclass(frozen=True, slots=True)
class Project:
    """What the files in and above a session say: the settings, the team, and notes for the user.

    `bases` are what further agents can be made of, by `recruit`. It is `undecided` when everyone rehearses
    because nobody has said what the team shall run on.
    """

    directory: Path
    settings: Settings
    team: Team
    recruit: Recruiting
    bases: tuple[str, ...]
    notes: tuple[str, ...]
    undecided: bool = False


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
        undecided=backend is None
        and not settings.says_what_to_run_on
        and set(team.backends.values()) == {settings.backend},
    )
