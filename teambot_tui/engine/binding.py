"""What a name in a prompt stands for, decided when the prompt is submitted and never again.

An agent or a variable is the newest task submitted before that could say it; what `$pm` means cannot change
by who is faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Dependency, Via
from teambot_tui.language.errors import StatementError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.cycles import Prospect
    from teambot_tui.engine.dependencies import Condition
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.language.nodes import Span

_SILENT: Final = (State.CANCELLED, State.SKIPPED)


class Binder:
    """Binds the names of one submission."""

    def __init__(self, source: str, prospect: Prospect, condition: Condition) -> None:
        self._source = source
        self._prospect = prospect
        self._condition = condition

    def agent(
        self, agent: AgentId, via: Via, span: Span, background: bool, siblings: Iterable[AgentId]
    ) -> Dependency:
        """Bind `$agent`, or an agent whose output is handed on."""
        if task := self._prospect.newest(agent):
            return Dependency(agent, task, via, self._condition)
        latest = self._prospect.latest(agent)
        if latest is None:
            # A task that waits for its own agent would stand in front of whatever could end the wait.
            if background and agent not in siblings:
                return Dependency(agent, None, via, self._condition)
            self._fail(
                f"Agent @{agent} has no output to reference. Run a task for @{agent} first.",
                span,
                f"try: @{agent} …, then this again"
                + ("" if agent in siblings else "; or end this with & to wait for it"),
            )
        if latest.state is State.FAILED:
            reason = latest.reason.removesuffix(".")
            self._fail(f"Agent @{agent} failed: {reason}. Retry it with /retry {agent}.", span, "")
        return Dependency(agent, latest.id, via, self._condition)

    def variable(self, name: str, span: Span) -> Dependency:
        """Bind `{name}`, which is known to be captured by some task."""
        planned, tasks = self._prospect.captures(name)
        if planned is not None:
            return Dependency(planned.agent, planned.task, Via.VARIABLE, self._condition, name)
        # As with an agent: a cancelled or skipped task leaves what was there before as it was.
        told = next((each for each in reversed(tasks) if each.state not in _SILENT), None)
        if told is None:
            newest = tasks[-1]
            self._fail(
                f"Variable {{{name}}} was never produced: {newest.id} was {newest.state}.",
                span,
                f"/retry {newest.id} brings it back; to send it as text, write \\{{{name}}}",
            )
        if told.state is State.FAILED:
            reason = told.reason.removesuffix(".")
            self._fail(
                f"Variable {{{name}}} was never produced: {told.id} failed: {reason}.",
                span,
                f"/retry {told.id} brings it back",
            )
        return Dependency(told.agent, told.id, Via.VARIABLE, self._condition, name)

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self._source, span, hint)
