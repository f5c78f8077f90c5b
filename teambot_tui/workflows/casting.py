"""Who does which task of a compose file: an agent of the team, or one that joins under the task's name.

A newcomer is made of the base or the agent that has its name, else of the general one. Where the name is
taken by the team, it gets a number, as every instance does that runs beside others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.roster import GENERAL
from teambot_tui.language.names import RESERVED
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.fields import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teambot_tui.engine.roster import Roster
    from teambot_tui.workflows.schema import ComposeFile
    from teambot_tui.workflows.selection import Selection


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
