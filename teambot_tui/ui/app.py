"""The app: it joins the engine's side and the screen's side, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from teambot_tui.ui.bridge import Bridge
from teambot_tui.ui.mirror import Mirror
from teambot_tui.ui.screens.session import Place, SessionScreen
from teambot_tui.ui.stylesheets import stylesheets

if TYPE_CHECKING:
    from teambot_tui.engine.session import Session


class TeambotApp(App[None]):
    """A session on the screen."""

    TITLE = "teambot"
    CSS_PATH = stylesheets("app", "panels", "feed", "input", "inspector", "graph")

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__()
        self.bridge = Bridge(session)
        self.mirror = Mirror(session.roster, session.policy)
        self._place = place

    def get_default_screen(self) -> SessionScreen:
        """Return the session's screen."""
        return SessionScreen(self.bridge, self.mirror, self._place)

    def on_unmount(self) -> None:
        self.bridge.close()
