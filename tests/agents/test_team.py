"""The team: who is on it, in which order, and which choice wins."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import teambot_tui.agents
from teambot_tui.agents.catalogue import TYPES
from teambot_tui.agents.errors import PersonaError, SettingsError
from teambot_tui.agents.persona import Persona, Personas, load_personas
from teambot_tui.agents.settings import AgentSettings, BackendSettings, Settings
from teambot_tui.agents.team import BASES, DEFAULT_TEAM, assemble
from teambot_tui.agents.team_files import TeamFiles
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import Permissions

BUILT_IN = load_personas(TeamFiles(Path("/nonexistent")))
FILE = Path("/project/teambot.toml")


def persona(name: str, *, model: str | None = None, backend: str | None = None) -> Persona:
    return Persona(name, "", model, backend, (), f"I am {name}.", Path(f"/project/.teambot/agents/{name}.md"))


def personas(*more: Persona) -> Personas:
    return Personas({**BUILT_IN, **{each.name: each for each in more}})


def settings(**agents: AgentSettings) -> Settings:
    backends = {name: BackendSettings(name, "echo") for name in ("echo", "flag", "agent", "own", "default")}
    return Settings(
        backend="default",
        backends=backends,
        agents={name.replace("_", "-"): agent for name, agent in agents.items()},
        sources={"agents.pm.persona": FILE},
    )


def test_the_default_team() -> None:
    team = assemble(Settings(), BUILT_IN)
    assert tuple(team.members) == DEFAULT_TEAM
    assert team.default == "pm"
    for name, member in team.members.items():
        assert (member.id, member.system, member.model) == (name, BUILT_IN[name].prompt, None)
    assert len({id(member.backend) for member in team.members.values()}) == 1


def test_the_order_is_default_then_settings_then_the_projects_personas() -> None:
    chosen = settings(
        zeta=AgentSettings(), reviewer=AgentSettings(), explore=AgentSettings(), bob=AgentSettings()
    )
    known = personas(persona("mike"), persona("alice"), persona("bob"), persona("plan"), persona("pm"))
    assert tuple(assemble(chosen, known).members) == (
        *DEFAULT_TEAM,
        "zeta",
        "explore",
        "bob",
        "alice",
        "mike",
    )


def test_bases_are_not_on_the_team_even_when_the_project_has_its_own() -> None:
    assert not set(assemble(Settings(), personas(*map(persona, BASES))).members) & set(BASES)


def test_where_a_prompt_comes_from() -> None:
    chosen = settings(
        pm=AgentSettings(persona="scout"), scout=AgentSettings(), nobody=AgentSettings(), plan=AgentSettings()
    )
    members = {
        str(name): member for name, member in assemble(chosen, personas(persona("scout"))).members.items()
    }
    assert members["pm"].system == "I am scout."
    assert members["scout"].system == "I am scout."
    assert members["nobody"].system == BUILT_IN["general-purpose"].prompt
    assert members["plan"].system == BUILT_IN["plan"].prompt


@pytest.mark.parametrize(
    ("own", "agent", "flag", "expected"),
    [
        (None, None, None, "default"),
        ("own", None, None, "own"),
        (None, "agent", None, "agent"),
        ("own", "agent", None, "agent"),
        ("own", "agent", "flag", "flag"),
        ("missing", None, "flag", "flag"),
        ("missing", "agent", None, "agent"),
    ],
)
def test_the_nearest_choice_of_a_backend_wins(
    own: str | None, agent: str | None, flag: str | None, expected: str
) -> None:
    chosen = settings(
        pm=AgentSettings(backend=agent),
        **{f"uses-{name}": AgentSettings(backend=name) for name in ("agent", "own", "default")},
    )
    team = assemble(chosen, personas(persona("pm", backend=own)), backend=flag)
    by_id = {str(name): member.backend for name, member in team.members.items()}
    if flag:
        assert len({id(backend) for backend in by_id.values()}) == 1
    else:
        assert by_id["pm"] is by_id[f"uses-{expected}"]
        assert len({id(backend) for backend in by_id.values()}) == 3


@pytest.mark.parametrize(
    ("own", "agent", "expected"),
    [(None, None, None), ("own", None, "own"), (None, "agent", "agent"), ("own", "agent", "agent")],
)
def test_the_nearest_choice_of_a_model_wins(own: str | None, agent: str | None, expected: str | None) -> None:
    team = assemble(settings(scout=AgentSettings(model=agent)), personas(persona("scout", model=own)))
    assert {str(name): member.model for name, member in team.members.items()}["scout"] == expected


def test_only_backends_that_are_used_are_built() -> None:
    never = BackendSettings("never", "no such type")
    assemble(Settings(backends={**Settings().backends, "never": never}), BUILT_IN)


@pytest.mark.parametrize(
    ("type_name", "options"),
    [
        ("echo", {}),
        ("rehearsal", {}),
        ("rehearsal", {"seed": 1, "words_per_second": 0.0}),
        ("command", {"command": ("cat",)}),
        ("command", {"command": ("cat",), "env": {"HOME": None}, "silence_timeout": 5.0}),
    ],
)
def test_each_type_is_built_from_the_options_its_table_allows(
    type_name: str, options: dict[str, object]
) -> None:
    assert set(options) <= set(TYPES[type_name].options.keys)
    chosen = Settings(backend="x", backends={"x": BackendSettings("x", type_name, options)})
    backend = next(iter(assemble(chosen, BUILT_IN).members.values())).backend
    assert type(backend).__name__.lower().removesuffix("backend") == type_name


@pytest.mark.parametrize(
    ("name", "sources", "expected"),
    [("pm", {}, "pm"), ("ba", {"default_agent": FILE}, "ba"), (None, {}, None), ("gone", {}, None)],
)
def test_the_default_agent(name: str | None, sources: dict[str, Path], expected: str | None) -> None:
    assert assemble(Settings(default_agent=name, sources=sources), BUILT_IN).default == expected


def refuse(chosen: Settings, known: Personas = BUILT_IN, backend: str | None = None) -> str:
    with pytest.raises((SettingsError, PersonaError)) as caught:
        assemble(chosen, known, backend=backend)
    return str(caught.value)


def test_names_that_do_not_exist_are_refused_where_they_were_written() -> None:
    assert refuse(Settings(default_agent="reviwer", sources={"default_agent": FILE})) == (
        f"{FILE}: default_agent: unknown agent reviwer. Did you mean reviewer?"
        f" Known: {', '.join(DEFAULT_TEAM)}"
    )
    assert refuse(settings(pm=AgentSettings(persona="exlore"))).startswith(
        f"{FILE}: agents.pm.persona: unknown persona exlore. Did you mean explore? Known: "
    )
    assert refuse(Settings(), backend="ec\x1b[1mo").startswith(
        "--backend: unknown backend eco. Did you mean echo? Known: echo, local, rehearsal, claude, "
    )


def test_an_unknown_backend_in_a_persona_is_a_note() -> None:
    scout = persona("scout", backend="zzz")
    chosen = settings(pm=AgentSettings(persona="scout"))
    team = assemble(chosen, personas(scout))
    assert len({id(member.backend) for member in team.members.values()}) == 1
    (note,) = team.notes
    assert note.startswith(f"passed over: {scout.path}: `backend`: unknown backend zzz. Known: echo, flag")


def test_a_persona_cannot_start_a_known_agent_that_the_settings_do_not_use() -> None:
    scout = persona("scout", backend="claude-cli")
    team = assemble(settings(), personas(scout))
    assert {str(name): backend for name, backend in team.backends.items()}["scout"] == "default"
    assert team.notes == (
        f"passed over: {scout.path}: `backend`: claude-cli is known, but your settings do not use it",
    )


def test_a_persona_may_use_a_known_agent_that_the_settings_use() -> None:
    team = assemble(settings(pm=AgentSettings(backend="llm")), personas(persona("scout", backend="llm")))
    by_id = {str(name): backend for name, backend in team.backends.items()}
    assert (by_id["pm"], by_id["scout"]) == ("llm", "llm")
    assert team.notes == ()


def test_permissions_are_the_agents_own_or_those_of_all() -> None:
    chosen = replace(settings(pm=AgentSettings(permissions=Permissions.ALLOW)), permissions=Permissions.DENY)
    members = {str(name): member for name, member in assemble(chosen, BUILT_IN).members.items()}
    assert members["pm"].permissions is Permissions.ALLOW
    assert members["ba"].permissions is Permissions.DENY
    assert assemble(Settings(), BUILT_IN).members[AgentId("pm")].permissions is Permissions.ASK


@pytest.mark.parametrize("name", ["all", "me", "PM", "a_b", "", "../pm"])
def test_an_agent_needs_a_proper_name(name: str) -> None:
    assert "must be an agent id" in refuse(Settings(agents={name: AgentSettings()}))


def test_a_backend_that_nobody_uses_is_not_even_imported() -> None:
    program = (
        "import pathlib, sys\n"
        "from teambot_tui.agents.persona import load_personas\n"
        "from teambot_tui.agents.team_files import TeamFiles\n"
        "from teambot_tui.agents.settings import Settings\n"
        "from teambot_tui.agents.team import assemble\n"
        "assemble(Settings(), load_personas(TeamFiles(pathlib.Path('/nonexistent'))), backend='echo')\n"
        "print(*sorted(name for name in sys.modules if name.startswith('teambot_tui.agents.backends.')))"
    )
    root = Path(teambot_tui.agents.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["teambot_tui.agents.backends.echo"]


def asking(path: str = "/project/.claude/agents/pm.md", **keys: object) -> Personas:
    return personas(replace(persona("pm"), path=Path(path), **keys))  # type: ignore[arg-type]  # any of them


def on(kind: str, **options: object) -> Settings:
    return Settings(backend="x", backends={"x": BackendSettings("x", kind, {"command": ("cat",), **options})})


def test_what_a_persona_narrows_reaches_its_agent() -> None:
    known = asking(tools=("Read",), max_turns=3, permission_mode="plan")
    member = assemble(replace(on("command"), permissions=Permissions.ALLOW), known).members[AgentId("pm")]
    assert (member.allowed_tools, member.max_turns) == (("Read",), 3)
    assert member.permissions is Permissions.DENY


@pytest.mark.parametrize("mode", ["bypassPermissions", "acceptEdits", "dontAsk", "anything"])
def test_a_persona_widens_nothing(mode: str) -> None:
    team = assemble(on("command"), asking(permission_mode=mode))
    assert team.members[AgentId("pm")].permissions is Permissions.ASK
    (note,) = team.notes
    assert f"`permissionMode: {mode}` is ignored" in note


@pytest.mark.parametrize(
    ("settings", "ignored"),
    [
        (on("command"), ["tools", "maxTurns"]),
        (on("command", allowed_tools_arguments=("--tools",)), ["maxTurns"]),
        (on("acp"), ["tools", "maxTurns"]),
        (on("acp", claude_options=True), []),
        (Settings(backend="claude-cli"), []),
        (Settings(backend="codex"), ["tools", "maxTurns"]),
        (Settings(), []),
    ],
)
def test_what_a_backend_cannot_be_told_is_told_to_the_person(settings: Settings, ignored: list[str]) -> None:
    team = assemble(settings, asking(tools=("Read",), max_turns=3))
    assert [note.split("`")[1] for note in team.notes] == ignored


def test_isolation_is_told_and_our_own_personas_are_not() -> None:
    assert "isolation" in assemble(on("command"), asking(isolation="worktree")).notes[0]
    chosen = replace(on("command"), agents={"explore": AgentSettings()})
    assert assemble(chosen, BUILT_IN).notes == ()
