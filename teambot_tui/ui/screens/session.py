"""The session on the screen: its parts, what arrives handed to whom it concerns, and keys to actions."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import Static

from teambot_tui.engine.ids import agent_of
from teambot_tui.ui.action_table import SLASH_COMMANDS, command_hint, run_command, words_for
from teambot_tui.ui.commands import CommandError
from teambot_tui.ui.keys import Keys, bindings
from teambot_tui.ui.ladders import Ladders
from teambot_tui.ui.screens.attending import AttendingScreen
from teambot_tui.ui.welcome import EXAMPLES, welcome
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import KeyBar, PlanLine, Tabs, TitleBar
from teambot_tui.ui.widgets.panel import Panel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.session import Session
    from teambot_tui.language.errors import StatementError
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.history import History
    from teambot_tui.ui.mirror import Changes

_FRAME = 1 / 60
_LAST_LINES = 1 / 6
"""How long a panel keeps an agent's last line: one that changes in every frame cannot be read anyway."""
_LONGEST_EXPLAINED = 64 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """Where the session is and how it is drawn."""

    folder: Path
    backends: Mapping[AgentId, str]
    descriptions: Mapping[AgentId, str]
    models: Mapping[AgentId, str | None]
    glyphs: Glyphs
    history: History | None = None
    wall_clock: Callable[[], float] = time.time
    """For times of day, and nothing else: the session's clock tells how long something took."""
    keys: Keys = field(default_factory=Keys)
    notify: Collection[str] = ("toast",)


