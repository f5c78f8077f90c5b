"""Everything a person can do, in one table.

Key bindings, own keys, palette, slash commands, completion, footer and help are all made from it: whatever is
new is one entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from teambot_tui.help import TOPICS
from teambot_tui.language.names import COMMANDS
from teambot_tui.ui import commands

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teambot_tui.language.nodes import Command
    from teambot_tui.ui.controllers.controls import Controls


class SlashCommand(NamedTuple):
    """What a command takes, what it does in words, and the function that does it.

    A command that is `whole` gets what stands behind it as one text, else word by word.
    """

    arguments: str
    words: str
    run: Callable[[Controls, list[str]], None]
    choices: Callable[[Controls], Sequence[str]] = lambda _: ()
    """What its first word can be, as far as that can be told."""
    whole: bool = False


class Action(NamedTuple):
    """Something to do by a key, by a slash command of the same name, or by both."""

    name: str
    """By which its key is moved and its command is typed; without one the key stays where it is."""
    where: str = ""
    """Where the key holds."""
    keys: str = ""
    press: str | Callable[[Controls], object] = ""
    """What the key does: a function, or an action of Textual's; without, widgets bind it themselves."""
    words: str = ""
    """What the key does."""
    short: str = ""
    """How the footer says it; without, the footer does not."""
    command: SlashCommand | None = None

    @property
    def action(self) -> str:
        """What Textual is to run at the key."""
        return self.press if isinstance(self.press, str) else f"press({self.name!r})"


PLACES: Final = ("input", "anywhere", "panel", "output", "graph", "inspector", "tables", "approvals")

