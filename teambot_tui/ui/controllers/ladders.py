"""Esc and Ctrl+C once nothing is left to close or to clear: the first press says what the second one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.keys import Keys


class SecondPress:
    """Remembers a key for two seconds: the first press says what the second one does."""

    _PATIENCE = 2.0

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first = ("", 0.0)

    def again(self, what: str) -> bool:
        """Tell whether this is the second press of the same in time."""
        before, when = self._first
        now = self._clock()
        is_second = before == what and now - when < self._PATIENCE
        self._first = ("", 0.0) if is_second else (what, now)
        return is_second


class Ladders:
    """The last steps of both ladders."""

    def __init__(self, actions: Actions, person: Person, clock: Callable[[], float], keys: Keys) -> None:
        self._actions = actions
        self._person = person
        self._keys = keys
        self._second_press = SecondPress(clock)

    def cancel_one(self, chosen: AgentId | None) -> None:
        """Twice: cancel what the chosen agent does; without one, what the first busy agent does."""
        mirror = self._actions.mirror
        agent = chosen or next((each for each in mirror.roster.agents if mirror.queue(each)), None)
        queue = mirror.queue(agent) if agent else ()
        if not queue:
            return
        if self._second_press.again(f"escape {queue[0]}"):
            self._actions.cancel(queue[0])
            return
        _, fallen = self._actions.consequences(queue[0])
        also = f" (skips {', '.join(fallen)})" if fallen else ""
        also += self._actions.workflows.falls_with((queue[0], *fallen))
        self._person.tell(f"{self._keys.said('back')} again cancels {queue[0]}{also}.")

    def cancel_foreground_or_leave(self) -> None:
        """Twice: cancel what runs in the foreground; with nothing there, quit."""
        mirror = self._actions.mirror
        tasks, _ = self._actions.consequences("all")
        running = tuple(task for task in tasks if not mirror.task(task).background)
        if not self._second_press.again(f"ctrl+c {bool(running)}"):
            also = self._actions.workflows.falls_with(running)
            what = f"cancels {', '.join(running)}{also}" if running else "quits"
            self._person.tell(f"{self._keys.said('interrupt')} again {what}.")
        elif running:
            self._actions.cancel_at_once(running)
        else:
            self._actions.leave()
