"""The process behind a page in the browser: the screen without a terminal, ended when the page is."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from textual import messages
from textual.drivers.web_driver import WebDriver

from teambot_tui.agents.process import kill_all
from teambot_tui.ui.start import app_for

if TYPE_CHECKING:
    from teambot_tui.agents.project import Project


def show(project: Project, *, ascii_only: bool, ephemeral: bool) -> int:
    """Show a session until the person leaves or closes the page; return the exit status."""
    app = app_for(project, ascii_only=ascii_only, ephemeral=ephemeral)
    app.driver_class = _Page
    try:
        app.run()
    finally:
        kill_all()
    return app.return_code or 0


class _Page(WebDriver):
    """A driver that leaves when nobody is at the other end any more, however that came."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        self._app.post_message(messages.ExitApp())

    def write(self, data: str) -> None:
        with suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        with suppress(BrokenPipeError):
            super().write_meta(data)