ACTIONS: Final = (
    Action("send", "input", "enter", "send", "send", "send"),
    Action("newline", "input", "ctrl+j,shift+enter", "newline", "newline (\\ and Enter, too)", "newline"),
    Action(
        "complete",
        "input",
        "tab",
        "complete(True)",
        "complete @agents, $outputs, {variables}, /commands, paths; else next focus",
        "complete",
    ),
    Action(
        "complete-only", "input", "ctrl+space,ctrl+@", "complete(False)", "complete, never leave the input"
    ),
    Action("older", "input", "up", "previous", "history: older"),
    Action("newer", "input", "down", "next", "history: newer"),
    Action("search-history", "input", "ctrl+r", "search", "search the history"),
    Action("edit", "input", "ctrl+g", "edit_outside", "edit in $EDITOR"),
    Action("expand", "input", "ctrl+o", "expand", "show a folded paste whole"),
    Action("undo", "input", "ctrl+underscore,super+z", "undo", "undo"),
    Action("delete-or-quit", "input", "ctrl+d", "leave", "delete to the right; on an empty input: quit"),
    Action("word-left", "input", "ctrl+left", "step(-1)", "a word left; on an empty input: previous agent"),
    Action("word-right", "input", "ctrl+right", "step(1)", "a word right; on an empty input: next agent"),
    Action(
        "back",
        "anywhere",
        "escape",
        lambda c: c.display.back(),
        "close what is open, then back to all and the input; it never cancels",
    ),
    Action(
        "interrupt",
        "anywhere",
        "ctrl+c",
        lambda c: c.display.interrupt(),
        "copy, then clear the input, then twice: cancel what runs, or quit",
    ),
    Action(
        "help",
        "anywhere",
        "f1",
        lambda c: c.person.help(),
        "help",
        "help",
        command=SlashCommand(
            "[topic]",
            "keys, commands and the manual, or one topic",
            lambda controls, words: controls.person.help(words[0].strip()),
            lambda _: (*PLACES, *COMMANDS, *(topic for topic in TOPICS if topic not in COMMANDS)),
            whole=True,
        ),
    ),
    Action("previous-agent", "anywhere", "alt+left", lambda c: c.display.step_agent(-1), "previous agent"),
    Action("next-agent", "anywhere", "alt+right", lambda c: c.display.step_agent(1), "next agent", "agent"),
    Action(
        "graph",
        "anywhere",
        "f3",
        lambda c: c.display.toggle_graph(),
        "graph",
        "graph",
        command=SlashCommand(
            "", "the graph of all tasks", lambda controls, _: controls.display.toggle_graph()
        ),
    ),
    Action("zoom", "anywhere", "f4", lambda c: c.display.toggle_zoom(), "zoom", "zoom"),
    Action(
        "context",
        "anywhere",
        "f6",
        lambda c: c.forms.context(),
        "shared context: what everyone is told",
        command=SlashCommand(
            "[key [value]] | unset key",
            "what everyone is told",
            commands.context,
            commands.context_keys,
            whole=True,
        ),
    ),
    Action(
        "approvals",
        "anywhere",
        "f8",
        lambda c: c.alerts.open_inbox(),
        "answer agents that need you; again: the next one",
    ),
    Action("palette", "anywhere", "ctrl+p", "command_palette", "palette", "palette"),
    Action("find", "anywhere", "ctrl+f", lambda c: c.finding.find(), "find"),
    Action(
        "tasks",
        "anywhere",
        "ctrl+t",
        lambda c: commands.tasks(c, []),
        "all tasks",
        command=SlashCommand("[state]", "all tasks", commands.tasks, lambda _: commands.states()),
    ),
    Action(
        "background",
        "anywhere",
        "ctrl+b",
        lambda c: c.drafting.send_to_background(),
        "send what is typed to the background",
    ),
    Action("redraw", "anywhere", "ctrl+l", lambda c: c.person.redraw(), "redraw"),
    Action("suspend", "anywhere", "ctrl+z", "app.suspend_process", "suspend"),
    Action(
        "quit",
        "anywhere",
        "ctrl+q",
        lambda c: c.actions.leave(),
        "quit",
        command=SlashCommand("", "leave", lambda controls, _: controls.actions.leave()),
    ),
    Action("scroll-up", "anywhere", "pageup", lambda c: c.feed.page(-1), "scroll the output up"),
    Action("scroll-down", "anywhere", "pagedown", lambda c: c.feed.page(1), "scroll the output down"),
    Action(
        "follow",
        "anywhere",
        "end",
        lambda c: c.feed.to_end(),
        "follow the output again; in a text: end of the line",
    ),
    Action(
        "cancel",
        "panel, output",
        "x",
        lambda c: c.chosen.cancel(),
        "cancel",
        "cancel",
        command=SlashCommand(
            "[agent|task|all]",
            "cancel",
            commands.cancel,
            lambda controls: (*commands.targets(controls), "all"),
        ),
    ),
    Action(
        "retry",
        "panel, output",
        "r",
        lambda c: c.chosen.retry(),
        "bring back what failed or was cancelled",
        "retry",
        command=SlashCommand(
            "<agent|task>", "do a failed or cancelled task again", commands.retry, commands.targets
        ),
    ),
    Action(
        "again",
        "panel, output",
        "R",
        lambda c: c.chosen.again(),
        "do it again, as a new task",
        "again",
        command=SlashCommand(
            "<agent|task>", "a new task with the words and inputs it had", commands.again, commands.targets
        ),
    ),
    Action(
        "compare",
        "panel, output",
        "equals_sign",
        commands.compare_chosen,
        "compare the answers to the same words, side by side",
        command=SlashCommand(
            "<agent|task> [task]…",
            "answers side by side: those to the same words, or those of the tasks",
            commands.compare,
            commands.targets,
            whole=True,
        ),
    ),
    Action("address", "panel, output", "at", commands.address, "begin a task for this agent"),
    Action(
        "use-output",
        "panel, output",
        "greater_than_sign",
        commands.use_output,
        "begin a statement with its output",
    ),
    Action("edit-again", "panel, output", "E", commands.edit_again, "change what was asked, and do it again"),
    Action("copy", "panel, output", "y", lambda c: c.chosen.copy_output(), "copy the last output", "copy"),
    Action("open", "panel, output", "e", lambda c: c.chosen.open_output(), "open the last output in $EDITOR"),
    Action(
        "model",
        "panel, output",
        "m",
        commands.ask_for_model,
        "change the agent's model",
        command=SlashCommand(
            "[agent [model|clear]]", "show or set an agent's model", commands.model, commands.agents_of
        ),
    ),
    Action(
        "filter",
        "panel, output",
        "slash",
        lambda c: c.finding.filter(),
        "show only tasks with a text in them",
        "filter",
    ),
    Action("input", "panel, output", "i", lambda c: c.drafting.bar.focus(), "back to the input", "input"),
    Action(
        "", "panel, output", "1,2,3,4,5,6,7,8,9", "choose_number", "choose an agent by its number", "agent"
    ),
    Action(
        "inspect",
        "panel, output",
        "enter",
        "",
        "inspect; on a block of the output: fold or unfold",
        "inspect",
    ),
    Action("zoom-chosen", "panel, output", "z", lambda c: c.display.toggle_zoom(), "zoom"),
    Action("left", "panel, output", "left,h", "", "go left"),
    Action("right", "panel, output", "right,l", "", "go right"),
    Action("up", "panel, output", "up,k", "", "go up, in the output to the task before"),
    Action("down", "panel, output", "down,j", "", "go down, in the output to the next task"),
    Action("oldest", "panel, output", "home", "", "the oldest task"),
    Action(
        "timeline",
        "graph",
        "t",
        lambda c: c.display.toggle_timeline(),
        "the timeline; in the timeline: the graph",
        "timeline",
        command=SlashCommand(
            "",
            "who worked, waited and needed you when",
            lambda controls, _: controls.display.toggle_timeline(),
        ),
    ),
    Action("centre", "graph", "c", "", "centre on what executes, and follow it", "centre"),
    Action("fit", "graph", "f", "", "fit all into the window, or not any more", "fit"),
    Action("fold", "graph", "o", "", "fold what is done, or show it again", "fold done"),
    Action("whole-prompt", "inspector", "p", "unfold", "the whole prompt, or its beginning", "whole prompt"),
    Action("copy-prompt", "inspector", "Y", "copy('prompt')", "copy the prompt"),
    Action(
        "next-match",
        "inspector",
        "n",
        "find_next(1)",
        "next match of what was looked for with / or Ctrl+F",
        "next match",
    ),
    Action("previous-match", "inspector", "N", "find_next(-1)", "previous match"),
    Action("remove", "inspector", "x,delete", "remove", "take the task at the cursor out of the queue"),
    Action("sort", "tables", "s", "sort", "sort by the next column"),
    Action("allow", "approvals", "a", "allow", "allow once"),
    Action(
        "allow-always", "approvals", "A", "allow_always", "allow exactly this as long as this session lasts"
    ),
    Action("reject", "approvals", "r", "reject", "reject once"),
    Action("reject-always", "approvals", "R", "reject_always", "reject exactly this as long"),
    Action(
        "reject-with-words", "approvals", "w", "reject_with_words", "reject, and tell the agent what to do"
    ),
    Action("status", command=SlashCommand("", "what everyone is doing", commands.status)),
    Action(
        "task",
        command=SlashCommand(
            "<id>",
            "inspect a task; last is the newest",
            commands.task,
            lambda controls: (*controls.views.labels, *reversed(controls.views.tasks()), "last"),
        ),
    ),
    Action("agents", command=SlashCommand("", "everyone who is here", commands.agents)),
    Action(
        "models",
        command=SlashCommand(
            "",
            "the models of the team, and which are offered",
            lambda controls, _: controls.tables.models(),
        ),
    ),
    Action(
        "use-agent",
        command=SlashCommand(
            "[id]", "who gets what is addressed to nobody", commands.use_agent, commands.agents_of
        ),
    ),
    Action(
        "reset-agent",
        command=SlashCommand(
            "",
            "the default agent of the settings again",
            lambda controls, _: controls.actions.use_agent(None),
        ),
    ),
    Action(
        "define",
        command=SlashCommand(
            "", "define a temporary agent in a form", lambda controls, _: controls.forms.define()
        ),
    ),
    Action(
        "promote",
        command=SlashCommand(
            "<agent> [--as NAME] [--force]", "keep a temporary agent", commands.promote, commands.joined
        ),
    ),
    Action(
        "forget",
        command=SlashCommand("<agent>", "let a temporary agent go", commands.forget, commands.joined),
    ),
    Action(
        "spawn",
        command=SlashCommand(
            "[--after NAME]… [--include-result] [--label L] [--model M] @agent task",
            "start a run that may wait for others",
            commands.spawn,
            whole=True,
        ),
    ),
    Action("vars", command=SlashCommand("", "the variables and what is in them", commands.variables)),
    Action(
        "forget-context",
        command=SlashCommand(
            "<agent>",
            "let its next task begin a new conversation",
            commands.forget_context,
            commands.agents_of,
        ),
    ),
    Action(
        "budget",
        command=SlashCommand(
            "[dollars|none] [tokens]", "show or set what may be spent in all", commands.budget
        ),
    ),
    Action(
        "up",
        command=SlashCommand(
            "[file.yaml] [pipeline|task]… [--iterations N]",
            "show a workflow of a compose file, then run it",
            commands.up,
            whole=True,
        ),
    ),
    Action(
        "save",
        command=SlashCommand(
            "<file.yaml>", "write what was done as a compose file", commands.save, whole=True
        ),
    ),
    Action(
        "history", command=SlashCommand("[agent]", "what was asked", commands.history, commands.agents_of)
    ),
    Action(
        "export",
        command=SlashCommand(
            "[file]",
            "write the session to a Markdown file, or graph.svg, or timeline.svg",
            commands.export,
            whole=True,
        ),
    ),
    Action(
        "theme",
        command=SlashCommand(
            "[name]", "change the colours", commands.theme, lambda controls: controls.person.themes()
        ),
    ),
    Action("clear", command=SlashCommand("", "empty the output", lambda controls, _: controls.feed.clear())),
    Action("exit", command=SlashCommand("", "leave", lambda controls, _: controls.actions.leave())),
)

