"""What a turn has used, from the counts that agents give in their own ways; each token is counted once.

Most tell at the end of a turn what it has used, some what the whole session has; some count each call of a
model. Dollars are always those of the session. `used` of the protocol is what the context holds now, which is
nothing that was spent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teambot_tui.engine.ports import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp.schema import PromptResponse

    Tokens = tuple[int, int]

_NOTHING: Tokens = (0, 0)


class Meter:
    """Counts for one session; with `sums` the agent's counts are those of the session."""

    def __init__(self, *, sums: bool = False) -> None:
        self._sums = sums
        self._has_begun = False
        self._turn: Tokens = _NOTHING
        self._turn_before: Tokens = _NOTHING
        """What a turn had used before it was told to go on."""
        self._session: Tokens = _NOTHING
        self._session_before: Tokens = _NOTHING
        self._cost: float | None = None
        self._cost_before = 0.0
        self._context: int | None = None
        self._counted: tuple[Tokens, float | None] = (_NOTHING, None)

    def begin(self) -> None:
        """Let a turn begin: what was told before the first is old, what came since the last is its own."""
        if not self._has_begun:
            self._counted = (self._session, self._cost)
        self._has_begun = True
        self._turn = self._turn_before = _NOTHING
        self._session_before = self._counted[0]
        self._cost_before = self._counted[1] or 0.0

    def go_on(self) -> None:
        """Let a turn go on whose counts begin from zero again."""
        self._turn_before = (self._turn_before[0] + self._turn[0], self._turn_before[1] + self._turn[1])
        self._turn = _NOTHING

    def note(self, update: Mapping[str, Any]) -> None:
        """Take in what is told of the session."""
        if isinstance(context := update.get("used"), int):
            self._context = context
        match update.get("cost"):
            case {"amount": int() | float() as amount, "currency": "USD"}:
                if float(amount) < (self._cost or 0.0):  # it counts from zero again
                    self._cost_before = 0.0
                self._cost = float(amount)
        match update.get("_meta"):
            case {"promptTokens": int(taken_in), "completionTokens": int(produced)} if self._sums:
                self._note_session((taken_in, produced))

    def add(self, call: Mapping[str, Any]) -> None:
        """Take in what one call of a model has used."""
        match call:
            case {"inputTokens": int(taken_in), "outputTokens": int(produced)}:
                self._turn = (self._turn[0] + taken_in, self._turn[1] + produced)

    def end(self, response: PromptResponse) -> Usage | None:
        """Tell what the turn has used, if the answer to it says more than was known."""
        if (usage := response.usage) is not None:
            produced = usage.output_tokens
            if (thought := usage.thought_tokens or 0) <= usage.total_tokens - usage.input_tokens - produced:
                produced += thought  # others count it as output already
            # What is in no other count was input.
            counts = (max(usage.input_tokens, usage.total_tokens - produced), produced)
            if self._sums:
                self._note_session(counts)
            else:
                self._turn = counts
            return self.usage()
        match response.field_meta:
            case {"quota": {"token_count": {"input_tokens": int(taken_in), "output_tokens": int(produced)}}}:
                self._turn = (taken_in, produced)
                return self.usage()
        return None

    def usage(self) -> Usage:
        """Tell what the turn has used so far."""
        self._counted = (self._session, self._cost)
        taken_in = self._turn_before[0] + self._turn[0]
        produced = self._turn_before[1] + self._turn[1]
        if self._sums:
            taken_in, produced = (
                max(0, now - before) for now, before in zip(self._session, self._session_before, strict=True)
            )
        cost = None if self._cost is None else max(0.0, self._cost - self._cost_before)
        return Usage(taken_in, produced, cost, self._context)

    def _note_session(self, counts: Tokens) -> None:
        if sum(counts) < sum(self._session):  # it counts from zero again
            self._session_before = _NOTHING
        self._session = counts
