"""What is shown of a session, as small values that any face can keep, and that could go over a socket.

The projection makes them. A `Frame` holds only what changed since the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.activity import NOTHING, Decision, Doing, PermissionRequest

if TYPE_CHECKING:
    from teambot_tui.engine.board import State
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.engine.roster import Roster
    from teambot_tui.engine.spans import TimeSpan
    from teambot_tui.engine.workflow_progress import Progress, WorkflowOutcome, WorkflowStep


@dataclass(frozen=True, slots=True)
class TaskView:
    """What is shown of one task."""

    task: TaskId
    agent: AgentId
    state: State
    statement: str
    siblings: tuple[TaskId, ...]
    background: bool
    created: float
    started: float
    ended: float | None
    waiting_for: tuple[AgentId, ...]
    no_output_yet: tuple[AgentId, ...]
    reason: str
    dependencies: tuple[Dependency, ...]
    sources: tuple[TaskId | None, ...]
    dependents: tuple[TaskId, ...]
    model: str | None
    doing: Doing = NOTHING
    requests: tuple[PermissionRequest, ...] = ()
    label: str | None = None
    step: WorkflowStep | None = None
    """What it is in a workflow, if it is in one."""
    words: str = ""
    """Its own text in one line, with references as they are typed; `statement` is all that was submitted."""
    decisions: tuple[Decision, ...] = ()
    """What the agent was allowed and not allowed to do, of very many only the last."""
    cause: TaskId | None = None
    """The task because of which it was skipped: the one to look at."""
    spans: tuple[TimeSpan, ...] = ()
    """On what it spent its time: working, waiting for others, needing the person."""
    until: float | None = None
    """When it is tried again, if it was put off."""


@dataclass(frozen=True, slots=True)
class OutputView:
    """What is shown of an output: how large it is, when it ended, how it begins."""

    task: TaskId
    size: int
    ended: float
    first_line: str


@dataclass(frozen=True, slots=True)
class AgentView:
    """What an agent's panel shows."""

    agent: AgentId
    state: str = "idle"
    """`idle`, `queued`, `waiting` or `executing`."""
    task: TaskId | None = None
    """The task at hand, or the last one that ended."""
    waiting_for: tuple[AgentId, ...] = ()
    no_output_yet: tuple[AgentId, ...] = ()
    since: float = 0.0
    """When the state, or the last task, began."""
    queued: int = 0
    last_end: State | None = None
    last_seconds: float = 0.0
    last_line: str = ""
    model: str | None = None
    last_activity: float = 0.0
    """When an executing agent last gave a sign of life."""
    joined: bool = False
    """Whether it is here for this session only."""
    parent: TaskId | None = None
    """The task that started it, if it was not the person."""
    requests: int = 0
    """For how much it asks leave."""
    tool: str = ""
    """What it wants to do, or does, in a line, if that is newer than what it said."""
    usage: Usage | None = None
    """What the task has used."""
    total: Usage | None = None
    """What the agent has used in all."""
    reference: str = "unknown"
    """What a reference to it would be: `bound`, `waiting`, or `unknown` without output."""
    output: OutputView | None = None
    """What a reference to it inserts, if that is there."""
    until: float | None = None
    """When the task at hand is tried again, if it was put off."""
    words: str = ""
    """What the task at hand is about, in its own words."""

    @property
    def name(self) -> str:
        """The agent as it is named on the screen: `@pm`, or `~scanner` if it is here for this session."""
        return f"~{self.agent}" if self.joined else f"@{self.agent}"

    @property
    def tab(self) -> str:
        """The agent as it is named where all are: `pm`, or `~scanner`."""
        return f"~{self.agent}" if self.joined else self.agent


@dataclass(frozen=True, slots=True)
class VariableView:
    """What is shown of a variable: the task that captures it, and how far it is."""

    name: str
    task: TaskId
    state: State
    size: int
    first_line: str


@dataclass(frozen=True, slots=True)
class BudgetView:
    """What was used, as far as the agents say, and may be; `reached` if tasks wait until it may be more."""

    cost: float = 0.0
    tokens: int = 0
    cost_limit: float | None = None
    token_limit: int | None = None
    reached: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """What changed since the frame before; None is what did not.

    `said` is the text that was added, whole for each task, in the order in which the tasks began to speak.
    """

    number: int = 0
    """Frames are counted from 1."""
    tasks: tuple[TaskView, ...] = ()
    agents: tuple[AgentView, ...] = ()
    said: tuple[tuple[TaskId, str], ...] = ()
    moved: tuple[TaskId, ...] = ()
    """The tasks among those that were made, went on or ended; the others only did something meanwhile."""
    active: tuple[TaskId, ...] = ()
    """The tasks that did something besides talking."""
    ended: tuple[TaskId, ...] = ()
    joined: tuple[AgentId, ...] = ()
    left: tuple[AgentId, ...] = ()
    warnings: tuple[str, ...] = ()
    """What went wrong beside the work, such as a disk that is full."""
    variables: tuple[VariableView, ...] = ()
    outcomes: tuple[WorkflowOutcome, ...] = ()
    """How the workflows ended that have."""
    counts: dict[State, int] | None = None
    """How many tasks are in which state."""
    requests: tuple[PermissionRequest, ...] | None = None
    """What agents ask permission for, in the order they asked."""
    roster: Roster | None = None
    models: dict[AgentId, str | None] | None = None
    context: tuple[Entry, ...] | None = None
    workflows: tuple[Progress, ...] | None = None
    budget: BudgetView | None = None
    used: Usage | None = None
    """What all agents have used."""
