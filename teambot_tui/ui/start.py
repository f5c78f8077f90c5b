"""Opening the screen, and leaving the terminal as it was however the program ends."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.drivers.linux_driver import LinuxDriver

from teambot_tui.agents.groups import guard
from teambot_tui.agents.process import kill_all
from teambot_tui.agents.settings_file import remember_theme
from teambot_tui.ui.app import TeambotApp
from teambot_tui.ui.commands import begin_workflow
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.history import History, history_path
from teambot_tui.ui.own_keys import own_keys
from teambot_tui.ui.setup import Profile, ScreenSetup
from teambot_tui.ui.themes import AUTO, theme_for

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import FrameType

    from textual.app import App

    from teambot_tui.agents.project import Project
    from teambot_tui.api import Session
    from teambot_tui.workflows.up_command import UpCommand

    FirstStart = Callable[[TeambotApp], Coroutine[Any, Any, None]]

_PATIENCE = 2.5  # seconds: a little more than an agent has to end itself
_GLANCE = 1000  # milliseconds between two looks at the terminal, where a hang-up is not told


def start(project: Project, *, ascii_only: bool, ephemeral: bool, up: UpCommand | None = None) -> int:
    """Show a session until the person leaves, beginning with a workflow; return the exit status.

    Raises:
        SettingsError: A key of the person's own cannot be used.
    """
    plain = ascii_only or os.environ.get("TERM") == "linux"
    app = app_for(project, ascii_only=plain, ephemeral=ephemeral, up=up)
    guard.start_with_terminal()
    app.driver_class = _Guarded
    _leave_when_told(app)
    try:
        app.run()
    finally:
        kill_all()
    return app.return_code or 0


def app_for(
    project: Project, *, ascii_only: bool, ephemeral: bool, up: UpCommand | None = None
) -> TeambotApp:
    """Return the app for a project; it makes the session once its first picture is there."""

    def setup_of(project: Project) -> ScreenSetup:
        team = project.team
        return ScreenSetup(
            folder=project.directory,
            backends=team.backends,
            descriptions=team.descriptions,
            profiles={
                agent: Profile(team.backends.get(agent, ""), member.permissions, member.system)
                for agent, member in team.members.items()
            },
            models={agent: member.model for agent, member in team.members.items()},
            history=History(history_path(os.environ)),
            glyphs=Glyphs(ascii_only=ascii_only),
            keys=own_keys(project.settings),
            notify=project.settings.notify,
            theme=theme_for(os.environ) if project.settings.theme == AUTO else project.settings.theme,
            keep_theme=partial(remember_theme, directory=project.directory, environ=os.environ),
        )

    async def begin(project: Project, app: TeambotApp) -> None:
        if project.changes:
            from teambot_tui.ui.first_start import offer_trust  # noqa: PLC0415  most starts are not the first

            if trusted := await offer_trust(project, os.environ, app):
                await app.show_instead(*shown(trusted))
                return
        if project.undecided:
            from teambot_tui.ui.first_start import offer  # noqa: PLC0415  as above

            await offer(project, os.environ, app)
        if up is not None:
            begin_workflow(app.session_screen.controls, up)

    def shown(project: Project) -> tuple[Callable[[], Session], ScreenSetup, FirstStart | None]:
        has_to_ask = project.changes or project.undecided or up is not None
        return (
            lambda: _open_session(project, ephemeral, app),
            setup_of(project),
            partial(begin, project) if has_to_ask else None,
        )

    app = TeambotApp(*shown(project))
    return app


def _open_session(project: Project, ephemeral: bool, app: TeambotApp) -> Session:
    from teambot_tui.api import Session  # noqa: PLC0415  the engine is loaded after the first picture

    session = Session(project=project, ephemeral=ephemeral, attended=True)
    # The first one tells of what is not trusted, which is asked.
    for note in (*project.notes[bool(project.changes) :], *session.notes):
        app.notify(note, severity="warning", timeout=8, markup=False)
    if told := session.tell_of_outputs():
        app.notify(told, timeout=8, markup=False)
    return session


class _Guarded(LinuxDriver):
    """A driver that tells the guard when the terminal's modes are on, and draws again after a stop."""

    _is_on = False
    _has_been_on = False

    def start_application_mode(self) -> None:
        guard.watch_modes(on=True)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._has_been_on:
            _soon(self._app, self._app.refresh, layout=True)
        self._is_on = self._has_been_on = True

    def stop_application_mode(self) -> None:
        self._is_on = False
        if self._mouse_pixels:
            self.write("\x1b[?1016l")  # Textual leaves it on
        super().stop_application_mode()

    def close(self) -> None:
        super().close()  # waits until everything is written
        guard.watch_modes(on=False)

    def _sigcont_application(self, *signal: object) -> None:
        if self._is_on:
            # Stopped by others, without a chance to leave: the shell has changed the terminal meanwhile.
            _soon(self._app, self._enter_again)
        else:
            super()._sigcont_application(*signal)

    def _enter_again(self) -> None:
        if self._is_on:
            self.suspend_application_mode()
            self.resume_application_mode()


def _soon(app: App[Any], callback: Callable[..., object], **arguments: object) -> None:
    """Let the app's loop call something soon, from a signal handler too."""
    # From a thread of its own, since only then the loop is woken up.
    threading.Thread(target=app.call_later, args=[callback], kwargs=arguments, daemon=True).start()


def _leave_when_told(app: TeambotApp) -> None:
    """End the app at a signal or with its terminal; if it cannot end, since nobody reads that, without it."""
    leaving = False

    def leave(number: int, frame: FrameType | None = None) -> None:  # noqa: ARG001  a handler's signature
        nonlocal leaving
        if leaving:
            return
        leaving = True
        watchdog = threading.Timer(_PATIENCE, _give_up, [128 + number])
        watchdog.daemon = True
        watchdog.start()
        _soon(app, app.exit, return_code=128 + number)

    def watch_terminal() -> None:
        terminal = sys.stdin.fileno()
        hang_up = select.poll()
        hang_up.register(terminal, 0)
        while not hang_up.poll(_GLANCE) and os.isatty(terminal):
            pass
        leave(signal.SIGHUP)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, leave)
    # Whoever leads our session is told of a hang-up, and may not pass it on.
    threading.Thread(target=watch_terminal, name="terminal", daemon=True).start()


def _give_up(status: int) -> None:
    try:
        kill_all()
        guard.take_over()
    finally:
        os._exit(status)
