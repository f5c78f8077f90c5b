"""Everything behind the first picture: the engine, the widgets that it does not show, and the controllers.

They and all they need are loaded once that picture is there, so that the person sees the team much sooner.
Until then nobody may import this module.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.widgets import Input

from teambot_tui.engine.facts import ContextSet
from teambot_tui.ui.action_table import words_for
from teambot_tui.ui.actions import Actions
from teambot_tui.ui.bridge import Bridge
from teambot_tui.ui.controllers.alerts import Alerts
from teambot_tui.ui.controllers.chosen import ChosenAgent
from teambot_tui.ui.controllers.display import Display
from teambot_tui.ui.controllers.drafting import Drafting
from teambot_tui.ui.controllers.finding import Finding
from teambot_tui.ui.controllers.forms import Forms
from teambot_tui.ui.controllers.ladders import Ladders
from teambot_tui.ui.controllers.panels import Panels
from teambot_tui.ui.controllers.person import Person
from teambot_tui.ui.mirror import Mirror
from teambot_tui.ui.stylesheets import stylesheets
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.inspector import Inspector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.screens.session import ScreenSetup


class Controls:
    """What the table of actions acts on."""

    bridge: Bridge
    mirror: Mirror
    feed: Feed
    person: Person
    actions: Actions
    panels: Panels
    chosen: ChosenAgent
    alerts: Alerts
    drafting: Drafting
    finding: Finding
    display: Display
    forms: Forms

    def __init__(
        self, screen: Screen[None], session: Session, setup: ScreenSetup, draw: Callable[[], None]
    ) -> None:
        now, glyphs, keys = session.now, setup.glyphs, setup.keys
        self.now = now
        self.bridge = Bridge(session)
        self.mirror = mirror = Mirror(session.roster, session.policy)
        mirror.take_in(ContextSet(0.0, key, value) for key, value in session.board.context.items())
        self.feed = feed = Feed(glyphs)
        self._find = Input(placeholder="find", id="find")
        self._inspector = inspector = Inspector(glyphs)
        self._graph = Graph(glyphs)
        self._tree = Graph(glyphs, id="tree", most=2)  # it has few rows
        self._screen = screen

        self.person = person = Person(screen, setup)
        self.actions = actions = Actions(person, self.bridge, mirror, dict(setup.models), setup.folder)
        self.panels = Panels(screen, setup, mirror, person, feed, now)
        self.chosen = ChosenAgent(screen, actions, person, self.panels, feed, inspector, now)
        self.alerts = Alerts(screen, setup, self.bridge, actions, person, self.panels, self.chosen, feed, now)
        self.drafting = Drafting(screen, self, actions, person, self.alerts, feed, draw, now)
        self.finding = Finding(screen, self._find, feed, inspector, keys)
        ladders = Ladders(actions, person, now, keys)
        self.display = Display(
            screen, person, self.chosen, self.finding, self.drafting, ladders, feed, inspector, self._graph
        )
        self.forms = Forms(screen, mirror, actions, person, now)
        self.drafting.bar.completer.words_for = partial(words_for, self)

    async def mount(self) -> None:
        """Put the widgets where they belong, each with its stylesheet."""
        screen, stylesheet = self._screen, self._screen.app.stylesheet
        for path in stylesheets("parts", "feed", "inspector", "graph", "approvals"):
            stylesheet.read(path)
        stylesheet.parse()
        with screen.app.batch_update():
            await screen.query_one("#left").mount(self._tree)
            await screen.query_one("#centre").mount(self.feed)
            await screen.mount(self._find, before="#plan")
            await screen.query_one("#side").mount(self._inspector, self._graph)

    def show_tasks(self, tasks: Sequence[TaskView]) -> None:
        """Draw these tasks, wherever there is a graph."""
        self._graph.show(tasks)
        self._tree.show(tasks)
