"""What a submission would do, without doing it: from the same parser and resolver as the real thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.facts import AgentDefined, TaskCreated
from teambot_tui.engine.status import waiting_clause
from teambot_tui.language.slips import find_slips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.dependencies import Via
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.resolver import Accepted
    from teambot_tui.engine.roster import Roster
    from teambot_tui.language.errors import StatementError
    from teambot_tui.language.nodes import Statement
    from teambot_tui.language.slips import Slip


@dataclass(frozen=True, slots=True)
class Input:
    """An output that would go into a prompt; its size in bytes is known once it exists."""

    agent: AgentId
    task: TaskId | None
    via: Via
    size: int | None
    name: str = ""

    def __str__(self) -> str:
        match self.via:
            case "$":
                name = f"${self.agent}"
            case "{}":
                name = f"{{{self.name}}}"
            case _:
                name = f"{self.via} @{self.agent}"
        if self.task is None:
            return f"{name} (no output yet)"
        return f"{name} = {self.task}" + (f" ({self.size:,} bytes)" if self.size is not None else "")


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A task that would be made, and what would become of it at once."""

    task: TaskId
    agent: AgentId
    waiting_for: tuple[AgentId, ...]
    no_output_yet: tuple[AgentId, ...]
    behind: TaskId | None
    slots_full: bool
    inputs: tuple[Input, ...]
    model: str | None
    background: bool

    @property
    def starts(self) -> bool:
        """Whether it would start now."""
        return not (self.waiting_for or self.behind or self.slots_full)

    @property
    def outlook(self) -> str:
        """What would become of it, in words."""
        clauses: list[str] = []
        if self.behind:
            clauses.append(f"is queued behind {self.behind}")
        if self.waiting_for:
            clauses.append(f"waits{waiting_clause(self.waiting_for, self.no_output_yet)}")
        if not clauses:
            clauses.append("is queued until another agent is done" if self.slots_full else "starts now")
        return f"@{self.agent} {' and '.join(clauses)}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps of a submission and who would join for it, or what is wrong with it.

    The slips are what is sent as text though it may have been meant otherwise.
    """

    steps: tuple[PlannedStep, ...] = ()
    error: StatementError | None = None
    defined: tuple[AgentId, ...] = ()
    slips: tuple[Slip, ...] = ()
    replaced: tuple[AgentId, ...] = ()
    """Those of the defined ones that take the place of a promoted agent for this session."""


def find_slips_in(
    source: str, statements: Sequence[Statement], facts: Sequence[Accepted], board: Board, roster: Roster
) -> tuple[Slip, ...]:
    """Return what of a submission may have been meant otherwise."""
    captured = (fact.capture for fact in facts if isinstance(fact, TaskCreated) and fact.capture)
    return find_slips(
        source,
        statements,
        agents=roster.agents,
        variables=tuple(dict.fromkeys((*board.captures, *captured))),
    )


def explain_facts(facts: Sequence[Accepted], board: Board, roster: Roster, policy: Policy) -> Explanation:
    """Return what would become of what a submission makes."""
    defined = tuple(fact.agent for fact in facts if isinstance(fact, AgentDefined))
    replaced = tuple(agent for agent in defined if agent in roster.promoted and agent in roster.team)
    return Explanation(_steps(facts, board, policy), defined=defined, replaced=replaced)


def _steps(facts: Sequence[Accepted], board: Board, policy: Policy) -> tuple[PlannedStep, ...]:
    steps: list[PlannedStep] = []
    newest: dict[AgentId, TaskId] = {}
    free = policy.max_parallel - board.levels[0].occupied
    for plan in facts:
        if not isinstance(plan, TaskCreated):
            continue
        inputs = tuple(
            Input(each.agent, each.task, each.via, _size(board, each.task), each.name)
            for each in plan.dependencies
        )
        lane = board.lanes.get(plan.agent)
        in_line = lane.newest if lane else None
        stopping = lane.busy if lane else None
        occupied = in_line or stopping
        behind = newest.get(plan.agent) or (occupied.id if occupied else None)
        newest[plan.agent] = plan.task
        waiting_for = tuple(dict.fromkeys(each.agent for each in inputs if each.size is None))
        step = PlannedStep(
            task=plan.task,
            agent=plan.agent,
            waiting_for=waiting_for,
            no_output_yet=tuple(dict.fromkeys(each.agent for each in inputs if each.task is None)),
            behind=behind,
            slots_full=free <= 0,
            inputs=inputs,
            model=plan.model,
            background=plan.background,
        )
        free -= step.starts
        steps.append(step)
    return tuple(steps)


def _size(board: Board, task: TaskId | None) -> int | None:
    source = board.tasks.get(task) if task is not None else None
    return source.output.total if source is not None and source.ended is not None else None
