"""Every key of the screen, in one table: the bindings, the help and the footer are made from it.

A key has a name, by which a person can move it to another place of the keyboard; whatever shows a key asks
`Keys`, which knows of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Key(NamedTuple):
    """A key, what it does in words, and the action it runs; without an action widgets bind it themselves."""

    name: str
    """By which it is moved; without one it stays where it is."""
    where: str
    keys: str
    action: str
    words: str
    short: str = ""
    """How the footer says it; without, the footer does not."""


KEYS: Final = (
    Key("send", "input", "enter", "send", "send", "send"),
    Key("newline", "input", "ctrl+j,shift+enter", "newline", "newline (\\ and Enter, too)", "newline"),
    Key(
        "complete",
        "input",
        "tab",
        "complete(True)",
        "complete @agents, $outputs, {variables}, /commands, paths; else next focus",
        "complete",
    ),
    Key("complete-only", "input", "ctrl+space,ctrl+@", "complete(False)", "complete, never leave the input"),
    Key("older", "input", "up", "previous", "history: older"),
    Key("newer", "input", "down", "next", "history: newer"),
    Key("search-history", "input", "ctrl+r", "search", "search the history"),
    Key("edit", "input", "ctrl+g", "edit_outside", "edit in $EDITOR"),
    Key("undo", "input", "ctrl+underscore,super+z", "undo", "undo"),
    Key("delete-or-quit", "input", "ctrl+d", "leave", "delete to the right; on an empty input: quit"),
    Key("word-left", "input", "ctrl+left", "step(-1)", "a word left; on an empty input: previous agent"),
    Key("word-right", "input", "ctrl+right", "step(1)", "a word right; on an empty input: next agent"),
    Key(
        "back", "anywhere", "escape", "step_back", "close what is open; twice: cancel the chosen agent's task"
    ),
    Key(
        "interrupt",
        "anywhere",
        "ctrl+c",
        "interrupt",
        "copy, then clear the input, then twice: cancel, then quit",
    ),
    Key("help", "anywhere", "f1", "help", "help", "help"),
    Key("graph", "anywhere", "f3", "graph", "graph", "graph"),
    Key("zoom", "anywhere", "f4", "zoom", "zoom", "zoom"),
    Key("context", "anywhere", "f6", "context", "shared context: what everyone is told"),
    Key("approvals", "anywhere", "f8", "approvals", "answer agents that need you; again: the next one"),
    Key("palette", "anywhere", "ctrl+p", "command_palette", "palette", "palette"),
    Key("find", "anywhere", "ctrl+f", "find", "find"),
    Key("tasks", "anywhere", "ctrl+t", "tasks", "all tasks"),
    Key("background", "anywhere", "ctrl+b", "send_to_background", "send what is typed to the background"),
    Key("redraw", "anywhere", "ctrl+l", "redraw", "redraw"),
    Key("suspend", "anywhere", "ctrl+z", "app.suspend_process", "suspend"),
    Key("quit", "anywhere", "ctrl+q", "leave", "quit"),
    Key("scroll-up", "anywhere", "pageup", "scroll_output(-1)", "scroll the output up"),
    Key("scroll-down", "anywhere", "pagedown", "scroll_output(1)", "scroll the output down"),
    Key("follow", "anywhere", "end", "", "follow the output again; in a text: end of the line"),
    Key("previous-agent", "anywhere", "alt+left", "step_agent(-1)", "previous agent"),
    Key("next-agent", "anywhere", "alt+right", "step_agent(1)", "next agent"),
    Key("cancel", "panel, output", "x", "cancel_chosen", "cancel", "cancel"),
    Key("retry", "panel, output", "r", "retry_chosen", "retry", "retry"),
    Key("again", "panel, output", "R", "again_chosen", "do it once more, as a new task"),
    Key("copy", "panel, output", "y", "copy_output", "copy the last output", "copy"),
    Key("open", "panel, output", "e", "open_output", "open the last output in $EDITOR"),
    Key("model", "panel, output", "m", "choose_model", "change the agent's model"),
    Key("filter", "panel, output", "slash", "filter", "show only tasks with a text in them", "filter"),
    Key("input", "panel, output", "i", "focus_input", "back to the input", "input"),
    Key("", "panel, output", "1,2,3,4,5,6,7,8,9", "choose_number", "choose an agent by its number"),
    Key(
        "inspect",
        "panel, output",
        "enter",
        "",
        "inspect; on a block of the output: fold or unfold",
        "inspect",
    ),
    Key("zoom-chosen", "panel, output", "z", "zoom", "zoom"),
    Key("left", "panel, output", "left,h", "", "go left"),
    Key("right", "panel, output", "right,l", "", "go right"),
    Key("up", "panel, output", "up,k", "", "go up, in the output to the task before"),
    Key("down", "panel, output", "down,j", "", "go down, in the output to the next task"),
    Key("oldest", "panel, output", "home", "", "the oldest task"),
    Key("whole-prompt", "inspector", "p", "unfold", "the whole prompt, or its beginning"),
    Key("copy-prompt", "inspector", "Y", "copy('prompt')", "copy the prompt"),
    Key("next-match", "inspector", "n", "find_next(1)", "next match of what was looked for with / or Ctrl+F"),
    Key("previous-match", "inspector", "N", "find_next(-1)", "previous match"),
    Key("remove", "inspector", "x,delete", "remove", "take the task at the cursor out of the queue"),
    Key("allow", "approvals", "a", "allow", "allow once"),
    Key("allow-always", "approvals", "A", "allow_always", "allow exactly this as long as this session lasts"),
    Key("reject", "approvals", "r", "reject", "reject once"),
    Key("reject-always", "approvals", "R", "reject_always", "reject exactly this as long"),
)

PLACES: Final = ("input", "anywhere", "panel", "output", "inspector", "approvals")


def bindings(where: str) -> list[Binding]:
    """Return Textual's bindings for one place."""
    found: list[Binding] = []
    for key in KEYS:
        if key.where == where and key.action == "choose_number":
            found += [
                Binding(number, f"choose_number({number})", show=False) for number in key.keys.split(",")
            ]
        elif key.where == where and key.action:
            found.append(Binding(key.keys, key.action, key.words, show=False, id=key.name))
    return found


