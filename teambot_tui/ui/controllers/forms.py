"""The forms about agents that come and go, and about what everyone is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.screen import Screen

    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.screens.define import Draft
    from teambot_tui.ui.views import Views


class Forms:
    """Opens a form, and does what comes of it. Each form is loaded when it is opened for the first time."""

    def __init__(
        self,
        screen: Screen[None],
        views: Views,
        actions: Actions,
        person: Person,
    ) -> None:
        self._screen = screen
        self._views = views
        self._actions = actions
        self._person = person
        self._draft: Draft | None = None
        """What was in the form of a definition when it was left."""

    def context(self) -> None:
        """Show what everyone is told."""
        from teambot_tui.ui.screens.context import ContextScreen  # noqa: PLC0415

        self._screen.app.push_screen(ContextScreen(self._views, self._actions.agents))

    def define(self) -> None:
        """Open the form of a definition."""
        self._person.in_background(self._define())

    async def _define(self) -> None:
        from teambot_tui.ui.screens.define import DefineScreen, Draft  # noqa: PLC0415

        roster = self._views.roster
        form = DefineScreen(
            self._draft or Draft(),
            (*roster.bases, *roster.agents),
            self._actions.explain,
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
