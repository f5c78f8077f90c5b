"""What the screen shows, as small values without ways to change them; the mirror makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teambot_tui.engine.board import State
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Usage


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
    heard: float = 0.0
    """When an executing agent last gave a sign of life."""
    joined: bool = False
    """Whether it is here for this session only."""
    parent: TaskId | None = None
    """The task that started it, if it was not the person."""
    wishes: int = 0
    """For how much it asks leave."""
    tool: str = ""
    """What it wants to do, or does, in a line, if that is newer than what it said."""
    usage: Usage | None = None
    """What the task has used."""
    total: Usage | None = None
    """What the agent has used in all."""

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
