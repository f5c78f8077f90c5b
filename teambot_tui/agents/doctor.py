"""What this machine has and what the settings make of it: everything is told, nothing is changed.

What is wrong with the settings is one of the things to tell, so it stops nothing.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.discovery import login_seen, missing_extra, servers_here, version_of
from teambot_tui.agents.errors import AgentsError
from teambot_tui.agents.models import TINY, path_of
from teambot_tui.agents.persona import load_personas
from teambot_tui.agents.places import PROJECT_FILE, user_path
from teambot_tui.agents.presets import PRESETS, SERVERS
from teambot_tui.agents.project import sort_out
from teambot_tui.agents.settings import Settings, load_settings
from teambot_tui.agents.team import assemble
from teambot_tui.agents.team_files import TeamFiles
from teambot_tui.engine.files import UnreadableError, read_whole
from teambot_tui.engine.ports import Permissions
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.agents.presets import Preset
    from teambot_tui.agents.settings import BackendSettings
    from teambot_tui.agents.team import Team

_AT_ONCE: Final = 4
_READ_ONLY: Final = {"acp": "read_only_mode", "command": "read_only_arguments"}
"""The option by which a backend of each type holds a program to reading; others do nothing but answer."""


@dataclass(frozen=True, slots=True)
class BackendHealth:
    """One backend: whether it is there, and what to do if it is not ready.

    `login` is `yes`, `not seen` or `not needed`, or empty where nothing is known about it.
    """

    name: str
    type: str
    found: bool
    where: str
    version: str = ""
    login: str = ""
    what_to_do: str = ""
    used_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileHealth:
    """One file of settings, or of the project, and what became of it."""

    path: str
    state: str


@dataclass(frozen=True, slots=True)
class Health:
    """All there is to tell."""

    backends: tuple[BackendHealth, ...]
    files: tuple[FileHealth, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


async def examine(directory: Path, environ: Mapping[str, str]) -> Health:
    """Look at everything."""
    settings, team, notes, warnings = _settings(directory, environ)
    used_by: dict[str, list[str]] = {}
    for agent, backend in (team.backends if team else {}).items():
        used_by.setdefault(backend, []).append(agent)
    limit = asyncio.Semaphore(_AT_ONCE)

    async def known(preset: Preset) -> BackendHealth:
        async with limit:
            return await _known_agent(preset, environ, tuple(used_by.get(preset.name, ())))

    configured = [
        _configured(backend, tuple(used_by.get(name, ())), environ)
        for name, backend in settings.backends.items()
    ]
    presets = [preset for name, preset in PRESETS.items() if name not in settings.backends]
    agents, servers = await asyncio.gather(asyncio.gather(*map(known, presets)), _servers(settings, used_by))
    if team:
        warnings += _untold(settings, team) + _unbound(settings, team)
    return Health((*configured, *agents, *servers), _files(directory, environ), notes, warnings)


def _settings(
    directory: Path, environ: Mapping[str, str]
) -> tuple[Settings, Team | None, tuple[str, ...], tuple[str, ...]]:
    settings = Settings()
    files = TeamFiles(directory)
    try:
        files, _, _ = sort_out(directory, environ)
        settings = load_settings(directory, environ, files.content.get(Path(PROJECT_FILE)))
        personas = load_personas(files)
        team = assemble(settings, personas)
    except AgentsError as error:
        return settings, None, (*files.problems, *settings.notes), (str(error),)
    except ImportError as error:  # a backend whose extra is not installed
        return settings, None, (*files.problems, *settings.notes), (one_line(str(error)),)
    return settings, team, (*files.problems, *settings.notes, *personas.notes, *team.notes), ()


async def _known_agent(preset: Preset, environ: Mapping[str, str], used_by: tuple[str, ...]) -> BackendHealth:
    path = preset.path()
    if path is None:
        missing = preset.command()[0]
        return BackendHealth(
            preset.name, preset.type, False, missing, what_to_do=preset.install, used_by=used_by
        )
    seen = login_seen(preset.login, environ)
    state = "yes" if seen else "not seen" if preset.login.needed else "not needed"
    return BackendHealth(
        preset.name,
        preset.type,
        found=True,
        where=path,
        version=await version_of(preset, path),
        login=state,
        what_to_do=missing_extra(preset.type) or (preset.login.how if state == "not seen" else ""),
        used_by=used_by,
    )


def _configured(
    backend: BackendSettings, used_by: tuple[str, ...], environ: Mapping[str, str]
) -> BackendHealth:
    options: Mapping[str, Any] = backend.options
    if backend.type == "local":
        return _local(backend, used_by, environ)
    command = options.get("command")
    if not command:
        where = str(options.get("base_url", "")) or "built in"
        return BackendHealth(
            backend.name,
            backend.type,
            True,
            one_line(where),
            what_to_do=missing_extra(backend.type),
            used_by=used_by,
        )
    path = shutil.which(command[0])
    return BackendHealth(
        backend.name,
        backend.type,
        path is not None,
        one_line(path or command[0]),
        what_to_do=missing_extra(backend.type)
        if path
        else f"install {one_line(command[0])}, or correct [backends.{backend.name}]",
        used_by=used_by,
    )


def _local(backend: BackendSettings, used_by: tuple[str, ...], environ: Mapping[str, str]) -> BackendHealth:
    """Tell of a model on this machine; without a path of its own it is the one that can be fetched."""
    given = backend.options.get("model_path")
    try:
        path = Path(str(given)).expanduser() if given else path_of(TINY, environ)
        found = path.is_file()
    except (AgentsError, OSError, RuntimeError):  # there may be no such home
        path, found = Path(str(given or TINY.file)), False
    get = f"correct model_path in [backends.{backend.name}]" if given else "teambot models pull"
    return BackendHealth(
        backend.name,
        backend.type,
        found,
        one_line(str(path)),
        what_to_do=missing_extra(backend.type) or ("" if found else get),
        used_by=used_by,
    )


async def _servers(settings: Settings, used_by: Mapping[str, list[str]]) -> list[BackendHealth]:
    found = {each.name for each in await servers_here()}
    return [
        BackendHealth(
            name,
            "openai",
            name in found,
            server.address,
            login="not needed" if name in found else "",
            what_to_do=missing_extra("openai") if name in found else f"start {server.title}",
            used_by=tuple(used_by.get(name, ())),
        )
        for name, server in SERVERS.items()
        if name not in settings.backends
    ]


def _files(directory: Path, environ: Mapping[str, str]) -> tuple[FileHealth, ...]:
    try:
        user = user_path(directory, environ)
    except AgentsError as error:
        return (FileHealth("", str(error)),)
    files = [_file(user, "read")] if user else []
    trusted, _, changes = sort_out(directory, environ)
    if not trusted.content and not changes:
        files.append(_file(directory / PROJECT_FILE, "read as yours"))
    files += [_file(directory / path, "read, trusted") for path in trusted.content]
    for change in changes:
        state = f"not used until you run: teambot trust ({'; '.join(change.words)})"
        files.append(FileHealth(one_line(str(directory / change.path), 300), state))
    return tuple(files)


def _file(path: Path, state: str) -> FileHealth:
    try:
        read_whole(path)
    except FileNotFoundError:
        state = "not there"
    except UnreadableError as error:
        state = str(error)
    return FileHealth(one_line(str(path), 300), state)


def _untold(settings: Settings, team: Team) -> tuple[str, ...]:
    """Say which agents have a model or a persona that their program is never told."""
    warnings: list[str] = []
    for agent, member in team.members.items():
        backend = settings.find_backend(team.backends[agent])
        if backend is None or backend.type != "command":
            continue
        options: Mapping[str, Any] = backend.options
        told = [*options["command"], *options.get("model_arguments", ())]
        if member.model and not any("{model}" in argument for argument in told):
            warnings.append(
                f"@{agent} has the model {member.model}, but {backend.name} is not told: "
                "there is no {model} in its command"
            )
        told = [*options["command"], *options.get("system_arguments", ())]
        if not options.get("system_in_prompt") and not any("{system}" in argument for argument in told):
            warnings.append(
                f"{backend.name} is not told who an agent is: there is no {{system}} in its command"
            )
    return tuple(dict.fromkeys(warnings))


def _unbound(settings: Settings, team: Team) -> tuple[str, ...]:
    """Say which agents are denied everything, but run on a program that is not held to it."""
    warnings: list[str] = []
    for agent, member in team.members.items():
        backend = settings.find_backend(team.backends[agent])
        option = _READ_ONLY.get(backend.type) if backend else None
        if backend is None or option is None or member.permissions is not Permissions.DENY:
            continue
        if option not in backend.options:
            asks = "only what it asks for is rejected" if backend.type == "acp" else "it never asks"
            warnings.append(
                f'@{agent} has permissions = "deny", which does not bind {backend.name}: {asks}; '
                f"if it has a read-only mode, name it as {option} in [backends.{backend.name}]"
            )
    return tuple(warnings)
