"""What each file of a project would change, in words for whoever decides whether to trust it.

The programs that could be started come first, and nothing of them is left out.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.errors import PersonaError, SettingsError
from teambot_tui.agents.persona import parse_agent_file, parse_persona
from teambot_tui.agents.places import PROJECT_FILE
from teambot_tui.agents.settings_file import parse_settings
from teambot_tui.agents.team import BASES, DEFAULT_TEAM
from teambot_tui.agents.team_files import TEMPORARY_FOLDER
from teambot_tui.engine.text import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from teambot_tui.agents.team_files import TeamFiles

_PROGRAMS: Final = ("command", "api_key_command")
_NEVER: Final = "permissions"
_LONGEST_NOTE: Final = 60
_NOTED: Final = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One file, by its path in the project, and what it would change, a line for each thing."""

    path: str
    words: tuple[str, ...]


def changes_by(files: TeamFiles) -> tuple[Change, ...]:
    """Say what these files would change."""
    return tuple(
        Change(_seen(str(path)), tuple(map(_seen, _words(path, content))))
        for path, content in files.content.items()
    )


def in_one_line(changes: tuple[Change, ...]) -> str:
    """Tell of changes that are not made, and how to allow them."""
    named = [
        f"{change.path} ({one_line('; '.join(change.words), _LONGEST_NOTE)})" for change in changes[:_NOTED]
    ]
    if len(changes) > _NOTED:
        named.append(f"and {len(changes) - _NOTED} more (teambot doctor lists them)")
    return f"Not used until you trust this directory (teambot trust): {', '.join(named)}"


def _seen(text: str) -> str:
    return visible(text, layout=False)  # a line of a file must not pass for one of ours


def _words(path: Path, content: bytes) -> Iterator[str]:
    try:
        if str(path) == PROJECT_FILE:
            yield from _settings(path, content)
        elif path.parent == TEMPORARY_FOLDER:
            agent = parse_agent_file(path, content)
            model = f", model {agent.model}" if agent.model else ""
            yield f"a temporary agent, ~{agent.name}, made of {agent.base}{model}"
        else:
            yield _persona(path, content)
    except (SettingsError, PersonaError) as error:
        yield f"cannot be used: {error.message}"


def _persona(path: Path, content: bytes) -> str:
    persona = parse_persona(path, content)
    if persona.name in DEFAULT_TEAM:
        what = f"@{persona.name}: another persona"
    elif persona.name in BASES:
        what = f"{persona.name}, which agents are made of: another persona"
    else:
        what = f"a new agent, @{persona.name}"
    wanted = {"base": persona.base, "backend": persona.backend, "model": persona.model}
    return ", ".join([what, *(f"{key} {one_line(value)}" for key, value in wanted.items() if value)])


def _settings(path: Path, content: bytes) -> Iterator[str]:
    file = parse_settings(path, content)
    for name, options in file.backends.items():
        yield f"backend {name}: {_backend(options)}"
    for name, agent in file.agents.items():
        what = f"@{name}" if name in DEFAULT_TEAM else f"a new agent, @{name}"
        wanted = (f"{key} {value}" for key, value in agent.items() if key != _NEVER)
        yield ": ".join(filter(None, (what, ", ".join(wanted))))
    for key, value in file.values.items():
        yield f"{key} = {_said(value)}" if key != _NEVER else f"{key}: never taken from a project"


def _backend(options: Mapping[str, Any]) -> str:
    programs = [f"runs {shlex.join(options[key])}" for key in _PROGRAMS if key in options]
    if "base_url" in options:
        programs.append(f"sends prompts to {options['base_url']}")
    rest = [
        f"{key} {_said(value)}"
        for key, value in options.items()
        if key not in (*_PROGRAMS, "base_url", "type")
    ]
    return "; ".join([*programs, f"type {options['type']}", *rest])


def _said(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return shlex.join(value)
        case dict():  # variables: passed on, or set to a value
            return ", ".join(key if given is None else f"{key}={given}" for key, given in value.items())
        case _:
            return str(value)
