"""A stage for the whole screen: a team that speaks when the test lets it, real keys, and no sleeping.

The engine runs in its own thread, so the gate is opened there, and a test waits for what it expects to see.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.keys import _character_to_key

from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Member
from teambot_tui.engine.session import Session
from teambot_tui.ui.app import TeambotApp
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.keys import Keys
from teambot_tui.ui.screens.session import SessionScreen
from teambot_tui.ui.setup import ScreenSetup
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.lines import Line
from teambot_tui.ui.widgets.panel import Panel
from teambot_tui.ui.widgets.table import TableLines
from tests.team import TEAM, Gate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Sequence
    from concurrent.futures import Future

    from textual.app import App
    from textual.geometry import Region
    from textual.pilot import Pilot
    from textual.widget import Widget

    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.ports import Backend
    from teambot_tui.ui.bridge import Bridge

Answer = TypeVar("Answer")

SMALL, NORMAL, LARGE = (80, 24), (120, 40), (200, 50)
_PATIENCE = 60.0
"""Seconds after which a test gives up what it waits for: far more than the slowest machine needs."""


_SOON_DONE = ("submit", "explain", "inspector")
"""Workers that only wait for the engine."""


def engine_does(bridge: Bridge, request: Callable[[Session], Answer]) -> Future[Answer]:
    """Let the engine's thread do something with the session itself, as no face can."""
    return bridge.ask(lambda service: request(service._session))


def output_of(app: TeambotApp, task: str) -> str:
    """Return what a task has said so far."""
    return app.bridge._service.output(TaskId(task))


class Clock:
    """Stands still until the test moves it; so does the wall clock, which may be set to another time."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now
        self.wall_clock_ahead = 0.0

    def __call__(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now + self.wall_clock_ahead


class Stage:
    """An open session on the screen, and what a person can do and see there."""

    def __init__(self, app: TeambotApp, pilot: Pilot[None], gate: Gate, clock: Clock) -> None:
        self.app = app
        self.pilot = pilot
        self.gate = gate
        self.clock = clock

    # What a person does

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other, and each time wait for what the engine says to it."""
        for key in keys:
            await press(self.pilot, key)
            await self._heard()

    async def type_text(self, text: str) -> None:
        """Type a text, key by key."""
        await type_text(self.pilot, text)
        await self.pilot.pause()
        await self._heard()

    async def enter(self, text: str, *, made: int | None = None) -> None:
        """Type a text and send it; wait until there are `made` tasks in all."""
        await type_text(self.pilot, text)
        await self.press("enter")
        if made is not None:
            await self.until(lambda: len(self.app.views.tasks()) == made, f"{made} tasks")

    async def paste(self, text: str, *, made: int | None = None) -> None:
        """Paste a text and send it, where it does not matter how it came into the input."""
        driver = self.app._driver
        assert driver is not None
        driver.send_message(events.Paste(text))
        await self.enter("", made=made)

    # What the engine does

    async def ask(self, request: Callable[[Session], Answer]) -> Answer:
        """Let the engine's thread do something."""
        return await asyncio.wrap_future(engine_does(self.app.bridge, request))

    async def answer(self, task: str, text: str | None = None) -> None:
        """Let a task complete, and wait until the screen shows it."""
        await self._started(task)
        await self.ask(lambda _: self.gate.answer(task, text))
        await self.until(lambda: self.state(task) == "completed", f"{task} to be completed")
        await self._heard()

    async def fail(self, task: str, reason: str = "out of ideas") -> None:
        """Let a task fail, and wait until the screen shows it."""
        await self._started(task)
        await self.ask(lambda _: self.gate.fail(task, reason))
        await self.until(lambda: self.state(task) == "failed", f"{task} to fail")
        await self._heard()

    async def _heard(self) -> None:
        """Wait until the engine has done what it was asked to, and the screen shows it.

        A pause alone takes a program for idle that a busy machine does not let run.
        """
        while True:
            await self.until(lambda: not self._is_behind, "the screen to follow")
            await self._engine_came_to_it()
            if not self._is_behind:
                return

    async def _engine_came_to_it(self) -> None:
        answer = asyncio.wrap_future(engine_does(self.app.bridge, lambda _: None))
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # the engine may be dead
        await asyncio.wait([answer], timeout=1)
        await self.until(lambda: answer.done() or not self.app.is_running, "the engine")

    @property
    def _is_behind(self) -> bool:
        """Whether somebody still has a message to handle, or the screen does not show yet what it knows."""
        app = self.app
        if not app.is_running:
            return False
        widgets = (widget for screen in app.screen_stack for widget in screen.walk_children(with_self=True))
        return (
            self.app.bridge.is_behind(self.app.views.frame)
            or app.message_queue_size > 0
            or any(widget.message_queue_size for widget in widgets)
            or any(worker.group in _SOON_DONE and not worker.is_finished for worker in app.workers)
        )

    async def _started(self, task: str) -> None:
        await self.until(lambda: task in self.gate.started, f"{task} to start")

    # What is seen

    async def until(self, condition: Callable[[], object], expected: str = "it") -> None:
        """Wait until something holds, and what it leads to is done."""
        await until(self.pilot, condition, expected)
        await self.pilot.pause()

    @property
    def screen(self) -> SessionScreen:
        """The session's screen, whatever lies over it."""
        screen = self.app.screen_stack[0]
        assert isinstance(screen, SessionScreen)
        return screen

    @property
    def bar(self) -> InputBar:
        """The input."""
        return self.screen.query_one(InputBar)

    @property
    def feed(self) -> Feed:
        """The output."""
        return self.screen.query_one(Feed)

    @property
    def inspector(self) -> Inspector:
        """The inspector."""
        return self.screen.query_one(Inspector)

    @property
    def focused(self) -> Widget | None:
        """Who gets the keys."""
        return self.screen.focused

    def panel(self, agent: str) -> Panel:
        """Return an agent's panel."""
        return self.screen.query_one(f"#panel-{agent}", Panel)

    def badge(self, agent: str) -> str:
        """Return what an agent's panel says of its state."""
        return self.panel(agent).badge

    def line(self, name: str) -> str:
        """Return the text of one of the lines: `title`, `tabs`, `plan`, `footer`."""
        line = self.screen.query_one(f"#{name}", Line)
        return str(line.render())

    @property
    def plan(self) -> str:
        """What the plan line says."""
        return self.line("plan")

    @property
    def complaint(self) -> str:
        """What the plan line complains of, if it does."""
        return self.plan if self.screen.query_one("#plan").has_class("-error") else ""

    @property
    def notices(self) -> list[str]:
        """The notices of this session, oldest first."""
        return [notice.message for notice in self.app._notifications]

    @property
    def dialog(self) -> str:
        """What lies over the session says, its title first; nothing when nothing does."""
        top = self.app.screen
        if top is self.screen:
            return ""
        box = top.query_one(".dialog")
        texts = [str(part.visual) for part in box.query("Static").results()]  # type: ignore[attr-defined]
        for table in box.query(TableLines):
            texts += drawn_rows(table, table.size.region)
        return f"{box.border_title}\n" + "\n".join(texts)

    def state(self, task: str) -> str:
        """Return a task's state as the screen knows it."""
        return self.app.views.task(TaskId(task)).state if task in self.app.views.tasks() else ""

    def rows(self, selector: str) -> list[str]:
        """Return what a widget has drawn, row by row."""
        widget = self.screen.query_one(selector)
        return drawn_rows(widget, widget.outer_size.region)

    def drawn(self, selector: str) -> str:
        """Return what a widget has drawn."""
        return "\n".join(self.rows(selector))


