"""How an agent that joins for one session becomes a member: as its base, on what its base runs on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teambot_tui.agents.team import build, member_of
from teambot_tui.engine.ids import AgentId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.agents.persona import Persona
    from teambot_tui.agents.settings import Settings
    from teambot_tui.agents.team import Team
    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.ports import Backend, Member


class Recruiting:
    """Makes members; `backend` takes the place of every agent's own."""

    def __init__(
        self, team: Team, settings: Settings, personas: Mapping[str, Persona], backend: str | None
    ) -> None:
        self._members = dict(team.members)
        self._backends: dict[str, Backend] = {
            name: team.members[agent].backend for agent, name in team.backends.items()
        }
        self._settings = settings
        self._personas = personas
        self._backend = backend

    def use(self, name: str, backend: Backend) -> None:
        """Let whoever joins from now on run on this backend."""
        self._backend = name
        self._backends[name] = backend
        self._members = {agent: replace(member, backend=backend) for agent, member in self._members.items()}

    def __call__(self, defined: AgentDefined) -> Member:
        """Return the member that was defined; whoever is made of it later is made of this one."""
        base = self._members.get(AgentId(defined.base)) or self._of_persona(defined.base)
        member = replace(
            base,
            id=defined.agent,
            system="\n\n".join(filter(None, (base.system, defined.prompt))),
            model=defined.model or base.model,
            exact_system=base.system,
        )
        self._members[defined.agent] = member
        return member

    def _of_persona(self, name: str) -> Member:
        persona = self._personas[name]
        own = persona.backend if persona.backend in self._settings.chosen_backends else None
        runs_on = self._backend or own or self._settings.backend
        if runs_on not in self._backends:
            self._backends[runs_on] = build(self._settings, runs_on)
        return member_of(persona, self._backends[runs_on], self._settings.permissions)
