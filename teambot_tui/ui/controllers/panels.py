"""Agents come and go: each has a panel and a tab while it is here, and the input knows its name.

Of those who joined for the session only so many have a panel at a time: whoever works, then the newest.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import Tabs
from teambot_tui.ui.widgets.panel import Panel, PanelColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.views import AgentView, Frame
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.views import Views
    from teambot_tui.ui.widgets.feed import Feed

MOST_JOINED: Final = 12
"""How many of those who joined have a panel."""


def in_sight(views: Views) -> tuple[AgentId, ...]:
    """Return the agents that have a panel: the team, and some of those who joined, in order."""
    roster = views.roster
    joined = list(roster.temporary)
    if len(joined) > MOST_JOINED:
        newest = joined[::-1]
        joined = sorted(newest, key=lambda agent: not views.queue(agent))[:MOST_JOINED]
    return tuple(agent for agent in roster.agents if agent not in roster.temporary or agent in joined)


class Panels:
    """Keeps panels, tabs and the names in the input in step with who is here."""

    def __init__(
        self,
        screen: Screen[None],
        setup: ScreenSetup,
        views: Views,
        person: Person,
        feed: Feed,
        clock: Callable[[], float],
    ) -> None:
        self._screen = screen
        self._setup = setup
        self._views = views
        self._person = person
        self._feed = feed
        self._clock = clock
        self._bar = screen.query_one(InputBar)
        self._column = screen.query_one(PanelColumn)
        self._panels = {panel.view.agent: panel for panel in screen.query(Panel)}
        self._arranging = asyncio.Lock()

    def begin(self) -> None:
        """Let those who are here besides the team have their panels, too."""
        self._name_agents()
        if self._views.roster.temporary:
            self._arrange()

    def show(self, agent: AgentId) -> None:
        """Bring an agent's panel up to date, if it has one."""
        if panel := self._panels.get(agent):
            self._show(panel, self._views.agent(agent))

    def _show(self, panel: Panel, view: AgentView) -> None:
        before = panel.state
        now = self._clock()
        panel.wall_clock_ahead = self._setup.wall_clock() - now
        panel.show(view, now)
        if panel.state != before:
            self._column.place_panels()
            self._screen.query_one(Tabs).colour(view.agent, panel.state)

    def tick(self) -> None:
        """Let the times on the panels go on."""
        for panel in self._panels.values():
            if panel.view.state != "idle":
                self._show(panel, panel.view)

    def mark(self, agent: AgentId | None) -> None:
        """Mark the panel of the chosen agent, and bring it into sight."""
        for each, panel in self._panels.items():
            panel.mark(chosen=each == agent)
        if agent is not None and agent in self._panels:
            self._panels[agent].scroll_visible(animate=False)

    def numbered(self, number: int) -> Panel | None:
        """Return the panel with a number."""
        return next((panel for panel in self._panels.values() if panel.number == number), None)

    def move(self, message: Panel.Moved) -> None:
        """Give the keys to a panel beside, above or below another."""
        here = message.panel.region
        panels = [panel for panel in self._screen.query(Panel) if panel is not message.panel]
        if message.across:
            aside = [panel for panel in panels if (panel.region.x - here.x) * message.across > 0]
            beside = [panel for panel in aside if panel.region.y == here.y]
        else:
            beside = [panel for panel in panels if (panel.region.y - here.y) * message.down > 0]
        nearest = min(
            beside,
            key=lambda panel: (abs(panel.region.y - here.y), abs(panel.region.x - here.x)),
            default=None,
        )
        if nearest is not None:
            nearest.focus()

    def follow(self, frame: Frame) -> None:
        """Let panels, tabs and completion follow who came and left; tell what went wrong beside the work."""
        if frame.joined or frame.left:
            self._name_agents()
            self._arrange()
            if frame.joined and not frame.moved:  # else its task is seen in the output
                names = ", ".join(self._views.agent(agent).name for agent in frame.joined)
                self._person.tell(f"{names} joined. @{frame.joined[-1]} gives it a task.")
        elif self._lacks_panel(frame):
            self._arrange()
        for warning in frame.warnings:
            self._person.tell(warning, alarm=True)
        if frame.moved:
            self._bar.completer.variables = self._views.variable_names

    def _lacks_panel(self, frame: Frame) -> bool:
        """Tell whether one that was out of sight has something to do and should not be."""
        out_of_sight = any(view.agent not in self._panels for view in frame.agents)
        return out_of_sight and set(in_sight(self._views)) != set(self._panels)

    def _name_agents(self) -> None:
        """Tell the input and the tabs who is here."""
        roster = self._views.roster
        self._bar.completer.agents = roster.agents
        described = {f"@{agent}": words for agent, words in self._setup.descriptions.items()}
        self._bar.completer.details = described | {
            f"{sign}{agent}": f"~ {defined.base}"
            for agent, defined in roster.temporary.items()
            for sign in "@$"
        }
        tabs = self._screen.query_one(Tabs)
        shown = tabs.agent
        tabs.hold({agent: self._views.agent(agent).tab for agent in in_sight(self._views)})
        if tabs.agent != shown:
            self._feed.choose(tabs.agent)

    def _arrange(self) -> None:
        self._screen.run_worker(self._arrange_panels(), group="panels", name="panels")

    async def _arrange_panels(self) -> None:
        # One after another: whoever left and comes again must be gone before it is mounted again.
        async with self._arranging:
            wanted = in_sight(self._views)
            for agent in [agent for agent in self._panels if agent not in wanted]:
                await self._panels.pop(agent).remove()
            for agent in wanted:
                if agent not in self._panels:
                    defined = self._views.roster.temporary[agent]
                    number = len(self._panels) + 1
                    panel = Panel(self._views.agent(agent), number, defined.base, self._setup.glyphs)
                    self._panels[agent] = panel
                    await self._screen.query_one("#panels").mount(panel)
            for number, (agent, panel) in enumerate(self._panels.items(), start=1):
                panel.renumber(number)
                self.show(agent)
            self._column.place_panels()
        self._name_agents()
