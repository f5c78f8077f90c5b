"""Which tasks of a compose file run when somebody says `up`, and who does them.

A task is for an agent of the team, or for one that joins under the task's name. A newcomer is made of the
base or the agent that has its name, else of the general one. Where the name is taken by the team, it gets a
number, as every instance does that runs beside others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from teambot_tui.agents.checks import unknown
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.roster import GENERAL
from teambot_tui.language.names import RESERVED
from teambot_tui.workflows.errors import ComposeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teambot_tui.engine.roster import Roster
    from teambot_tui.workflows.schema import ComposeFile, ComposePipeline, ComposeTask


@dataclass(frozen=True, slots=True)
class Selection:
    """What to run. Without a pipeline, its name is empty."""

    pipeline: str
    tasks: tuple[ComposeTask, ...]
    iterations: int = 1
    parallelism: int = 1


def select(file: ComposeFile, names: Sequence[str] = (), iterations: int | None = None) -> Selection:
    """Return what runs: a pipeline, tasks with all they depend on, or without names the only pipeline or all.

    Raises:
        ComposeError: A name is unknown, a pipeline is not alone, or there is no iteration.
    """
    if iterations is not None and iterations < 1:
        raise ComposeError(file.path, 0, 0, "at least one iteration is needed")
    if not names and len(file.pipelines) == 1:
        names = tuple(file.pipelines)
    for name in names:
        if name not in file.tasks and name not in file.pipelines:
            known = {**dict.fromkeys(file.pipelines), **dict.fromkeys(file.tasks)}
            raise ComposeError(file.path, 0, 0, unknown("pipeline or task", name, known))
    # A name that is both means the pipeline, which says more.
    pipelines = [file.pipelines[name] for name in dict.fromkeys(names) if name in file.pipelines]
    if not pipelines:
        return Selection("", _with_needs(file, names or tuple(file.tasks)), iterations or 1)
    if len(set(names)) > 1:
        raise ComposeError(
            file.path, 0, 0, f"the pipeline {pipelines[0].name} must be the only name", "run them one by one"
        )
    return _whole(file, pipelines[0], iterations)


def _whole(file: ComposeFile, pipeline: ComposePipeline, iterations: int | None) -> Selection:
    return Selection(
        pipeline.name,
        tuple(file.tasks[name] for name in pipeline.tasks),
        iterations or pipeline.iterations,
        pipeline.parallelism,
    )


def _with_needs(file: ComposeFile, names: Sequence[str]) -> tuple[ComposeTask, ...]:
    chosen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in chosen:
            chosen.add(name)
            waiting += (need.task for need in file.tasks[name].needs)
    return tuple(task for name, task in file.tasks.items() if name in chosen)


@dataclass(frozen=True, slots=True)
class Cast:
    """Who does a task in a scope, and what those are made of who join for it."""

    agents: Mapping[tuple[str, str], AgentId]
    newcomers: Mapping[AgentId, str]


def cast(file: ComposeFile, selection: Selection, scopes: Sequence[str], roster: Roster) -> Cast:
    """Say who does what.

    Raises:
        ComposeError: A task is for somebody who does not exist.
    """
    there = frozenset(roster.agents)
    team = there.difference(roster.temporary)
    bases = frozenset((*roster.bases, *roster.agents))
    agents: dict[tuple[str, str], AgentId] = {}
    newcomers: dict[AgentId, str] = {}
    taken: set[str] = {*team, *RESERVED}
    for task in selection.tasks:
        if task.agent is not None and task.agent not in there:
            raise ComposeError(file.path, task.line, 1, unknown("agent", task.agent, roster.agents))
        for number, scope in enumerate(scopes, 1):
            if task.agent is not None:
                agents[scope, task.name] = AgentId(task.agent)
                continue
            called = _as_agent(task.name)
            name = called if len(scopes) == 1 else f"{called}-{number}"
            if name in taken:
                name = next(each for more in count(1) if (each := f"{called}-{more}") not in taken)
            taken.add(name)
            agents[scope, task.name] = AgentId(name)
            newcomers[AgentId(name)] = called if called in bases else GENERAL
    return Cast(agents, newcomers)


def _as_agent(task: str) -> str:
    """Return the name of a task as an agent can have it: `Plan_it` is `plan-it`."""
    return re.sub("[-_]+", "-", task.lower()).strip("-")
