"""A session on which compose files are run, and ways to say what is in them and to see what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import Member
from teambot_tui.engine.session import Session
from teambot_tui.workflows.compose import load_compose
from teambot_tui.workflows.selection import select
from teambot_tui.workflows.up import Up
from tests.team import TEAM

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.ports import Backend


def session_on(backend: Backend, policy: Policy | None = None) -> Session:
    """Return a session of the default team, in which others can join, on one backend."""

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, f"You are made of {defined.base}.", defined.model, backend)

    members = [Member(AgentId(name), f"You are {name}.", None, backend) for name in TEAM]
    return Session(members, policy=policy, bases=("general-purpose", "plan"), recruit=recruit)


def up_of(
    session: Session,
    folder: Path,
    text: str,
    *names: str,
    iterations: int | None = None,
    stdin: str | None = None,
) -> Up:
    """Return a workflow of a compose file that has this text behind its version."""
    path = folder / "teambot.yaml"
    path.write_text(f'version: "1"\n{text}', encoding="utf-8")
    file = load_compose(path, folder, session.roster.agents)
    return Up(session, file, select(file, names, iterations), stdin)


def states(session: Session) -> dict[str, str]:
    """Return how every task stands."""
    return {task.id: str(task.state) for task in session.board.tasks.values()}
