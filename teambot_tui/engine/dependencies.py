"""What a task can need of another: its output, or only that it has ended, and how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teambot_tui.engine.ids import AgentId, TaskId


class Via(StrEnum):
    """Why a task depends on another, as it is written."""

    REFERENCE = "$"
    VARIABLE = "{}"
    HANDOFF = "->"
    RESULT = "result"
    """Handed on as the result of a previous step."""
    CONTEXT = "context"
    """Put into the shared context, under the dependency's name."""
    AFTER = "after"
    """Only the order counts: no output goes along."""


class Condition(StrEnum):
    """How what a task depends on must end for the task to run; else it is skipped."""

    SUCCESS = "success"
    FAILURE = "failure"
    ANY = "any"
    """Completed, failed or skipped, but not cancelled."""
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Dependency:
    """Whose output a task needs; `task` is None while that agent has no task that could produce it.

    `name` is what the output is called where it goes: a variable, or a key of the shared context.
    """

    agent: AgentId
    task: TaskId | None
    via: Via
    condition: Condition = Condition.SUCCESS
    name: str = ""
