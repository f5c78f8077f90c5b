"""What the first picture does not show: the engine behind it, the feed, the find line, inspector and graphs.

They and all they need are loaded once that picture is there, so that the person sees the team much sooner.
Until then nobody may import this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from teambot_tui.engine.facts import ContextSet
from teambot_tui.ui.bridge import Bridge
from teambot_tui.ui.desk import Desk
from teambot_tui.ui.mirror import Mirror
from teambot_tui.ui.stylesheets import stylesheets
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.inspector_view import inspect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.screens.session import Place, SessionScreen


class Parts:
    """The later parts of a session's screen."""

    def __init__(self, screen: SessionScreen, session: Session, place: Place) -> None:
        self.now = session.now
        self.bridge = Bridge(session)
        self.mirror = Mirror(session.roster, session.policy)
        self.mirror.take_in(ContextSet(0.0, key, value) for key, value in session.board.context.items())
        self.desk = Desk(screen, self.bridge, self.mirror, dict(place.models), place.folder)
        glyphs = place.glyphs
        self.feed = Feed(glyphs)
        self.find = Input(placeholder="find", id="find")
        self.inspector = Inspector(glyphs)
        self.graph = Graph(glyphs)
        self._tree = Graph(glyphs, id="tree", most=2)  # it has few rows

    async def mount(self, screen: SessionScreen) -> None:
        """Put them into their places, each with its stylesheet."""
        stylesheet = screen.app.stylesheet
        for path in stylesheets("parts", "feed", "inspector", "graph", "approvals"):
            stylesheet.read(path)
        stylesheet.parse()
        with screen.app.batch_update():
            await screen.query_one("#panels").mount(self._tree)
            await screen.query_one("#centre").mount(self.feed)
            await screen.mount(self.find, before="#plan")
            await screen.query_one("#side").mount(self.inspector, self.graph)

    def show_tasks(self, tasks: Sequence[TaskView]) -> None:
        """Draw these tasks, wherever there is a graph."""
        self.graph.show(tasks)
        self._tree.show(tasks)

    def show_agent(self, agent: AgentId, now: float, task: TaskId | None) -> None:
        """Let the inspector show an agent, or one of its tasks."""
        self.inspector.show(inspect(self.mirror, agent, now, task))
