"""One line to type what is looked for in: it says whether it finds or filters, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from textual.app import ComposeResult


class FindLine(Horizontal):
    """Finding marks and counts, filtering hides: they look different."""

    def __init__(self) -> None:
        super().__init__(id="find-line")
        self.input = Input(id="find")
        self._what = Static(id="find-what", markup=False)
        self._count = Static(id="find-count", markup=False)

    def compose(self) -> ComposeResult:
        yield self._what
        yield self.input
        yield self._count

    def ask(self, what: str, placeholder: str, *, hides: bool) -> None:
        """Ask for a text, say what is done with it, and take the keys."""
        self._what.update(Content(f" {what} "))
        self.input.placeholder = placeholder
        self.set_class(hides, "-hides")
        self.input.focus()

    def tell(self, count: str, *, nothing: bool = False) -> None:
        """Show how much was found."""
        self._count.update(Content(count))
        self.set_class(nothing, "-nothing")

    @property
    def count(self) -> str:
        """How much was found, as it is shown."""
        return str(self._count.visual)