class SessionScreen(AttendingScreen):
    """The title, the panels, the feed, the inspector and the graph, the plan and the input."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012  Textual's types
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("anywhere"), *bindings("panel, output")]

    class Completed(Message):
        """All parts are there and the engine runs."""

    def __init__(self, open_session: Callable[[], Session], place: Place) -> None:
        super().__init__(classes="-empty")
        self.is_complete = asyncio.Event()
        """Until then nobody can be given work, and no key may be acted on."""
        self._open_session = open_session
        self._bridge: Bridge | None = None
        self._place = place
        self._glyphs = place.glyphs
        self.keys, self.calls_by = place.keys, place.notify
        self._frame_is_due = False
        self._last_frame = 0.0

    # The parts

    def compose(self) -> ComposeResult:
        self.mind_size()
        yield TitleBar(self._place.folder, self._glyphs)
        with Container(id="body"):
            with Container(id="panels"):
                yield from self.first_panels()
            with Vertical(id="centre"):
                yield Tabs(tuple(self._place.models))
                for name, short in (("welcome", False), ("welcome-short", True)):
                    words = welcome(self._place.backends, self._place.descriptions, short=short)
                    yield Static(words, id=name, markup=False)
            yield Vertical(id="side")
        yield PlanLine(self._glyphs)
        yield InputBar(self._glyphs, self._place.history, folder=self._place.folder)
        yield KeyBar()

    def on_mount(self) -> None:
        bar = self.query_one(InputBar)
        bar.suggestion = EXAMPLES[0][0]
        bar.agents = tuple(self._place.models)
        bar.commands = tuple(SLASH_COMMANDS)
        bar.details = {f"@{agent}": words for agent, words in self._place.descriptions.items()}
        bar.focus()
        self._explain("")
        self.call_after_refresh(self._complete)

    async def _complete(self) -> None:
        """After the first picture, bring in what it does not show, and start the engine."""
        from teambot_tui.ui.screens.parts import Parts  # noqa: PLC0415  it loads half of the program

        try:
            self.parts = Parts(self, self._open_session(), self._place)
            self._ladders = Ladders(self._desk, self._clock, self.keys)
            self.query_one(InputBar).words_for = partial(words_for, self._desk)
            self._bridge = self.parts.bridge
            await self.parts.mount(self)
            self.begin_roster()
            # A thread of the engine may only leave a word in our loop; the frame is drawn when we come to it.
            loop = asyncio.get_running_loop()
            self._bridge.start(lambda: loop.call_soon_threadsafe(self._facts_wait))
            self.set_interval(1.0, self._tick)
            self.set_interval(_LAST_LINES, self.show_last_lines)
            self.post_message(self.Completed())
        finally:
            self.is_complete.set()

    def close(self) -> None:
        """End the engine, if there is one yet."""
        if self._bridge is not None:
            self._bridge.close()

    # What arrives from the engine

    def _facts_wait(self) -> None:
        if not self._frame_is_due:
            self._frame_is_due = True
            loop = asyncio.get_running_loop()
            # Not with a timer of Textual's: it looks for the app in the context of whoever left the word.
            loop.call_later(max(0.0, self._last_frame + _FRAME - loop.time()), self.call_later, self._draw)

    def _draw(self) -> None:
        self._frame_is_due = False
        self._last_frame = asyncio.get_running_loop().time()
        changes = self._mirror.take_in(self.parts.bridge.take())
        self._show(changes)

    def _show(self, changes: Changes) -> None:
        self.follow_roster(changes)
        self.follow_ups()
        feed = self.parts.feed
        for task in changes.tasks:
            feed.show_task(self._mirror.task(task))
        for task, text in changes.said:
            feed.say(task, text)
        changed = {agent_of(task) for task in changes.tasks}
        for agent in changed:
            self.show_agent(agent)
        self.talking |= changes.agents - changed
        if changes.tasks:
            self.remove_class("-empty")
            self.query_one(InputBar).suggestion = ""
            tasks = [self._mirror.task(task) for task in self._mirror.tasks()]
            self.parts.show_tasks(tasks)
        if self.attend(changes) or changes.tasks:
            text = self.query_one(InputBar).text
            if not text.startswith("/") and not self.has_class("-finding"):
                self._explain(text)
        if self._chosen in changed or self._chosen in {agent_of(task) for task, _ in changes.said}:
            self.show_chosen()

    def _tick(self) -> None:
        if self.parts.bridge.death:
            return  # nothing goes on, whatever the last facts said
        self.parts.feed.follow_wall_clock(self._place.wall_clock() - self._clock())
        for panel in self.query(Panel):
            if panel.view.state != "idle":
                panel.show(panel.view, self._clock())
        self.show_chosen()
        self.filter_again()

    def on_descendant_focus(self) -> None:
        if isinstance(self.focused, Panel) and self.focused.view.agent != self._chosen:
            self.choose(self.focused.view.agent)
        self.show_keys()

    # What the person types

    def on_input_bar_edited(self, message: InputBar.Edited) -> None:
        self._typed_at = self._clock()
        # Else it is late news: of what Enter was pressed on, or of what is no longer there.
        if message.text != self._refused and message.text == self.query_one(InputBar).text:
            self._refused = None
            self._explain(message.text)

    async def on_input_bar_submitted(self, message: InputBar.Submitted) -> None:
        text = message.text
        bar = self.query_one(InputBar)
        if command := self._mirror.command(text):
            if self._run_command(command.name, command.arguments):
                bar.accept(text)
            else:
                bar.refuse()
                self._refused = text
            return
        if self._mirror.explain(text, self._clock()).error is not None:
            # What was sent just before may have changed that, and not have been drawn yet.
            await self._desk.catch_up()
            self._draw()
            if refused := self._mirror.explain(text, self._clock()).error:
                self._refuse(refused, text)
                return
        bar.accept(text)
        if not text.rstrip().endswith("&"):
            self.parts.feed.to_end()
        self.run_worker(self._await_answer(text, self._desk.submit(text)), group="submit", name="submit")

    async def _await_answer(self, text: str, answer: Awaitable[StatementError | None]) -> None:
        if error := await answer:
            bar = self.query_one(InputBar)
            # The plan line is drawn anew with the next facts, which may leave nothing to complain of.
            self.tell(
                f"Not sent: {error.message} {'Up brings the text back.' if bar.text else ''}", alarm=True
            )
            if not bar.text:
                bar.text = text
                self._refuse(error, text)

    def _refuse(self, error: StatementError, text: str) -> None:
        self._refused = text
        self.query_one(PlanLine).refuse(error)
        bar = self.query_one(InputBar)
        bar.refuse()
        bar.show_error(error.span)

    def _run_command(self, name: str, arguments: str = "") -> bool:
        try:
            run_command(self._desk, name, arguments)
        except CommandError as error:
            self.query_one(PlanLine).complain(str(error))
            return False
        return True

    def offer_command(self, name: str, *words: str) -> None:
        """Run a command that needs no words, or put it into the input to be completed."""
        bar = self.query_one(InputBar)
        if SLASH_COMMANDS[name].arguments:
            bar.clear_to_history()
            bar.text = " ".join((f"/{name}", *words, ""))
            bar.focus()
        else:
            self._run_command(name)

    def _explain(self, text: str) -> None:
        plan, bar = self.query_one(PlanLine), self.query_one(InputBar)
        if not text.strip():
            plan.hint(
                self.obstacle or "type @agent and a task; $agent puts an agent's output in; -> hands it on"
            )
            return
        if len(text) > _LONGEST_EXPLAINED:
            plan.hint("too long to explain while you type; Enter checks and sends it")
            return
        if hint := command_hint(text, self._mirror.command(text)):
            plan.hint(hint)
            return
        plan.explain(self._mirror.explain(text, self._clock()), self.obstacle.partition(",")[0])
        bar.references = self._mirror.reference_states()

    # Choosing

    def on_panel_chosen(self, message: Panel.Chosen) -> None:
        if message.zoom:
            self.choose(message.agent)
            self.action_zoom()
        else:
            self.inspect(message.agent)

    def on_tabs_chosen(self, message: Tabs.Chosen) -> None:
        self._show_tab(message.agent)

    def on_inspector_closed(self) -> None:
        self.action_step_back()

    def _show_tab(self, agent: AgentId | None) -> None:
        self.query_one(Tabs).choose(agent)
        self.parts.feed.choose(agent)
        self.choose(agent)

    # Actions

    def action_step_back(self) -> None:
        """Close what is open; with nothing open, twice cancels what the chosen agent does."""
        for opened in ("-finding", "-inspecting", "-graphing", "-zoomed"):
            if self.has_class(opened):
                self.remove_class(opened)
                if opened == "-finding":
                    self.close_line()
                    self._explain(self.query_one(InputBar).text)
                    if self.has_class("-inspecting"):
                        self.parts.inspector.focus()
                        return
                if opened == "-zoomed":
                    self._show_tab(None)
                self.query_one(InputBar).focus()
                return
        if not self.query_one(InputBar).has_focus:
            self.query_one(InputBar).focus()
            return
        self._ladders.cancel_one(self._chosen)

    def action_interrupt(self) -> None:
        """Copy, or clear the input, or, twice, cancel what runs, or, twice with nothing running, quit."""
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            return
        bar = self.query_one(InputBar)
        if bar.text:
            bar.clear_to_history()
            return
        self._ladders.cancel_foreground_or_leave()

    def action_leave(self) -> None:
        """Quit, asking if anything runs."""
        self._desk.leave()

    def action_graph(self) -> None:
        """Show the graph, or hide it."""
        self.remove_class("-inspecting", "-zoomed")
        self.toggle_class("-graphing")
        (self.parts.graph if self.has_class("-graphing") else self.query_one(InputBar)).focus()

    def action_zoom(self) -> None:
        """Show only the chosen agent's output, or everyone's again."""
        self.remove_class("-inspecting", "-graphing")
        self.toggle_class("-zoomed")
        self._show_tab(self._chosen if self.has_class("-zoomed") else None)

    def action_tasks(self) -> None:
        """List all tasks."""
        run_command(self._desk, "tasks", "")

    def action_send_to_background(self) -> None:
        """Send what is typed with & at its end."""
        bar = self.query_one(InputBar)
        text = bar.text.rstrip()
        if text and self._mirror.command(text) is None:
            bar.text = text if text.endswith(" &") else f"{text} &"
            bar.action_send()

    def action_clear_output(self) -> None:
        """Empty the feed."""
        self.parts.feed.clear()

    def action_scroll_output(self, direction: int) -> None:
        """Scroll the output without leaving the input."""
        self.parts.feed.page(direction)

    def action_step_agent(self, by: int) -> None:
        """Show the next agent's tasks."""
        self._show_tab(self.query_one(Tabs).step(by))

    def action_choose_model(self) -> None:
        """Begin to type the command that sets the chosen agent's model."""
        if self._chosen is not None:
            self.offer_command("model", self._chosen)

    def action_focus_input(self) -> None:
        """Go back to the input."""
        self.query_one(InputBar).focus()

    def on_input_bar_interrupted(self) -> None:
        self.action_interrupt()

    def on_input_bar_leave_requested(self) -> None:
        self.action_leave()

    def on_input_bar_help_requested(self) -> None:
        self.action_help()

    def on_input_bar_agent_stepped(self, message: InputBar.AgentStepped) -> None:
        self.action_step_agent(message.by)

    def on_input_bar_scrolled(self, message: InputBar.Scrolled) -> None:
        self.action_scroll_output(message.direction)

    def on_input_bar_follow_requested(self) -> None:
        self.parts.feed.to_end()
