"""What each task spent its time on: working, waiting for whom, needing the person. Facts in, spans out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.facts import (
    PermissionAsked,
    PermissionSettled,
    TaskCancelled,
    TaskCompleted,
    TaskDelayed,
    TaskFailed,
    TaskQueued,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    WaitEnded,
    WaitStarted,
)
from teambot_tui.engine.ids import agent_of

if TYPE_CHECKING:
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import AgentId, TaskId

_MOST: Final = 100
"""Spans that are kept of a task: of one that asks for very much, only the last."""


class Spent(StrEnum):
    """What a span was spent on."""

    WORKING = "working"
    WAITING = "waiting"
    NEEDING_YOU = "needing you"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of a task's time; one without an end goes on."""

    spent: Spent
    start: float
    end: float | None = None
    agents: tuple[AgentId, ...] = ()
    """For whom it waited."""
    failed: bool = False
    """Whether it ended in a failure, even of a try after which there was another."""

    def seconds(self, now: float) -> float:
        """How long it is, or is by now."""
        return max(0.0, (now if self.end is None else self.end) - self.start)


class Spans:
    """Follows how all tasks spend their time."""

    def __init__(self) -> None:
        self._records: dict[TaskId, _TaskTimes] = {}

    def see(self, fact: Fact) -> None:
        """Follow a fact."""
        match fact:
            case TaskWaiting(time, task, agents):
                self._record(task).begin(time, TimeSpan(Spent.WAITING, time, agents=agents))
            case TaskStarted(time, task):
                record = self._record(task)
                record.requests, record.waits, record.is_at_work = 0, {}, True
                record.go_on(time)
            case PermissionAsked(time, task):
                record = self._record(task)
                record.requests += 1
                record.go_on(time)
            case PermissionSettled(time, task):
                record = self._record(task)
                record.requests -= 1
                record.go_on(time)
            case WaitStarted(time, task, wait, tasks):
                record = self._record(task)
                record.waits[wait] = tuple(dict.fromkeys(map(agent_of, tasks)))
                record.go_on(time)
            case WaitEnded(time, task, wait):
                record = self._record(task)
                record.waits.pop(wait, None)
                record.go_on(time)
            case TaskFailed(time, task):
                self._record(task).end(time, failed=True)
            case TaskDelayed(time, task):
                record = self._record(task)
                record.end(time, failed=True)
                record.begin(time, TimeSpan(Spent.WAITING, time))
            case TaskCompleted(time, task) | TaskSkipped(time, task) | TaskCancelled(time, task):
                self._record(task).end(time)
            case TaskQueued(time, task):
                self._record(task).end(time)
            case _:
                pass

    def of(self, task: TaskId) -> tuple[TimeSpan, ...]:
        """Return how a task has spent its time so far."""
        record = self._records.get(task)
        return record.seen() if record is not None else ()

    def _record(self, task: TaskId) -> _TaskTimes:
        record = self._records.get(task)
        if record is None:
            record = self._records[task] = _TaskTimes()
        return record


@dataclass(slots=True)
class _TaskTimes:
    spans: list[TimeSpan] = field(default_factory=list)
    requests: int = 0
    """How many of its requests wait for the person."""
    waits: dict[int, tuple[AgentId, ...]] = field(default_factory=dict)
    is_at_work: bool = False
    """What comes to a task that is not, such as that its requests are withdrawn, begins nothing."""
    view: tuple[TimeSpan, ...] | None = None

    def go_on(self, time: float) -> None:
        """Begin what a task at work does now."""
        if not self.is_at_work:
            return
        if self.requests:
            self.begin(time, TimeSpan(Spent.NEEDING_YOU, time))
        elif self.waits:
            agents = dict.fromkeys(agent for agents in self.waits.values() for agent in agents)
            self.begin(time, TimeSpan(Spent.WAITING, time, agents=tuple(agents)))
        else:
            self.begin(time, TimeSpan(Spent.WORKING, time))

    def begin(self, time: float, span: TimeSpan) -> None:
        last = self.spans[-1] if self.spans else None
        if last is not None and last.end is None:
            if (last.spent, last.agents) == (span.spent, span.agents):
                return
            if last.start == time:  # what was settled at once took no time
                self.spans.pop()
                earlier = self.spans[-1] if self.spans else None
                if earlier is not None and earlier.end == time and earlier.spent is span.spent:
                    self.spans[-1] = replace(earlier, end=None)
                    self.view = None
                    return
        self._close(time, failed=False)
        self.spans.append(span)
        del self.spans[:-_MOST]

    def end(self, time: float, *, failed: bool = False) -> None:
        self._close(time, failed=failed)
        self.is_at_work = False

    def _close(self, time: float, *, failed: bool) -> None:
        self.view = None
        if self.spans and self.spans[-1].end is None:
            self.spans[-1] = replace(self.spans[-1], end=time, failed=failed)

    def seen(self) -> tuple[TimeSpan, ...]:
        if self.view is None:
            self.view = tuple(self.spans)
        return self.view
