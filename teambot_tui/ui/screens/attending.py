"""What agents do besides answering, and what of it calls for the person: a wish, a budget that is used up.

It is shown in the title, the keys and the plan, and told once; it never takes the focus. The person opens
the inbox when they like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.ui.glyphs import money, tokens
from teambot_tui.ui.screens.finding import FindingScreen
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import KeyBar, TitleBar

if TYPE_CHECKING:
    from teambot_tui.engine.activity import Wish
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.mirror import Changes
    from teambot_tui.ui.screens.inbox import Inbox


class AttendingScreen(FindingScreen):
    """Has a title, a line of keys and an inbox."""

    _glyphs: Glyphs
    _wishes: tuple[Wish, ...] = ()
    _inbox: Inbox | None = None
    _used: Usage | None = None
    obstacle = ""
    """What keeps everything from starting, and what to do about it."""
    _typed_at = 0.0
    """When the person last typed something."""

    def __init__(self, *, classes: str) -> None:
        super().__init__(classes=classes)
        self.talking: set[AgentId] = set()
        """Whose panels have news that can wait for the next beat."""

    def show_last_lines(self) -> None:
        """Bring up to date what changes too fast to be read in every frame."""
        if self._chosen in self.talking:
            self.show_chosen()
        while self.talking:
            self.show_agent(self.talking.pop())
        if self._mirror.used != self._used:
            self.show_title()

    def attend(self, changes: Changes) -> bool:
        """Show what agents do, tell what calls for the person; return whether more or less can be started."""
        for task in changes.active:
            self.parts.feed.show_activity(self._mirror.task(task))
        for view in map(self._mirror.task, changes.ended):
            if view.background and view.step is None and view.state != "cancelled":
                self.call(f"{view.task} {view.state}", alarm=view.state != "completed")
        wishes = self._mirror.wishes
        if wishes != self._wishes:
            self._ask_for(wishes)
        before, self.obstacle = self.obstacle, self._find_obstacle()
        moved = self.obstacle != before
        if moved and self.obstacle:
            self.call(f"{self.obstacle}.", alarm=True)
        if changes.tasks or moved:
            self.show_title()
        return moved

    def _ask_for(self, wishes: tuple[Wish, ...]) -> None:
        new = [wish for wish in wishes if wish not in self._wishes]
        self._wishes = wishes
        self.show_keys()
        if self._inbox is not None and self._inbox.is_open:
            self._inbox.show(wishes)
            return
        for wish in new:
            key = self.keys.said("approvals")
            self.call(f"@{wish.agent} needs you: {wish.summary} ({key})", alarm=True)

    def _find_obstacle(self) -> str:
        if death := self.parts.bridge.death:
            return f"{death}, nothing can be started; what is here can be read"
        reached, limits = self._mirror.budget_reached, self._mirror.spending
        if reached is None:
            return ""
        if limits.cost_limit is not None and reached.cost >= limits.cost_limit:
            used = f"{money(reached.cost)} of {money(limits.cost_limit)}"
        else:
            used = f"{tokens(reached.tokens)} of {tokens(limits.token_limit or 0)} tokens"
        return f"budget reached, {used}: nothing starts until /budget raises it"

    def show_title(self) -> None:
        """Bring the title up to date."""
        mirror = self._mirror
        self._used = mirror.used
        alarm = "budget reached" if mirror.budget_reached else ""
        if self.parts.bridge.death:
            alarm = "engine died"
        self.query_one(TitleBar).tell(mirror.counts, len(self._wishes), mirror.used, alarm)

    def show_keys(self) -> None:
        """Show the keys that matter now; one that answers a waiting agent comes first."""
        keys = self.keys.footer("input" if self.focused is self.query_one(InputBar) else "panel, output")
        asking = [(self.keys.said("approvals"), f"approve {len(self._wishes)}")] if self._wishes else []
        self.query_one(KeyBar).tell([*asking, *keys])

    def action_approvals(self) -> None:
        """Open the inbox."""
        from teambot_tui.ui.screens.inbox import Inbox  # noqa: PLC0415  the first picture has none

        if not self._wishes:
            self.tell("No agent asks for anything.")
            return
        self.app.clear_notifications()  # those that called for it would lie over its keys
        self._inbox = Inbox(
            self._wishes,
            self._desk.answer,
            self._glyphs,
            self.keys,
            self._clock,
            of=self._chosen,
            typed_at=self._typed_at,
        )
        self.app.push_screen(self._inbox)
