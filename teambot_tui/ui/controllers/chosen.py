"""One agent is chosen: by a key, a click or a task of the output; and what is done to it."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.ui.editor import EditorError, edit_text
from teambot_tui.ui.setup import Profile
from teambot_tui.ui.widgets.inspector_view import inspect

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from textual.screen import Screen

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.reading import TaskText
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.panels import Panels
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.widgets.feed import Feed
    from teambot_tui.ui.widgets.inspector import Inspector


class ChosenAgent:
    """The chosen agent, and the task of it that is inspected."""

    def __init__(
        self,
        screen: Screen[None],
        setup: ScreenSetup,
        actions: Actions,
        person: Person,
        panels: Panels,
        feed: Feed,
        inspector: Inspector,
        clock: Callable[[], float],
    ) -> None:
        self.agent: AgentId | None = None
        self._task: TaskId | None = None
        self._screen = screen
        self._setup = setup
        self._views = actions.views
        self._reading: Future[TaskText] | None = None
        self._actions = actions
        self._person = person
        self._panels = panels
        self._feed = feed
        self._inspector = inspector
        self._clock = clock

    def choose(self, agent: AgentId | None) -> None:
        """Let the keys act on this agent."""
        self.agent, self._task = agent, None
        self._panels.mark(agent)
        self.show()

    def choose_number(self, number: int) -> None:
        """Choose an agent by the number on its panel."""
        if panel := self._panels.numbered(number):
            self.choose(panel.view.agent)
            panel.focus()

    def inspect(self, agent: AgentId, task: TaskId | None = None) -> None:
        """Open the inspector."""
        self.choose(agent)
        self._task = task
        self._screen.remove_class("-graphing", "-timing", "-zoomed")
        self._screen.add_class("-inspecting")
        self.show()
        self._inspector.focus()

    def show(self) -> None:
        """Bring the inspector up to date."""
        if self.agent is None or not self._screen.query_one("#side").display:
            return
        name = self._task or self._views.agent(self.agent).task
        if name is None:
            self._show(None)
        else:
            self._read(name)

    def _read(self, task: TaskId) -> None:
        if self._reading is not None:
            self._reading.cancel()  # the newest wins
        self._reading = asked = self._actions.read(task)

        async def show() -> None:
            with suppress(asyncio.CancelledError, RefusedError):
                text = await asyncio.wrap_future(asked)
                if asked is self._reading:
                    self._show(text)

        self._screen.run_worker(show(), group="inspector", name="inspector")

    def _show(self, text: TaskText | None) -> None:
        if self.agent is not None:
            profile = self._profile(self.agent)
            self._inspector.show(inspect(self._views, self.agent, self._clock(), text, profile))

    def _profile(self, agent: AgentId) -> Profile:
        if defined := self._views.roster.temporary.get(agent):
            return Profile(f"of {defined.base}", "", defined.prompt)
        known = self._setup.profiles.get(agent)
        return known or Profile(self._setup.backends.get(agent, ""))

    # Acting

    def cancel(self) -> None:
        """Cancel the task at the output's cursor, or what the chosen agent does."""
        queue = self._views.queue(self.agent) if self.agent else ()
        if target := self._task_at_cursor() or next(iter(queue), None):
            self._actions.cancel(target)

    def retry(self) -> None:
        """Retry the task at the output's cursor, or the last of the chosen agent."""
        if target := self._task_at_cursor() or self.agent:
            self._actions.retry(target)

    def again(self) -> None:
        """Do the task at the output's cursor once more, or the last of the chosen agent."""
        if target := self._task_at_cursor() or self.agent:
            self._actions.again(target)

    def copy_output(self) -> None:
        """Copy the output at hand."""
        if target := self._task_at_cursor() or self.agent:
            self._person.in_background(self._copy(target))

    async def _copy(self, target: AgentId | TaskId) -> None:
        if text := await self._actions.output(target):
            who = f"{target} said" if "#" in target else f"@{target} said last"
            self._person.copy(text)
            self._person.tell(f"Copied what {who}.")

    def open_output(self) -> None:
        """Open the output at hand in the user's editor."""
        if target := self._task_at_cursor() or self.agent:
            self._person.in_background(self._open(target))

    async def _open(self, target: AgentId | TaskId) -> None:
        text = await self._actions.output(target)
        if not text:
            return
        app = self._screen.app
        try:
            edit_text(text, os.environ, app.suspend)
        except (EditorError, SuspendNotSupported) as error:
            self._person.tell(str(error), alarm=True)
        app.refresh(layout=True)

    @property
    def task_at_hand(self) -> TaskId | None:
        """The task at the output's cursor, or the last of the chosen agent."""
        tasks = self._views.tasks(self.agent) if self.agent else ()
        return self._task_at_cursor() or next(reversed(tasks), None)

    def _task_at_cursor(self) -> TaskId | None:
        return self._feed.cursor if self._feed.has_focus else None
