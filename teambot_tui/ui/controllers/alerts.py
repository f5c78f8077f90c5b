"""What agents do besides answering, and what of it calls for the person: a permission request, a used budget.

It is shown in the title, the keys and the plan, and told once; it never takes the focus. The person opens
the inbox when they like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.widgets import Input

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import agent_of
from teambot_tui.ui.glyphs import money, tokens
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.lines import KeyBar, TitleBar
from teambot_tui.ui.widgets.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.screen import Screen

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.engine.views import Frame
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.controllers.chosen import ChosenAgent
    from teambot_tui.ui.controllers.panels import Panels
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.screens.inbox import Inbox
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.widgets.feed import Feed


_WHERE: Final[Mapping[type | None, str]] = {Graph: "graph", Timeline: "graph", Inspector: "inspector"}
"""Which keys are named while a widget has the focus."""


class Alerts:
    """Keeps the title and the line of keys, calls the person, and opens the inbox."""

    def __init__(
        self,
        screen: Screen[None],
        setup: ScreenSetup,
        bridge: Bridge,
        actions: Actions,
        person: Person,
        panels: Panels,
        chosen: ChosenAgent,
        feed: Feed,
        clock: Callable[[], float],
    ) -> None:
        self._screen = screen
        self._setup = setup
        self._bridge = bridge
        self._views = actions.views
        self._actions = actions
        self._person = person
        self._panels = panels
        self._chosen = chosen
        self._feed = feed
        self._clock = clock
        self._requests: tuple[PermissionRequest, ...] = ()
        self._inbox: Inbox | None = None
        self._used: Usage | None = None
        self._limits: tuple[float | None, int | None] = (None, None)
        """What was allowed when it was used up."""
        self.talking: set[AgentId] = set()
        """Whose panels have news that can wait for the next beat."""
        self.obstacle = ""
        """What keeps everything from starting, and what to do about it."""
        self.typed_at = 0.0
        """When the person last typed something."""

    def follow(self, frame: Frame) -> bool:
        """Show what agents do, tell what calls for the person; return whether more or less can be started."""
        for task in frame.active:
            self._feed.show_activity(self._views.task(task))
        for view in map(self._views.task, frame.ended):
            if view.background and view.step is None and view.state != "cancelled":
                self._person.call(f"{view.task} {view.state}", alarm=view.state != "completed")
        requests = self._views.requests
        if requests != self._requests:
            self.ask_for(requests)
        moved = self._look_for_obstacle()
        if frame.moved or moved:
            self._show_title()
            self.show_keys()
        return moved

    def follow_end(self) -> None:
        """Say why the engine has ended, if it has died."""
        if self._look_for_obstacle():
            self._show_title()

    def _look_for_obstacle(self) -> bool:
        """Call the person if nothing can start any more; tell whether that has changed."""
        before, self.obstacle = self.obstacle, self._find_obstacle()
        if self.obstacle and self.obstacle != before:
            self._person.call(f"{self.obstacle}.", alarm=True)
        return self.obstacle != before

    def follow_workflows(self, frame: Frame) -> None:
        """Show how far workflows are, and call the person when one is over."""
        if frame.workflows is not None:
            dot = f" {self._setup.glyphs['dot']} "
            words = "   ".join(dot.join(each.clauses) for each in frame.workflows)
            self._screen.query_one(TitleBar).follow(words)
        for outcome in frame.outcomes:
            self._person.call(outcome.words, alarm=outcome.alarm)

    def show_last_lines(self) -> None:
        """Bring up to date what changes too fast to be read in every frame."""
        if self._chosen.agent in self.talking:
            self._chosen.show()
        while self.talking:
            self._panels.show(self.talking.pop())
        if self._views.used != self._used:
            self._show_title()

    def ask_for(self, requests: tuple[PermissionRequest, ...]) -> None:
        """Show these requests where the inbox is open, else call the person to the new ones."""
        new = [request for request in requests if request not in self._requests]
        self._requests = requests
        self.show_keys()
        if self._inbox is not None and self._inbox.is_open:
            self._inbox.show(requests)
            return
        key = self._setup.keys.said("approvals")
        for request in new:
            self._person.call(f"@{request.agent} needs you: {request.summary} ({key})", alarm=True)

    def _find_obstacle(self) -> str:
        if death := self._bridge.death:
            return f"{death}, nothing can be started; what is here can be read"
        budget = self._views.budget
        if not budget.reached:
            return ""
        limits = (budget.cost_limit, budget.token_limit)
        if self.obstacle and limits == self._limits:
            return self.obstacle  # what those at work use meanwhile is no news
        self._limits = limits
        if budget.cost_limit is not None and budget.cost >= budget.cost_limit:
            used = f"{money(budget.cost)} of {money(budget.cost_limit)}"
        else:
            used = f"{tokens(budget.tokens)} of {tokens(budget.token_limit or 0)} tokens"
        return f"budget reached, {used}: nothing starts until /budget raises it"

    def _show_title(self) -> None:
        views = self._views
        self._used = views.used
        asking = len({request.task for request in self._requests})
        alarm = "budget reached" if views.budget.reached else ""
        if self._bridge.death:
            alarm = "engine died"
        self._screen.query_one(TitleBar).tell(views.counts, asking, views.used, alarm)

    def show_keys(self) -> None:
        """Show the keys that matter now; one that answers a waiting agent comes first."""
        keys, waiting = self._setup.keys, len(self._requests)
        bar, focused = self._screen.query_one(InputBar), self._screen.focused
        asking = [keys.in_footer("approvals", f"approve {waiting}")] if waiting else []
        if isinstance(focused, Input):
            shown = [keys.in_footer("send", "goes on"), keys.in_footer("back", "leaves")]
        else:
            where = "input" if focused is bar else _WHERE.get(type(focused), "panel, output")
            running = any(map(self._views.queue, self._views.roster.agents))
            shown = [
                key for key in keys.footer(where, running=running) if self._does_something(key.name, bar)
            ]
        self._screen.query_one(KeyBar).tell([*asking, *shown])

    def _does_something(self, name: str, bar: InputBar) -> bool:
        """Tell whether a key of the footer would do anything now."""
        task = self._feed.cursor if self._screen.focused is self._feed else None
        agent = agent_of(task) if task is not None else self._chosen.agent
        view = self._views.agent(agent) if agent is not None else None
        end = view.last_end if view is not None else None
        if task is not None:
            end = self._views.task(task).state
        match name:
            case "send" | "newline":
                return bool(bar.text.strip())
            case "cancel":
                at_work = agent is not None and bool(self._views.queue(agent))
                return at_work or self._screen.focused is self._feed
            case "retry":
                return end in (State.FAILED, State.SKIPPED, State.CANCELLED)
            case "again":
                return view is not None and view.task is not None
            case "copy":
                return view is not None and view.output is not None
            case "inspect":
                return view is not None
            case _:
                return True

    def open_inbox(self) -> None:
        """Open the inbox."""
        from teambot_tui.ui.screens.inbox import Inbox  # noqa: PLC0415  the first picture has none

        if not self._requests:
            self._person.tell("No agent asks for anything.")
            return
        app = self._screen.app
        app.clear_notifications()  # those that called for it would cover its keys
        self._inbox = Inbox(
            self._requests,
            self._actions.answer,
            self._setup.glyphs,
            self._setup.keys,
            self._clock,
            of=self._chosen.agent,
            typed_at=self.typed_at,
        )
        app.push_screen(self._inbox)
