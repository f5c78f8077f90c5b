"""What the person types: explained while they type, then submitted or run as a command; never lost."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.nodes import Command
from teambot_tui.language.parser import parse
from teambot_tui.ui.action_table import SLASH_COMMANDS, command_hint, run_command
from teambot_tui.ui.commands import CommandError
from teambot_tui.ui.welcome import HINT
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.lines import PlanLine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future

    from textual.screen import Screen

    from teambot_tui.engine.explain import Explanation
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.alerts import Alerts
    from teambot_tui.ui.controllers.controls import Controls
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.widgets.feed import Feed

_LONGEST_EXPLAINED = 64 * 1024


def _command(text: str) -> Command | None:
    """Return the slash command that this text is, if it is one."""
    if not text.lstrip().startswith("/"):
        return None
    try:
        first, *more = parse(printable(text))
    except StatementError:
        return None
    return first if isinstance(first, Command) and not more else None


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
        clock: Callable[[], float],
    ) -> None:
        self.bar: InputBar = screen.query_one(InputBar)
        self._plan = screen.query_one(PlanLine)
        self._screen = screen
        self._controls = controls
        self._views = actions.views
        self._actions = actions
        self._person = person
        self._alerts = alerts
        self._feed = feed
        self._clock = clock
        self._refused: str | None = None
        """The text that the plan line complains of, until it changes."""
        self._asked: Future[Explanation] | None = None
        self._wrong: str | None = None
        """The text that was wrong when it was explained last."""

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
        text = self.bar.text
        if self._asked is not None:
            self._asked.cancel()  # the newest wins
            self._asked = None
        if not text.strip():
            self._plan.hint(self._alerts.obstacle or HINT)
        elif len(text) > _LONGEST_EXPLAINED:
            self._plan.hint("too long to explain while you type; Enter checks and sends it")
        elif hint := command_hint(text, _command(text)):
            self._plan.hint(hint)
        else:
            self._asked = self._actions.explain(text)
            self._screen.run_worker(self._show(text, self._asked), group="explain", name="explain")

    async def _show(self, text: str, asked: Future[Explanation]) -> None:
        with suppress(asyncio.CancelledError, RefusedError):
            explanation = await asyncio.wrap_future(asked)
            if asked is not self._asked:
                return
            self._wrong = text if explanation.error is not None else None
            if text != self._refused:
                error = explanation.error
                self._plan.explain(
                    explanation,
                    self._alerts.obstacle.partition(",")[0],
                    unfinished=error is not None and self.bar.is_unfinished(error.span),
                )
                self.bar.references = self._views.reference_states()

    # Entering

    async def submit(self, text: str) -> None:
        """Do what was entered; where it cannot be done, the text stays and the plan line says why."""
        if command := _command(text):
            if self._run(command.name, command.arguments):
                self.bar.accept(text)
            else:
                self.bar.refuse()
                self._refused = text
            return
        answer = self._actions.submit(text)
        was_wrong = text == self._wrong
        if was_wrong and (error := await answer):  # else what it lacked has come meanwhile
            self._refuse(error, text)
            return
        self.bar.accept(text)
        if not text.rstrip().endswith("&"):
            self._feed.to_end()
        if not was_wrong:
            self._screen.run_worker(self._await_answer(text, answer), group="submit", name="submit")

    async def _await_answer(self, text: str, answer: Awaitable[StatementError | None]) -> None:
        if error := await answer:
            if self.bar.text:
                self._person.tell(f"Not sent: {error.message} Up brings the text back.", alarm=True)
            else:
                self._refused = self.bar.text = text
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

    def begin(self, text: str) -> None:
        """Put a text into the input, to be completed."""
        self.bar.load_text(text)
        self.bar.focus()

    def send_to_background(self) -> None:
        """Send what is typed with & at its end."""
        text = self.bar.text.rstrip()
        if text and _command(text) is None:
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
