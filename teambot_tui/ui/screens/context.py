"""What everyone is told: which keys, from whom, overridden where; the session's can be edited."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.ui.commands import CommandError, parse_context

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from teambot_tui.engine.context import Entry
    from teambot_tui.ui.agent_actions import AgentActions
    from teambot_tui.ui.views import Views

_BEAT: Final = 0.25
_LINE: Final = 300


def described(entry: Entry) -> str:
    """Say a key, its value and what it overrides, in one line."""
    over = f"  (overrides {', '.join(entry.overridden)})" if entry.overridden else ""
    return f"{one_line(entry.key, 60)}: {one_line(entry.value, _LINE)}{over}"


class ContextScreen(ModalScreen[None]):
    """A list of what the session says, a line to change it, and what single runs say."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f6", "dismiss", "Close"),
        Binding("delete", "unset", "Take back"),
    ]

    def __init__(self, views: Views, agents: AgentActions) -> None:
        super().__init__()
        self._views = views
        self._agents = agents
        self._change = agents.set_context
        self._shown: tuple[Entry, ...] | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog context") as box:
            box.border_title = Content("Shared context")
            box.border_subtitle = Content("Enter sets · Up chooses a key · Del takes it back · Esc closes")
            yield Static(Content("Every agent is told, from its next task on:"), markup=False)
            yield OptionList(id="context-keys", markup=False)
            yield Input(placeholder='goal "Ship it"', id="context-line")
            yield Static("", id="context-says", markup=False)
            yield Static("", id="context-runs", markup=False)

    def on_mount(self) -> None:
        self.query_one("#context-line").focus()
        self.call_next(self._look)
        self.set_interval(_BEAT, self._look)

    async def _look(self) -> None:
        told = self._views.context
        if told != self._shown:
            self._shown = told
            keys = self.query_one(OptionList)
            chosen = keys.highlighted
            keys.clear_options()
            keys.add_options([Option(Content(described(entry))) for entry in told])
            keys.display = bool(told)
            if told and chosen is not None:
                keys.highlighted = min(chosen, len(told) - 1)
        with suppress(RefusedError):
            runs = await asyncio.wrap_future(self._agents.context_of_runs())
            self._show_runs([f"{task}: {described(entry)}" for task, entry in runs])

    def _show_runs(self, lines: list[str]) -> None:
        text = "\n".join(("Single runs are told besides:", *lines)) if lines else ""
        self.query_one("#context-runs", Static).update(Content(text))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Put the chosen key into the line to be changed."""
        entry = (self._shown or ())[event.option_index]
        line = self.query_one("#context-line", Input)
        line.value = f"{entry.key} {entry.value}"
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Change what the line says."""
        if not event.value.strip():
            return
        says = self.query_one("#context-says", Static)
        try:
            change = parse_context(event.value)
        except CommandError as error:
            says.update(Content(str(error)))
            says.add_class("-error")
            return
        says.update("")
        says.remove_class("-error")
        self._change(*change)
        event.input.clear()

    def key_up(self) -> None:
        """Go from the line to the keys."""
        self.query_one(OptionList).focus()

    def action_unset(self) -> None:
        """Take the chosen key back."""
        keys = self.query_one(OptionList)
        if keys.has_focus and keys.highlighted is not None and self._shown:
            self._change(self._shown[keys.highlighted].key, None)
