"""A workflow as it will run, as plain values: who does what, after whom, on which terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.engine.dependencies import Condition
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.workflows.up import Up


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task of a workflow, who does it in its instances, and what it needs, each on its terms."""

    name: str
    agents: tuple[AgentId, ...]
    joins: bool
    """Whether the first of them joins for it."""
    model: str | None
    needs: tuple[tuple[str, Condition], ...]


@dataclass(frozen=True, slots=True)
class WorkflowPlan:
    """What a compose file would do, by the number under which it can be begun."""

    number: int
    path: Path
    pipeline: str
    iterations: int
    instances: int
    tasks: tuple[PlannedTask, ...]
    warnings: tuple[str, ...]


def plan_of(up: Up, number: int) -> WorkflowPlan:
    """Return what a workflow that has not begun would do."""
    selection = up.selection
    return WorkflowPlan(
        number,
        up.path,
        selection.pipeline,
        selection.iterations,
        selection.parallelism,
        tuple(
            PlannedTask(
                task.name,
                agents := tuple(dict.fromkeys(up.agent_of(scope, task.name) for scope in up.scopes)),
                agents[0] in up.newcomers,
                task.model,
                tuple((need.task, need.condition) for need in task.needs),
            )
            for task in selection.tasks
        ),
        up.warnings,
    )