def bound(name: str, action: str) -> Binding:
    """Return the binding of a widget that does something of its own at a key of the table."""
    key = next(key for key in KEYS if key.name == name)
    return Binding(key.keys, action, key.words, show=False, id=name)


class Keys:
    """The table with a person's own keys in it."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """Take the own keys by the names of what they do; of several the keys are joined by commas."""
        self.own = dict(own or {})
        self.table = tuple(key._replace(keys=self.own.get(key.name, key.keys)) for key in KEYS)

    def said(self, name: str) -> str:
        """Return how the first key for something is named in a sentence: `Esc`, `Ctrl+C`."""
        keys = next(key.keys for key in self.table if key.name == name)
        first = keys.split(",")[0]
        if len(first) == 1:
            return first
        return "+".join(_NAMES.get(part, part.capitalize()) for part in first.split("+"))

    def footer(self, where: str) -> list[tuple[str, str]]:
        """Return the keys to show while the focus is there, its own first, as they are on keyboards."""
        shown = [
            key for place in (where, "anywhere") for key in self.table if key.where == place and key.short
        ]
        return [(_written(key.keys.split(",")[0]), key.short) for key in shown]


_NAMES: Final = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "slash": "/"}


def _written(key: str) -> str:
    if key.startswith("ctrl+") and len(key) == len("ctrl+x"):
        return f"^{key[-1].upper()}"
    return _NAMES.get(key, key.capitalize()) if len(key) > 1 else key


class SecondPress:
    """Remembers a key for two seconds: the first press says what the second one does."""

    _PATIENCE = 2.0

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first = ("", 0.0)

    def again(self, what: str) -> bool:
        """Tell whether this is the second press of the same in time."""
        before, when = self._first
        now = self._clock()
        is_second = before == what and now - when < self._PATIENCE
        self._first = ("", 0.0) if is_second else (what, now)
        return is_second
