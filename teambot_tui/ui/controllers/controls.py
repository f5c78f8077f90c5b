"""Everything behind the first picture: the engine, the widgets that it does not show, and the controllers.

They and all they need are loaded once that picture is there, so that the person sees the team much sooner.
Until then nobody may import this module.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from teambot_tui.ui.action_table import SLASH_COMMANDS, words_for
from teambot_tui.ui.actions import Actions
from teambot_tui.ui.bridge import Bridge
from teambot_tui.ui.controllers.alerts import Alerts
from teambot_tui.ui.controllers.chosen import ChosenAgent
from teambot_tui.ui.controllers.comparing import Comparing
from teambot_tui.ui.controllers.display import Display
from teambot_tui.ui.controllers.drafting import Drafting
from teambot_tui.ui.controllers.finding import Finding
from teambot_tui.ui.controllers.forms import Forms
from teambot_tui.ui.controllers.ladders import Ladders
from teambot_tui.ui.controllers.panels import Panels
from teambot_tui.ui.controllers.person import Person
from teambot_tui.ui.controllers.tables import Tables
from teambot_tui.ui.offers import Offers
from teambot_tui.ui.stylesheets import stylesheets
from teambot_tui.ui.views import Views
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.find_line import FindLine
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.lines import PlanLine
from teambot_tui.ui.widgets.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.screen import Screen

    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.setup import ScreenSetup


class Controls:
    """What the table of actions acts on."""

    bridge: Bridge
    views: Views
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
    tables: Tables
    comparing: Comparing

    def __init__(self, screen: Screen[None], session: Session, setup: ScreenSetup) -> None:
        glyphs, keys = setup.glyphs, setup.keys
        self.bridge = bridge = Bridge(session)
        self.now = now = bridge.now
        self.views = views = Views(bridge.first)
        self.feed = feed = Feed(glyphs, now)
        self._find = FindLine()
        self._inspector = inspector = Inspector(glyphs)
        self._graph = Graph(glyphs, clock=now)
        self._tree = Graph(glyphs, id="tree", most=2, clock=now)  # it has few rows
        self._timeline = Timeline(glyphs, clock=now)
        self._screen = screen

        self.person = person = Person(screen, setup)
        self.actions = actions = Actions(person, bridge, views, setup.folder)
        self.panels = Panels(screen, setup, views, person, feed, now)
        self.chosen = ChosenAgent(screen, setup, actions, person, self.panels, feed, inspector, now)
        self.alerts = Alerts(screen, setup, bridge, actions, person, self.panels, self.chosen, feed, now)
        self.drafting = Drafting(screen, self, actions, person, self.alerts, feed, now)
        self.finding = Finding(screen, self._find, feed, inspector, keys)
        ladders = Ladders(actions, views, screen.query_one(PlanLine), now, keys)
        self.display = Display(
            screen,
            person,
            self.chosen,
            self.finding,
            self.drafting,
            ladders,
            feed,
            inspector,
            self._graph,
            self._timeline,
        )
        self.forms = Forms(screen, views, actions, person)
        self.comparing = Comparing(screen, setup, actions, person, self.drafting.bar)
        self.tables = Tables(screen, setup, actions, person, self.chosen, self.comparing, now)
        completer = self.drafting.bar.completer
        completer.words_for = partial(words_for, self)
        commands = {name: (command.arguments, command.words) for name, command in SLASH_COMMANDS.items()}
        completer.describe = Offers(views, commands, setup.descriptions, glyphs, now)

    async def mount(self) -> None:
        """Put the widgets where they belong, each with its stylesheet."""
        screen, stylesheet = self._screen, self._screen.app.stylesheet
        for path in stylesheets("parts", "feed", "inspector", "graph", "approvals", "table"):
            stylesheet.read(path)
        stylesheet.parse()
        with screen.app.batch_update():
            await screen.query_one("#left").mount(self._tree)
            await screen.query_one("#centre").mount(self.feed)
            await screen.mount(self._find, before="#plan")
            await screen.query_one("#side").mount(self._inspector, self._graph, self._timeline)

    def show_tasks(self, tasks: Sequence[TaskView]) -> None:
        """Draw these tasks, wherever they are drawn."""
        self._graph.show(tasks)
        self._tree.show(tasks)
        self._timeline.show(tasks)

    def tick(self) -> None:
        """Let the clocks of what is drawn go on."""
        for drawing in (self._graph, self._tree, self._timeline):
            drawing.tick()
