"""The command line: options in, parts wired, an exit status out. Each command imports only what it needs."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teambot_tui.agents.errors import AgentsError
from teambot_tui.engine.text import printable
from teambot_tui.headless.command_groups import agents, models
from teambot_tui.opening import CannotOpenError, has_terminal, here, open_here, open_screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.agents.project import Project
    from teambot_tui.api import Session
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.headless.output import OutputStream
    from teambot_tui.headless.run import Printer
    from teambot_tui.workflows.up_command import UpCommand

_EPHEMERAL = "Keep no outputs and no temporary agents on disk."
_LARGEST_FILE = 16 * 1024 * 1024


class UnusableError(click.ClickException):
    """Something the user gave cannot be used; the text says what and why."""

    exit_code = 2


def _topics(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from teambot_tui.help import TOPICS  # noqa: PLC0415  only where somebody presses Tab

    return [topic for topic in TOPICS if topic.startswith(incomplete)]


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="teambot-tui", prog_name="teambot")
@click.option("--backend", metavar="NAME", help="Let every agent run on this backend.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--web", is_flag=True, help="Show the screen in a browser on this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="The port of --web; else any."
)
@click.option("--ephemeral", is_flag=True, help=_EPHEMERAL)
@click.pass_context
def main(
    context: click.Context, backend: str | None, ascii_only: bool, web: bool, port: int, ephemeral: bool
) -> None:
    """Lead a team of AI agents from the keyboard. Without a command, the screen opens.

    \b
    teambot
    teambot run '@pm,ba Analyse login -> @builder-1 Build it'
    teambot run -f plan.team --json
    teambot up
    """
    try:
        here()
    except CannotOpenError as error:
        raise UnusableError(str(error)) from error
    if context.invoked_subcommand is not None:
        return
    if web:
        _serve(backend, ascii_only, port, ephemeral)
        return
    sys.exit(_show(backend, ascii_only, ephemeral))


@main.command()
@click.argument("text", required=False)
@click.option("-f", "--file", "file", metavar="FILE", help="Read the statements from a file, or from - .")
@click.option("--json", "as_json", is_flag=True, help="Print each event as JSON on its own line.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, start nothing.")
@click.option("--backend", metavar="NAME", help="Let every agent run on this backend.")
@click.option("--max-parallel", type=click.IntRange(min=1), help="How many agents may work at once.")
@click.option(
    "--wait-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long a task may wait for another.",
)
@click.option("--promote", multiple=True, metavar="NAME", help="Keep a temporary agent that did its work.")
@click.option("--log-file", type=click.Path(path_type=Path), help="Write a debug log, references and all.")
@click.option("--ephemeral", is_flag=True, help=_EPHEMERAL)
def run(
    text: str | None,
    file: str | None,
    as_json: bool,
    dry_run: bool,
    backend: str | None,
    max_parallel: int | None,
    wait_timeout: float | None,
    promote: tuple[str, ...],
    log_file: Path | None,
    ephemeral: bool,
) -> None:
    """Run all statements of TEXT or of a file, then exit.

    The exit status is 0 if everything completed, 1 if something failed, was skipped, cancelled or refused,
    2 for wrong usage or settings, 130 if interrupted.
    """
    import asyncio  # noqa: PLC0415  what a command needs is imported when it runs

    from teambot_tui.api import Session  # noqa: PLC0415
    from teambot_tui.headless.agents import keep_or_offer  # noqa: PLC0415
    from teambot_tui.headless.output import OutputStream  # noqa: PLC0415
    from teambot_tui.headless.run import print_plan  # noqa: PLC0415
    from teambot_tui.headless.run import run as run_to_end  # noqa: PLC0415

    statements = _statements(text, file)
    _log_to(log_file)
    session = Session(
        project=_open_project(backend, max_parallel, wait_timeout),
        stdin=None if file == "-" else _piped,
        ephemeral=ephemeral,
    )
    for note in session.notes:
        _complain(note)
    output = OutputStream(sys.stdout)
    if dry_run:
        sys.exit(print_plan(session.explain(statements), output, _complain, as_json=as_json))
    _tell_of_outputs(session)
    printer = _printer(session, output, as_json)
    status = asyncio.run(run_to_end(session, statements, printer, output, _complain))
    sys.exit(status or keep_or_offer(session, session.project.directory, promote, _complain))


@main.command()
@click.argument("names", nargs=-1)
@click.option("-f", "--file", "file", type=click.Path(path_type=Path), help="The compose file.")
@click.option("--iterations", type=click.IntRange(1, 1000), help="How often, instead of what the file says.")
@click.option("--headless", is_flag=True, help="Print lines, even on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as JSON on its own line.")
@click.option("--dry-run", is_flag=True, help="Say what would run, start nothing.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--backend", metavar="NAME", help="Let every agent run on this backend.")
@click.option("--max-parallel", type=click.IntRange(min=1), help="How many agents may work at once.")
@click.option(
    "--wait-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long a task may wait for each step before it.",
)
@click.option("--log-file", type=click.Path(path_type=Path), help="Write a debug log.")
@click.option("--ephemeral", is_flag=True, help=_EPHEMERAL)
def up(
    names: tuple[str, ...],
    file: Path | None,
    iterations: int | None,
    headless: bool,
    as_json: bool,
    dry_run: bool,
    ascii_only: bool,
    backend: str | None,
    max_parallel: int | None,
    wait_timeout: float | None,
    log_file: Path | None,
    ephemeral: bool,
) -> None:
    """Run a pipeline, or tasks with all they depend on, of a compose file.

    Without NAMES: its only pipeline, else all its tasks. The file is teambot.yaml, else swarm/swarm.yaml. On
    a terminal the screen opens, and shows it before it starts. Without one, the exit status is that of `run`;
    a file that cannot be used is 2.
    """
    _log_to(log_file)
    if has_terminal() and not (headless or as_json or dry_run):
        from teambot_tui.workflows.up_command import UpCommand  # noqa: PLC0415  as below

        request = UpCommand(file, names, iterations)
        sys.exit(_show(backend, ascii_only, ephemeral, max_parallel, wait_timeout, request))
    import asyncio  # noqa: PLC0415  what a command needs is imported when it runs

    from teambot_tui.api import Session  # noqa: PLC0415
    from teambot_tui.headless.output import OutputStream  # noqa: PLC0415
    from teambot_tui.headless.up import print_up, run_up  # noqa: PLC0415
    from teambot_tui.workflows.errors import ComposeError  # noqa: PLC0415
    from teambot_tui.workflows.opening import open_up  # noqa: PLC0415

    session = Session(project=_open_project(backend, max_parallel, wait_timeout), ephemeral=ephemeral)
    for note in session.notes:
        _complain(note)
    try:
        workflow = open_up(
            session, Path.cwd(), file, names, iterations, stdin=_piped, run="" if dry_run else session.run_id
        )
    except ComposeError as error:
        raise UnusableError(str(error)) from error
    for warning in workflow.warnings:
        _complain(f"warning: {warning}")
    output = OutputStream(sys.stdout)
    if dry_run:
        sys.exit(print_up(workflow, output, as_json=as_json))
    _tell_of_outputs(session)
    printer = _printer(session, output, as_json, workflow.agents)
    sys.exit(asyncio.run(run_up(session, workflow, printer, output, _complain)))


@main.command()
def trust() -> None:
    """Let the files of this directory change the team, as they are now, and say what each changes.

    They are teambot.toml and the agents in .teambot/agents, .teambot/temp-agents and .claude/agents. They can
    name programs to start and say who the agents are, so nothing of them counts until you say so, and again
    when one of them has changed.
    """
    from teambot_tui.agents.changes import changes_by  # noqa: PLC0415
    from teambot_tui.agents.project import trust_project  # noqa: PLC0415
    from teambot_tui.agents.team_files import read_team_files  # noqa: PLC0415

    try:
        files = read_team_files(Path.cwd(), os.environ)
        for problem in files.problems:
            _complain(problem)
        if not files.content:
            raise UnusableError(
                "There is nothing to trust: no teambot.toml here, and no agents in .teambot or .claude."
            )
        for change in changes_by(files):
            click.echo(change.path)
            for words in change.words:
                click.echo(f"  {words}")
        trust_project(files, os.environ)
    except AgentsError as error:
        raise UnusableError(f"{error}. Nothing is trusted.") from error
    click.echo("Trusted until one of these files changes.")


@main.command()
@click.option("--outputs", "outputs_only", is_flag=True, help="Remove captured outputs only.")
@click.option("--older-than", default="7d", show_default=True, metavar="AGE", help="Such as 12h, 7d or 2w.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, remove nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def prune(outputs_only: bool, older_than: str, dry_run: bool, yes: bool) -> None:
    """Remove what is old: captured outputs, and temporary agents that a session left in this project.

    Whatever a session that is going on uses stays.
    """
    from teambot_tui.engine.ages import parse_age  # noqa: PLC0415
    from teambot_tui.headless.prune import prune as show_and_remove  # noqa: PLC0415
    from teambot_tui.store.folders import StoreError, teambot_home  # noqa: PLC0415

    try:
        age = parse_age(older_than).total_seconds()
        home = teambot_home(os.environ)
    except ValueError as error:
        raise UnusableError(f"--older-than: {error}.") from error
    except StoreError as error:
        raise UnusableError(f"{error}.") from error
    ask = None if not sys.stdin.isatty() else _confirm
    sys.exit(
        show_and_remove(
            home,
            Path.cwd(),
            age,
            ("outputs",) if outputs_only else None,
            dry_run=dry_run,
            ask=(lambda _: True) if yes else ask,
            say=click.echo,
            complain=_complain,
        )
    )


main.add_command(agents)
main.add_command(models)


def _confirm(question: str) -> bool:
    return click.confirm(question, err=True)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def doctor(as_json: bool) -> None:
    """Say which agents are here, whether they are logged in, what the settings make of it, and what to do.

    Nothing is changed, and nothing is sent anywhere.
    """
    import asyncio  # noqa: PLC0415  what a command needs is imported when it runs

    from teambot_tui.agents.doctor import examine  # noqa: PLC0415
    from teambot_tui.headless import doctor as report  # noqa: PLC0415

    health = asyncio.run(examine(Path.cwd(), os.environ))
    click.echo(report.as_json(health) if as_json else report.as_table(health))


@main.command("help")
@click.argument("topic", required=False, shell_complete=_topics)
def manual(topic: str | None) -> None:
    """Print a page of the manual; without TOPIC, which there are."""
    from teambot_tui.help import TOPICS, NoTopicError, plain_page  # noqa: PLC0415

    if topic is None:
        click.echo("teambot help TOPIC\n")
        for name, words in TOPICS.items():
            click.echo(f"  {name:12} {words}")
        return
    try:
        click.echo(plain_page(topic), nl=False)
    except NoTopicError as error:
        raise UnusableError(printable(str(error))) from error


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what lets your shell complete teambot's words.

    \b
    bash, in ~/.bashrc:                  eval "$(teambot completion bash)"
    zsh, in ~/.zshrc:                    eval "$(teambot completion zsh)"
    fish, in ~/.config/fish/config.fish: teambot completion fish | source
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    # Of click's own: it would also look for the bash on PATH and complain about an old one.
    script = kind(main, {}, "teambot", "_TEAMBOT_COMPLETE")
    click.echo(script.source_template % script.source_vars())


def _show(
    backend: str | None,
    ascii_only: bool,
    ephemeral: bool,
    max_parallel: int | None = None,
    wait_timeout: float | None = None,
    up: UpCommand | None = None,
) -> int:
    try:
        return open_screen(
            backend,
            ascii_only=ascii_only,
            ephemeral=ephemeral,
            max_parallel=max_parallel,
            wait_timeout=wait_timeout,
            up=up,
        )
    except CannotOpenError as error:
        raise UnusableError(str(error)) from error


def _serve(backend: str | None, ascii_only: bool, port: int, ephemeral: bool) -> None:
    try:
        from teambot_tui.ui.web import serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UnusableError("--web needs textual-serve: pip install 'teambot-tui[web]'") from error
    _open_project(backend)  # what is wrong is better told here than on a page
    arguments = [*["--ascii"] * ascii_only, *["--ephemeral"] * ephemeral]
    if backend is not None:
        arguments += ["--backend", backend]

    def announce(address: str) -> None:
        try:
            click.echo(f"Open {address}\nCtrl+C ends it.")
        except OSError:  # nobody can open what nobody has read; why is told at the end
            sys.exit(2)

    try:
        serve(arguments, port, announce)
    except OSError as error:
        raise UnusableError(f"--port {port} cannot be used: {error.strerror}.") from error


def _open_project(
    backend: str | None, max_parallel: int | None = None, wait_timeout: float | None = None
) -> Project:
    try:
        return open_here(backend, max_parallel, wait_timeout)
    except CannotOpenError as error:
        raise UnusableError(str(error)) from error


def _statements(text: str | None, file: str | None) -> str:
    if (text is None) == (file is None):
        raise click.UsageError(
            "Give the statements either as one argument or with -f FILE (-f - reads standard input)."
        )
    return text if text is not None else _read(str(file))


def _piped() -> str | None:
    """Return what was piped in, if anything."""
    return None if sys.stdin.isatty() else _read("-") or None


def _read(file: str) -> str:
    try:
        if file == "-":
            content = sys.stdin.buffer.read(_LARGEST_FILE + 1)
        else:
            with Path(file).open("rb") as stream:
                content = stream.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise UnusableError(f"{file} cannot be read: {error.strerror}.") from error
    if len(content) > _LARGEST_FILE:
        raise UnusableError(f"{file} is larger than {_LARGEST_FILE // 1024**2} MiB.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableError(f"{file} is not UTF-8: {error.reason} at byte {error.start}.") from error


def _log_to(file: Path | None) -> None:
    if file is None:
        return
    try:
        handler = logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise UnusableError(f"--log-file {file} cannot be written: {error.strerror}.") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("teambot_tui")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


def _printer(
    session: Session, output: OutputStream, as_json: bool, newcomers: Sequence[AgentId] = ()
) -> Printer:
    from teambot_tui.headless.events import JsonLines  # noqa: PLC0415
    from teambot_tui.headless.plain import PlainPrinter  # noqa: PLC0415

    if as_json:
        return JsonLines(output.write, ascii_only=not output.speaks_unicode)
    return PlainPrinter(
        output.write,
        tuple(dict.fromkeys((*session.roster.agents, *newcomers))),
        colour=output.wants_colour(os.environ.get("NO_COLOR")),
        bar="│" if output.speaks_unicode else "|",
    )


def _tell_of_outputs(session: Session) -> None:
    if told := session.tell_of_outputs():
        _complain(told)


def _complain(text: str) -> None:
    with suppress(OSError):  # nobody can be told, and nothing shall fail because of it
        click.echo(text, err=True)
