"""Which task is meant by what a person names: an id, `last`, an agent or a label, everywhere the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.board import State
from teambot_tui.engine.context import entries
from teambot_tui.engine.cycles import PlannedBoard
from teambot_tui.engine.facts import StatementAccepted
from teambot_tui.engine.ids import AgentId, TaskId, task_id
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean
from teambot_tui.language.nodes import Capture, Mention, Option, Pipeline, Span, Stage
from teambot_tui.language.render import render

if TYPE_CHECKING:
    from collections.abc import Collection

    from teambot_tui.engine.board import Board, Task
    from teambot_tui.engine.facts import TaskCreated

_RETRIED: Final = (State.FAILED, State.CANCELLED)
_NOWHERE: Final = Span(0, 0)


def find_task(board: Board, name: str, agents: Collection[str]) -> Task:
    """Return the task with this id, or the newest that `last`, an agent or a label can mean.

    Raises:
        RefusedError: there is none; `agents` are those that can be named.
    """
    if name == "last" and board.tasks:
        return next(reversed(board.tasks.values()))
    if task := board.tasks.get(TaskId(name)) or _last_of(board, name):
        return task
    if labelled := board.labels.get(name):
        return labelled[-1]
    if name in agents:
        raise RefusedError(f"@{name} has had no task yet.")
    near = did_you_mean(name, (*agents, *board.labels, *board.tasks))
    hint = f"Did you mean {near}?" if near else "/tasks lists them."
    raise RefusedError(f"There is no task, agent or label {one_line(name, 60)}. {hint}")


def task_to_retry(board: Board, name: str, agents: Collection[str]) -> Task:
    """Return the task to begin with if this one is to be done again; a skipped one means what it needed.

    Raises:
        RefusedError: there is none, or it did not fail.
    """
    task = find_task(board, name, agents)
    if task.state is State.SKIPPED and task.cause is not None:
        task = task.cause
    if task.state in _RETRIED:
        return task
    why = f"{task.id} is {task.state}: only a failed or cancelled task can be retried."
    if task.state is State.COMPLETED:
        why += f" /again {task.id} does it once more."
    earlier = (each for each in reversed(board.tasks.values()) if each.agent == task.agent)
    if other := next((each for each in earlier if each.state in _RETRIED), None):
        how = "failed" if other.state is State.FAILED else "was cancelled"
        why += f" {other.id} {how}: /retry {other.id} would do that one again."
    raise RefusedError(why)


def once_more(
    board: Board, task: Task, agents: Collection[str], now: float
) -> tuple[StatementAccepted, TaskCreated]:
    """Return the facts that accepting a task again would be: the words, options and inputs it had then.

    Raises:
        RefusedError: its agent has left, or it would close a cycle.
    """
    plan = task.plan
    if task.agent not in agents:
        raise RefusedError(f"@{task.agent} has left, so {task.id} cannot be done once more.")
    planned_board = PlannedBoard(board)
    created = replace(
        plan,
        time=now,
        task=planned_board.next_task(task.agent),
        dependencies=tuple(
            dependency if source is None else replace(dependency, task=source.id)
            for dependency, source in zip(plan.dependencies, task.sources, strict=True)
        ),
        parent=None,
        context=tuple((each.key, each.value) for each in entries(task, board) if each.origin != "session"),
    )
    if cycle := planned_board.add(created):
        way = " → ".join(f"@{agent}" for agent in cycle)
        raise RefusedError(f"Circular dependency detected: {way}")
    return StatementAccepted(now, _statement(plan), (created.task,)), created


def _last_of(board: Board, agent: str) -> Task | None:
    lane = board.lanes.get(AgentId(agent))
    return board.tasks.get(task_id(lane.agent, lane.count)) if lane else None


def _statement(plan: TaskCreated) -> str:
    """Return what a person would type for this task."""
    options = () if plan.model is None else (Option("model", plan.model or None, _NOWHERE),)
    capture = Capture(plan.capture, _NOWHERE) if plan.capture else None
    stage = Stage(
        (Mention(plan.agent, _NOWHERE),),
        options,
        plan.parts,
        _NOWHERE,
        exact=bool(capture or plan.preface),
        capture=capture,
    )
    return render((Pipeline((stage,), plan.background, _NOWHERE),))
