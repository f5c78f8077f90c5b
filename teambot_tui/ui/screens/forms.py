"""The forms about agents that come and go, as a screen opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.ui.screens.surface import SurfaceScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.agents.persona import AgentFile
    from teambot_tui.ui.desk import Desk
    from teambot_tui.ui.mirror import Mirror
    from teambot_tui.ui.screens.define import Draft
    from teambot_tui.ui.screens.parts import Parts


class FormsScreen(SurfaceScreen):
    """Opens a form, and does what comes of it. Each form is loaded when it is opened for the first time."""

    parts: Parts
    """There once the screen is complete, before anyone can ask for one of them."""
    _draft: Draft | None = None
    """What was in the form of a definition when it was left."""

    @property
    def _mirror(self) -> Mirror:
        return self.parts.mirror

    def _clock(self) -> float:
        """The time, as the session tells it: the only one that may be compared with what it told."""
        return self.parts.now()

    @property
    def _desk(self) -> Desk:
        return self.parts.desk

    async def choose_to_keep(self, agents: Sequence[AgentFile]) -> Sequence[AgentFile] | None:
        """Ask which agents to keep, and wait for the answer; nothing means not to leave."""
        from teambot_tui.ui.screens.keeping import KeepScreen  # noqa: PLC0415

        return await self.app.push_screen_wait(KeepScreen(agents))

    def action_context(self) -> None:
        """Show what everyone is told."""
        from teambot_tui.ui.screens.context import ContextScreen  # noqa: PLC0415

        self.app.push_screen(ContextScreen(self._mirror, self._desk.agents.set_context))

    def action_define(self) -> None:
        """Open the form of a definition."""
        self.in_background(self._define())

    async def _define(self) -> None:
        from teambot_tui.ui.screens.define import DefineScreen, Draft  # noqa: PLC0415

        roster = self._mirror.roster
        form = DefineScreen(
            self._draft or Draft(),
            (*roster.bases, *roster.agents),
            lambda text: self._mirror.explain(text, self._clock()),
            self._keep_draft,
        )
        statement = await self.app.push_screen_wait(form)
        if statement is None:
            return
        if error := await self._desk.submit(statement):
            self.tell(f"Not defined: {error.message}", alarm=True)
        else:
            self._draft = None

    def _keep_draft(self, draft: Draft) -> None:
        self._draft = draft
