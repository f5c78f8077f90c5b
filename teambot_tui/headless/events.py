"""Facts as the JSON objects that scripts read. Their names and fields are a promise."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any, assert_never

from teambot_tui.engine.facts import (
    ActivityReported,
    BudgetReached,
    DependencyMet,
    IterationStarted,
    PermissionAsked,
    PermissionSettled,
    StatementAccepted,
    StatementRejected,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskDelayed,
    TaskFailed,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    TextProduced,
    UpEnded,
    UpStarted,
    WaitProlonged,
)
from teambot_tui.engine.ids import TaskId, agent_of
from teambot_tui.engine.ports import Notice, Plan, Thought, ToolCall, Usage
from teambot_tui.engine.status import Status, Statuses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ports import Activity
    from teambot_tui.engine.status import AgentStatus

Event = dict[str, Any]


class JsonLines:
    """Writes one JSON object per line for each fact that a script could want."""

    def __init__(self, write: Callable[[str], None], *, ascii_only: bool) -> None:
        self._write = write
        self._ascii_only = ascii_only
        self._sequence = count(1)
        self._statuses = Statuses()

    def see(self, fact: Fact) -> None:
        """Write what a fact says, and the agent's status if it changed."""
        changed = self._statuses.update(fact)
        event = _event(fact, changed)
        if event is not None:
            self._emit(fact.time, event)
        if changed is not None:
            self._emit(fact.time, _status_event(changed))

    def finish(self, time: float, counts: Mapping[str, int]) -> None:
        """Write how the run ended."""
        self._emit(time, {"event": "run_finished", **counts})

    def _emit(self, time: float, event: Event) -> None:
        line = {"event": event["event"], "seq": next(self._sequence), "time": time, **event}
        self._write(json.dumps(line, ensure_ascii=self._ascii_only) + "\n")


def _event(fact: Fact, changed: AgentStatus | None) -> Event | None:
    match fact:
        case StatementAccepted(tasks=tasks):
            return {"event": "statement_accepted", "tasks": tasks}
        case StatementRejected(_, error, line, column, hint):
            return {
                "event": "statement_rejected",
                "error": error,
                "line": line,
                "column": column,
                "hint": hint,
            }
        case TaskCreated(task=task, dependencies=dependencies, background=background, label=label):
            needs = [each.task or each.agent for each in dependencies]
            named = {} if label is None else {"label": label, "instance": _instance(fact.scope)}
            return _of_task("task_created", task, depends_on=needs, background=background, **named)
        case UpStarted(_, _, run, file, pipeline, tasks, scopes, iterations):
            return {
                "event": "up_started",
                "run": run,
                "file": file,
                "pipeline": pipeline,
                "tasks": tasks,
                "instances": [_instance(scope) for scope in scopes],
                "iterations": iterations,
            }
        case IterationStarted(_, _, scope, iteration):
            return {"event": "iteration_started", "instance": _instance(scope), "iteration": iteration}
        case UpEnded(reason=reason):
            return {"event": "up_ended", "reason": reason}
        case TaskWaiting(task=task) | DependencyMet(task=task):
            if changed is None or changed.status is not Status.WAITING:
                return None  # the last output arrived: the task starts, or is queued
            waiting = {
                "waiting_for": changed.waiting_for,
                "no_output_yet": any(agent in changed.waiting_for for agent in changed.no_output_yet),
            }
            return _of_task("task_waiting", task, **waiting)
        case WaitProlonged(_, task, agents, seconds):
            return _of_task("wait_prolonged", task, waiting_for=agents, seconds=seconds)
        case TaskStarted(_, task, prompt, system, model):
            return _of_task("task_started", task, prompt=prompt, system=system, model=model)
        case TextProduced(_, task, text):
            return _of_task("text", task, text=text)
        case ActivityReported(_, task, activity):
            return _activity(task, activity)
        case PermissionAsked(_, task, request, tool, kind, detail):
            return _of_task("permission_asked", task, request=request, tool=tool, kind=kind, detail=detail)
        case PermissionSettled(_, task, request, verdict, why, words):
            return _of_task(
                "permission_settled", task, request=request, verdict=verdict, why=why, words=words
            )
        case BudgetReached(_, cost, tokens):
            return {"event": "budget_reached", "cost": cost, "tokens": tokens}
        case TaskCompleted(_, task, output, seconds):
            return _of_task("task_completed", task, output=output, seconds=seconds)
        case TaskDelayed(_, task, reason, until, attempt):
            return _of_task("task_delayed", task, error=reason, until=until, attempt=attempt)
        case TaskFailed(_, task, reason):
            return _of_task("task_failed", task, error=reason)
        case TaskSkipped(_, task, reason):
            return _of_task("task_skipped", task, reason=reason)
        case TaskCancelled(_, task):
            return _of_task("task_cancelled", task)
        case _:
            return None


def _activity(task: TaskId, activity: Activity) -> Event:
    match activity:
        case Thought(text):
            return _of_task("thought", task, text=text)
        case ToolCall(name, title, kind, state, detail):
            return _of_task("tool", task, id=name, title=title, kind=kind, state=state, detail=detail)
        case Plan(steps):
            return _of_task("plan", task, steps=[{"text": step.text, "state": step.state} for step in steps])
        case Usage(tokens_in, tokens_out, cost, context):
            used = {"input_tokens": tokens_in, "output_tokens": tokens_out, "cost": cost, "context": context}
            return _of_task("usage", task, **used)
        case Notice(text):
            return _of_task("notice", task, text=text)
        case _:
            assert_never(activity)


def _of_task(event: str, task: TaskId, **fields: object) -> Event:
    return {"event": event, "task": task, "agent": agent_of(task), **fields}


def _instance(scope: str) -> str:
    return scope.removesuffix("/")


def _status_event(status: AgentStatus) -> Event:
    return {
        "event": "agent_status",
        "agent": status.agent,
        "status": status.status,
        "waiting_for": status.waiting_for,
    }
