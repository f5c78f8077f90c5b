"""What each slash command does with its words; the table of actions says which there are.

A command asks the controllers; it never touches a widget.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from teambot_tui.engine.ids import AgentId, agent_of
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean
from teambot_tui.ui.budgets import dollars_of, tokens_of, told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teambot_tui.ui.controllers.controls import Controls
    from teambot_tui.workflows.up_command import UpCommand

_LONGEST_KEY: Final = 200


class CommandError(Exception):
    """A command that cannot be carried out; the text says what to type."""


def _agent(controls: Controls, name: str) -> AgentId:
    agents = controls.views.roster.agents
    agent = AgentId(name.removeprefix("@"))
    if agent not in agents:
        near = did_you_mean(agent, agents)
        hint = f"Did you mean {near}?" if near else f"The team is {', '.join(agents)}."
        raise CommandError(f"There is no agent {agent}. {hint}")
    return agent


def _refused(controls: Controls, command: str) -> Callable[[str], None]:
    """Return what puts a command back into the input and says why it was refused."""
    return partial(controls.drafting.give_back, command)


def agents_of(controls: Controls) -> Sequence[str]:
    return controls.views.roster.agents


def targets(controls: Controls) -> Sequence[str]:
    """The agents, the labels, and the tasks, newest first."""
    return (*controls.views.roster.agents, *controls.views.labels, *reversed(controls.views.tasks()))


def status(controls: Controls, _: list[str]) -> None:
    controls.tables.status()


def states() -> list[str]:
    from teambot_tui.engine.board import State  # noqa: PLC0415  the table is there before the engine is

    return [state.value for state in State]


def tasks(controls: Controls, words: list[str]) -> None:
    wanted = words[0] if words else None
    if wanted is not None and wanted not in states():
        near = did_you_mean(wanted, states())
        hint = f"Did you mean {near}?" if near else f"A task is {', '.join(states())}."
        raise CommandError(f"There is no state {wanted}. {hint}")
    controls.tables.tasks(wanted)


def task(controls: Controls, words: list[str]) -> None:
    if not words:
        raise CommandError("Say which task: /task pm#1")
    controls.actions.find(
        words[0].removeprefix("@"),
        lambda task: controls.chosen.inspect(agent_of(task), task),
        _refused(controls, f"/task {words[0]}"),
    )


def model(controls: Controls, words: list[str]) -> None:
    match words:
        case []:
            controls.tables.models()
        case [name]:
            controls.tables.models(_agent(controls, name))
        case [name, model]:
            controls.actions.set_model(_agent(controls, name), None if model == "clear" else model)


def ask_for_model(controls: Controls) -> None:
    """Begin to type the command that sets the chosen agent's model."""
    if (agent := controls.chosen.agent) is not None:
        controls.drafting.offer_command("model", agent)


def address(controls: Controls) -> None:
    """Begin a task for the chosen agent."""
    if (agent := controls.chosen.agent) is not None:
        controls.drafting.begin(f"@{agent} ")


def use_output(controls: Controls) -> None:
    """Begin a statement with the output of the chosen agent."""
    if (agent := controls.chosen.agent) is not None:
        controls.drafting.begin(f"${agent} ")


def edit_again(controls: Controls) -> None:
    """Have the last statement of the chosen agent, to change it and submit it again."""
    agent = controls.chosen.agent
    if agent is not None and (task := controls.views.agent(agent).task) is not None:
        controls.drafting.begin(controls.views.task(task).statement)


def use_agent(controls: Controls, words: list[str]) -> None:
    if words:
        controls.actions.use_agent(_agent(controls, words[0]))
    else:
        default = controls.views.roster.default
        controls.person.report(
            "Default agent", Content(f"@{default}" if default else "none: /use-agent pm sets one")
        )


def theme(controls: Controls, words: list[str]) -> None:
    themes = controls.person.themes()
    if not words:
        controls.tables.themes()
    elif words[0] in themes:
        controls.person.set_theme(words[0])
    else:
        near = did_you_mean(words[0], themes)
        raise CommandError(f"There is no theme {words[0]}." + (f" Did you mean {near}?" if near else ""))


def retry(controls: Controls, words: list[str]) -> None:
    if not words or words[0] == "all":
        raise CommandError("Say what to retry: /retry pm, or /retry pm#1")
    controls.actions.retry(words[0].removeprefix("@"), _refused(controls, f"/retry {words[0]}"))


def again(controls: Controls, words: list[str]) -> None:
    if not words or words[0] == "all":
        raise CommandError("Say what to do once more: /again pm, or /again pm#1")
    controls.actions.again(words[0].removeprefix("@"), _refused(controls, f"/again {words[0]}"))


def compare(controls: Controls, words: list[str]) -> None:
    names = words[0].split()
    if not names:
        raise CommandError("Say which answers: /compare pm#1 pm#2, or one of several to the same words")
    controls.comparing.compare_named(
        [name.removeprefix("@") for name in names], _refused(controls, f"/compare {words[0]}")
    )


def compare_chosen(controls: Controls) -> None:
    """Compare the answers to what the task at hand was asked."""
    if (task := controls.chosen.task_at_hand) is not None:
        controls.comparing.compare([task])


