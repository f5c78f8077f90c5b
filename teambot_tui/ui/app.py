"""The app: it joins the engine's side and the screen's side, and nothing else."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App, SystemCommand
from textual.filter import Monochrome
from textual.geometry import Size

from teambot_tui.ui.bridge import Bridge
from teambot_tui.ui.commands import COMMANDS_OF_THE_SCREEN
from teambot_tui.ui.filters import AsciiLines, NoColour
from teambot_tui.ui.mirror import Mirror
from teambot_tui.ui.screens.session import Place, SessionScreen
from teambot_tui.ui.stylesheets import stylesheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.filter import LineFilter
    from textual.screen import Screen

    from teambot_tui.engine.session import Session
    from teambot_tui.ui.keys import Keys

_OF_TEXTUAL = {"quit": "ctrl+q", "palette": "ctrl+p", "interrupt": "ctrl+c"}


class TeambotApp(App[None]):
    """A session on the screen."""

    TITLE = "teambot"
    CSS_PATH = stylesheets("app", "panels", "feed", "input", "inspector", "graph")

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__()
        self.bridge = Bridge(session)
        self.mirror = Mirror(session.roster, session.policy)
        self._place = place
        self._use_keys(place.keys)
        self._plainer: list[LineFilter] = [
            *([NoColour()] if self.no_color else ()),
            *([AsciiLines()] if place.glyphs.ascii_only else ()),
        ]

    def _use_keys(self, keys: Keys) -> None:
        """Let the person's own keys count, and Textual's own only where they are not moved."""
        self.set_keymap(keys.own)
        for name in keys.own:
            if name in _OF_TEXTUAL:
                self._bindings.key_to_bindings.pop(_OF_TEXTUAL[name], None)

    def on_mount(self) -> None:
        if not (self.is_headless or self.is_web):
            self.set_interval(1.0, self._follow_terminal)

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
        for key in self._place.keys.table:
            if key.action and key.name and key.where in ("anywhere", "panel, output"):
                yield SystemCommand(key.words, key.keys, partial(screen.run_action, key.action))
        for name, command in COMMANDS_OF_THE_SCREEN.items():
            title = f"/{name} {command.arguments}".rstrip()
            yield SystemCommand(title, command.words, partial(screen.offer_command, name))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what is done to every line; Textual itself answers `NO_COLOR` with colours: greys."""
        lines = [each for each in super().get_line_filters() if not isinstance(each, Monochrome)]
        return [*lines, *self._plainer]

    def get_default_screen(self) -> SessionScreen:
        """Return the session's screen."""
        return SessionScreen(self.bridge, self.mirror, self._place)

    async def action_quit(self) -> None:
        """Leave as the session does, asking if anything runs: Textual's own key and palette end up here."""
        self.screen_stack[0].action_leave()  # type: ignore[attr-defined]  # our default screen

    def on_unmount(self) -> None:
        self.bridge.close()
