"""The session on the screen: its widgets, what arrives handed to whom it concerns, and keys to actions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from teambot_tui.engine.ids import agent_of
from teambot_tui.engine.views import AgentView
from teambot_tui.ui.action_table import SLASH_COMMANDS, press
from teambot_tui.ui.keys import bindings
from teambot_tui.ui.welcome import EXAMPLES, HINT, welcome
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import KeyBar, PlanLine, Tabs, TitleBar
from teambot_tui.ui.widgets.panel import Panel, PanelColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets import Input

    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import Frame
    from teambot_tui.ui.controllers.controls import Controls
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.widgets.feed import Feed
    from teambot_tui.ui.widgets.graph import Graph
    from teambot_tui.ui.widgets.inspector import Inspector
    from teambot_tui.ui.widgets.timeline import Timeline

_FRAME = 1 / 60
"""The least time between two pictures."""
_LAST_LINES = 1 / 6
"""How long a panel keeps an agent's last line: one that changes in every frame cannot be read anyway."""


class SessionScreen(Screen[None]):
    """The title, the panels, the feed, the inspector and the graph, the plan and the input."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012  Textual's types
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("anywhere"), *bindings("panel, output")]

    controls: Controls
    """There once the screen is complete, before any key is acted on."""

    class Completed(Message):
        """All parts are there and the engine runs."""

    def __init__(self, open_session: Callable[[], Session], setup: ScreenSetup) -> None:
        super().__init__(classes="-empty")
        self.is_complete = asyncio.Event()
        """Until then nobody can be given work, and no key may be acted on."""
        self.setup = setup
        self._open_session = open_session

    # The widgets

    def compose(self) -> ComposeResult:
        setup = self.setup
        # The classes of the terminal's size before anything is drawn: Textual adds them only after.
        self.add_class(
            *self._get_breakpoint_classes(self.app.size.width, self.HORIZONTAL_BREAKPOINTS),
            *self._get_breakpoint_classes(self.app.size.height, self.VERTICAL_BREAKPOINTS),
        )
        yield TitleBar(setup.folder, setup.glyphs)
        with Container(id="body"):
            yield PanelColumn(
                Panel(AgentView(agent), number, setup.backends.get(agent, ""), setup.glyphs)
                for number, agent in enumerate(setup.models, start=1)
            )
            with Vertical(id="centre"):
                yield Tabs(tuple(setup.models), setup.glyphs)
                for name, short in (("welcome", False), ("welcome-short", True)):
                    words = welcome(setup.backends, setup.descriptions, short=short)
                    yield Static(words, id=name, markup=False)
            yield Vertical(id="side")
        bar = InputBar(setup.glyphs, setup.history, folder=setup.folder)
        yield bar.completer.list
        yield PlanLine(setup.glyphs)
        yield bar
        yield KeyBar()

    def on_mount(self) -> None:
        bar = self.query_one(InputBar)
        bar.suggestion = EXAMPLES[0][0]
        bar.completer.agents = tuple(self.setup.models)
        bar.completer.commands = tuple(SLASH_COMMANDS)
        bar.completer.details = {f"@{agent}": words for agent, words in self.setup.descriptions.items()}
        bar.focus()
        self.query_one(PlanLine).hint(HINT)
        self.query_one(KeyBar).tell(self.setup.keys.footer(""))
        self.call_after_refresh(self._complete)

    async def _complete(self) -> None:
        """After the first picture, bring in what it does not show, and start the engine."""
        from teambot_tui.ui.controllers.controls import (  # noqa: PLC0415  it loads half of the program
            Controls,
        )

        try:
            self.controls = controls = Controls(self, self._open_session(), self.setup)
            await controls.mount()
            controls.panels.begin()
            controls.alerts.show_keys()
            controls.bridge.start()
            self.run_worker(self._follow(), group="frames", name="frames")
            self.set_interval(1.0, self._tick)
            self.set_interval(_LAST_LINES, controls.alerts.show_last_lines)
            self.post_message(self.Completed())
        finally:
            self.is_complete.set()

    def close(self) -> None:
        """End the engine, if there is one yet."""
        if hasattr(self, "controls"):
            self.controls.bridge.close()

    # What arrives from the engine

    async def _follow(self) -> None:
        async for frame in self.controls.bridge.frames():
            self.controls.views.take_in(frame)
            self._show(frame)
            await asyncio.sleep(_FRAME)
        self.controls.alerts.follow_end()

    def _show(self, frame: Frame) -> None:
        controls = self.controls
        views, feed, alerts = controls.views, controls.feed, controls.alerts
        controls.panels.follow(frame)
        alerts.follow_workflows(frame)
        for task in frame.moved:
            feed.show_task(views.task(task))
        for task, text in frame.said:
            feed.say(task, text)
        changed = {agent_of(task) for task in frame.moved}
        for agent in changed:
            controls.panels.show(agent)
        alerts.talking |= {view.agent for view in frame.agents} - changed
        if frame.moved:
            self.remove_class("-empty")
            controls.drafting.bar.suggestion = ""
            controls.show_tasks([views.task(task) for task in views.tasks()])
        if alerts.follow(frame) or frame.moved:
            controls.drafting.explain_again()
        if controls.chosen.agent in changed:
            controls.chosen.show()

    def _tick(self) -> None:
        controls = self.controls
        if controls.bridge.death:
            return  # nothing goes on, whatever the last facts said
        controls.feed.follow_wall_clock(self.setup.wall_clock() - controls.now())
        controls.panels.tick()
        controls.tick()
        controls.chosen.show()
        controls.finding.filter_again()
        controls.drafting.bar.completer.tell_again()

    # What the person does

    def action_press(self, name: str) -> None:
        """Do what the key of an action does."""
        press(self.controls, name)

    def on_key(self, event: events.Key) -> None:
        """Give what is typed where it means nothing to the input, and the keys with it."""
        if event.is_printable and event.character and event.key not in self.active_bindings:
            event.stop()
            bar = self.query_one(InputBar)
            self.set_focus(bar)
            bar.type_in(event.character)

    def action_choose_number(self, number: int) -> None:
        """Choose an agent by the number on its panel."""
        self.controls.chosen.choose_number(number)

    def on_descendant_focus(self) -> None:
        if not hasattr(self, "controls"):
            return
        panel, chosen = self.focused, self.controls.chosen
        if isinstance(panel, Panel) and panel.view.agent != chosen.agent:
            chosen.choose(panel.view.agent)
        self.controls.alerts.show_keys()

    def on_input_bar_edited(self, message: InputBar.Edited) -> None:
        self.controls.drafting.edited(message.text)
        self.controls.alerts.show_keys()

    async def on_input_bar_submitted(self, message: InputBar.Submitted) -> None:
        await self.controls.drafting.submit(message.text)

    def on_input_bar_requested(self, message: InputBar.Requested) -> None:
        self.action_press(message.action)

    def on_input_changed(self, message: Input.Changed) -> None:
        self.controls.finding.look_for(message.value)

    def on_input_submitted(self) -> None:
        self.controls.finding.enter()

    def on_panel_moved(self, message: Panel.Moved) -> None:
        self.controls.panels.move(message)

    def on_panel_chosen(self, message: Panel.Chosen) -> None:
        if message.zoom:
            self.controls.chosen.choose(message.agent)
            self.controls.display.toggle_zoom()
        else:
            self.controls.chosen.inspect(message.agent)

    def on_tabs_chosen(self, message: Tabs.Chosen) -> None:
        self.controls.display.show_tab(message.agent)

    def on_feed_chosen(self, message: Feed.Chosen) -> None:
        self.controls.chosen.choose(agent_of(message.task))

    def on_feed_draft_requested(self, message: Feed.DraftRequested) -> None:
        self.controls.drafting.begin(message.text)

    def on_graph_chosen(self, message: Graph.Chosen) -> None:
        self.controls.chosen.inspect(agent_of(message.task), message.task)

    def on_timeline_chosen(self, message: Timeline.Chosen) -> None:
        self.controls.chosen.inspect(agent_of(message.task), message.task)

    def on_inspector_chosen(self, message: Inspector.Chosen) -> None:
        self.controls.chosen.inspect(agent_of(message.task), message.task)

    def on_inspector_closed(self) -> None:
        self.controls.display.back()

    def on_inspector_find_requested(self) -> None:
        self.controls.finding.find_in_inspector()

    def on_inspector_found(self) -> None:
        self.controls.finding.count()

    def on_inspector_copy_requested(self, message: Inspector.CopyRequested) -> None:
        self.controls.person.copy(message.text)
        self.controls.person.tell(f"Copied {message.what}.")

    def on_inspector_remove_requested(self, message: Inspector.RemoveRequested) -> None:
        self.controls.actions.cancel(message.task)
