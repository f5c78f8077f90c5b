"""What each slash command does with its words; the table of actions says which there are.

A command asks the desk; it never touches a widget.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from teambot_tui.engine.ids import AgentId, agent_of
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean
from teambot_tui.ui.budgets import dollars_of, tokens_of, told
from teambot_tui.ui.glyphs import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.ui.desk import Desk

_LONGEST_KEY: Final = 200


class CommandError(Exception):
    """A command that cannot be carried out; the text says what to type."""


def _agent(desk: Desk, name: str) -> AgentId:
    agents = desk.mirror.roster.agents
    agent = AgentId(name.removeprefix("@"))
    if agent not in agents:
        near = did_you_mean(agent, agents)
        hint = f"Did you mean {near}?" if near else f"The team is {', '.join(agents)}."
        raise CommandError(f"There is no agent {agent}. {hint}")
    return agent


def _task_named(desk: Desk, name: str) -> TaskId:
    """Return the task that is meant by an id, a label, an agent or `last`."""
    from teambot_tui.engine.outcomes import RefusedError  # noqa: PLC0415  the table is there before the engine is

    try:
        return desk.mirror.find(name.removeprefix("@"))
    except RefusedError as error:
        raise CommandError(str(error)) from error


def agents_of(desk: Desk) -> Sequence[str]:
    return desk.mirror.roster.agents


def targets(desk: Desk) -> Sequence[str]:
    """The agents, the labels, and the tasks, newest first."""
    return (*desk.mirror.roster.agents, *desk.mirror.labels, *reversed(desk.mirror.tasks()))


def status(desk: Desk, _: list[str]) -> None:
    lines = []
    for agent in desk.mirror.roster.agents:
        view = desk.mirror.agent(agent)
        words = view.state
        if view.waiting_for:
            words += f" for {', '.join(f'@{each}' for each in view.waiting_for)}"
        lines.append(f"@{agent}: {words}")
    desk.report("Status", Content("\n".join(lines)))


def states() -> list[str]:
    from teambot_tui.engine.board import State  # noqa: PLC0415  the table is there before the engine is

    return [state.value for state in State]


def tasks(desk: Desk, words: list[str]) -> None:
    wanted = words[0] if words else None
    if wanted is not None and wanted not in states():
        near = did_you_mean(wanted, states())
        hint = f"Did you mean {near}?" if near else f"A task is {', '.join(states())}."
        raise CommandError(f"There is no state {wanted}. {hint}")
    views = [desk.mirror.task(task) for task in desk.mirror.tasks()]
    shown = [view for view in views if wanted in (None, view.state.value)]
    counts = Counter(view.state.value for view in views)
    lines = [f"{view.task:14} {view.state:10} {view.statement.splitlines()[0][:80]}" for view in shown]
    summary = ", ".join(f"{count} {state}" for state, count in counts.items()) or "no tasks yet"
    desk.report("Tasks", Content("\n".join([summary, "", *lines])))


def task(desk: Desk, words: list[str]) -> None:
    if not words:
        raise CommandError("Say which task: /task pm#1")
    task = _task_named(desk, words[0])
    desk.inspect(agent_of(task), task)


def model(desk: Desk, words: list[str]) -> None:
    match words:
        case []:
            desk.show_models()
        case [name]:
            agent = _agent(desk, name)
            desk.report("Model", Content(f"@{agent}: {desk.models()[agent] or 'as its backend chooses'}"))
        case [name, model]:
            desk.set_model(_agent(desk, name), None if model == "clear" else model)


def use_agent(desk: Desk, words: list[str]) -> None:
    if words:
        desk.use_agent(_agent(desk, words[0]))
    else:
        default = desk.mirror.roster.default
        desk.report("Default agent", Content(f"@{default}" if default else "none: /use-agent pm sets one"))


def theme(desk: Desk, words: list[str]) -> None:
    themes = desk.themes()
    if not words:
        desk.report("Themes", Content("\n".join(themes)))
    elif words[0] in themes:
        desk.set_theme(words[0])
    else:
        near = did_you_mean(words[0], themes)
        raise CommandError(f"There is no theme {words[0]}." + (f" Did you mean {near}?" if near else ""))


def retry(desk: Desk, words: list[str]) -> None:
    if not words or words[0] == "all":
        raise CommandError("Say what to retry: /retry pm, or /retry pm#1")
    desk.retry(_task_named(desk, words[0]))


def again(desk: Desk, words: list[str]) -> None:
    if not words or words[0] == "all":
        raise CommandError("Say what to do once more: /again pm, or /again pm#1")
    desk.again(_task_named(desk, words[0]))


def cancel(desk: Desk, words: list[str]) -> None:
    target = words[0].removeprefix("@") if words else "all"
    is_several = target == "all" or target in desk.mirror.roster.agents
    desk.cancel(target if is_several else _task_named(desk, target))


def export(desk: Desk, words: list[str]) -> None:
    desk.export(words[0].strip() or "teambot-session.md")


def history(desk: Desk, words: list[str]) -> None:
    agent = _agent(desk, words[0]) if words else None
    views = [desk.mirror.task(task) for task in desk.mirror.tasks(agent)]
    lines = [f"{view.task:14} {view.state:10} {view.statement.splitlines()[0][:80]}" for view in views]
    desk.report(f"History of @{agent}" if agent else "History", Content("\n".join(lines) or "nothing yet"))


def budget(desk: Desk, words: list[str]) -> None:
    spending = desk.mirror.spending
    if not words:
        desk.report("Budget", Content(told(spending)))
        return
    try:
        cost = dollars_of(words[0])
        count = tokens_of(words[1]) if len(words) > 1 else spending.token_limit
    except ValueError as error:
        raise CommandError(str(error)) from error
    desk.set_budget(cost, count)


def forget_context(desk: Desk, words: list[str]) -> None:
    if not words:
        raise CommandError("Say who is to forget: /forget-context pm")
    desk.forget(_agent(desk, words[0]))


# Agents that come and go, and what everyone is told


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


def joined(desk: Desk) -> Sequence[str]:
    return tuple(desk.mirror.roster.temporary)


def context_keys(desk: Desk) -> Sequence[str]:
    return tuple(entry.key for entry in desk.mirror.context())


def agents(desk: Desk, _: list[str]) -> None:
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


def variables(desk: Desk, _: list[str]) -> None:
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


def promote(desk: Desk, words: list[str]) -> None:
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


def forget(desk: Desk, words: list[str]) -> None:
    agent = _temporary(desk, words, "/forget scanner")
    if queue := desk.mirror.queue(agent):
        raise CommandError(f"@{agent} still has work: {', '.join(queue)}. /cancel {agent} ends it.")
    desk.agents.forget(agent)


def context(desk: Desk, words: list[str]) -> None:
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


def spawn(desk: Desk, words: list[str]) -> None:
    from teambot_tui.workflows.spawn_command import (  # noqa: PLC0415  as above
        SpawnCommandError,
        parse_spawn,
    )

    try:
        wish = parse_spawn(words[0])
    except SpawnCommandError as error:
        raise CommandError(str(error)) from error
    desk.agents.spawn(wish, f"/spawn {words[0]}")


# Workflows in files


def up(desk: Desk, words: list[str]) -> None:
    from teambot_tui.workflows.up_command import (  # noqa: PLC0415  the first picture needs no workflows
        UpCommandError,
        parse_up,
    )

    try:
        wish = parse_up(words[0])
    except UpCommandError as error:
        raise CommandError(str(error)) from error
    desk.workflows.up(wish)


def save(desk: Desk, words: list[str]) -> None:
    file = words[0].strip()
    if not file:
        raise CommandError("Say where: /save flow.yaml")
    if not file.lower().endswith((".yaml", ".yml")):
        raise CommandError(f"{one_line(file, 60)} is no name for a compose file. Try: /save flow.yaml")
    if not desk.mirror.tasks():
        raise CommandError("There is nothing to save yet.")
    desk.workflows.save(file)
