"""A screen that shows what it is asked to show: texts to read, notices, questions, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.help import TOPICS
from teambot_tui.ui.help import help_text
from teambot_tui.ui.screens.modals import Confirm, Report

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Sequence

    from textual.content import Content

    from teambot_tui.ui.keys import Keys

_LONGEST_CALL = 200


class SurfaceScreen(Screen[None]):
    """What a desk asks of a screen, as far as it needs no widget of the session."""

    keys: Keys
    calls_by: Collection[str] = ("toast",)
    """How the person is called: by a notice, by the terminal's bell, by a notification of the desktop."""

    def mind_size(self) -> None:
        """Take the classes of the terminal's size before anything is drawn: Textual does it only after."""
        self.add_class(
            *self._get_breakpoint_classes(self.app.size.width, self.HORIZONTAL_BREAKPOINTS or []),
            *self._get_breakpoint_classes(self.app.size.height, self.VERTICAL_BREAKPOINTS or []),
        )

    def report(self, title: str, text: Content) -> None:
        """Show a text to read."""
        self.app.push_screen(Report(title, text))

    def tell(self, text: str, *, alarm: bool = False) -> None:
        """Show a passing notice."""
        self.notify(text, severity="warning" if alarm else "information", timeout=4, markup=False)

    def call(self, text: str, *, alarm: bool = False) -> None:
        """Call the person, who may be looking elsewhere, in the ways they wish."""
        if "toast" in self.calls_by:
            self.tell(text, alarm=alarm)
        signals = "\a" if "bell" in self.calls_by else ""
        if "osc9" in self.calls_by:
            # With a word in front: some terminals take a number there for an order.
            signals += f"\x1b]9;teambot: {one_line(text, _LONGEST_CALL)}\a"
        if signals and self.app._driver is not None:
            self.app._driver.write(signals)

    async def confirm(self, question: str, consequences: str) -> bool:
        """Ask, and wait for the answer."""
        return await self.app.push_screen_wait(Confirm(question, consequences))

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for an answer."""
        return isinstance(self.app.screen, Confirm) or self.app.screen.has_class("-asking")

    def do(self, action: str) -> None:
        """Run one of the screen's actions."""
        getattr(self, f"action_{action}")()

    def in_background(self, work: Coroutine[None, None, None]) -> None:
        """Let a piece of work that waits for the person go on by itself; a RefusedError of it is told."""
        self.run_worker(self._tell_refusal(work), group="desk", name="desk")

    async def _tell_refusal(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except RefusedError as error:
            self.tell(str(error), alarm=True)

    def themes(self) -> Sequence[str]:
        """The themes there are."""
        return sorted(self.app.available_themes)

    def set_theme(self, name: str) -> None:
        """Change the colours."""
        self.app.theme = name

    def leave(self) -> None:
        """End the app."""
        self.app.exit()

    def help(self, topic: str = "") -> None:
        """Show the keys and the commands, or what is known about a topic."""
        from teambot_tui.ui.screens.manual import Manual  # noqa: PLC0415  few need it, and all wait for the start

        name = topic.removeprefix("/")
        text = help_text(self.keys, topic)
        title = f"Help: {topic}" if topic else "Help"
        self.app.push_screen(Manual(title, text, name if name in TOPICS else ""))

    def action_help(self) -> None:
        """Show the keys and the commands."""
        self.help()

    def action_redraw(self) -> None:
        """Draw everything anew."""
        self.refresh(layout=True, repaint=True)