def cancel(controls: Controls, words: list[str]) -> None:
    target = words[0].removeprefix("@") if words else "all"
    controls.actions.cancel(target, _refused(controls, f"/cancel {target}"))


def export(controls: Controls, words: list[str]) -> None:
    file = words[0].strip() or "teambot-session.md"
    if not file.endswith(".svg"):
        controls.actions.export(file)
        return
    from teambot_tui.ui.svg import graph_svg, timeline_svg  # noqa: PLC0415  nobody may ever export

    drawings = {"graph": graph_svg, "timeline": timeline_svg}
    draw = next((draw for name, draw in drawings.items() if name in file.rpartition("/")[2]), None)
    if draw is None:
        raise CommandError("Say in its name what to draw: /export timeline.svg or /export graph.svg")
    views = [controls.views.task(task) for task in controls.views.tasks()]
    controls.actions.export(file, draw(views, controls.now()))


def history(controls: Controls, words: list[str]) -> None:
    controls.tables.history(_agent(controls, words[0]) if words else None)


def budget(controls: Controls, words: list[str]) -> None:
    spending = controls.views.budget
    if not words:
        controls.person.report("Budget", Content(told(spending)))
        return
    try:
        cost = dollars_of(words[0])
        count = tokens_of(words[1]) if len(words) > 1 else spending.token_limit
    except ValueError as error:
        raise CommandError(str(error)) from error
    controls.actions.set_budget(cost, count)


def forget_context(controls: Controls, words: list[str]) -> None:
    if not words:
        raise CommandError("Say who is to forget: /forget-context pm")
    controls.actions.forget(_agent(controls, words[0]))


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


def _temporary(controls: Controls, words: list[str], example: str) -> AgentId:
    roster = controls.views.roster
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


def joined(controls: Controls) -> Sequence[str]:
    return tuple(controls.views.roster.temporary)


def context_keys(controls: Controls) -> Sequence[str]:
    return tuple(entry.key for entry in controls.views.context)


def agents(controls: Controls, _: list[str]) -> None:
    controls.tables.agents()


def variables(controls: Controls, _: list[str]) -> None:
    controls.tables.variables()


def promote(controls: Controls, words: list[str]) -> None:
    example = "/promote scanner [--as NAME] [--force]"
    agent = _temporary(controls, words, example)
    options = iter(words[1:])
    name, force = None, False
    for option in options:
        if option == "--force":
            force = True
        elif option != "--as" or (name := next(options, None)) is None:
            raise CommandError(f"{one_line(option, 40)} cannot be understood. Try: {example}")
    if not controls.views.roster.temporary[agent].prompt:
        raise CommandError(f"@{agent} has no prompt of its own to keep.")
    controls.actions.agents.promote(agent, name, force=force)


def forget(controls: Controls, words: list[str]) -> None:
    agent = _temporary(controls, words, "/forget scanner")
    if queue := controls.views.queue(agent):
        raise CommandError(f"@{agent} still has work: {', '.join(queue)}. /cancel {agent} ends it.")
    controls.actions.agents.forget(agent)


def context(controls: Controls, words: list[str]) -> None:
    text = words[0].strip()
    told = {entry.key: entry.value for entry in controls.views.context}
    if not text:
        controls.forms.context()
    elif len(text.split()) == 1 and text != "unset":
        if text not in told:
            near = did_you_mean(text, told)
            hint = f"Did you mean {near}?" if near else f'/context {one_line(text, 40)} "…" sets it.'
            raise CommandError(f"Nobody is told {one_line(text, 40)}. {hint}")
        controls.person.report("Shared context", Content(f"{text}: {told[text]}"))
    else:
        change = parse_context(text)
        if change.value is None and change.key not in told:
            known = f" There are {', '.join(told)}." if told else ""
            raise CommandError(f"Nobody is told {one_line(change.key, 40)}.{known}")
        controls.actions.agents.set_context(change.key, change.value)


def spawn(controls: Controls, words: list[str]) -> None:
    from teambot_tui.workflows.spawn_command import (  # noqa: PLC0415  as above
        SpawnCommandError,
        parse_spawn,
    )

    try:
        command = parse_spawn(words[0])
    except SpawnCommandError as error:
        raise CommandError(str(error)) from error
    controls.actions.agents.spawn(command, partial(controls.drafting.give_back, f"/spawn {words[0]}"))


# Workflows in files


def up(controls: Controls, words: list[str]) -> None:
    from teambot_tui.workflows.up_command import (  # noqa: PLC0415  the first picture needs no workflows
        UpCommandError,
        parse_up,
    )

    try:
        command = parse_up(words[0])
    except UpCommandError as error:
        raise CommandError(str(error)) from error
    begin_workflow(controls, command)


def begin_workflow(controls: Controls, command: UpCommand) -> None:
    """Show a workflow and start it if that is wanted, with the graph in sight."""
    controls.actions.workflows.up(command, controls.display.watch_live, controls.drafting.give_back)


def save(controls: Controls, words: list[str]) -> None:
    file = words[0].strip()
    if not file:
        raise CommandError("Say where: /save flow.yaml")
    if not file.lower().endswith((".yaml", ".yml")):
        raise CommandError(f"{one_line(file, 60)} is no name for a compose file. Try: /save flow.yaml")
    if not controls.views.tasks():
        raise CommandError("There is nothing to save yet.")
    controls.actions.workflows.save(file)
