"""What agents do besides answering, and what of it calls for the person: a permission request, a used budget.

It is shown in the title, the keys and the plan, and told once; it never takes the focus. The person opens
the inbox when they like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.ui.glyphs import money, tokens
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import KeyBar, TitleBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.controllers.chosen import ChosenAgent
    from teambot_tui.ui.controllers.panels import Panels
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.mirror import Changes
    from teambot_tui.ui.screens.inbox import Inbox
    from teambot_tui.ui.screens.session import ScreenSetup
    from teambot_tui.ui.widgets.feed import Feed


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
        self._mirror = actions.mirror
        self._actions = actions
        self._person = person
        self._panels = panels
        self._chosen = chosen
        self._feed = feed
        self._clock = clock
        self._requests: tuple[PermissionRequest, ...] = ()
        self._inbox: Inbox | None = None
        self._used: Usage | None = None
        self.talking: set[AgentId] = set()
        """Whose panels have news that can wait for the next beat."""
        self.obstacle = ""
        """What keeps everything from starting, and what to do about it."""
        self.typed_at = 0.0
        """When the person last typed something."""

    def follow(self, changes: Changes) -> bool:
        """Show what agents do, tell what calls for the person; return whether more or less can be started."""
        for task in changes.active:
            self._feed.show_activity(self._mirror.task(task))
        for view in map(self._mirror.task, changes.ended):
            if view.background and view.step is None and view.state != "cancelled":
                self._person.call(f"{view.task} {view.state}", alarm=view.state != "completed")
        requests = self._mirror.requests
        if requests != self._requests:
            self.ask_for(requests)
        before, self.obstacle = self.obstacle, self._find_obstacle()
        moved = self.obstacle != before
        if moved and self.obstacle:
            self._person.call(f"{self.obstacle}.", alarm=True)
        if changes.tasks or moved:
            self._show_title()
            self.show_keys()
        return moved

    def follow_workflows(self) -> None:
        """Show how far workflows are, and call the person when one is over."""
        progress = self._mirror.ups
        dot = f" {self._setup.glyphs['dot']} "
        words = "   ".join(dot.join(each.clauses) for each in progress.progress())
        self._screen.query_one(TitleBar).follow(words)
        for outcome in progress.take_outcomes():
            self._person.call(outcome.words, alarm=outcome.alarm)

    def show_last_lines(self) -> None:
        """Bring up to date what changes too fast to be read in every frame."""
        if self._chosen.agent in self.talking:
            self._chosen.show()
        while self.talking:
            self._panels.show(self.talking.pop())
        if self._mirror.used != self._used:
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
        reached, limits = self._mirror.budget_reached, self._mirror.spending
        if reached is None:
            return ""
        if limits.cost_limit is not None and reached.cost >= limits.cost_limit:
            used = f"{money(reached.cost)} of {money(limits.cost_limit)}"
        else:
            used = f"{tokens(reached.tokens)} of {tokens(limits.token_limit or 0)} tokens"
        return f"budget reached, {used}: nothing starts until /budget raises it"

    def _show_title(self) -> None:
        mirror = self._mirror
        self._used = mirror.used
        asking = len({request.task for request in self._requests})
        alarm = "budget reached" if mirror.budget_reached else ""
        if self._bridge.death:
            alarm = "engine died"
        self._screen.query_one(TitleBar).tell(mirror.counts, asking, mirror.used, alarm)

    def show_keys(self) -> None:
        """Show the keys that matter now; one that answers a waiting agent comes first."""
        keys, waiting = self._setup.keys, len(self._requests)
        bar = self._screen.query_one(InputBar)
        where = "input" if self._screen.focused is bar else "panel, output"
        asking = [keys.in_footer("approvals", f"approve {waiting}")] if waiting else []
        shown = [key for key in keys.footer(where) if self._does_something(key.name, bar)]
        self._screen.query_one(KeyBar).tell([*asking, *shown])

    def _does_something(self, name: str, bar: InputBar) -> bool:
        """Tell whether a key of the footer would do anything now."""
        agent = self._chosen.agent
        match name:
            case "send" | "newline":
                return bool(bar.text.strip())
            case "cancel":
                return agent is not None and bool(self._mirror.queue(agent))
            case "retry":
                end = self._mirror.agent(agent).last_end if agent is not None else None
                return end in (State.FAILED, State.SKIPPED, State.CANCELLED)
            case "copy":
                return agent is not None and bool(self._actions.last_output(agent))
            case "inspect":
                return agent is not None
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
