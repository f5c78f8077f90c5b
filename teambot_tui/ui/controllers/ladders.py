"""Esc and Ctrl+C once nothing is left to close or to clear: the first press says what the second one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.keys import Keys
    from teambot_tui.ui.views import Views


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

    def __init__(
        self, actions: Actions, views: Views, person: Person, clock: Callable[[], float], keys: Keys
    ) -> None:
        self._actions = actions
        self._views = views
        self._person = person
        self._keys = keys
        self._second_press = SecondPress(clock)

    def cancel_one(self, chosen: AgentId | None) -> None:
        """Twice: cancel what the chosen agent does; without one, what the first busy agent does."""
        views = self._views
        agent = chosen or next((each for each in views.roster.agents if views.queue(each)), None)
        queue = views.queue(agent) if agent else ()
        if not queue:
            return
        if self._second_press.again(f"escape {queue[0]}"):
            self._actions.cancel(queue[0])
            return
        self._actions.warn(queue[:1], f"{self._keys.said('back')} again")

    def cancel_foreground_or_leave(self) -> None:
        """Twice: cancel what runs in the foreground; with nothing there, quit."""
        views = self._views
        tasks = (task for agent in views.roster.agents for task in views.queue(agent))
        running = tuple(task for task in tasks if not views.task(task).background)
        if not self._second_press.again(f"ctrl+c {bool(running)}"):
            again = f"{self._keys.said('interrupt')} again"
            if running:
                self._actions.warn(running, again)
            else:
                self._person.tell(f"{again} quits.")
        elif running:
            self._actions.cancel_at_once(running)
        else:
            self._actions.leave()
