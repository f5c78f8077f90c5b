"""The person: told something, shown texts to read, called, and asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import AgentsError
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.ui.screens.modals import Confirm, Report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from textual.content import Content
    from textual.screen import Screen

    from teambot_tui.agents.persona import AgentFile
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.workflows.plan import WorkflowPlan

_LONGEST_CALL = 200


class Person:
    """Who sits before a screen. Each form is loaded when it is opened for the first time."""

    def __init__(self, screen: Screen[None], setup: ScreenSetup) -> None:
        self._screen = screen
        self._app = screen.app
        self._setup = setup

    def report(self, title: str, text: Content) -> None:
        """Show a text to read."""
        self._app.push_screen(Report(title, text))

    def help(self, topic: str = "") -> None:
        """Show the keys and the commands, or what is known about a topic."""
        from teambot_tui.ui.screens.manual import Manual  # noqa: PLC0415

        self._app.push_screen(Manual(self._setup.keys, topic))

    def tell(self, text: str, *, alarm: bool = False) -> None:
        """Show a passing notice."""
        self._screen.notify(text, severity="warning" if alarm else "information", timeout=4, markup=False)

    def call(self, text: str, *, alarm: bool = False) -> None:
        """Call the person, who may be looking elsewhere, in the ways they chose."""
        ways = self._setup.notify
        if "toast" in ways:
            self.tell(text, alarm=alarm)
        signals = "\a" if "bell" in ways else ""
        if "osc9" in ways:
            # With a word in front: some terminals take a number there for an order.
            signals += f"\x1b]9;teambot: {one_line(text, _LONGEST_CALL)}\a"
        if signals and self._app._driver is not None:
            self._app._driver.write(signals)

    def copy(self, text: str) -> None:
        """Put a text into the clipboard."""
        self._app.copy_to_clipboard(text)

    # Asking

    async def confirm(self, question: str, consequences: str) -> bool:
        """Ask, and wait for the answer."""
        return await self._app.push_screen_wait(Confirm(question, consequences))

    async def choose_to_keep(self, agents: Sequence[AgentFile]) -> Sequence[AgentFile] | None:
        """Ask which agents to keep, and wait for the answer; nothing means not to leave."""
        from teambot_tui.ui.screens.keeping import KeepScreen  # noqa: PLC0415

        return await self._app.push_screen_wait(KeepScreen(agents))

    async def preview(
        self, plan: WorkflowPlan, load: Callable[[], Awaitable[WorkflowPlan]]
    ) -> WorkflowPlan | None:
        """Show what would run, and wait for the answer; `load` reads the file again after it was edited."""
        from teambot_tui.ui.screens.preview import PreviewScreen  # noqa: PLC0415

        return await self._app.push_screen_wait(PreviewScreen(plan, load, self._setup.glyphs))

    @property
    def is_asked(self) -> bool:
        """Whether a question waits for an answer."""
        return isinstance(self._app.screen, Confirm) or self._app.screen.has_class("-asking")

    def in_background(
        self, work: Coroutine[None, None, None], refused: Callable[[str], None] | None = None
    ) -> None:
        """Let a piece of work go on by itself; a RefusedError of it is told, unless `refused` takes it."""
        self._screen.run_worker(self._tell_refusal(work, refused), group="actions", name="actions")

    async def _tell_refusal(
        self, work: Coroutine[None, None, None], refused: Callable[[str], None] | None
    ) -> None:
        try:
            await work
        except RefusedError as error:
            if refused is not None:
                refused(str(error))
            else:
                self.tell(str(error), alarm=True)

    # The app

    def themes(self) -> Sequence[str]:
        """The themes there are."""
        return sorted(self._app.available_themes)

    @property
    def theme(self) -> str:
        """The theme that is shown."""
        return self._app.theme

    def set_theme(self, name: str) -> None:
        """Change the colours, from now on."""
        self._app.theme = name
        if self._setup.keep_theme is not None:
            self.in_background(self._keep_theme(name, self._setup.keep_theme))

    async def _keep_theme(self, name: str, keep: Callable[[str], object]) -> None:
        try:
            await asyncio.to_thread(keep, name)
        except AgentsError as error:
            self.tell(f"The theme is not kept: {error}", alarm=True)

    def redraw(self) -> None:
        """Draw everything again."""
        self._screen.refresh(layout=True, repaint=True)

    def leave(self) -> None:
        """End the app."""
        self._app.exit()
