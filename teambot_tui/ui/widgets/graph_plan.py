"""A workflow as it will run, drawn before anything of it does: who does what, after whom, on which terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.text import one_line
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.graph.shapes import Edge
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.graph_items import CONDITIONS, Item

if TYPE_CHECKING:
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.workflows.plan import PlannedTask, WorkflowPlan

_ROOM: Final = 26
_FILE: Final = 40


class PlanGraph(Graph):
    """Draws a workflow that has not begun."""

    _plan: WorkflowPlan | None = None

    def show_plan(self, plan: WorkflowPlan) -> None:
        """Draw this and nothing else."""
        self._plan = plan
        self._look_again()

    def _gathered(self) -> tuple[dict[str, Item], list[Edge]]:
        return ({}, []) if self._plan is None else drawn(self._plan, self._glyphs)


def drawn(plan: WorkflowPlan, glyphs: Glyphs) -> tuple[dict[str, Item], list[Edge]]:
    """Return a node for each task, and a line for each dependency; success goes without saying."""
    items = {task.name: _item(task, glyphs) for task in plan.tasks}
    edges = [
        Edge(need, task.name, CONDITIONS[condition], condition is not Condition.SUCCESS)
        for task in plan.tasks
        for need, condition in task.needs
    ]
    return items, edges


def headline(plan: WorkflowPlan, glyphs: Glyphs) -> str:
    """Say what it is, how much of it there is and how often it runs."""
    count = len(plan.tasks)
    clauses = [one_line(plan.path.name, _FILE), *([plan.pipeline] if plan.pipeline else ())]
    clauses.append(f"{count} task{'s' * (count != 1)}")
    if plan.iterations > 1:
        clauses.append(f"{plan.iterations} iterations")
    if plan.instances > 1:
        clauses.append(f"{plan.instances} instances side by side")
    return f" {glyphs['dot']} ".join(clauses)


def _item(task: PlannedTask, glyphs: Glyphs) -> Item:
    who = f"{'~' if task.joins else '@'}{task.agents[0]}"
    if len(task.agents) > 1:
        who += f" and {len(task.agents) - 1} more"
    if task.model:
        who += f" {glyphs['dot']} {task.model}"
    ellipsis = glyphs["ellipsis"]
    return Item(
        task.name, "idle", glyphs["idle"], clip(task.name, _ROOM, ellipsis), clip(who, _ROOM, ellipsis)
    )
