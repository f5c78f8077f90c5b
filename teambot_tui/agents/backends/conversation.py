"""What an agent remembers of its earlier tasks: whole turns, the latest ones, never above a budget."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from teambot_tui.engine.text import size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

Message: TypeAlias = dict[str, str]
"""One message in the form of the chat API."""

_BYTES_PER_TOKEN: Final = 3  # English has about four, other languages and code fewer
_SHARE: Final = 0.75  # of the context; the rest is for the answer


@dataclass(frozen=True, slots=True)
class _Turn:
    prompt: str
    answer: str

    @property
    def size(self) -> int:
        return size_in_bytes(self.prompt) + size_in_bytes(self.answer)


class Conversation:
    """The completed turns of one agent that fit into a context of `limit` tokens, as far as one can guess."""

    def __init__(self, limit: int) -> None:
        self._budget = int(limit * _BYTES_PER_TOKEN * _SHARE)
        self._turns: deque[_Turn] = deque()
        self._size = 0

    def messages(self, system: str, prompt: str) -> list[Message]:
        """Return what to send: who the agent is, as many of the latest turns as fit, and the new prompt."""
        room = self._budget - size_in_bytes(system) - size_in_bytes(prompt)
        first = [_message("system", system)] if system else []
        return [*first, *self._latest(room), _message("user", prompt)]

    def remember(self, prompt: str, answer: AnswerBuffer) -> None:
        """Keep a completed turn and let the oldest ones go for it; one that never fits is not kept at all."""
        turn = _Turn(prompt, answer.text)
        if not answer.is_whole or turn.size > self._budget:
            return
        self._turns.append(turn)
        self._size += turn.size
        while self._size > self._budget:
            self._size -= self._turns.popleft().size

    def new_answer(self) -> AnswerBuffer:
        """Begin to collect an answer that is to be remembered."""
        return AnswerBuffer(self._budget)

    def _latest(self, room: int) -> Iterator[Message]:
        kept: list[_Turn] = []
        for turn in reversed(self._turns):
            room -= turn.size
            if room < 0:
                break
            kept.append(turn)
        for turn in reversed(kept):
            yield _message("user", turn.prompt)
            yield _message("assistant", turn.answer)


class AnswerBuffer:
    """A growing answer, given up once it is longer than could be remembered: a flood costs no memory."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[str] = []
        self._size = 0

    def append(self, text: str) -> None:
        """Add a piece at the end."""
        self._size += size_in_bytes(text)
        if self.is_whole:
            self._pieces.append(text)
        else:
            self._pieces.clear()

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it was given up."""
        return self._size <= self._limit

    @property
    def text(self) -> str:
        """What was collected."""
        return "".join(self._pieces)


def _message(role: str, text: str) -> Message:
    return {"role": role, "content": text}
