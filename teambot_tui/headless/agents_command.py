"""The command line of `teambot agents`: options in, an exit status out."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import click

_complain = partial(click.echo, err=True)


@click.group(invoke_without_command=True)
@click.pass_context
def agents(context: click.Context) -> None:
    """List the agents: the team, what others can be made of, temporary and promoted ones."""
    if context.invoked_subcommand is not None:
        return
    from teambot_tui.agents.errors import AgentsError  # noqa: PLC0415  what a command needs is imported when it runs
    from teambot_tui.api import Session  # noqa: PLC0415
    from teambot_tui.headless.agents import list_agents  # noqa: PLC0415

    try:
        session = Session(environ=os.environ)
    except AgentsError as error:
        _complain(f"Error: {error}")
        sys.exit(2)
    for note in (*session.project.notes, *session.notes):
        _complain(note)
    list_agents(session.project, session.roster, click.echo, _complain)


@agents.command()
@click.argument("name")
@click.option("--as", "new_name", metavar="NEW-NAME", help="Give it another name.")
@click.option("--force", is_flag=True, help="Overwrite the agent that has the name.")
def promote(name: str, new_name: str | None, force: bool) -> None:
    """Move a temporary agent of this project to its own agents, where every later session finds it."""
    from teambot_tui.headless.agents import promote_file  # noqa: PLC0415

    sys.exit(promote_file(Path.cwd(), name, new_name, force=force, say=click.echo, complain=_complain))
