"""Who is on the team, in which order, and what each member runs on.

What the settings say of an agent beats its persona, and that beats the default. A backend given for the
session beats them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teambot_tui.agents import catalogue
from teambot_tui.agents.checks import agent_id, unknown
from teambot_tui.agents.errors import PersonaError, SettingsError
from teambot_tui.agents.persona import BUILT_IN
from teambot_tui.agents.settings import AgentSettings
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import Member, Permissions
from teambot_tui.engine.roster import GENERAL
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from teambot_tui.agents.persona import Persona
    from teambot_tui.agents.settings import Settings
    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.ports import Backend

DEFAULT_TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")
BASES = (
    GENERAL,
    "explore",
    "plan",
    "code-reviewer",
    "expert-code-implementer",
    "implementation-architect",
)
"""Personas to build agents on. They are not on the team unless the settings put them there."""
_UNCONFIGURED = AgentSettings()
_PLANS = "plan"
"""The one mode of permissions that a persona may choose: it changes nothing."""


@dataclass(frozen=True, slots=True)
class Team:
    """The members in the order in which they are always listed, and who gets a task that names nobody.

    `backends` and `descriptions` say of each member what it runs on and what it is for, `notes` are lines for
    the user about what was not taken.
    """

    members: Mapping[AgentId, Member]
    default: AgentId | None
    backends: Mapping[AgentId, str]
    descriptions: Mapping[AgentId, str]
    notes: tuple[str, ...] = ()


def assemble(settings: Settings, personas: Mapping[str, Persona], *, backend: str | None = None) -> Team:
    """Make the team; `backend` takes the place of every agent's own.

    Raises:
        SettingsError: The settings, or the `backend` given, name something that does not exist.
    """
    if backend is not None and settings.find_backend(backend) is None:
        raise SettingsError(None, "--backend", settings.unknown_backend(backend))
    built: dict[str, Backend] = {}
    members: dict[AgentId, Member] = {}
    backends: dict[AgentId, str] = {}
    descriptions: dict[AgentId, str] = {}
    notes: list[str] = []
    for name in _order(settings, personas):
        chosen = settings.agents.get(name, _UNCONFIGURED)
        persona = _persona(name, settings, personas)
        runs_on = backend or chosen.backend or _own_backend(persona, settings, notes) or settings.backend
        if runs_on not in built:
            built[runs_on] = build(settings, runs_on)
        agent = AgentId(name)
        member = member_of(persona, built[runs_on], chosen.permissions or settings.permissions)
        members[agent] = replace(member, id=agent, model=chosen.model or persona.model)
        notes += _not_honoured(persona, settings, runs_on)
        backends[agent] = runs_on
        descriptions[agent] = persona.description
    return Team(members, _default(settings, members), backends, descriptions, tuple(dict.fromkeys(notes)))


def member_of(persona: Persona, backend: Backend, permissions: Permissions) -> Member:
    """Make a member as its persona says, which may narrow what it is allowed to do and never widen it."""
    return Member(
        AgentId(persona.name),
        persona.prompt,
        persona.model,
        backend,
        Permissions.DENY if persona.permission_mode == _PLANS else permissions,
        allowed_tools=persona.tools,
        max_turns=persona.max_turns,
    )


def _not_honoured(persona: Persona, settings: Settings, backend: str) -> Iterator[str]:
    """Say what a project's persona asks for that its backend cannot do, or that is not for it to say."""
    description = settings.find_backend(backend)
    assert description is not None
    if persona.path.parent == BUILT_IN or description.type in ("echo", "rehearsal"):
        return
    where = one_line(str(persona.path))
    if persona.permission_mode not in (None, "default", _PLANS):
        yield (
            f"{where}: `permissionMode: {persona.permission_mode}` is ignored:"
            " what agents may do unasked is taken from your own settings only"
        )
    if persona.isolation is not None:
        yield f"{where}: `isolation` is ignored: every agent works in this directory"
    honoured = catalogue.TYPES[description.type].honours(description.options)
    asked = {"tools": persona.tools, "maxTurns": persona.max_turns}
    for key in (key for key, value in asked.items() if value and key not in honoured):
        yield f"{where}: `{key}` is ignored: {backend} cannot be told"


def build(settings: Settings, name: str) -> Backend:
    """Make the backend of that name, which must exist."""
    description = settings.find_backend(name)
    assert description is not None
    return catalogue.build(description.type, description.options)


def _order(settings: Settings, personas: Mapping[str, Persona]) -> list[str]:
    """The default team, then those whom the settings add, then the project's other personas by name."""
    for name in settings.agents:
        try:
            agent_id(name)
        except ValueError as error:
            raise settings.error(f"agents.{name}", str(error)) from error
    of_the_project = sorted(set(personas) - set(BASES))
    return list(dict.fromkeys([*DEFAULT_TEAM, *settings.agents, *of_the_project]))


def _persona(name: str, settings: Settings, personas: Mapping[str, Persona]) -> Persona:
    wanted = settings.agents.get(name, _UNCONFIGURED).persona
    if wanted is None:
        return personas.get(name) or personas[GENERAL]
    if wanted not in personas:
        raise settings.error(f"agents.{name}.persona", unknown("persona", wanted, personas))
    return personas[wanted]


def _own_backend(persona: Persona, settings: Settings, notes: list[str]) -> str | None:
    if persona.backend is None or persona.backend in settings.chosen_backends:
        return persona.backend
    if settings.find_backend(persona.backend) is None:
        problem = settings.unknown_backend(persona.backend)
    else:
        # Which programs are started is for the settings to say.
        problem = f"{persona.backend} is known, but your settings do not use it"
    notes.append(f"passed over: {PersonaError(persona.path, 0, f'`backend`: {problem}')}")
    return None


def _default(settings: Settings, members: Mapping[AgentId, Member]) -> AgentId | None:
    name = settings.default_agent
    if name is None or name in members:
        return AgentId(name) if name else None
    if "default_agent" not in settings.sources:
        return None  # the built-in choice is only a suggestion
    raise settings.error("default_agent", unknown("agent", name, members))


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
