"""One turn of an agent: what it reports waits here for the task, and its wishes for an answer.

What waits is bounded: an agent that reports faster than anybody reads is held. A turn that is abandoned
holds nobody: its wishes are withdrawn and what still comes is dropped.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.backends.acp_requests import acts, exact, requested
from teambot_tui.agents.backends.acp_updates import Activity
from teambot_tui.engine.ports import Permission, Text, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teambot_tui.agents.backends.acp_habits import Habits
    from teambot_tui.agents.backends.acp_usage import Meter
    from teambot_tui.engine.ports import ToolState, Update

_MOST_WAITING: Final = 256  # updates


class Turn:
    """What one task hears from its agent."""

    def __init__(self, meter: Meter, habits: Habits) -> None:
        self.spoke = False
        self.denied = False
        self.speechless = False
        """It was denied something and has not said a word since."""
        self._activity = Activity(meter, habits)
        self._updates: list[Update] = []
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._wishes: set[asyncio.Future[Verdict | None]] = set()
        self.abandoned = False

    def hear(self, update: Mapping[str, Any]) -> None:
        """Take in what the agent reports."""
        for each in self._activity.translate(update):
            self._put(each)

    def failure(self, *, used: bool) -> str | None:
        """Return why the agent's model failed, if that is what the end of the turn says."""
        return self._activity.answer.failure(used=used)

    def release(self, error: str = "") -> None:
        """Take in the rest of what the agent said; nothing follows but the error of the turn, if any."""
        for text in self._activity.answer.release(error):
            self._put(text)

    def close_tools(self, state: ToolState) -> None:
        """Report an end for every tool call that the agent left open."""
        for call in self._activity.close(state):
            self._put(call)

    def report(self, update: Update) -> None:
        """Take in what is known besides."""
        self._put(update)

    async def room(self) -> None:
        """Wait until more may be taken in."""
        await self._room.wait()

    def wake(self) -> None:
        """Let who waits for updates look again."""
        self._changed.set()

    async def updates(self) -> list[Update]:
        """Wait until something has come or somebody woke us, and give it away."""
        await self._changed.wait()
        return self.take()

    def take(self) -> list[Update]:
        """Give away what has come."""
        self._changed.clear()
        updates, self._updates = self._updates, []
        self._room.set()
        return updates

    async def ask_for_call(
        self, identity: str, call: Mapping[str, Any], consequence: str = ""
    ) -> Verdict | None:
        """Ask permission for a tool call of the agent's own; nothing when the turn ends before the answer.

        `consequence` is what allowing it means to the agent, where that is more than this once.
        """
        shown, fields = self._activity.wish(identity, call)
        self._put(shown)
        detail = requested(identity, fields, consequence)
        return await self.ask(
            identity, shown.title, shown.kind, detail, exact=exact(fields), acts=acts(fields)
        )

    async def ask(
        self, identity: str, tool: str, kind: str, detail: str, *, exact: str = "", acts: bool = False
    ) -> Verdict | None:
        """Ask permission; nothing when the turn ends before the answer."""
        if self.abandoned:
            return None
        wish: asyncio.Future[Verdict | None] = asyncio.get_running_loop().create_future()
        self._wishes.add(wish)
        self._put(Permission(identity, tool, kind, detail, _answer(wish), exact, acts))
        try:
            verdict = await wish
        finally:
            self._wishes.discard(wish)
        if verdict is Verdict.REJECT:
            self.denied = self.speechless = True
        return verdict

    def abandon(self) -> None:
        """Nobody listens any more: withdraw the wishes and drop what still comes."""
        self.abandoned = True
        self._updates.clear()
        self._room.set()
        for wish in self._wishes:
            if not wish.done():
                wish.set_result(None)

    def _put(self, update: Update) -> None:
        if self.abandoned:
            return
        if isinstance(update, Text) and update.text:
            self.spoke, self.speechless = True, False
        self._updates.append(update)
        self._changed.set()
        if len(self._updates) >= _MOST_WAITING:
            self._room.clear()


def _answer(wish: asyncio.Future[Verdict | None]) -> Callable[[Verdict], None]:
    def answer(verdict: Verdict) -> None:
        if not wish.done():  # it was withdrawn
            wish.set_result(verdict)

    return answer
