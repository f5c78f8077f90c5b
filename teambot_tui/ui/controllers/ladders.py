"""Ctrl+C once nothing is left to copy or to clear: the first press says what the second one does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.keys import Keys
    from teambot_tui.ui.views import Views
    from teambot_tui.ui.widgets.lines import PlanLine


class SecondPress:
    """Remembers a key for two seconds: the first press says what the second one does."""

    PATIENCE: Final = 2.0
    """Seconds in which the second press counts."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first = ("", 0.0)

    def again(self, what: str) -> bool:
        """Tell whether this is the second press of the same in time."""
        before, when = self._first
        now = self._clock()
        is_second = before == what and now - when < self.PATIENCE
        self._first = ("", 0.0) if is_second else (what, now)
        return is_second


class Ladders:
    """The last step of the ladder: it is told where the text is that was just cleared."""

    def __init__(
        self, actions: Actions, views: Views, plan: PlanLine, clock: Callable[[], float], keys: Keys
    ) -> None:
        self._actions = actions
        self._views = views
        self._plan = plan
        self._keys = keys
        self._second_press = SecondPress(clock)

    def cancel_foreground_or_leave(self) -> None:
        """Twice: cancel what runs in the foreground; with nothing there, quit."""
        views = self._views
        tasks = (task for agent in views.roster.agents for task in views.queue(agent))
        running = tuple(task for task in tasks if not views.task(task).background)
        if not self._second_press.again(f"ctrl+c {bool(running)}"):
            if running:
                self._actions.foretell(running, self._warn)
            else:
                self._warn("quits")
        elif running:
            self._actions.cancel_at_once(running)
        else:
            self._actions.leave()

    def _warn(self, what: str) -> None:
        self._plan.warn(f"{self._keys.said('interrupt')} again {what}.", SecondPress.PATIENCE)
