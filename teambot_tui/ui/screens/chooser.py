"""The question of the first start: what the team shall run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from teambot_tui.agents.discovery import FoundProgram

REHEARSAL: Final = "rehearsal"


class Chooser(ModalScreen[str | None]):
    """A list of what was found; Enter chooses for good, Esc rehearses this time."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "Rehearse")]

    def __init__(self, found: Sequence[FoundProgram]) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content("What shall the team run on?")
            box.border_subtitle = Content("Enter chooses and remembers · Esc rehearses this time")
            yield Static(
                Content("These agents are installed. Your settings can give each member its own."),
                markup=False,
            )
            yield OptionList(
                *(Option(_line(each.name, f"{each.title}  {each.how}"), each.name) for each in self._found),
                Option(_line(REHEARSAL, "no model, answers from a script"), REHEARSAL),
            )

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(message.option_id)


def _line(name: str, words: str) -> Content:
    return Content(f"{name:14}").stylize("bold") + Content(words)
