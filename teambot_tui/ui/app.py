"""The app: it joins the engine's side and the screen's side, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App, SystemCommand
from textual.filter import Monochrome
from textual.geometry import Size

from teambot_tui.ui.action_table import SLASH_COMMANDS
from teambot_tui.ui.filters import AsciiLines, NoColour
from teambot_tui.ui.keys import key_name
from teambot_tui.ui.screens.session import SessionScreen
from teambot_tui.ui.stylesheets import stylesheets
from teambot_tui.ui.themes import DARK, LIGHT, roles

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from textual.filter import LineFilter
    from textual.screen import Screen

    from teambot_tui.engine.session import Session
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.keys import Keys
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.views import Views

_OF_TEXTUAL = {"quit": "ctrl+q", "palette": "ctrl+p", "interrupt": "ctrl+c"}


class TeambotApp(App[None]):
    """A session on the screen."""

    TITLE = "teambot"
    CSS_PATH = stylesheets("app", "panels", "input")

    def __init__(
        self,
        open_session: Callable[[], Session],
        setup: ScreenSetup,
        first_start: Callable[[TeambotApp], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = setup.theme if setup.theme in self.available_themes else DARK.name
        self._first_start = first_start
        self.session_screen = SessionScreen(open_session, setup)
        self._use_keys(setup.keys)
        self._plainer: list[LineFilter] = [
            *([NoColour()] if self.no_color else ()),
            *([AsciiLines()] if setup.glyphs.ascii_only else ()),
        ]

    def _use_keys(self, keys: Keys) -> None:
        """Let the person's own keys count, and Textual's own only where they are not moved."""
        self.set_keymap(keys.own)
        for name in keys.own:
            if name in _OF_TEXTUAL:
                self._bindings.key_to_bindings.pop(_OF_TEXTUAL[name], None)

    @property
    def bridge(self) -> Bridge:
        """The way to the engine, once the screen is complete."""
        return self.session_screen.controls.bridge

    @property
    def views(self) -> Views:
        """What the screen knows of the session, once it is complete."""
        return self.session_screen.controls.views

    def on_mount(self) -> None:
        if not (self.is_headless or self.is_web):
            self.set_interval(1.0, self._follow_terminal)

    async def on_event(self, event: events.Event) -> None:
        """Let keys, pastes and the mouse wait until the session's screen has all its parts."""
        if isinstance(event, events.InputEvent | events.Paste):
            await self.session_screen.is_complete.wait()
        await super().on_event(event)

    def on_session_screen_completed(self) -> None:
        if not self.is_headless:
            # What is there now stays to the end; looking through it for garbage takes longer than a frame.
            gc.freeze()
            gc.enable()  # it was off while all that was loaded
        if self._first_start is not None:
            self.run_worker(self._first_start(self), group="first start", name="first start")

    async def show_instead(
        self,
        open_session: Callable[[], Session],
        setup: ScreenSetup,
        first_start: Callable[[TeambotApp], Coroutine[Any, Any, None]] | None,
    ) -> None:
        """Show another session in place of this one, in which nothing was done yet."""
        await asyncio.to_thread(self.session_screen.close)
        self._first_start = first_start
        self.session_screen = SessionScreen(open_session, setup)
        # Over the one before, which Textual cannot do without.
        await self.push_screen(self.session_screen)

    def _follow_terminal(self) -> None:
        """Mend a size that is not the terminal's: in a storm of changes news of the last can be lost."""
        with suppress(OSError):  # the terminal is gone
            size = Size(*os.get_terminal_size(2))
            if size != self.size:
                self.post_message(events.Resize(size, size))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer every action and every command in the palette, beside what Textual itself offers."""
        yield from super().get_system_commands(screen)
        if not isinstance(screen, SessionScreen):
            return
        for key in screen.setup.keys.table:
            if key.action and key.name and key.where in ("anywhere", "panel, output"):
                yield SystemCommand(
                    key.words,
                    ", ".join(map(key_name, key.keys.split(","))),
                    partial(screen.run_action, key.action),
                )
        for name, command in SLASH_COMMANDS.items():
            title = f"/{name} {command.arguments}".rstrip()
            yield SystemCommand(title, command.words, partial(screen.controls.drafting.offer_command, name))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our roles a colour in Textual's own themes, too."""
        return roles(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what is done to every line; Textual itself answers `NO_COLOR` with colours: greys."""
        lines = [each for each in super().get_line_filters() if not isinstance(each, Monochrome)]
        return [*lines, *self._plainer]

    def get_default_screen(self) -> SessionScreen:
        """Return the session's screen."""
        return self.session_screen

    async def action_quit(self) -> None:
        """Leave as the session does, asking if anything runs: Textual's own key and palette end up here."""
        self.session_screen.controls.actions.leave()

    def on_unmount(self) -> None:
        self.session_screen.close()
