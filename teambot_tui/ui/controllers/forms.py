"""The forms about agents that come and go, and about what everyone is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.mirror import Mirror
    from teambot_tui.ui.screens.define import Draft


class Forms:
    """Opens a form, and does what comes of it. Each form is loaded when it is opened for the first time."""

    def __init__(
        self,
        screen: Screen[None],
        mirror: Mirror,
        actions: Actions,
        person: Person,
        clock: Callable[[], float],
    ) -> None:
        self._screen = screen
        self._mirror = mirror
        self._actions = actions
        self._person = person
        self._clock = clock
        self._draft: Draft | None = None
        """What was in the form of a definition when it was left."""

    def context(self) -> None:
        """Show what everyone is told."""
        from teambot_tui.ui.screens.context import ContextScreen  # noqa: PLC0415

        self._screen.app.push_screen(ContextScreen(self._mirror, self._actions.agents.set_context))

    def define(self) -> None:
        """Open the form of a definition."""
        self._person.in_background(self._define())

    async def _define(self) -> None:
        from teambot_tui.ui.screens.define import DefineScreen, Draft  # noqa: PLC0415

        roster = self._mirror.roster
        form = DefineScreen(
            self._draft or Draft(),
            (*roster.bases, *roster.agents),
            lambda text: self._mirror.explain(text, self._clock()),
            self._keep_draft,
        )
        statement = await self._screen.app.push_screen_wait(form)
        if statement is None:
            return
        if error := await self._actions.submit(statement):
            self._person.tell(f"Not defined: {error.message}", alarm=True)
        else:
            self._draft = None

    def _keep_draft(self, draft: Draft) -> None:
        self._draft = draft
