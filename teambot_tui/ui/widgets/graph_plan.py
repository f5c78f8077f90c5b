"""A workflow as it will run, drawn before anything of it does: who does what, after whom, on which terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.text import one_line
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.graph.shapes import Edge
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.graph_items import Item

if TYPE_CHECKING:
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.workflows.schema import ComposeTask
    from teambot_tui.workflows.up import Up

_ROOM: Final = 26
_FILE: Final = 40


class PlanGraph(Graph):
    """Draws a workflow that has not begun."""

    _up: Up | None = None

    def show_plan(self, up: Up) -> None:
        """Draw this and nothing else."""
        self._up = up
        self._look_again()

    def _gathered(self) -> tuple[dict[str, Item], list[Edge]]:
        return ({}, []) if self._up is None else plan_of(self._up, self._glyphs)


def plan_of(up: Up, glyphs: Glyphs) -> tuple[dict[str, Item], list[Edge]]:
    """Return a node for each task, and a line for each dependency; success goes without saying."""
    items = {task.name: _item(up, task, glyphs) for task in up.selection.tasks}
    edges = [
        Edge(need.task, task.name, "" if need.condition is Condition.SUCCESS else need.condition.value)
        for task in up.selection.tasks
        for need in task.needs
    ]
    return items, edges


def headline(up: Up, glyphs: Glyphs) -> str:
    """Say what it is, how much of it there is and how often it runs."""
    selection = up.selection
    count = len(selection.tasks)
    clauses = [one_line(up.path.name, _FILE), *([selection.pipeline] if selection.pipeline else ())]
    clauses.append(f"{count} task{'s' * (count != 1)}")
    if selection.iterations > 1:
        clauses.append(f"{selection.iterations} iterations")
    if selection.parallelism > 1:
        clauses.append(f"{selection.parallelism} instances side by side")
    return f" {glyphs['dot']} ".join(clauses)


def _item(up: Up, task: ComposeTask, glyphs: Glyphs) -> Item:
    agents = list(dict.fromkeys(up.agent_of(scope, task.name) for scope in up.scopes))
    who = f"{'~' if agents[0] in up.newcomers else '@'}{agents[0]}"
    if len(agents) > 1:
        who += f" and {len(agents) - 1} more"
    if task.model:
        who += f" {glyphs['dot']} {task.model}"
    ellipsis = glyphs["ellipsis"]
    return Item(
        task.name, "idle", glyphs["idle"], clip(task.name, _ROOM, ellipsis), clip(who, _ROOM, ellipsis)
    )