SLASH_COMMANDS: Final = {
    action.name: action.command
    for action in sorted(
        (each for each in ACTIONS if each.command), key=lambda each: COMMANDS.index(each.name)
    )
    if action.command is not None
}
"""Those of the table that are typed, as the language lists them."""


def press(controls: Controls, name: str) -> None:
    """Do what the key of an action does."""
    found = next(action.press for action in ACTIONS if action.name == name and action.keys)
    if not isinstance(found, str):
        found(controls)


def run_command(controls: Controls, name: str, arguments: str) -> None:
    """Carry out a command.

    Raises:
        CommandError: it cannot be carried out.
    """
    command = SLASH_COMMANDS[name]  # the language lets no other through
    words = [arguments] if command.whole else arguments.split()
    if not command.whole and len(words) > len(command.arguments.split()):
        raise commands.CommandError(f"Too many words. Type: /{name} {command.arguments}".rstrip())
    command.run(controls, words)


def command_hint(text: str, command: Command | None) -> str:
    """Say what a command would do, or which ones begin like what is typed; nothing if it is none."""
    if command is not None:
        known = SLASH_COMMANDS.get(command.name)
        return f"/{command.name} {known.arguments}: {known.words}".replace(" :", ":") if known else ""
    near = [f"/{name}" for name in SLASH_COMMANDS if f"/{name}".startswith(text)]
    return "  ".join(near) if text.startswith("/") else ""


def words_for(controls: Controls, name: str) -> Sequence[str]:
    """Return what can follow a command."""
    command = SLASH_COMMANDS.get(name)
    return command.choices(controls) if command else ()