def drawn_rows(widget: Widget, region: Region) -> list[str]:
    """Return what a widget has drawn, row by row."""
    strips = widget.render_lines(region)
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Press the keys of a text; within a row as fast as they come, and without waiting at the end."""
    for number, row in enumerate(text.split("\n")):
        if number:
            await pilot.pause()
            await press(pilot, "ctrl+j")
        for character in row:
            _send(pilot.app, character)


async def press(pilot: Pilot[None], key: str) -> None:
    """Press a key and let the app do what it does."""
    _send(pilot.app, key)
    await pilot.pause()


def _send(app: App[None], key: str) -> None:
    """Let a key arrive as from the terminal. (Pilot's own way waits three times for each.)"""
    driver = app._driver
    assert driver is not None
    character = key if len(key) == 1 else None
    driver.send_message(
        events.Key(key if key.isalnum() or not character else _character_to_key(key), character)
    )


async def until(pilot: Pilot[None], condition: Callable[[], object], expected: str = "it") -> None:
    """Let the app go on until something holds; fail if it never does."""
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {expected}"
        await pilot.pause()


def session_on(
    backend: Backend, clock: Callable[[], float], policy: Policy | None = None, default: str | None = None
) -> Session:
    """Return a session of the default team, in which others can join, on one backend and one clock."""

    def recruit(defined: AgentDefined) -> Member:
        base = f"You are {defined.base}."
        system = "\n\n".join(filter(None, (base, defined.prompt)))
        return Member(defined.agent, system, defined.model, backend, exact_system=base)

    return Session(
        [Member(AgentId(name), f"You are {name}.", None, backend) for name in TEAM],
        bases=("general-purpose",),
        recruit=recruit,
        default_agent=AgentId(default) if default else None,
        policy=policy,
        clock=clock,
        attended=True,
    )


@asynccontextmanager
async def on_stage(
    size: tuple[int, int] = NORMAL,
    *,
    folder: Path = Path("/nowhere/auth-v2"),
    policy: Policy | None = None,
    default: str | None = None,
    keys: Keys | None = None,
    notify: Collection[str] = ("toast",),
    typed_ahead: Sequence[str] = (),
    gate: Gate | None = None,
) -> AsyncIterator[Stage]:
    """Open the app on a session whose agents answer when they are told to.

    The keys that are typed ahead come when the first picture is there and nothing else is.
    """
    gate, clock = gate or Gate(), Clock()
    session = session_on(gate, clock, policy, default)
    agents = session.roster.agents
    place = ScreenSetup(
        folder=folder,
        backends=dict.fromkeys(agents, "gate"),
        descriptions=dict.fromkeys(agents, "waits for the test"),
        models=session.models,
        glyphs=Glyphs(),
        wall_clock=clock.wall,
        keys=keys or Keys(),
        notify=notify,
    )

    def open_session() -> Session:
        for key in typed_ahead:
            Context().run(_send, app, key)  # else the screen, which asks for the session, would be its sender
        return session

    app = TeambotApp(open_session, place)
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(app, pilot, gate, clock)
        await stage.screen.is_complete.wait()
        await pilot.pause()
        yield stage
