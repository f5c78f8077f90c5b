"""What is asked at the start: whether the directory is trusted, and, with nothing configured, what to run on.

The screen is drawn first, and looking takes a few milliseconds in a thread, so that nobody waits for it.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from teambot_tui.agents.discovery import agents_on_path
from teambot_tui.agents.errors import AgentsError
from teambot_tui.agents.project import trust_project
from teambot_tui.agents.settings_file import remember_backend
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.service import Service
from teambot_tui.ui.screens.inbox import QUIET
from teambot_tui.ui.welcome import welcome
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.panel import Panel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual import events
    from textual.app import ComposeResult

    from teambot_tui.agents.changes import Change
    from teambot_tui.agents.discovery import FoundProgram
    from teambot_tui.agents.project import Project
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.app import TeambotApp

REHEARSAL: Final = "rehearsal"


class Chooser(ModalScreen[str | None]):
    """A list of what was found; Enter chooses for good; Esc, or just typing, rehearses this time."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Rehearse")]

    def __init__(self, found: Sequence[FoundProgram]) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content("What shall the team run on?")
            box.border_subtitle = Content("Enter chooses and remembers · Esc or typing rehearses this time")
            yield Static(
                Content("These agents are installed. Your settings can give each member its own."),
                markup=False,
            )
            yield OptionList(
                *(Option(_line(each.name, f"{each.title}  {each.how}"), each.name) for each in self._found),
                Option(_line(REHEARSAL, "no model, answers from a script"), REHEARSAL),
            )

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_key(self, event: events.Key) -> None:
        """Get out of the way of who types."""
        if event.is_printable and event.character:
            event.stop()
            cast("TeambotApp", self.app).session_screen.query_one(InputBar).type_in(event.character)
            if self.is_current:  # the first one of a burst closes it
                self.dismiss(None)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(message.option_id)


def _line(name: str, words: str) -> Content:
    return Content(f"{name:14}").stylize("bold") + Content(words)


class TrustQuestion(ModalScreen[bool]):
    """Answers whether these changes may be made."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "trust", "Trust"),
        Binding("escape,q,n", "dismiss(False)", "Not now"),
    ]

    def __init__(self, changes: Sequence[Change], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._changes = changes
        self._clock = clock
        self._stirred = clock()
        self._is_calm = False

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = Content("Trust the files of this directory?")
            box.border_subtitle = Content("t trusts them as they are · Esc not now · PgDn scrolls")
            yield Static(self._words(), markup=False)

    def _words(self) -> Content:
        lines = [Content("They would change your team. Until you trust them, nothing of them is used.")]
        for change in self._changes:
            lines += [Content(""), Content(change.path).stylize("bold")]
            lines += [Content(f"  {words}") for words in change.words]
        return Content("\n").join(lines)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:  # noqa: ARG002  any key at all
        now = self._clock()
        self._is_calm = now - self._stirred >= QUIET
        self._stirred = now

    def action_trust(self) -> None:
        """Say yes, if all of it was in view."""
        if not self._is_calm:
            return
        box = self.query_one(VerticalScroll)
        if box.scroll_offset.y < box.max_scroll_y:
            self.notify("There is more: PgDn scrolls to the end, then t trusts.", markup=False)
            return
        self.dismiss(True)


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
        _show(app, project.team.backends, project, [each.name for each in found])
        return
    try:
        if chosen != REHEARSAL:
            await asyncio.wrap_future(app.bridge.ask(Service.use_backend, chosen))
            for panel in app.session_screen.query(Panel):
                panel.run_on(chosen)
            _show(app, dict.fromkeys(project.team.backends, chosen), project)
        path = await asyncio.to_thread(remember_backend, chosen, project.directory, environ)
    except (ImportError, RefusedError) as error:
        app.notify(f"{chosen} cannot be used: {one_line(str(error))}", severity="error", markup=False)
    except AgentsError as error:
        app.notify(f"Not remembered: {error}", severity="warning", markup=False)
    else:
        app.notify(f"The team runs on {chosen}." + (f" {path} says so." if path else ""), markup=False)


def _show(
    app: TeambotApp, backends: Mapping[AgentId, str], project: Project, found: Sequence[str] = ()
) -> None:
    for name, short in (("#welcome", False), ("#welcome-short", True)):
        words = welcome(backends, project.team.descriptions, short=short, found=found)
        app.session_screen.query_one(name, Static).update(words)
