"""All that the files in and above a directory say of a session, read at once, as far as it is trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.agents.persona import load_personas
from teambot_tui.agents.places import PROJECT_FILE
from teambot_tui.agents.settings import load_settings
from teambot_tui.agents.team import BASES, Recruiting, assemble
from teambot_tui.agents.team_files import TeamFiles, read_team_files
from teambot_tui.agents.trust import is_trusted, trust

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teambot_tui.agents.changes import Change
    from teambot_tui.agents.settings import Settings
    from teambot_tui.agents.team import Team


@dataclass(frozen=True, slots=True)
class Project:
    """What the files in and above a session say: the settings, the team, and notes for the user.

    `files` are those of the directory that are trusted, `untrusted` those that are not, and `changes` what
    these would change. `bases` are what further agents can be made of, by `recruit`. It is `undecided` when
    everyone rehearses because nobody has said what the team shall run on.
    """

    directory: Path
    settings: Settings
    team: Team
    recruit: Recruiting
    bases: tuple[str, ...]
    notes: tuple[str, ...]
    files: TeamFiles
    untrusted: TeamFiles
    changes: tuple[Change, ...]
    open_again: Callable[[], Project]
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
    files, untrusted, changes = sort_out(directory, environ)
    not_used: tuple[str, ...] = ()
    if changes:
        from teambot_tui.agents.changes import in_one_line  # noqa: PLC0415  most directories are trusted or empty

        not_used = (in_one_line(changes),)
    settings = load_settings(directory, environ, files.content.get(Path(PROJECT_FILE)))
    policy = replace(
        settings.policy,
        max_parallel=max_parallel or settings.policy.max_parallel,
        wait_timeout=wait_timeout or settings.policy.wait_timeout,
    )
    settings = replace(settings, policy=policy)
    personas = load_personas(files)
    team = assemble(settings, personas, backend=backend)
    return Project(
        directory,
        settings,
        team,
        recruit=Recruiting(team, settings, personas, backend),
        bases=tuple(dict.fromkeys((*BASES, *personas))),
        notes=(*not_used, *files.problems, *settings.notes, *personas.notes, *team.notes),
        files=files,
        untrusted=untrusted,
        changes=changes,
        open_again=partial(
            open_project,
            directory,
            environ,
            backend=backend,
            max_parallel=max_parallel,
            wait_timeout=wait_timeout,
        ),
        undecided=backend is None
        and not settings.says_what_to_run_on
        and set(team.backends.values()) == {settings.backend},
    )


def sort_out(directory: Path, environ: Mapping[str, str]) -> tuple[TeamFiles, TeamFiles, tuple[Change, ...]]:
    """Read the files of a directory; return those that are trusted, those that are not, and their changes.

    Raises:
        SettingsError: Nothing says where the user is at home.
    """
    found = read_team_files(directory, environ)
    if is_trusted(found, environ):
        return found, TeamFiles(directory), ()
    from teambot_tui.agents.changes import changes_by  # noqa: PLC0415  as above

    return TeamFiles(directory, problems=found.problems), found, changes_by(found)


def trust_project(files: TeamFiles, environ: Mapping[str, str]) -> None:
    """Trust exactly these files from now on.

    Raises:
        AgentsError: The settings among them would stop every command, or the decision cannot be recorded.
    """
    settings = load_settings(files.directory, environ, files.content.get(Path(PROJECT_FILE)))
    assemble(settings, load_personas(files))
    trust(files, environ)
