"""What each agent is doing, derived from the facts: one reader's view, the same for every face."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from teambot_tui.engine.facts import (
    DependencyMet,
    Fact,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskDelayed,
    TaskFailed,
    TaskQueued,
    TaskRetried,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    WorkEnded,
)
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.states import STATES


class Status(StrEnum):
    """What an agent is doing."""

    IDLE = "idle"
    QUEUED = "queued"
    WAITING = "waiting"
    EXECUTING = "executing"


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """An agent's status; `str` gives the line that is shown for it everywhere."""

    agent: AgentId
    status: Status = Status.IDLE
    waiting_for: tuple[AgentId, ...] = ()
    no_output_yet: tuple[AgentId, ...] = ()

    def __str__(self) -> str:
        return (
            f"@{self.agent}: {STATES[self.status].word}{waiting_clause(self.waiting_for, self.no_output_yet)}"
        )


def waiting_clause(waiting_for: tuple[AgentId, ...], no_output_yet: tuple[AgentId, ...]) -> str:
    """Say for whom: ` for @pm, @ba (no output yet)`, or nothing."""
    names = (f"@{agent}" + " (no output yet)" * (agent in no_output_yet) for agent in waiting_for)
    return f" for {', '.join(names)}" if waiting_for else ""


class Statuses:
    """Follows the facts of a session."""

    def __init__(self) -> None:
        self._statuses: dict[AgentId, AgentStatus] = {}
        self._unfinished: Counter[AgentId] = Counter()
        self._at_work: dict[AgentId, TaskId] = {}

    def __getitem__(self, agent: AgentId) -> AgentStatus:
        return self._statuses.get(agent) or AgentStatus(agent)

    def update(self, fact: Fact) -> AgentStatus | None:
        """Take in a fact; return the status that it changed, if it changed one."""
        match fact:
            case TaskCreated(task=task) | TaskRetried(task=task):
                self._unfinished[agent_of(task)] += 1
                return None
            case TaskQueued(task=task) | TaskDelayed(task=task):
                return self._set(AgentStatus(agent_of(task), Status.QUEUED))
            case TaskWaiting(task=task, waiting_for=agents, no_output_yet=without):
                return self._set(AgentStatus(agent_of(task), Status.WAITING, agents, without))
            case DependencyMet(task=task, agent=met):
                status = self[agent_of(task)]
                agents = tuple(agent for agent in status.waiting_for if agent != met)
                return self._set(replace(status, waiting_for=agents)) if agents else None
            case TaskStarted(task=task):
                self._at_work[agent_of(task)] = task
                return self._set(AgentStatus(agent_of(task), Status.EXECUTING))
            case WorkEnded(task=task):
                self._at_work.pop(agent_of(task), None)
                return self._rest(agent_of(task))
            case (
                TaskCompleted(task=task)
                | TaskFailed(task=task)
                | TaskSkipped(task=task)
                | TaskCancelled(task=task)
            ):
                self._unfinished[agent_of(task)] -= 1
                return self._rest(agent_of(task))
            case _:
                return None

    def _rest(self, agent: AgentId) -> AgentStatus | None:
        """An agent is idle when it has no task left and its last work has really ended."""
        if self._unfinished[agent] or agent in self._at_work:
            return None
        return self._set(AgentStatus(agent))

    def _set(self, status: AgentStatus) -> AgentStatus | None:
        if status == self[status.agent]:
            return None
        self._statuses[status.agent] = status
        return status
