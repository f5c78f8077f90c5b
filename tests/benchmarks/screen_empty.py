"""The least that Textual can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult


class Empty(App[None]):
    """A line of text."""

    def compose(self) -> ComposeResult:
        yield Static("nothing else")


if __name__ == "__main__":
    Empty().run()
