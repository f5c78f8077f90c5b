"""One agent is chosen: by a key, a click or a task of the output; and the keys that act on it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from teambot_tui.engine.ids import agent_of
from teambot_tui.ui.editor import EditorError, edit_text
from teambot_tui.ui.screens.joining import JoiningScreen
from teambot_tui.ui.widgets.panel import Panel

if TYPE_CHECKING:
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.ui.widgets.feed import Feed
    from teambot_tui.ui.widgets.graph import Graph
    from teambot_tui.ui.widgets.inspector import Inspector


class ChoosingScreen(JoiningScreen):
    """Has panels, a feed and an inspector, and a desk to ask."""

    _chosen: AgentId | None = None
    _inspected: TaskId | None = None

    # Choosing

    def choose(self, agent: AgentId | None) -> None:
        """Let the keys act on this agent."""
        self._chosen = agent
        self._inspected = None
        for panel in self.query(Panel):
            panel.set_class(panel.view.agent == agent, "-chosen")
        if agent is not None and agent in self._panels:
            self._panels[agent].scroll_visible(animate=False)
        self.show_chosen()

    def show_chosen(self) -> None:
        """Bring the inspector up to date."""
        if self._chosen is not None and self.query_one("#side").display:
            self.parts.show_agent(self._chosen, self._clock(), self._inspected)

    def inspect(self, agent: AgentId, task: TaskId | None = None) -> None:
        """Open the inspector."""
        self.choose(agent)
        self._inspected = task
        self.remove_class("-graphing", "-zoomed")
        self.add_class("-inspecting")
        self.show_chosen()
        self.parts.inspector.focus()

    def on_panel_moved(self, message: Panel.Moved) -> None:
        panels = list(self.query(Panel))
        columns = sum(panel.region.y == panels[0].region.y for panel in panels)
        to = panels.index(message.panel) + message.across + message.down * columns
        if 0 <= to < len(panels):
            panels[to].focus()

    def on_feed_chosen(self, message: Feed.Chosen) -> None:
        self.choose(agent_of(message.task))

    def on_graph_chosen(self, message: Graph.Chosen) -> None:
        self.inspect(agent_of(message.task), message.task)

    def on_inspector_chosen(self, message: Inspector.Chosen) -> None:
        self.inspect(agent_of(message.task), message.task)

    def on_inspector_copy_requested(self, message: Inspector.CopyRequested) -> None:
        self.app.copy_to_clipboard(message.text)
        self.tell(f"Copied {message.what}.")

    def on_inspector_remove_requested(self, message: Inspector.RemoveRequested) -> None:
        self._desk.cancel(message.task)

    def action_choose_number(self, number: int) -> None:
        """Choose an agent by the number on its panel."""
        for agent, panel in self._panels.items():
            if panel.number == number:
                self.choose(agent)
                panel.focus()

    # Acting

    def _task_at_cursor(self) -> TaskId | None:
        feed = self.parts.feed
        return feed.cursor if feed.has_focus else None

    def _output_at_hand(self) -> tuple[str, str]:
        """Return who spoke, and what: the task at the output's cursor, or the chosen agent's last one."""
        if task := self._task_at_cursor():
            return task, self._mirror.output(task)
        return (f"@{self._chosen}", self._desk.last_output(self._chosen) or "") if self._chosen else ("", "")

    def action_cancel_chosen(self) -> None:
        """Cancel the task at the output's cursor, or what the chosen agent does."""
        queue = self._mirror.queue(self._chosen) if self._chosen else ()
        if target := self._task_at_cursor() or next(iter(queue), None):
            self._desk.cancel(target)

    def action_retry_chosen(self) -> None:
        """Retry the task at the output's cursor, or the last of the chosen agent."""
        if target := self._task_at_cursor() or self._chosen:
            self._desk.retry(target)

    def action_again_chosen(self) -> None:
        """Do the task at the output's cursor once more, or the last of the chosen agent."""
        if target := self._task_at_cursor() or self._chosen:
            self._desk.again(target)

    def action_copy_output(self) -> None:
        """Copy the output at hand."""
        who, text = self._output_at_hand()
        if text:
            self.app.copy_to_clipboard(text)
            self.tell(f"Copied what {who} said{' last' if who.startswith('@') else ''}.")

    def action_open_output(self) -> None:
        """Open the output at hand in the user's editor."""
        _, text = self._output_at_hand()
        if not text:
            return
        try:
            edit_text(text, os.environ, self.app.suspend)
        except (EditorError, SuspendNotSupported) as error:
            self.tell(str(error), alarm=True)
        self.app.refresh(layout=True)
