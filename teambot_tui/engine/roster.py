"""Who can be given work: the team, and those who joined for this session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.ids import AgentId

GENERAL = "general-purpose"
"""The base of whoever does what is for nobody in particular."""


@dataclass(frozen=True, slots=True)
class Roster:
    """All agents in the order in which they are listed, and who gets what is addressed to nobody.

    `temporary` tells how those who joined were defined; `bases` are the names to define others by. Those of
    the team that were `promoted` can be defined again for this session: what defined them then still runs.
    """

    agents: tuple[AgentId, ...]
    default: AgentId | None
    temporary: Mapping[AgentId, AgentDefined] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    promoted: tuple[AgentId, ...] = ()

    @property
    def team(self) -> tuple[AgentId, ...]:
        """Those who did not join only for this session."""
        return tuple(agent for agent in self.agents if agent not in self.temporary)

    @property
    def known_bases(self) -> tuple[str, ...]:
        """Whatever an agent can be made of, each name once: the agents, then the bases."""
        return tuple(dict.fromkeys((*self.agents, *self.bases)))

    def base(self, name: str) -> str | None:
        """Return the base or agent that is meant by a name in any case."""
        return next((each for each in self.known_bases if each.lower() == name.lower()), None)

    def with_agents(self, *defined: AgentDefined) -> Roster:
        """Return the roster with agents that joined, or were defined again."""
        agents = dict.fromkeys((*self.agents, *(each.agent for each in defined)))
        joined = {each.agent: each for each in defined}
        return replace(self, agents=tuple(agents), temporary={**self.temporary, **joined})

    def without_agents(self, *left: AgentId) -> Roster:
        """Return the roster without agents that left."""
        return replace(
            self,
            agents=tuple(each for each in self.agents if each not in left),
            default=self.default if self.default not in left else None,
            temporary={name: each for name, each in self.temporary.items() if name not in left},
        )
