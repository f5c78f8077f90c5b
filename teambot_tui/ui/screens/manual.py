"""The help on the screen: keys, commands, every page of the manual, and a line to find a text in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Markdown, Static

from teambot_tui.help import TOPICS, page
from teambot_tui.ui.help import found_text, help_sections, laid_out
from teambot_tui.ui.keys import bound
from teambot_tui.ui.widgets.plain_lines import PlainLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult

    from teambot_tui.ui.help import Section
    from teambot_tui.ui.keys import Keys

_KEYS: Final = "/ find · Left, Right other pages · Esc close"
_NARROWEST: Final = 68
_SHORTEST: Final = 2
"""One letter is everywhere."""


class HelpTable(Static):
    """Sections of the help, laid out for the width there is."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._sections: Sequence[Section] = ()

    def show(self, sections: Sequence[Section]) -> None:
        """Show these."""
        self._sections = sections
        self.display = bool(sections)
        self._lay_out(self.size.width or _NARROWEST)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width)

    def _lay_out(self, width: int) -> None:
        self.update(laid_out(self._sections, width))


class Manual(ModalScreen[None]):
    """What is known about keys and commands, then a page if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "step_back", "Close"),
        Binding("q,f1", "dismiss", "Close"),
        Binding("enter", "go_on", "Close"),
        Binding("slash", "find", "Find"),
        Binding("left", "turn(-1)", "Previous page"),
        Binding("right", "turn(1)", "Next page"),
        bound("next-match", "go(1)"),
        bound("previous-match", "go(-1)"),
    ]

    def __init__(self, keys: Keys, topic: str = "") -> None:
        """Open at what is known about a topic.

        Raises:
            CommandError: Nothing is.
        """
        super().__init__()
        self._keys = keys
        self._topic = topic
        self._sections = help_sections(keys, topic)
        self._wanted = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog manual") as box:
            box.border_subtitle = Content(_KEYS)
            yield HelpTable()
            yield Markdown(open_links=False)
            yield PlainLines()
        yield Input(placeholder="find in keys, commands and the manual", compact=True, id="manual-find")

    def on_mount(self) -> None:
        self._show()

    @property
    def _box(self) -> VerticalScroll:
        return self.query_one(".dialog", VerticalScroll)

    @work(group="manual", exclusive=True)
    async def _show(self) -> None:
        """Show what the person came for."""
        page_of_it = self._topic.removeprefix("/")
        is_page = page_of_it in TOPICS
        document = self.query_one(Markdown)
        self._box.border_title = Content(f"Help: {self._topic}" if self._topic else "Help")
        self.query_one(PlainLines).display = False
        self.query_one(HelpTable).show(self._sections)
        document.display = is_page
        await document.update(await asyncio.to_thread(page, page_of_it) if is_page else "")
        self._box.scroll_home(animate=False)

    @work(group="manual", exclusive=True)
    async def _search(self, wanted: str) -> None:
        """Show everything that says a text."""
        found = await asyncio.to_thread(found_text, help_sections(self._keys), wanted)
        lines = self.query_one(PlainLines)
        self.query_one(HelpTable).display = self.query_one(Markdown).display = False
        lines.display = True
        lines.show(found or "Nothing in the help says that.")
        lines.find("")  # from the first match on again
        lines.find(wanted)
        self._go(0)

    def _go(self, by: int) -> None:
        lines = self.query_one(PlainLines)
        row = lines.go(by)
        self._box.border_title = Content(f"Help: {self._wanted} {lines.at}/{lines.count}")
        self._box.scroll_to(y=max(0, (row or 0) - 2), animate=False)

    def action_go(self, by: int) -> None:
        """Go to the next match, or the one before."""
        if self._wanted:
            self._go(by)

    def action_go_on(self) -> None:
        """Go to the next match, if a text is looked for; else close."""
        if self._wanted:
            self._go(1)
        else:
            self.dismiss()

    def action_find(self) -> None:
        """Open the line to find a text."""
        self.add_class("-finding")
        self._box.border_subtitle = Content("Enter, n next · N previous · Esc back")
        self.query_one(Input).focus()

    def action_turn(self, by: int) -> None:
        """Turn to the page behind this one, or before it; the keys and commands are the first."""
        pages = ("", *TOPICS)
        here = self._topic if self._topic in pages else ""
        self._open(pages[(pages.index(here) + by) % len(pages)])

    def _open(self, topic: str) -> None:
        if self.has_class("-finding"):
            self._stop_finding()
        self._topic = topic
        self._sections = help_sections(self._keys) if not topic else []
        self._show()

    def action_step_back(self) -> None:
        """Close the line to find a text, else the help."""
        if self.has_class("-finding"):
            self._stop_finding()
            self._show()
        else:
            self.dismiss()

    def _stop_finding(self) -> None:
        self.remove_class("-finding")
        self._wanted = ""
        self._box.border_subtitle = Content(_KEYS)
        self._box.focus()
        with self.prevent(Input.Changed):
            self.query_one(Input).clear()

    def on_input_changed(self, message: Input.Changed) -> None:
        wanted = message.value.strip()
        self._wanted = wanted if len(wanted) >= _SHORTEST else ""
        if self._wanted:
            self._search(self._wanted)
        else:
            self._show()

    def on_input_submitted(self) -> None:
        self._box.focus()

    def on_markdown_link_clicked(self, message: Markdown.LinkClicked) -> None:
        topic = message.href.partition(".md")[0]
        if topic in TOPICS:
            self._open(topic)
