"""The slash commands of the screen: a table from a name to what it does.

A command gets its words and the desk; it never touches a widget.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from textual.content import Content

from teambot_tui.engine.ids import AgentId, agent_of
from teambot_tui.language.names import did_you_mean
from teambot_tui.ui.budgets import dollars_of, tokens_of, told
from teambot_tui.ui.command import CommandError, SlashCommand
from teambot_tui.ui.commands_agents import AGENT_COMMANDS
from teambot_tui.ui.commands_workflows import WORKFLOW_COMMANDS
from teambot_tui.ui.keys import PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.language.nodes import Command
    from teambot_tui.ui.desk import Desk


def run_command(desk: Desk, name: str, arguments: str) -> None:
    """Carry out a command.

    Raises:
        CommandError: it cannot be carried out.
    """
    command = COMMANDS_OF_THE_SCREEN[name]  # the language lets no other through
    words = [arguments] if command.whole else arguments.split()
    if not command.whole and len(words) > len(command.arguments.split()):
        raise CommandError(f"Too many words. Type: /{name} {command.arguments}".rstrip())
    command.run(desk, words)


def command_hint(text: str, command: Command | None) -> str:
    """Say what a command would do, or which ones begin like what is typed; nothing if it is none."""
    if command is not None:
        known = COMMANDS_OF_THE_SCREEN.get(command.name)
        return f"/{command.name} {known.arguments}: {known.words}".replace(" :", ":") if known else ""
    near = [f"/{name}" for name in COMMANDS_OF_THE_SCREEN if f"/{name}".startswith(text)]
    return "  ".join(near) if text.startswith("/") else ""


def words_for(desk: Desk, name: str) -> Sequence[str]:
    """Return what can follow a command."""
    command = COMMANDS_OF_THE_SCREEN.get(name)
    return command.choices(desk) if command else ()


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


def _agents_of(desk: Desk) -> Sequence[str]:
    return desk.mirror.roster.agents


def _targets(desk: Desk) -> Sequence[str]:
    """The agents, the labels, and the tasks, newest first."""
    return (*desk.mirror.roster.agents, *desk.mirror.labels, *reversed(desk.mirror.tasks()))


def _status(desk: Desk, _: list[str]) -> None:
    lines = []
    for agent in desk.mirror.roster.agents:
        view = desk.mirror.agent(agent)
        words = view.state
        if view.waiting_for:
            words += f" for {', '.join(f'@{each}' for each in view.waiting_for)}"
        lines.append(f"@{agent}: {words}")
    desk.report("Status", Content("\n".join(lines)))


def _states() -> list[str]:
    from teambot_tui.engine.board import State  # noqa: PLC0415  the table is there before the engine is

    return [state.value for state in State]


def _tasks(desk: Desk, words: list[str]) -> None:
    wanted = words[0] if words else None
    if wanted is not None and wanted not in _states():
        near = did_you_mean(wanted, _states())
        hint = f"Did you mean {near}?" if near else f"A task is {', '.join(_states())}."
        raise CommandError(f"There is no state {wanted}. {hint}")
    views = [desk.mirror.task(task) for task in desk.mirror.tasks()]
    shown = [view for view in views if wanted in (None, view.state.value)]
    counts = Counter(view.state.value for view in views)
    lines = [f"{view.task:14} {view.state:10} {view.statement.splitlines()[0][:80]}" for view in shown]
    summary = ", ".join(f"{count} {state}" for state, count in counts.items()) or "no tasks yet"
    desk.report("Tasks", Content("\n".join([summary, "", *lines])))


def _task(desk: Desk, words: list[str]) -> None:
    if not words:
        raise CommandError("Say which task: /task pm#1")
    task = _task_named(desk, words[0])
    desk.inspect(agent_of(task), task)


def _model(desk: Desk, words: list[str]) -> None:
    match words:
        case []:
            desk.show_models()
        case [name]:
            agent = _agent(desk, name)
            desk.report("Model", Content(f"@{agent}: {desk.models()[agent] or 'as its backend chooses'}"))
        case [name, model]:
            desk.set_model(_agent(desk, name), None if model == "clear" else model)


def _use_agent(desk: Desk, words: list[str]) -> None:
    if words:
        desk.use_agent(_agent(desk, words[0]))
    else:
        default = desk.mirror.roster.default
        desk.report("Default agent", Content(f"@{default}" if default else "none: /use-agent pm sets one"))


def _theme(desk: Desk, words: list[str]) -> None:
    themes = desk.themes()
    if not words:
        desk.report("Themes", Content("\n".join(themes)))
    elif words[0] in themes:
        desk.set_theme(words[0])
    else:
        near = did_you_mean(words[0], themes)
        raise CommandError(f"There is no theme {words[0]}." + (f" Did you mean {near}?" if near else ""))


def _retry(desk: Desk, words: list[str]) -> None:
    if not words or words[0] == "all":
        raise CommandError("Say what to retry: /retry pm, or /retry pm#1")
    desk.retry(_task_named(desk, words[0]))


def _again(desk: Desk, words: list[str]) -> None:
    if not words or words[0] == "all":
        raise CommandError("Say what to do once more: /again pm, or /again pm#1")
    desk.again(_task_named(desk, words[0]))


def _cancel(desk: Desk, words: list[str]) -> None:
    target = words[0].removeprefix("@") if words else "all"
    is_several = target == "all" or target in desk.mirror.roster.agents
    desk.cancel(target if is_several else _task_named(desk, target))


def _export(desk: Desk, words: list[str]) -> None:
    desk.export(words[0].strip() or "teambot-session.md")


def _history(desk: Desk, words: list[str]) -> None:
    agent = _agent(desk, words[0]) if words else None
    views = [desk.mirror.task(task) for task in desk.mirror.tasks(agent)]
    lines = [f"{view.task:14} {view.state:10} {view.statement.splitlines()[0][:80]}" for view in views]
    desk.report(f"History of @{agent}" if agent else "History", Content("\n".join(lines) or "nothing yet"))


def _budget(desk: Desk, words: list[str]) -> None:
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


def _forget_context(desk: Desk, words: list[str]) -> None:
    if not words:
        raise CommandError("Say who is to forget: /forget-context pm")
    desk.forget(_agent(desk, words[0]))


COMMANDS_OF_THE_SCREEN: Final[dict[str, SlashCommand]] = {
    "help": SlashCommand(
        "[topic]",
        "keys and commands, or one of them",
        lambda desk, words: desk.help(words[0].strip()),
        lambda _: (*PLACES, *COMMANDS_OF_THE_SCREEN),
        whole=True,
    ),
    "status": SlashCommand("", "what everyone is doing", _status),
    "tasks": SlashCommand("[state]", "all tasks", _tasks, lambda _: _states()),
    "task": SlashCommand(
        "<id>",
        "inspect a task; last is the newest",
        _task,
        lambda desk: (*desk.mirror.labels, *reversed(desk.mirror.tasks()), "last"),
    ),
    "cancel": SlashCommand("[agent|task|all]", "cancel", _cancel, lambda desk: (*_targets(desk), "all")),
    "retry": SlashCommand("<agent|task>", "do a failed or cancelled task again", _retry, _targets),
    "again": SlashCommand("<agent|task>", "a new task with the words and inputs it had", _again, _targets),
    "agents": AGENT_COMMANDS["agents"],
    "models": SlashCommand(
        "", "the models of the team, and which are offered", lambda desk, _: _model(desk, [])
    ),
    "model": SlashCommand("[agent [model|clear]]", "show or set an agent's model", _model, _agents_of),
    "use-agent": SlashCommand("[id]", "who gets what is addressed to nobody", _use_agent, _agents_of),
    "reset-agent": SlashCommand(
        "", "the default agent of the settings again", lambda desk, _: desk.use_agent(None)
    ),
    **AGENT_COMMANDS,
    "forget-context": SlashCommand(
        "<agent>", "let its next task begin a new conversation", _forget_context, _agents_of
    ),
    "budget": SlashCommand("[dollars|none] [tokens]", "show or set what may be spent in all", _budget),
    **WORKFLOW_COMMANDS,
    "graph": SlashCommand("", "the graph of all tasks", lambda desk, _: desk.do("graph")),
    "history": SlashCommand("[agent]", "what was asked", _history, _agents_of),
    "export": SlashCommand("[file]", "write the session to a Markdown file", _export, whole=True),
    "theme": SlashCommand("[name]", "change the colours", _theme, lambda desk: desk.themes()),
    "clear": SlashCommand("", "empty the output", lambda desk, _: desk.do("clear_output")),
    "quit": SlashCommand("", "leave", lambda desk, _: desk.do("leave")),
    "exit": SlashCommand("", "leave", lambda desk, _: desk.do("leave")),
}
