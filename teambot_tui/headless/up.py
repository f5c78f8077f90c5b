"""A workflow without the screen: its plan before it starts, and every step of it as it happens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from teambot_tui.engine.dependencies import Condition
from teambot_tui.headless.run import COMPLETED, follow

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.session import Session
    from teambot_tui.headless.output import OutputStream
    from teambot_tui.headless.run import Printer
    from teambot_tui.workflows.schema import ComposeNeed, ComposeTask
    from teambot_tui.workflows.up import Up


async def run_up(
    session: Session, up: Up, printer: Printer, output: OutputStream, complain: Callable[[str], None]
) -> int:
    """Run a workflow to its end; return the exit status."""

    async def work() -> bool:
        up.begin()
        await up.wait()
        if up.reason and not up.was_cancelled:
            complain(up.reason)
        return not up.reason

    return await follow(session, work, up.cancel, printer, output, complain)


def print_up(up: Up, output: OutputStream, *, as_json: bool) -> int:
    """Print what would run; return the exit status."""
    selection = up.selection
    if as_json:
        begin = {
            "event": "up",
            "pipeline": selection.pipeline,
            "iterations": selection.iterations,
            "instances": selection.parallelism,
        }
        output.write(json.dumps(begin) + "\n")
    else:
        output.write(_headline(up) + "\n")
    width = max(len(task.name) for task in selection.tasks)
    for task in selection.tasks:
        agents = [up.agent_of(scope, task.name) for scope in up.scopes]
        if as_json:
            output.write(json.dumps(_step(task, agents)) + "\n")
        else:
            output.write(f"{task.name:{width}}  {_sentence(task, agents)}\n")
    return COMPLETED


def _headline(up: Up) -> str:
    selection = up.selection
    name = selection.pipeline or "tasks"
    count = len(selection.tasks)
    clauses = [f"{count} task{'s' * (count != 1)}"]
    if selection.iterations > 1:
        clauses.append(f"{selection.iterations} iterations")
    if selection.parallelism > 1:
        clauses.append(f"{selection.parallelism} instances side by side")
    return f"{name}: {', '.join(clauses)}"


def _sentence(task: ComposeTask, agents: list[AgentId]) -> str:
    who = ", ".join(f"@{agent}" for agent in dict.fromkeys(agents))
    clauses = [f"{who} after {', '.join(map(_need, task.needs))}" if task.needs else f"{who} at once"]
    if task.model:
        clauses.append(f"model {task.model}")
    if task.concurrency:
        clauses.append(f"at most {task.concurrency} at a time")
    return "; ".join(clauses)


def _need(need: ComposeNeed) -> str:
    return need.task if need.condition is Condition.SUCCESS else f"{need.task} ({need.condition})"


def _step(task: ComposeTask, agents: list[AgentId]) -> dict[str, object]:
    return {
        "event": "step",
        "task": task.name,
        "agents": list(dict.fromkeys(agents)),
        "depends_on": [{"task": need.task, "condition": need.condition} for need in task.needs],
        "model": task.model,
        "concurrency": task.concurrency,
    }
