"""Every key of the screen, in one table: the bindings, the help and the footer are made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Callable


class Key(NamedTuple):
    """A key, what it does in words, and the action it runs; without an action it belongs to a widget."""

    where: str
    keys: str
    action: str
    words: str
    short: str = ""
    """How the footer says it; without, the footer does not."""


KEYS: Final = (
    Key("input", "enter", "", "send", "send"),
    Key("input", "ctrl+j", "", "newline (Shift+Enter, or \\ and Enter, too)", "newline"),
    Key("input", "tab", "", "complete @agents, $outputs, /commands, paths", "complete"),
    Key("input", "up", "", "history; Ctrl+R searches it"),
    Key("input", "ctrl+g", "", "edit in $EDITOR"),
    Key("anywhere", "escape", "step_back", "close what is open; twice: cancel the chosen agent's task"),
    Key("anywhere", "ctrl+c", "interrupt", "copy, then clear the input, then twice: cancel, then quit"),
    Key("anywhere", "f1", "help", "help", "help"),
    Key("anywhere", "f3", "graph", "graph", "graph"),
    Key("anywhere", "f4", "zoom", "zoom", "zoom"),
    Key("anywhere", "ctrl+p", "command_palette", "palette", "palette"),
    Key("anywhere", "ctrl+f", "find", "find"),
    Key("anywhere", "ctrl+t", "tasks", "all tasks"),
    Key("anywhere", "ctrl+b", "send_to_background", "send what is typed to the background"),
    Key("anywhere", "ctrl+l", "redraw", "redraw"),
    Key("anywhere", "ctrl+z", "app.suspend_process", "suspend"),
    Key("anywhere", "ctrl+q", "leave", "quit"),
    Key("anywhere", "pageup", "scroll_output(-1)", "scroll the output up"),
    Key("anywhere", "pagedown", "scroll_output(1)", "scroll the output down"),
    Key("anywhere", "alt+left", "step_agent(-1)", "previous agent"),
    Key("anywhere", "alt+right", "step_agent(1)", "next agent"),
    Key("panel, output", "x", "cancel_chosen", "cancel", "cancel"),
    Key("panel, output", "r", "retry_chosen", "retry", "retry"),
    Key("panel, output", "y", "copy_output", "copy the last output", "copy"),
    Key("panel, output", "e", "open_output", "open the last output in $EDITOR"),
    Key("panel, output", "m", "choose_model", "change the agent's model"),
    Key("panel, output", "i", "focus_input", "back to the input", "input"),
    Key("panel, output", "1,2,3,4,5,6,7,8,9", "choose_number", "choose an agent by its number"),
    Key("panel, output", "enter", "", "inspect; on a block of the output: fold or unfold", "inspect"),
    Key("panel, output", "z", "", "zoom"),
    Key("panel, output", "arrows/hjkl", "", "go to another agent, or in the output to another task"),
)


def bindings(where: str) -> list[Binding]:
    """Return Textual's bindings for one place."""
    found: list[Binding] = []
    for key in KEYS:
        if key.where == where and key.action == "choose_number":
            found += [
                Binding(number, f"choose_number({number})", show=False) for number in key.keys.split(",")
            ]
        elif key.where == where and key.action:
            found.append(Binding(key.keys, key.action, key.words, show=False))
    return found


def footer(where: str) -> list[tuple[str, str]]:
    """Return the keys to show while the focus is there, its own first, as they are written on keyboards."""
    shown = [key for place in (where, "anywhere") for key in KEYS if key.where == place and key.short]
    return [(_written(key.keys), key.short) for key in shown]


def _written(key: str) -> str:
    return f"^{key[-1].upper()}" if key.startswith("ctrl+") else key.capitalize() if len(key) > 1 else key


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
