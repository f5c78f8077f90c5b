"""The names the engine deals in. An agent's id and a task's id are both strings and never the same thing."""

from typing import NewType

AgentId = NewType("AgentId", str)
"""`pm`, `builder-1`."""

TaskId = NewType("TaskId", str)
"""`pm#1`: the agent's id and a running number per agent."""


def task_id(agent: AgentId, number: int) -> TaskId:
    """Return the id of an agent's task."""
    return TaskId(f"{agent}#{number}")


def agent_of(task: TaskId) -> AgentId:
    """Return whose task it is."""
    return AgentId(task.rpartition("#")[0])
