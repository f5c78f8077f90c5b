"""Rules with a resolver in front of them, and a script to play on them: no loop, no agents, no clock.

A script is text. A line lets something happen; behind `=>`, and indented below, is everything that the rules
tell the world about it, in order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict, Unpack

from teambot_tui.engine.effects import AnswerPermission, Effect, StartTask, StopTask, WakeAt
from teambot_tui.engine.facts import (
    CancelRequested,
    DependencyMet,
    Fact,
    Input,
    InputEnded,
    RetryRequested,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskQueued,
    TaskRetried,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    TextProduced,
    TimePassed,
    WaitProlonged,
    WorkEnded,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.policy import OnFailure, OnWaitTimeout, Policy
from teambot_tui.engine.resolver import Accepted, resolve
from teambot_tui.engine.roster import Roster
from teambot_tui.engine.rules import Rules
from teambot_tui.language.parser import parse

if TYPE_CHECKING:
    from teambot_tui.engine.board import Board, Lane, Task
    from teambot_tui.engine.injection import Prompt

TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")


class PolicyFields(TypedDict, total=False):
    """What a test may set."""

    wait_timeout: float
    on_wait_timeout: OnWaitTimeout
    max_parallel: int
    max_references: int
    inject_limit: int
    output_limit: int
    on_dependency_failure: OnFailure
    references: bool
    spawn_parallel: int


class Bench:
    """A session of the default team, with a clock that the test moves."""

    def __init__(self, default: str | None = None, **policy: Unpack[PolicyFields]) -> None:
        self.policy = Policy(**policy)
        self.rules = Rules(self.policy)
        self.roster = Roster(tuple(map(AgentId, TEAM)), AgentId(default) if default else None)
        self.now = 0.0
        self.published: list[Fact] = []
        self.prompts: dict[str, Prompt] = {}
        """What each task was sent the last time it started."""
        self.alarms: list[float] = []
        self._lines: list[str] = []

    @property
    def board(self) -> Board:
        return self.rules.board

    def task(self, name: str) -> Task:
        return self.board.tasks[TaskId(name)]

    def states(self) -> dict[str, str]:
        """How every task stands."""
        return {name: str(task.state) for name, task in self.board.tasks.items()}

    # Letting things happen; each returns what the rules told the world

    def report(self, fact: Input) -> list[str]:
        """Let a fact have its consequences, as the runner does."""
        self._lines = []
        self._handle(fact)
        self.board.validate(self.policy, is_paused=self.rules.spending.exhausted)
        return self._lines

    def resolve(self, text: str) -> list[Accepted]:
        statements = parse(text, references=self.policy.references)
        return resolve(text, statements, self.board, self.roster, self.policy, self.now)

    def submit(self, text: str) -> list[str]:
        return [line for fact in self.resolve(text) for line in self.report(fact)]

    def say(self, task: str, text: str) -> list[str]:
        return self.report(TextProduced(self.now, TaskId(task), text))

    def complete(self, task: str, output: str = "") -> list[str]:
        """Let a task say what it has to say, and end; return what follows from the end."""
        if output:
            self.say(task, output)
        return self.report(WorkEnded(self.now, TaskId(task), None))

    def fail(self, task: str, error: str = "boom") -> list[str]:
        return self.report(WorkEnded(self.now, TaskId(task), error))

    def cancel(self, *tasks: str) -> list[str]:
        return self.report(CancelRequested(self.now, tuple(map(TaskId, tasks))))

    def retry(self, task: str) -> list[str]:
        return self.report(RetryRequested(self.now, TaskId(task)))

    def wait(self, seconds: float) -> list[str]:
        self.now += seconds
        return self.report(TimePassed(self.now))

    def play(self, script: str) -> None:
        """Let each thing of a script happen and compare what follows from it."""
        for action, expected in _scenes(script):
            told = self.act(action)
            assert told == expected, f"{action}:\n" + "\n".join(told)

    def act(self, action: str) -> list[str]:
        """Let the thing happen that a line of a script names."""
        if action.startswith("@"):
            return self.submit(action)
        verb, _, rest = action.partition(" ")
        subject, _, detail = rest.partition(" ")
        match verb:
            case "complete":
                return self.complete(subject, detail)
            case "fail":
                return self.fail(subject, detail or "boom")
            case "say":
                return self.say(subject, detail)
            case "start":
                return self.report(TaskStarted(self.now, TaskId(subject), "", "", None))
            case "cancel":
                return self.cancel(*rest.split())
            case "retry":
                return self.retry(subject)
            case "end":
                return self.report(InputEnded(self.now))
            case "wait":
                return self.wait(float(subject))
        raise ValueError(action)

    def _handle(self, fact: Input) -> None:
        for effect in self.rules.handle(fact):
            if line := _line(effect):
                self._lines.append(line)
            match effect:
                case StartTask(task, _, prompt, model):
                    level = self.task(task).level
                    assert level.occupied <= self.policy.at_once(level.depth), "too many at once"
                    self.prompts[task] = prompt
                    self._handle(TaskStarted(self.now, task, prompt.text, "", model))
                case WakeAt(time):
                    self.alarms.append(time)
                case StopTask() | AnswerPermission():
                    pass
                case told:
                    self.published.append(told)


def _scenes(script: str) -> list[tuple[str, list[str]]]:
    scenes: list[tuple[str, list[str]]] = []
    for line in re.sub(r"\n +", " ", script).split("\n"):
        if line:
            action, _, told = line.partition(" => ")
            scenes.append((action, told.split("; ") if told else []))
    return scenes


def _line(effect: Effect) -> str | None:
    """What a script shows of an effect; what only repeats the action is left out."""
    match effect:
        case StopTask(task):
            return f"stop {task}"
        case TaskStarted(task=task):
            return f"{task} started"
        case TextProduced(task=task, text=text):
            return f"{task} said {text}"
        case TaskQueued(task=task):
            return f"{task} queued"
        case TaskWaiting(task=task, waiting_for=agents, no_output_yet=without):
            names = ", ".join(agents)
            return f"{task} waits for {names}" + (
                f" (no output yet: {', '.join(without)})" if without else ""
            )
        case WaitProlonged(task=task, waiting_for=agents):
            return f"{task} still waits for {', '.join(agents)}"
        case DependencyMet(task=task, agent=agent):
            return f"{task} has {agent}"
        case TaskCompleted(task=task, output=output):
            return f"{task} completed" + (f": {output}" if output else "")
        case TaskFailed(task=task, reason=reason):
            return f"{task} failed: {reason}"
        case TaskSkipped(task=task, reason=reason):
            return f"{task} skipped: {reason}"
        case TaskCancelled(task=task):
            return f"{task} cancelled"
        case TaskRetried(task=task):
            return f"{task} retried"
        case _:
            return None


# Comparing


def snapshot(board: Board) -> object:
    """Return all there is to know about a board, as values that can be compared."""
    return (
        {name: _task(task) for name, task in board.tasks.items()},
        {agent: _lane(lane) for agent, lane in board.lanes.items()},
        [([task.id for task in level.ready], level.running, level.waiting) for level in board.levels],
        board.unfinished,
    )


def _task(task: Task) -> object:
    return (
        (task.plan, task.order, task.state, task.reason),
        [source and source.id for source in task.sources],
        sorted(each.agent if hasattr(each, "queue") else each.id for each in task.pending),
        sorted(each.id for each in task.dependents),
        (list(task.lacking.items()), task.started, task.ended, task.deadline, sorted(task.waits)),
        (task.output.text, task.output.total, task.prompt),
    )


def _lane(lane: Lane) -> object:
    return (
        list(lane.queue),
        lane.busy and lane.busy.id,
        lane.latest and lane.latest.id,
        lane.count,
        [each.id for each in lane.waiters],
    )
