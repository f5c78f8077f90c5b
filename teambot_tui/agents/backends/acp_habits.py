"""What single agents do in their own way, where the protocol leaves it to them or they do not keep to it.

Some end a turn well when their model failed, and say so in the place of an answer. Only what these agents are
known to say counts, never an answer that looks like it. Each was seen on the wire: `tests/agents/recorded`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Habits:
    """The ways of an agent.

    Where its model failed, its last message is one piece that `failure` matches, or, if the turn has used
    nothing, `failure_without_usage`; both give the reason as `why`. A `notice` is a piece without a message
    id that is no part of the answer; an `echo` says what the error of the turn says. With `sums` its counts
    are those of the whole session; with `repeats` those of a turn that failed are the ones of an earlier
    turn; with `counts_from_zero` it counts from zero in each process, also for a session that it has loaded.
    """

    failure: re.Pattern[str] = _NEVER
    failure_without_usage: re.Pattern[str] = _NEVER
    notice: re.Pattern[str] = _NEVER
    echo: re.Pattern[str] = _NEVER
    sums: bool = False
    repeats: bool = False
    counts_from_zero: bool = False

    def may_be_no_answer(self, message: str) -> bool:
        """Whether this message may be about a failure, if nothing follows it."""
        return any(sign.fullmatch(message) for sign in (self.failure, self.failure_without_usage, self.echo))

    def reason(self, message: str, *, used: bool) -> str | None:
        """Return why the model failed, if that is what the last message of a turn says."""
        found = self.failure.fullmatch(message)
        if found is None and not used:
            found = self.failure_without_usage.fullmatch(message)
        return found["why"] if found else None


_COPILOT: Final = Habits(
    failure=re.compile(
        r"Error: (?P<why>(?:[45]\d\d |Failed to get response from the AI model|Could not connect to ).*)",
        re.DOTALL,
    ),
    failure_without_usage=re.compile(r"Error: (?P<why>.+)", re.DOTALL),
    notice=re.compile(r"Info: Response was interrupted due to a server error\. Retrying\.\.\."),
    sums=True,
    counts_from_zero=True,
)
_GOOSE: Final = Habits(
    failure=re.compile(
        r"Ran into this error: (?P<why>.+?)\s*"
        r"Please retry if you think this is a transient or recoverable error\.\s*",
        re.DOTALL,
    ),
    repeats=True,
)
_CODEX: Final = Habits(notice=re.compile(r"Warning: .*\n\n", re.DOTALL))
_ZED_CODEX: Final = Habits(
    notice=re.compile(r"Model metadata for `[^`]*` not found\. Defaulting to [^\n]*"),
)
_KNOWN: Final = {
    "@agentclientprotocol/claude-agent-acp": Habits(
        echo=re.compile(r"API Error: .+", re.DOTALL), counts_from_zero=True
    ),
    "Copilot": _COPILOT,
    "goose-provider": _GOOSE,
    "@agentclientprotocol/codex-acp": _CODEX,
    "codex-acp": _ZED_CODEX,
    "@mistralai/mistral-vibe": Habits(sums=True),
}
_ORDINARY: Final = Habits()


def habits_of(names: Iterable[str]) -> Habits:
    """Return the ways of an agent, by its name or, where it tells none, by its ways to log in."""
    return next((_KNOWN[name] for name in names if name in _KNOWN), _ORDINARY)
