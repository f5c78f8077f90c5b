"""What is open beside the output: the graph, the inspector, one agent alone; and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.ui.widgets.lines import Tabs

if TYPE_CHECKING:
    from textual.screen import Screen

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.controllers.chosen import ChosenAgent
    from teambot_tui.ui.controllers.drafting import Drafting
    from teambot_tui.ui.controllers.finding import Finding
    from teambot_tui.ui.controllers.ladders import Ladders
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.widgets.feed import Feed
    from teambot_tui.ui.widgets.graph import Graph
    from teambot_tui.ui.widgets.inspector import Inspector


class Display:
    """Opens and closes parts of the screen."""

    def __init__(
        self,
        screen: Screen[None],
        person: Person,
        chosen: ChosenAgent,
        finding: Finding,
        drafting: Drafting,
        ladders: Ladders,
        feed: Feed,
        inspector: Inspector,
        graph: Graph,
    ) -> None:
        self._screen = screen
        self._person = person
        self._chosen = chosen
        self._finding = finding
        self._drafting = drafting
        self._ladders = ladders
        self._feed = feed
        self._inspector = inspector
        self._graph = graph

    def toggle_graph(self) -> None:
        """Show the graph, or hide it."""
        self._screen.remove_class("-inspecting", "-zoomed")
        self._screen.toggle_class("-graphing")
        (self._graph if self._screen.has_class("-graphing") else self._drafting.bar).focus()

    def watch_live(self) -> None:
        """Bring the graph into sight, where it has no room of its own; the keys stay with the input."""
        if not (self._screen.has_class("-wide") and self._screen.has_class("-tall")):
            self._screen.remove_class("-inspecting", "-zoomed")
            self._screen.add_class("-graphing")

    def toggle_zoom(self) -> None:
        """Show only the chosen agent's output, or everyone's again."""
        self._screen.remove_class("-inspecting", "-graphing")
        self._screen.toggle_class("-zoomed")
        self.show_tab(self._chosen.agent if self._screen.has_class("-zoomed") else None)

    def show_tab(self, agent: AgentId | None) -> None:
        """Show an agent's tasks, or everyone's."""
        self._screen.query_one(Tabs).choose(agent)
        self._feed.choose(agent)
        self._chosen.choose(agent)

    def step_agent(self, by: int) -> None:
        """Show the next agent's tasks."""
        self.show_tab(self._screen.query_one(Tabs).step(by))

    def back(self) -> None:
        """Close what is open; with nothing open, twice cancels what the chosen agent does."""
        for opened in ("-finding", "-inspecting", "-graphing", "-zoomed"):
            if self._screen.has_class(opened):
                self._screen.remove_class(opened)
                if opened == "-finding":
                    self._finding.close()
                    self._drafting.explain()
                    if self._screen.has_class("-inspecting"):
                        self._inspector.focus()
                        return
                if opened == "-zoomed":
                    self.show_tab(None)
                self._drafting.bar.focus()
                return
        is_elsewhere = not self._drafting.bar.has_focus
        if is_elsewhere or self._screen.query_one(Tabs).agent is not None:
            self.show_tab(None)
            self._drafting.bar.focus()
            return
        self._ladders.cancel_one(self._chosen.agent)

    def interrupt(self) -> None:
        """Copy, or clear the input, or, twice, cancel what runs, or, twice with nothing running, quit."""
        if selected := self._screen.get_selected_text():
            self._person.copy(selected)
        elif self._drafting.bar.text:
            self._drafting.bar.clear_to_history()
        else:
            self._ladders.cancel_foreground_or_leave()
