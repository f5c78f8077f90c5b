"""The few screens that lie over the session: a text to read, and a question to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult


class Report(ModalScreen[None]):
    """A text that can be scrolled and closed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter,f1", "dismiss", "Close")]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("Esc closes")
            yield Static(self._text, markup=False)


class Confirm(ModalScreen[bool]):
    """A question with its consequences; Enter or `y` says yes, anything else no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Yes"),
        Binding("escape,n,q", "answer(False)", "No"),
    ]

    def __init__(self, question: str, consequences: str) -> None:
        super().__init__()
        self._question = question
        self._consequences = consequences

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog question") as box:
            box.border_title = Content(self._question)
            box.border_subtitle = Content("Enter yes · Esc no")
            yield Static(Content(self._consequences), markup=False)

    def action_answer(self, answer: bool) -> None:
        """Close with the answer."""
        self.dismiss(answer)
