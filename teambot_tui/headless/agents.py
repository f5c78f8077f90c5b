"""`teambot agents` and what `teambot run` says of temporary agents at its end."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from teambot_tui.agents.team_files import TEMPORARY_FOLDER, read_team_files
from teambot_tui.agents.trust import is_trusted
from teambot_tui.engine.text import one_line
from teambot_tui.store.folders import StoreError
from teambot_tui.workflows.promote import ClashError, PromoteError, find, promote, temporary_files
from teambot_tui.workflows.registry import read_registry
from teambot_tui.workflows.temporary import agent_files, used_successfully

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from teambot_tui.agents.persona import AgentFile
    from teambot_tui.agents.project import Project
    from teambot_tui.engine.roster import Roster
    from teambot_tui.engine.session import Session
    from teambot_tui.workflows.registry import Promoted

    Say = Callable[[str], None]

_WIDTH = 100


def list_agents(project: Project, roster: Roster, say: Say, complain: Say) -> None:
    """Print who there is."""
    promoted: dict[str, Promoted] = {}
    try:
        promoted = read_registry(project.directory)
    except StoreError as error:
        complain(f"{error}.")
    temporary = {
        name: agent
        for name, agent in temporary_files(project.directory)[0].items()
        if name not in roster.team and TEMPORARY_FOLDER / f"{name}.md" in project.files.content
    }
    width = max(map(len, (*roster.agents, *project.bases, *promoted, *temporary)))
    say("The team:")
    for agent in roster.team:
        words = [f"runs on {project.team.backends[agent]}", project.team.descriptions.get(agent, "")]
        if agent in promoted:
            words.insert(0, f"promoted {promoted[agent].created[:10]}, used {_times(promoted[agent].used)}")
        say(_line(agent, width, "; ".join(filter(None, words))))
    say("To make others of:")
    for base in project.bases:
        if base not in roster.agents:
            say(f"  {base}")
    if temporary:
        say("Temporary:")
        for name, agent_file in temporary.items():
            say(_line(f"~{name}", width, f"{agent_file.base}; {agent_file.summary}"))
        say("teambot agents promote NAME keeps one.")


def promote_file(
    project: Path, name: str, new_name: str | None, *, force: bool, say: Say, complain: Say
) -> int:
    """Promote an agent by its file; return the exit status."""
    if not is_trusted(read_team_files(project, os.environ), os.environ):
        complain("Not promoted: the files of this directory are not trusted: teambot trust.")
        return 1
    try:
        agent, known = find(project, name)
    except PromoteError as error:
        complain(str(error))
        return 1
    return _promote(project, agent, known, say, complain, new_name, force=force)


def keep_or_offer(session: Session, project: Path, wanted: Iterable[str], complain: Say) -> int:
    """Promote what was asked for, say what else is worth keeping; return the exit status."""
    status = 0
    useful = {agent.name: agent for agent in used_successfully(session.roster, session.board)}
    known = agent_files(session.roster)
    for name in wanted:
        if name not in useful:
            complain(f"Not promoted: {one_line(name, 60)} is not a temporary agent that completed a task.")
            status = 1
        else:
            agent = useful.pop(name)
            status |= _promote(project, agent, known, complain, complain, None, force=False)
    still_there = temporary_files(project)[0]
    if gone := [name for name in useful if name not in still_there]:
        complain(
            f"Did their work and are gone now: {', '.join(f'~{name}' for name in gone)}."
            f" To keep one: teambot run --promote {gone[0]} …"
        )
    return status


def _promote(
    project: Path,
    agent: AgentFile,
    known: Mapping[str, AgentFile],
    say: Say,
    complain: Say,
    new_name: str | None,
    *,
    force: bool,
) -> int:
    try:
        done = promote(project, agent, known, datetime.now(UTC), os.environ, name=new_name, force=force)
    except ClashError as error:
        complain(error.diff)
        complain(
            f"{error} Keep both: teambot agents promote {agent.name} --as {error.name}-2. Overwrite: --force."
        )
        return 1
    except PromoteError as error:
        complain(str(error))
        return 1
    say(f"{done.name} is in {done.path} from now on.")
    for warning in done.warnings:
        complain(warning)
    return 0


def _line(name: str, width: int, words: str) -> str:
    return f"  {name:{width + 1}}  {one_line(words, _WIDTH)}".rstrip()


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
