"""The parts that the first picture does not show: what agents say, the find line, the inspector, the graphs.

They and all they need are loaded once that picture is there, so that the person sees the team much sooner.
Whoever needs this module at that time therefore imports it only then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from teambot_tui.ui.stylesheets import stylesheets
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.inspector_view import inspect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.screen import Screen

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.mirror import Mirror, TaskView


class Parts:
    """The later parts of a session's screen."""

    def __init__(self, glyphs: Glyphs) -> None:
        self.feed = Feed(glyphs)
        self.find = Input(placeholder="find", id="find")
        self.inspector = Inspector(glyphs)
        self.graph = Graph(glyphs)
        self._tree = Graph(glyphs, id="tree")

    async def mount(self, screen: Screen[None]) -> None:
        """Put them into their places, each with its stylesheet."""
        stylesheet = screen.app.stylesheet
        stylesheet.read_all(stylesheets("feed", "inspector", "graph"))
        stylesheet.parse()
        with screen.app.batch_update():
            await screen.query_one("#panels").mount(self._tree)
            await screen.query_one("#centre").mount(self.feed, self.find)
            await screen.query_one("#side").mount(self.inspector, self.graph)

    def show_tasks(self, tasks: Sequence[TaskView]) -> None:
        """Draw these tasks, wherever there is a graph."""
        self.graph.show(tasks)
        self._tree.show(tasks)

    def show_agent(self, mirror: Mirror, agent: AgentId, now: float, task: TaskId | None) -> None:
        """Let the inspector show an agent, or one of its tasks."""
        self.inspector.show(inspect(mirror, agent, now, task))
