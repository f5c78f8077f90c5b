"""The text of one turn: its messages apart from each other, and nothing in it that is no part of the answer.

Where the model of an agent fails, some agents say so as if it were the answer. Such a message is held back
until it is known whether it was the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.agents.backends.json_lines import Paragraphs, complaint
from teambot_tui.engine.ports import Text, Thought

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.agents.backends.acp_habits import Habits


class Answer:
    """What an agent says in one turn."""

    def __init__(self, habits: Habits) -> None:
        self._habits = habits
        self._paragraphs = Paragraphs()
        self._message = ""
        self._held = ""
        self._reasons: list[str] | None = None

    def say(self, text: str, message: object) -> Iterator[Text | Thought]:
        """Yield a piece of the message with this id, if it has one, and what was held back before it."""
        if isinstance(message, str) and message:
            if self._message and message != self._message:
                self._paragraphs.pause()
            self._message = message
        if self._reasons is not None:
            self._reasons.append(text)
        elif not message and self._habits.notice.fullmatch(text):
            yield Thought(text)
        elif text:
            yield from self.release()
            if self._paragraphs.is_new and self._habits.may_be_no_answer(text):
                self._held = text
            else:
                yield Text(self._paragraphs.say(text))

    def pause(self) -> None:
        """Let what is said next begin a paragraph."""
        self._paragraphs.pause()

    def release(self, error: str = "") -> Iterator[Text]:
        """Yield what was held back: it was part of the answer, unless the error of the turn says the same."""
        held, self._held = self._held, ""
        if held and held not in error:
            yield Text(self._paragraphs.say(held))

    def failed(self) -> None:
        """Take what is said from now on as the reason why the model failed."""
        self._reasons = []

    def went_on(self) -> Iterator[Text]:
        """Yield what was taken as a reason: the model did not fail after all."""
        said, self._reasons = "".join(self._reasons or ()), None
        if said:
            self._paragraphs.pause()
            yield Text(self._paragraphs.say(said))

    def failure(self, *, used: bool) -> str | None:
        """Return why the model failed, if the end of the turn says so; `used` if the turn used any tokens."""
        if self._reasons is not None:
            return complaint("".join(self._reasons).strip()) or "its model failed"
        reason = self._habits.reason(self._held, used=used)
        if reason is not None:
            self._held = ""
        return reason
