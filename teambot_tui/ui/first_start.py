"""What is asked at the start: whether the directory is trusted, and, with nothing configured, what to run on.

The screen is drawn first, and looking takes a few milliseconds in a thread, so that nobody waits for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual.widgets import Static

from teambot_tui.agents.discovery import agents_on_path
from teambot_tui.agents.errors import AgentsError
from teambot_tui.agents.project import trust_project
from teambot_tui.agents.settings_file import remember_backend
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.ui.screens.chooser import REHEARSAL, Chooser
from teambot_tui.ui.screens.trust_question import TrustQuestion
from teambot_tui.ui.welcome import welcome
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.panel import Panel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.agents.project import Project
    from teambot_tui.api import Session
    from teambot_tui.engine import session as engine
    from teambot_tui.ui.app import TeambotApp


async def offer_trust(project: Project, environ: Mapping[str, str], app: TeambotApp) -> Project | None:
    """Ask whether the directory may change what it would; after a yes, return the project as it is then."""
    if app.session_screen.query_one(InputBar).text:
        app.notify(project.notes[0], severity="warning", markup=False)
        return None
    if not await app.push_screen_wait(TrustQuestion(project.changes)):
        return None
    try:
        await asyncio.to_thread(trust_project, project.untrusted, environ)
        return await asyncio.to_thread(project.open_again)
    except AgentsError as error:
        app.notify(f"Not trusted: {error}", severity="error", markup=False)
        return None


async def offer(project: Project, environ: Mapping[str, str], app: TeambotApp) -> None:
    """Look for agents and, if there are any and nobody types yet, ask; then do as was answered."""
    found = await asyncio.to_thread(agents_on_path)
    if not found or app.session_screen.query_one(InputBar).text:
        return
    chosen = await app.push_screen_wait(Chooser(found))
    if chosen is None:
        return
    try:
        if chosen != REHEARSAL:
            await asyncio.wrap_future(app.bridge.ask(lambda session: _use(session, chosen)))
            _show(app, project, chosen)
        path = await asyncio.to_thread(remember_backend, chosen, project.directory, environ)
    except (ImportError, RefusedError) as error:
        app.notify(f"{chosen} cannot be used: {one_line(str(error))}", severity="error", markup=False)
    except AgentsError as error:
        app.notify(f"Not remembered: {error}", severity="warning", markup=False)
    else:
        app.notify(f"The team runs on {chosen}." + (f" {path} says so." if path else ""), markup=False)


def _use(session: engine.Session, backend: str) -> None:
    cast("Session", session).use_backend(backend)  # the screen is given no other


def _show(app: TeambotApp, project: Project, backend: str) -> None:
    screen, team = app.session_screen, project.team
    for panel in screen.query(Panel):
        panel.run_on(backend)
    backends = dict.fromkeys(team.backends, backend)
    for name, short in (("#welcome", False), ("#welcome-short", True)):
        screen.query_one(name, Static).update(welcome(backends, team.descriptions, short=short))
