"""How far the workflows of a session are: which task is a step of which, and what became of all of them.

The tasks of an iteration are made right behind the fact that begins it, so the first task of each name that
comes in its scope is its step; whatever else is made there meanwhile is not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.facts import (
    IterationStarted,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskRetried,
    TaskSkipped,
    UpEnded,
    UpStarted,
)
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import TaskId

_ENDS: Final = {
    TaskCompleted: "completed",
    TaskFailed: "failed",
    TaskSkipped: "skipped",
    TaskCancelled: "cancelled",
}
_NAME: Final = 40


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """What a task is in a workflow: which iteration it belongs to, of which instance."""

    up: str
    instance: str
    """Empty if it is the only one."""
    iteration: int
    iterations: int

    @property
    def words(self) -> str:
        """Say which iteration it is, where there are several, and of which instance."""
        said = f"iteration {self.iteration}" if self.iterations > 1 else ""
        return f"{self.instance} {said}".strip()


@dataclass(slots=True)
class _Up:
    """A workflow that goes on."""

    started: UpStarted
    iterations: dict[str, int] = field(default_factory=dict)
    """Where each scope is."""
    expected: dict[str, set[str]] = field(default_factory=dict)
    """The names in each scope whose task of this iteration has not come yet."""
    current: dict[TaskId, str] = field(default_factory=dict)
    """The tasks of the iterations at hand, each with its scope."""
    ends: dict[TaskId, str] = field(default_factory=dict)
    """How those of all iterations ended that have."""

    @property
    def name(self) -> str:
        return one_line(self.started.pipeline or PurePath(self.started.file).name, _NAME)

    @property
    def unfinished(self) -> set[TaskId]:
        return {task for task in self.current if task not in self.ends}

    @property
    def is_last_iteration(self) -> bool:
        return all(number == self.started.iterations for number in self.iterations.values())


@dataclass(frozen=True, slots=True)
class WorkflowOutcome:
    """How a workflow ended, in words, and whether that needs a look."""

    words: str
    alarm: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a workflow is: its name, which iteration of several, how many of its tasks are over."""

    clauses: tuple[str, ...]


class Workflows:
    """Follows the workflows of a session from its facts."""

    def __init__(self) -> None:
        self._going: dict[str, _Up] = {}
        self._scopes: dict[str, _Up] = {}
        self._up_of: dict[TaskId, _Up] = {}
        self._steps: dict[TaskId, WorkflowStep] = {}
        self.outcomes: list[WorkflowOutcome] = []
        """How those ended that have."""

    def see(self, fact: Fact) -> bool:
        """Follow a fact; tell whether it may have changed how far they are."""
        match fact:
            case UpStarted():
                up = _Up(fact)
                self._going[fact.up] = up
                self._scopes.update(dict.fromkeys(fact.scopes, up))
            case IterationStarted():
                self._iterate(fact)
            case TaskCreated(task=task, label=str(label), scope=scope):
                self._create(task, label, scope)
            case TaskCompleted() | TaskFailed() | TaskSkipped() | TaskCancelled():
                if (its := self._up_of.get(fact.task)) is not None:
                    its.ends[fact.task] = _ENDS[type(fact)]
            case TaskRetried(task=task):
                if (its := self._up_of.get(task)) is not None:
                    its.ends.pop(task, None)
            case UpEnded():
                self._end(fact)
                return True
            case _:
                return False
        return bool(self._going)

    def _iterate(self, fact: IterationStarted) -> None:
        up = self._going[fact.up]
        up.iterations[fact.scope] = fact.iteration
        up.expected[fact.scope] = set(up.started.tasks)
        up.current = {task: scope for task, scope in up.current.items() if scope != fact.scope}

    def _create(self, task: TaskId, label: str, scope: str) -> None:
        up = self._scopes.get(scope)
        if up is None or label not in up.expected.get(scope, ()):
            return
        up.expected[scope].discard(label)
        up.current[task] = scope
        self._up_of[task] = up
        started = up.started
        instance = scope.rstrip("/").rpartition("/")[2] if len(started.scopes) > 1 else ""
        self._steps[task] = WorkflowStep(started.up, instance, up.iterations[scope], started.iterations)

    def _end(self, fact: UpEnded) -> None:
        up = self._going.pop(fact.up)
        for scope in up.started.scopes:
            self._scopes.pop(scope, None)
        counts = Counter(up.ends.values())
        told = ", ".join(f"{counts[state]} {state}" for state in _ENDS.values() if counts[state])
        said = ": ".join(
            filter(None, (f"{up.name} {'has ended' if fact.reason else 'is done'}", fact.reason))
        )
        alarm = bool(fact.reason or counts["failed"])
        self.outcomes.append(
            WorkflowOutcome(f"{said}{';' if fact.reason else ':'} {told or 'nothing ran'}.", alarm)
        )

    def step(self, task: TaskId) -> WorkflowStep | None:
        """Return what a task is in a workflow, if it is in one."""
        return self._steps.get(task)

    def progress(self) -> tuple[Progress, ...]:
        """Say how far they are that go on: `main`, `iteration 2 of 3`, `3/4 tasks`."""
        return tuple(Progress(tuple(_clauses(up))) for up in self._going.values())

    def falls_with(self, tasks: Collection[TaskId]) -> str:
        """Say what cancelling these tasks does to workflows beside it; nothing if it does nothing."""
        cancelled = set(tasks)
        said: list[str] = []
        for up in self._going.values():
            unfinished = up.unfinished
            if not unfinished & cancelled:
                continue
            if unfinished <= cancelled:
                said.append(f"ends {up.name}")
            elif not up.is_last_iteration:
                said.append(f"lets no further iteration of {up.name} begin")
        return ", ".join(said)


def _clauses(up: _Up) -> Iterator[str]:
    started = up.started
    yield up.name
    if started.iterations > 1:
        numbers = sorted(set(up.iterations.values())) or [1]
        shown = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
        yield f"iteration {shown} of {started.iterations}"
    total = len(started.tasks) * len(started.scopes)
    yield f"{len(up.current) - len(up.unfinished)}/{total} task{'s' * (total != 1)}"
