"""The slash commands about workflows in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.text import one_line
from teambot_tui.ui.command import CommandError, SlashCommand

if TYPE_CHECKING:
    from teambot_tui.ui.desk import Desk


def _up(desk: Desk, words: list[str]) -> None:
    from teambot_tui.workflows.up_command import (  # noqa: PLC0415  the first picture needs no workflows
        UpCommandError,
        parse_up,
    )

    try:
        wish = parse_up(words[0])
    except UpCommandError as error:
        raise CommandError(str(error)) from error
    desk.workflows.up(wish)


def _save(desk: Desk, words: list[str]) -> None:
    file = words[0].strip()
    if not file:
        raise CommandError("Say where: /save flow.yaml")
    if not file.lower().endswith((".yaml", ".yml")):
        raise CommandError(f"{one_line(file, 60)} is no name for a compose file. Try: /save flow.yaml")
    if not desk.mirror.tasks():
        raise CommandError("There is nothing to save yet.")
    desk.workflows.save(file)


WORKFLOW_COMMANDS: Final = {
    "up": SlashCommand(
        "[file.yaml] [pipeline|task]… [--iterations N]",
        "show a workflow of a compose file, then run it",
        _up,
        whole=True,
    ),
    "save": SlashCommand("<file.yaml>", "write what was done as a compose file", _save, whole=True),
}
