"""What the person types: explained while they type, then submitted or run as a command; never lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.ui.action_table import SLASH_COMMANDS, command_hint, run_command
from teambot_tui.ui.commands import CommandError
from teambot_tui.ui.welcome import HINT
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.screen import Screen

    from teambot_tui.language.errors import StatementError
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.alerts import Alerts
    from teambot_tui.ui.controllers.controls import Controls
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.widgets.feed import Feed

_LONGEST_EXPLAINED = 64 * 1024


class Drafting:
    """Keeps the plan line in step with the input, and does what is entered."""

    def __init__(
        self,
        screen: Screen[None],
        controls: Controls,
        actions: Actions,
        person: Person,
        alerts: Alerts,
        feed: Feed,
        draw: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self.bar: InputBar = screen.query_one(InputBar)
        self._plan = screen.query_one(PlanLine)
        self._screen = screen
        self._controls = controls
        self._mirror = actions.mirror
        self._actions = actions
        self._person = person
        self._alerts = alerts
        self._feed = feed
        self._draw = draw
        self._clock = clock
        self._refused: str | None = None
        """The text that the plan line complains of, until it changes."""

    # Explaining

    def edited(self, text: str) -> None:
        """Explain what is typed now."""
        self._alerts.typed_at = self._clock()
        # Else it is late news: of what Enter was pressed on, or of what is no longer there.
        if text != self._refused and text == self.bar.text:
            self._refused = None
            self.explain()

    def explain_again(self) -> None:
        """Explain what is typed in the light of what has changed, unless something else is said there."""
        if not self.bar.text.startswith("/") and not self._screen.has_class("-finding"):
            self.explain()

    def explain(self) -> None:
        """Say in the plan line what is typed would do."""
        text, obstacle = self.bar.text, self._alerts.obstacle
        if not text.strip():
            self._plan.hint(obstacle or HINT)
            return
        if len(text) > _LONGEST_EXPLAINED:
            self._plan.hint("too long to explain while you type; Enter checks and sends it")
            return
        if hint := command_hint(text, self._mirror.command(text)):
            self._plan.hint(hint)
            return
        self._plan.explain(self._mirror.explain(text, self._clock()), obstacle.partition(",")[0])
        self.bar.references = self._mirror.reference_states()

    # Entering

    async def submit(self, text: str) -> None:
        """Do what was entered; where it cannot be done, the text stays and the plan line says why."""
        if command := self._mirror.command(text):
            if self._run(command.name, command.arguments):
                self.bar.accept(text)
            else:
                self.bar.refuse()
                self._refused = text
            return
        if self._mirror.explain(text, self._clock()).error is not None:
            # What was sent just before may have changed that, and not have been drawn yet.
            await self._actions.catch_up()
            self._draw()
            if refused := self._mirror.explain(text, self._clock()).error:
                self._refuse(refused, text)
                return
        self.bar.accept(text)
        if not text.rstrip().endswith("&"):
            self._feed.to_end()
        answer = self._await_answer(text, self._actions.submit(text))
        self._screen.run_worker(answer, group="submit", name="submit")

    async def _await_answer(self, text: str, answer: Awaitable[StatementError | None]) -> None:
        if error := await answer:
            # The plan line is drawn again with the next facts, which may leave nothing to complain of.
            back = "Up brings the text back." if self.bar.text else ""
            self._person.tell(f"Not sent: {error.message} {back}", alarm=True)
            if not self.bar.text:
                self.bar.text = text
                self._refuse(error, text)

    def _refuse(self, error: StatementError, text: str) -> None:
        self._refused = text
        self._plan.refuse(error)
        self.bar.refuse()
        self.bar.show_error(error.span)

    def give_back(self, text: str, complaint: str) -> None:
        """Say why what was typed failed, and put it back to be mended."""
        if self.bar.text:
            self._person.tell(f"{complaint} Up brings the text back.", alarm=True)
            return
        self._refused = self.bar.text = text
        self.bar.refuse()
        self._plan.complain(complaint)

    def send_to_background(self) -> None:
        """Send what is typed with & at its end."""
        text = self.bar.text.rstrip()
        if text and self._mirror.command(text) is None:
            self.bar.text = text if text.endswith(" &") else f"{text} &"
            self.bar.action_send()

    # Commands

    def offer_command(self, name: str, *words: str) -> None:
        """Run a command that needs no words, or put it into the input to be completed."""
        if SLASH_COMMANDS[name].arguments:
            self.bar.clear_to_history()
            self.bar.text = " ".join((f"/{name}", *words, ""))
            self.bar.focus()
        else:
            self._run(name)

    def _run(self, name: str, arguments: str = "") -> bool:
        try:
            run_command(self._controls, name, arguments)
        except CommandError as error:
            self._plan.complain(str(error))
            return False
        return True
