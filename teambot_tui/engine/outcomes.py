"""What a session answers to whoever asked: how tasks ended, or why it will not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State

if TYPE_CHECKING:
    from teambot_tui.engine.board import Task
    from teambot_tui.engine.ids import AgentId, TaskId


class RefusedError(Exception):
    """A request that cannot be carried out, and why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended, or where it is."""

    task: TaskId
    agent: AgentId
    state: State
    output: str
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a submission, in the order of its tasks."""

    outcomes: tuple[Outcome, ...]

    @property
    def completed(self) -> bool:
        """Whether every task completed."""
        return all(outcome.state is State.COMPLETED for outcome in self.outcomes)

    @property
    def output(self) -> str:
        """What the last task said."""
        return self.outcomes[-1].output


def ending(task: Task) -> str:
    """Say how a task without output ended: `@pm failed: exit status 3`."""
    match task.state:
        case State.FAILED:
            return f"@{task.agent} failed: {task.reason}"
        case State.SKIPPED:
            return f"@{task.agent} was skipped: {task.reason}"
        case _:
            return f"@{task.agent} was {task.state}"
