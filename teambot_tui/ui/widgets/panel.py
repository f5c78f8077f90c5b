"""One agent at a glance: a card where there is room, a chip of one line where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from teambot_tui.ui.glyphs import Glyphs, duration, roughly, used
from teambot_tui.ui.keys import bound

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.views import AgentView

_SHORTEST_NAME = 8
_SILENT = 60.0
"""Seconds without a word after which an agent at work is called silent."""
_STATES = (
    "idle",
    "queued",
    "waiting",
    "executing",
    "silent",
    "asking",
    "completed",
    "failed",
    "cancelled",
    "skipped",
)


class Panel(Widget, can_focus=True):
    """Shows an agent's view; a click or Enter asks to inspect it, a double click to zoom."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bound("left", "move(-1, 0)"),
        bound("right", "move(1, 0)"),
        bound("up", "move(0, -1)"),
        bound("down", "move(0, 1)"),
        bound("inspect", "inspect"),
    ]

    class Chosen(Message):
        """The user wants to read what this agent does."""

        def __init__(self, agent: AgentId, *, zoom: bool = False) -> None:
            super().__init__()
            self.agent = agent
            self.zoom = zoom

    class Moved(Message):
        """The user wants to go to the panel beside this one, or below."""

        def __init__(self, panel: Panel, across: int, down: int) -> None:
            super().__init__()
            self.panel = panel
            self.across = across
            self.down = down

    def __init__(self, view: AgentView, number: int, runs_on: str, glyphs: Glyphs) -> None:
        super().__init__(id=f"panel-{view.agent}", classes="panel")
        self.view = view
        self.number = number
        self._runs_on = runs_on
        self._glyphs = glyphs
        self._now = view.since
        self.show(view, view.since)

    @property
    def _silence(self) -> float:
        """For how long an agent at work has said nothing, if that is worth a word; else 0."""
        quiet = self._now - self.view.last_activity if not self.view.requests else 0.0
        return (
            quiet if self.view.state == "executing" and self.view.last_activity and quiet >= _SILENT else 0.0
        )

    @property
    def badge(self) -> str:
        """The state in words, as it is shown with its glyph: `⧗ waiting for @pm, @ba`."""
        view = self.view
        if view.requests:
            return f"{self._glyphs['asking']} needs you"
        if self._silence:
            return f"{self._glyphs['silent']} silent {roughly(self._silence)}"
        if view.state == "waiting":
            without = " (no output yet)" if view.no_output_yet else ""
            words = f"waiting for {', '.join(f'@{agent}' for agent in view.waiting_for)}{without}"
        elif view.state == "queued":
            words = f"queued {view.queued + 1}"
        elif view.state == "idle" and view.last_end is not None:
            return f"{self._glyphs['idle']} idle {self._glyphs[view.last_end]} {view.last_end}"
        else:
            words = view.state
        return f"{self._glyphs[view.state]} {words}"

    def run_on(self, backend: str) -> None:
        """Say that the agent runs on something else from now on."""
        self._runs_on = backend
        self.show(self.view, self._now)
        self.refresh()

    def show(self, view: AgentView, now: float) -> None:
        """Show what the agent is doing now."""
        if view != self.view or view.state != "idle":
            self.refresh()
        self.view = view
        self._now = now
        shown = view.last_end or view.state if view.state == "idle" else view.state
        if view.requests or self._silence:
            shown = "asking" if view.requests else "silent"
        # Looking up the styles is dear, and this is called in every frame.
        if not self.has_class(f"-{shown}"):
            for state in _STATES:
                self.set_class(state == shown, f"-{state}", update=False)
            if self.is_attached:
                self.update_node_styles()
        runs_on = view.model or self._runs_on
        title = f"{self.number} {view.name}" if self.number < 10 else view.name
        if view.parent is not None:
            title += f" {self._glyphs['from']} {view.parent}"
        self.border_title = Content(f"{title} {self._glyphs['dot']} {runs_on}" if runs_on else title)
        self.border_subtitle = Content(used(view.usage, self._glyphs))

    def renumber(self, number: int) -> None:
        """Take another place among the panels."""
        if number != self.number:
            self.number = number
            self.show(self.view, self._now)
            self.refresh()

    def render(self) -> Content:
        if self.size.height <= 1:
            return self._chip()
        view = self.view
        head = Content(self.badge).stylize("bold")
        if elapsed := self._elapsed():
            head += Content(f"  {elapsed}").stylize("dim")
        if view.queued > 0 and view.state != "queued":
            head += Content(f"  {self._glyphs['queued']} {view.queued} queued")
        return head + Content("\n") + Content(self._last_line()).stylize("dim")

    def _last_line(self) -> str:
        tool = self.view.tool
        return f"{self._glyphs['tool']} {tool}" if tool else self.view.last_line.strip()

    def _chip(self) -> Content:
        view = self.view
        number = f"{self.number} " if self.number < 10 else ""
        if view.requests:
            words = "you"
        elif view.state == "waiting":
            words = f"@{','.join(view.waiting_for)}"
        elif self._silence:
            words = f"silent {roughly(self._silence)}"
        elif view.state == "idle":
            words = {"completed": "done"}.get(view.last_end or "", view.last_end or "idle")
        else:
            words = {"executing": "exec", "queued": f"queued {view.queued + 1}"}.get(view.state, view.state)
        state = view.last_end or "idle" if view.state == "idle" else view.state
        glyph = self._glyphs["asking" if view.requests else "silent" if self._silence else state]
        name, ellipsis = view.tab, self._glyphs["ellipsis"]
        room = max(_SHORTEST_NAME, self.size.width - len(f"{number} {glyph} {words}"))
        if len(name) > room:
            name = name[: room - len(ellipsis)] + ellipsis
        text = f"{number}{name:9} {glyph} {words}"
        for more in (self._elapsed(), used(view.usage, self._glyphs)):
            if more and len(text) + len(more) < self.size.width:
                text = f"{text} {more}"
        return Content(text)

    def _elapsed(self) -> str:
        view = self.view
        if view.state == "idle":
            return duration(view.last_seconds) if view.last_end else ""
        return duration(self._now - view.since) if view.since else ""

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Chosen(self.view.agent, zoom=event.chain > 1))

    def action_move(self, across: int, down: int) -> None:
        """Ask to go to another panel."""
        self.post_message(self.Moved(self, across, down))

    def action_inspect(self) -> None:
        """Ask to read what the agent does."""
        self.post_message(self.Chosen(self.view.agent))
