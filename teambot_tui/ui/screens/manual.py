"""The help on the screen: keys, commands, the pages of the manual, and a line to find a text in all of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Markdown, Static

from teambot_tui.help import TOPICS, page, search

if TYPE_CHECKING:
    from textual.app import ComposeResult

_CLOSES = "/ finds · Esc closes"
_FINDING = "Enter reads on · Esc back"
_SHORTEST = 2
"""One letter is everywhere."""


class Manual(ModalScreen[None]):
    """What is known about keys and commands, then a page if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "step_back", "Close"),
        Binding("q,enter,f1", "dismiss", "Close"),
        Binding("slash", "find", "Find"),
    ]

    def __init__(self, title: str, text: Content, topic: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._topic = topic

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(_CLOSES)
            yield Static(self._text, markup=False)
            yield Markdown(open_links=False)
        yield Input(placeholder="find in the manual", compact=True, id="manual-find")

    def on_mount(self) -> None:
        self._show()

    @work(group="manual", exclusive=True)
    async def _show(self, wanted: str = "") -> None:
        """Show what the manual says about a text, or without one what the person came for."""
        box, text, document = self.query_one(".dialog"), self.query_one(Static), self.query_one(Markdown)
        text.display = not wanted and bool(self._text.plain)
        if wanted:
            found = await asyncio.to_thread(search, wanted)
            await document.update(found or "Nothing in the manual says that.")
        else:
            await document.update(await asyncio.to_thread(page, self._topic) if self._topic else "")
        document.display = bool(wanted or self._topic)
        box.scroll_home(animate=False)

    def action_find(self) -> None:
        """Open the line to find a text."""
        self.add_class("-finding")
        self.query_one(".dialog", VerticalScroll).border_subtitle = Content(_FINDING)
        self.query_one(Input).focus()

    def action_step_back(self) -> None:
        """Close the line to find a text, else the help."""
        if not self.has_class("-finding"):
            self.dismiss()
            return
        self.remove_class("-finding")
        box = self.query_one(".dialog", VerticalScroll)
        box.border_subtitle = Content(_CLOSES)
        box.focus()
        self.query_one(Input).value = ""

    def on_input_changed(self, message: Input.Changed) -> None:
        wanted = message.value.strip()
        self._show(wanted if len(wanted) >= _SHORTEST else "")

    def on_input_submitted(self) -> None:
        self.query_one(".dialog").focus()

    def on_markdown_link_clicked(self, message: Markdown.LinkClicked) -> None:
        topic = message.href.partition(".md")[0]
        if topic in TOPICS:
            self._title, self._text, self._topic = f"Help: {topic}", Content(""), topic
            self.query_one(".dialog", VerticalScroll).border_title = Content(self._title)
            self._show()
