"""What is to be done, in the imperative: the rules ask, the runner carries out.

A fact among the effects is to be told to every reader; one that came too late to matter is not among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.facts import Fact

if TYPE_CHECKING:
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.engine.ports import Verdict


@dataclass(frozen=True, slots=True)
class StartTask:
    """Give the task to its agent's backend."""

    task: TaskId
    agent: AgentId
    prompt: Prompt
    model: str | None


@dataclass(frozen=True, slots=True)
class StopTask:
    """Stop the work on a task and report when it has ended."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class AnswerPermission:
    """Tell a backend what became of its request."""

    task: TaskId
    request: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Report the time when it is this late."""

    time: float


Effect: TypeAlias = Fact | StartTask | StopTask | AnswerPermission | WakeAt
