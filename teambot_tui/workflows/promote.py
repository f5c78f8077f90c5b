"""A temporary agent is promoted: its file moves to where every later session finds it.

What has its name already is never lost by accident: the difference is shown, and somebody has to decide.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.checks import agent_id
from teambot_tui.agents.errors import AgentsError
from teambot_tui.agents.persona import AgentFile, load_personas, parse_agent_file, render_agent_file
from teambot_tui.agents.team_files import PROJECT_FOLDER, read_team_files
from teambot_tui.agents.trust import is_trusted, trust_own
from teambot_tui.engine.files import UnreadableError, decode, read_whole
from teambot_tui.engine.text import one_line, printable
from teambot_tui.language.names import did_you_mean
from teambot_tui.store.agent_files import SUFFIX, project_folder, replace_file
from teambot_tui.store.folders import StoreError, reason
from teambot_tui.store.prune import TEMPORARY_AGENTS
from teambot_tui.workflows.registry import Promoted, record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from teambot_tui.agents.persona import Personas

_CODE: Final = (
    "py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sql|sh|toml|ya?ml|json|html|css"
)
_SIGNS: Final = {
    "a path": re.compile(
        rf"(?<![\w/.~-])(?:(?:~|\.{{1,2}})?/[\w.-]++(?:/[\w.-]++)++|[\w./-]+\.(?:{_CODE})(?!\w))"
    ),
    "a line number": re.compile(r"\blines?\s+\d+(?:\s*[-–]\s*\d+)?|\.[a-z]{1,5}:\d+\b", re.IGNORECASE),
    "an issue": re.compile(r"\b(?:issue|ticket|pull request|PR|bug)\s+#?\d+\b|(?<!\w)#\d+\b", re.IGNORECASE),
    "one place or task": re.compile(
        r"\bthis\s+(?:project|repo|repository|codebase|code base|task|issue|bug|branch|file|function|module"
        r"|class|pull request|PR|session|run)\b",
        re.IGNORECASE,
    ),
}


class PromoteError(Exception):
    """An agent that cannot be promoted, and why."""


class ClashError(PromoteError):
    """Somebody has that name already; `diff` shows what would change."""

    def __init__(self, name: str, diff: str) -> None:
        super().__init__(f"There is an agent {name} already.")
        self.name = name
        self.diff = diff


@dataclass(frozen=True, slots=True)
class Promotion:
    """Where the agent is now, and what the user should know of it."""

    name: str
    path: Path
    warnings: tuple[str, ...]


def promote(
    project: Path,
    agent: AgentFile,
    others: Mapping[str, AgentFile],
    now: datetime,
    environ: Mapping[str, str],
    *,
    name: str | None = None,
    force: bool = False,
) -> Promotion:
    """Move a temporary agent to the project's own; `others` are temporary ones that it may be made of.

    Raises:
        ClashError: There is one of that name, and it is not to be overwritten.
        PromoteError: It cannot be promoted.
    """
    try:
        target = agent_id(name or agent.name)
    except ValueError as error:
        raise PromoteError(f"{one_line(str(name), 60)}: {error}.") from error
    personas = load_personas(read_team_files(project, environ))  # trusted or not, a name is taken
    described = temporary_files(project)[0].get(agent.name)
    if described is not None and described.prompt == agent.prompt.strip():
        agent = replace(agent, description=described.description)
    lasting = replace(_standing_alone(agent, others, personas), name=target)
    if target in _lineage(lasting.base, personas):
        raise PromoteError(f"{agent.name} is made of {target} and cannot take its place.")
    text = render_agent_file(lasting)
    folder = project / PROJECT_FOLDER
    path = folder / f"{target}{SUFFIX}"
    clashing = personas[target].path if target in personas else path if path.exists() else None
    if clashing is not None and not force:
        raise ClashError(target, _difference(clashing, path, text))
    if clashing is not None and clashing.parent == folder:
        path = clashing  # two files of one name would stop the next session
    warnings = list(specific(agent.prompt))
    content = text.encode("utf-8", "replace")
    try:
        with project_folder(project, *PROJECT_FOLDER.parts) as opened:
            replace_file(opened, path.name, content, 0o644)
    except (OSError, StoreError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise PromoteError(f"{path} cannot be written: {why}.") from error
    _forget_temporary(project, agent.name)
    trust_own(project, PROJECT_FOLDER / path.name, environ, content)
    if not is_trusted(read_team_files(project, environ), environ):
        warnings.append("It is used once you trust the other files of this directory, too: teambot trust.")
    try:
        record(project, target, Promoted(f"{now:%Y-%m-%dT%H:%M:%S%z}", lasting.summary))
    except StoreError as error:
        warnings.append(f"{error}.")
    return Promotion(target, path, tuple(warnings))


def find(project: Path, name: str) -> tuple[AgentFile, dict[str, AgentFile]]:
    """Return a temporary agent by its file, and all of them.

    Raises:
        PromoteError: There is no such file, or it cannot be used.
    """
    known, refused = temporary_files(project)
    if name in refused:
        raise PromoteError(refused[name])
    if name not in known:
        near = did_you_mean(name, known)
        hint = f"Did you mean {near}?" if near else f"There are: {', '.join(known) or 'none'}."
        raise PromoteError(f"There is no temporary agent {one_line(name, 60)} in {TEMPORARY_AGENTS}. {hint}")
    return known[name], known


def temporary_files(project: Path) -> tuple[dict[str, AgentFile], dict[str, str]]:
    """Return the temporary agents of a project by their files, and what is wrong with the others."""
    known: dict[str, AgentFile] = {}
    refused: dict[str, str] = {}
    for path in sorted((project / TEMPORARY_AGENTS).glob(f"[!.]*{SUFFIX}")):
        try:
            known[path.stem] = parse_agent_file(path, read_whole(path))
        except AgentsError as error:
            refused[path.stem] = str(error)
        except (UnreadableError, FileNotFoundError) as error:
            refused[path.stem] = f"{one_line(str(path))}: {error}"
    return known, refused


def specific(prompt: str) -> tuple[str, ...]:
    """Return what in a prompt looks as if it were about one task only, a line for each kind."""
    found = ((kind, pattern.search(prompt)) for kind, pattern in _SIGNS.items())
    return tuple(
        f"The prompt looks specific to one task: it names {kind} (“{one_line(sign[0], 40)}”)."
        for kind, sign in found
        if sign
    )


def _standing_alone(agent: AgentFile, others: Mapping[str, AgentFile], personas: Personas) -> AgentFile:
    """Return the agent with everything in it that will not be there in a later session."""
    passed = {agent.name}
    while agent.base.lower() not in personas:
        base = others.get(agent.base)
        if base is None or base.name in passed:
            raise PromoteError(
                f"Its base, {one_line(agent.base, 60)}, is not a persona that a later session could find."
            )
        passed.add(base.name)
        agent = replace(
            agent, base=base.base, prompt=f"{base.prompt}\n\n{agent.prompt}", model=agent.model or base.model
        )
    return replace(agent, base=agent.base.lower())


def _lineage(name: str | None, personas: Personas) -> set[str]:
    """Return a persona, what it is made of, and so on."""
    passed: set[str] = set()
    while name is not None and name in personas and name not in passed:
        passed.add(name)
        name = personas[name].base
    return passed


def _difference(clashing: Path, path: Path, text: str) -> str:
    try:
        before = printable(decode(read_whole(clashing)))
    except (UnreadableError, FileNotFoundError):
        before = ""
    lines = difflib.unified_diff(
        before.splitlines(), text.splitlines(), one_line(str(clashing)), one_line(str(path)), lineterm=""
    )
    return "\n".join(lines) or "Both say the same."


def _forget_temporary(project: Path, name: str) -> None:
    with (
        contextlib.suppress(OSError, StoreError),
        project_folder(project, *TEMPORARY_AGENTS.parts, create=False) as folder,
    ):
        os.unlink(name + SUFFIX, dir_fd=folder)
