"""Agents come and go: each has a panel and a tab while it is here, and the input knows its name.

Of those who joined for the session only so many have a panel at a time: whoever works, then the newest.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.views import AgentView
from teambot_tui.ui.screens.upping import UppingScreen
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import PlanLine, Tabs
from teambot_tui.ui.widgets.panel import Panel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.mirror import Changes, Mirror
    from teambot_tui.ui.screens.session import Place

MOST_JOINED: Final = 12
"""How many of those who joined have a panel."""


def in_sight(mirror: Mirror) -> tuple[AgentId, ...]:
    """Return the agents that have a panel: the team, and some of those who joined, in order."""
    roster = mirror.roster
    joined = list(roster.temporary)
    if len(joined) > MOST_JOINED:
        newest = joined[::-1]
        joined = sorted(newest, key=lambda agent: not mirror.queue(agent))[:MOST_JOINED]
    return tuple(agent for agent in roster.agents if agent not in roster.temporary or agent in joined)


class JoiningScreen(UppingScreen):
    """Has panels, tabs and an input, and keeps them in step with who is here."""

    _place: Place
    _refused: str | None = None
    """The text that the plan line complains of, until it changes."""

    def first_panels(self) -> Iterator[Panel]:
        """Make the panels of the team, of which nothing more is known yet."""
        self._panels: dict[AgentId, Panel] = {}
        self._arranging = asyncio.Lock()
        for agent in self._place.models:
            yield self._new_panel(AgentView(agent), self._place.backends.get(agent, ""))

    def _new_panel(self, view: AgentView, runs_on: str) -> Panel:
        panel = Panel(view, len(self._panels) + 1, runs_on, self._place.glyphs)
        self._panels[view.agent] = panel
        return panel

    def show_agent(self, agent: AgentId) -> None:
        """Bring an agent's panel up to date, if it has one."""
        if panel := self._panels.get(agent):
            panel.show(self._mirror.agent(agent), self._clock())

    def follow_roster(self, changes: Changes) -> None:
        """Let panels, tabs and completion follow who came and left; tell what went wrong beside the work."""
        if changes.joined or changes.left:
            self.name_agents()
            self._arrange()
            if changes.joined and not changes.tasks:  # else its task is seen in the output
                names = ", ".join(self._mirror.agent(agent).name for agent in changes.joined)
                self.tell(f"{names} joined. @{changes.joined[-1]} gives it a task.")
        elif self._lacks_panel(changes):
            self._arrange()
        for trouble in changes.troubles:
            self.tell(trouble, alarm=True)
        if changes.tasks:
            self.query_one(InputBar).variables = self._mirror.variable_names

    def _lacks_panel(self, changes: Changes) -> bool:
        """Tell whether one that was out of sight has something to do and should not be."""
        out_of_sight = any(agent not in self._panels for agent in changes.agents)
        return out_of_sight and set(in_sight(self._mirror)) != set(self._panels)

    def name_agents(self) -> None:
        """Tell the input and the tabs who is here."""
        bar, roster = self.query_one(InputBar), self._mirror.roster
        bar.agents = roster.agents
        described = {f"@{agent}": words for agent, words in self._place.descriptions.items()}
        bar.details = described | {
            f"{sign}{agent}": f"~ {defined.base}"
            for agent, defined in roster.temporary.items()
            for sign in "@$"
        }
        tabs = self.query_one(Tabs)
        shown = tabs.agent
        tabs.hold({agent: self._mirror.agent(agent).tab for agent in in_sight(self._mirror)})
        if tabs.agent != shown:
            self.parts.feed.choose(tabs.agent)

    def give_back(self, text: str, complaint: str) -> None:
        """Say why what was typed came to nothing, and put it back to be mended."""
        bar = self.query_one(InputBar)
        if bar.text:
            self.tell(f"{complaint} Up brings the text back.", alarm=True)
            return
        self._refused = bar.text = text
        bar.refuse()
        self.query_one(PlanLine).complain(complaint)

    def begin_roster(self) -> None:
        """Let those who are here besides the team have their panels, too."""
        self.name_agents()
        if self._mirror.roster.temporary:
            self._arrange()

    def _arrange(self) -> None:
        self.run_worker(self._arrange_panels(), group="panels", name="panels")

    async def _arrange_panels(self) -> None:
        # One after another: whoever left and comes again must be gone before it is mounted again.
        async with self._arranging:
            wanted = in_sight(self._mirror)
            for agent in [agent for agent in self._panels if agent not in wanted]:
                await self._panels.pop(agent).remove()
            for agent in wanted:
                if agent not in self._panels:
                    defined = self._mirror.roster.temporary[agent]
                    panel = self._new_panel(self._mirror.agent(agent), defined.base)
                    await self.query_one("#panels").mount(panel, before="#tree")
            for number, (agent, panel) in enumerate(self._panels.items(), start=1):
                panel.renumber(number)
                self.show_agent(agent)
        self.name_agents()
