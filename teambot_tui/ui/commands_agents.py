"""The slash commands about agents that come and go, about variables and about what everyone is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean
from teambot_tui.ui.command import CommandError, SlashCommand
from teambot_tui.ui.glyphs import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.ui.desk import Desk

_LONGEST_KEY: Final = 200


class ContextChange(NamedTuple):
    """A key of the shared context and what it is to be; nothing takes it back."""

    key: str
    value: object


def parse_context(text: str) -> ContextChange:
    """Return what `key value` or `unset key` asks for; a value is JSON or else text.

    Raises:
        CommandError: it cannot be understood.
    """
    from teambot_tui.engine.context import as_json  # noqa: PLC0415  the first picture needs no engine

    key, *rest = text.split(None, 1)
    value = rest[0].strip() if rest else ""
    if key == "unset":
        if not value or len(value.split()) > 1:
            raise CommandError("Say which key to take back: /context unset goal")
        return ContextChange(value, None)
    if not value:
        raise CommandError(f'Say what {one_line(key, 40)} is: /context {one_line(key, 40)} "Ship it"')
    if key.startswith("$") or len(key) > _LONGEST_KEY:
        raise CommandError("A key is a word of its own, such as goal; only a spawned run can refer with $.")
    try:
        parsed = json.loads(value)
        as_json(parsed)
    except (ValueError, RecursionError):
        parsed = value
    return ContextChange(key, parsed)


def _temporary(desk: Desk, words: list[str], example: str) -> AgentId:
    roster = desk.mirror.roster
    if not words:
        raise CommandError(f"Say which agent: {example}")
    agent = AgentId(words[0].lstrip("@$~"))
    if agent in roster.team:
        raise CommandError(f"@{agent} is of the team, not temporary.")
    if agent not in roster.temporary:
        near = did_you_mean(agent, roster.temporary)
        known = ", ".join(roster.temporary)
        hint = f"Did you mean {near}?" if near else f"There are {known}." if known else "There is none yet."
        raise CommandError(f"There is no temporary agent {one_line(agent, 40)}. {hint}")
    return agent


def _joined(desk: Desk) -> Sequence[str]:
    return tuple(desk.mirror.roster.temporary)


def _keys(desk: Desk) -> Sequence[str]:
    return tuple(entry.key for entry in desk.mirror.context())


def _agents(desk: Desk, _: list[str]) -> None:
    roster, models = desk.mirror.roster, desk.models()
    lines = []
    for agent in roster.agents:
        view = desk.mirror.agent(agent)
        words = [view.name]
        if defined := roster.temporary.get(agent):
            words.append(f"temporary, of {defined.base}" + (f", by {view.parent}" if view.parent else ""))
        if model := models.get(agent):
            words.append(f"model {model}")
        if roster.default == agent:
            words.append("(default)")
        lines.append("  ".join(words))
    desk.report("The team", Content("\n".join(lines)))


def _vars(desk: Desk, _: list[str]) -> None:
    views = desk.mirror.variables()
    if not views:
        desk.report("Variables", Content('none yet: pm:"Plan it":plan captures one'))
        return
    width = max(len(view.name) for view in views)
    task = max(len(view.task) for view in views)
    lines = [
        f"{{{view.name}}}{' ' * (width - len(view.name))}  {view.task:{task}}  {view.state:9}"
        f"  {size(view.size):>6}  {one_line(view.first_line, 60)}".rstrip()
        for view in views
    ]
    desk.report("Variables", Content("\n".join(lines)))


def _promote(desk: Desk, words: list[str]) -> None:
    example = "/promote scanner [--as NAME] [--force]"
    agent = _temporary(desk, words, example)
    options = iter(words[1:])
    name, force = None, False
    for option in options:
        if option == "--force":
            force = True
        elif option != "--as" or (name := next(options, None)) is None:
            raise CommandError(f"{one_line(option, 40)} cannot be understood. Try: {example}")
    if not desk.mirror.roster.temporary[agent].prompt:
        raise CommandError(f"@{agent} has no prompt of its own to keep.")
    desk.agents.promote(agent, name, force=force)


def _forget(desk: Desk, words: list[str]) -> None:
    agent = _temporary(desk, words, "/forget scanner")
    if queue := desk.mirror.queue(agent):
        raise CommandError(f"@{agent} still has work: {', '.join(queue)}. /cancel {agent} ends it.")
    desk.agents.forget(agent)


def _context(desk: Desk, words: list[str]) -> None:
    text = words[0].strip()
    told = {entry.key: entry.value for entry in desk.mirror.context()}
    if not text:
        desk.do("context")
    elif len(text.split()) == 1 and text != "unset":
        if text not in told:
            near = did_you_mean(text, told)
            hint = f"Did you mean {near}?" if near else f'/context {one_line(text, 40)} "…" sets it.'
            raise CommandError(f"Nobody is told {one_line(text, 40)}. {hint}")
        desk.report("Shared context", Content(f"{text}: {told[text]}"))
    else:
        change = parse_context(text)
        if change.value is None and change.key not in told:
            known = f" There are {', '.join(told)}." if told else ""
            raise CommandError(f"Nobody is told {one_line(change.key, 40)}.{known}")
        desk.agents.set_context(change.key, change.value)


def _spawn(desk: Desk, words: list[str]) -> None:
    from teambot_tui.workflows.spawn_command import (  # noqa: PLC0415  as above
        SpawnCommandError,
        parse_spawn,
    )

    try:
        wish = parse_spawn(words[0])
    except SpawnCommandError as error:
        raise CommandError(str(error)) from error
    desk.agents.spawn(wish, f"/spawn {words[0]}")


AGENT_COMMANDS: Final = {
    "agents": SlashCommand("", "everyone who is here", _agents),
    "define": SlashCommand("", "define a temporary agent in a form", lambda desk, _: desk.do("define")),
    "promote": SlashCommand("<agent> [--as NAME] [--force]", "keep a temporary agent", _promote, _joined),
    "forget": SlashCommand("<agent>", "let a temporary agent go", _forget, _joined),
    "spawn": SlashCommand(
        "[--after NAME]… [--include-result] [--label L] [--model M] @agent task",
        "start a run that may wait for others",
        _spawn,
        whole=True,
    ),
    "context": SlashCommand(
        "[key [value]] | unset key", "what everyone is told", _context, _keys, whole=True
    ),
    "vars": SlashCommand("", "the variables and what is in them", _vars),
}
