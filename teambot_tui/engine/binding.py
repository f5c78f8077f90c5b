"""What a name in a prompt stands for, decided when the prompt is submitted and never again.

An agent or a variable is the newest task submitted before that could say it; what `$pm` means cannot change
by who is faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Dependency, Via
from teambot_tui.engine.ids import AgentId, task_id
from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import PERSON, did_you_mean
from teambot_tui.language.nodes import Reference, Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from teambot_tui.engine.cycles import PlannedBoard
    from teambot_tui.engine.dependencies import Condition
    from teambot_tui.engine.roster import Roster
    from teambot_tui.language.nodes import Part, Span

_SILENT: Final = (State.CANCELLED, State.SKIPPED)


class Binder:
    """Binds the names of one submission."""

    def __init__(self, source: str, planned_board: PlannedBoard, condition: Condition) -> None:
        self._source = source
        self._planned_board = planned_board
        self._condition = condition

    def agent(
        self, agent: AgentId, via: Via, span: Span, background: bool, siblings: Iterable[AgentId]
    ) -> Dependency:
        """Bind `$agent`, or an agent whose output is handed on."""
        if task := self._planned_board.newest(agent):
            return Dependency(agent, task, via, self._condition)
        latest = self._planned_board.latest(agent)
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
            is_last = latest.id == task_id(agent, latest.lane.count)
            what = agent if is_last else latest.id
            self._fail(f"Agent @{agent} failed: {reason}. Retry it with /retry {what}.", span, "")
        return Dependency(agent, latest.id, via, self._condition)

    def references(self, parts: Iterable[Part], roster: Roster, most: int) -> dict[AgentId, Span]:
        """Return the agents that a prompt refers to, and where it does so first."""
        references: dict[AgentId, Span] = {}
        for part in parts:
            if not isinstance(part, Reference):
                continue
            if part.part not in ("", "output"):
                self._fail(
                    f"What a task changed is not kept yet, so there is no {part.literal}.",
                    part.span,
                    f"${part.agent} is what it said; to send it as text, write \\{part.literal}",
                )
            if part.agent == PERSON:
                self.refuse_person(part.span)
            if part.agent in references:
                continue
            if part.agent not in roster.agents:
                near = did_you_mean(part.agent, roster.agents)
                self._fail(
                    f"Unknown agent reference: ${part.agent}. Valid agents: {', '.join(roster.agents)}",
                    part.span,
                    (f"did you mean ${near}? " if near else "")
                    + f"to send it as text, write \\${part.agent}",
                )
            references[AgentId(part.agent)] = part.span
            if len(references) > most:
                self._fail(
                    f"More than {most} different references in one prompt.",
                    part.span,
                    "let another agent sum some of them up first, or raise max_references in teambot.toml",
                )
        return references

    def variables(
        self, parts: Iterable[Part], later: Collection[str] = (), *, exact: bool = False
    ) -> list[Dependency]:
        """Bind the variables of a prompt; one that only a `later` stage captures cannot be meant."""
        asked = [part for part in parts if isinstance(part, Variable)]
        known = self._planned_board.variables if asked else ()
        bound: dict[str, Dependency] = {}
        for part in asked:
            if part.name in bound:
                continue
            if part.name in known:
                bound[part.name] = self.variable(part.name, part.span)
            elif part.name in later:
                self._fail(
                    f"Variable {{{part.name}}} is used before the stage that captures it.",
                    part.span,
                    "put the stage that captures it first",
                )
            elif exact:
                near = did_you_mean(part.name, known)
                self._fail(
                    f"Unknown variable: {{{part.name}}}. Known: {', '.join(known) or 'none yet'}",
                    part.span,
                    (f"did you mean {{{near}}}? " if near else "")
                    + f"to send it as text, write \\{{{part.name}}}",
                )
        return list(bound.values())

    def variable(self, name: str, span: Span) -> Dependency:
        """Bind `{name}`, which is known to be captured by some task."""
        planned, tasks = self._planned_board.captures(name)
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

    def refuse_person(self, span: Span) -> NoReturn:
        """Say that the person cannot be asked."""
        self._fail(
            f"@{PERSON} will be you, but agents cannot hand you their work yet.",
            span,
            "name an agent of the team; what they say is in the output pane",
        )

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self._source, span, hint)
