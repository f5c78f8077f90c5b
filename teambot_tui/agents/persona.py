"""Who an agent is: personas are Markdown files with front matter, and a project's own beat the built-in ones.

A project's persona may have another as its `base`: it is that one, with words of its own on top. A file that
cannot be used is passed over, with a note: it costs nobody else anything.

A temporary agent is such a file too, with the base that it is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.agents.checks import agent_id
from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.frontmatter import FrontMatterError, MetadataEntry, split
from teambot_tui.agents.team_files import CLAUDE_FOLDER, PROJECT_FOLDER
from teambot_tui.engine.files import UnreadableError, decode
from teambot_tui.engine.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from teambot_tui.agents.team_files import TeamFiles

BUILT_IN = Path(__file__).parent / "personas"
_NOTHING = MetadataEntry(0, "")
_MOST_TURNS = 10_000
_LONGEST_DESCRIPTION = 120


@dataclass(frozen=True, slots=True)
class Persona:
    """An agent's character: the prompt that says who it is, and what it would like to run on."""

    name: str
    description: str
    model: str | None
    backend: str | None
    tools: tuple[str, ...]
    prompt: str
    path: Path
    base: str | None = None
    permission_mode: str | None = None
    max_turns: int | None = None
    isolation: str | None = None

    @property
    def is_claudes(self) -> bool:
        """Whether the file was written for Claude, where `base` means nothing."""
        return self.path.parent.match(str(CLAUDE_FOLDER))


class Personas(Mapping[str, Persona]):
    """All personas by name, with notes on the files that were passed over."""

    def __init__(self, known: Mapping[str, Persona], notes: tuple[str, ...] = ()) -> None:
        self._known = dict(known)
        self.notes = notes

    def __getitem__(self, name: str) -> Persona:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def load_personas(files: TeamFiles) -> Personas:
    """Return the built-in personas and those of a project's files, which override by name."""
    notes: list[str] = []
    choices: dict[str, list[Persona]] = {}
    built_in = ((path, path.read_bytes()) for path in sorted(BUILT_IN.glob("*.md")))
    for folder in (built_in, files.inside(CLAUDE_FOLDER), files.inside(PROJECT_FOLDER)):
        for persona in _parse_all(folder, notes).values():
            choices.setdefault(persona.name, []).append(persona)
    known = _complete(choices, notes)
    return Personas(known, tuple(notes))


def _parse_all(files: Iterable[tuple[Path, bytes]], notes: list[str]) -> dict[str, Persona]:
    known: dict[str, Persona] = {}
    for path, content in files:
        try:
            persona = parse_persona(path, content)
        except PersonaError as error:
            notes.append(f"passed over: {error}")
            continue
        if other := known.get(persona.name):
            twice = f"{persona.name} is already defined in {one_line(str(other.path))}"
            notes.append(f"passed over: {PersonaError(path, 0, twice)}")
        else:
            known[persona.name] = persona
    return known


def _complete(choices: dict[str, list[Persona]], notes: list[str]) -> dict[str, Persona]:
    """Return the last choice of each name on its base; without one, its name is left to the choice before."""
    while True:
        known = {name: personas[-1] for name, personas in choices.items() if personas}
        try:
            return {name: _on_its_base(persona, known) for name, persona in known.items()}
        except PersonaError as error:
            notes.append(f"passed over: {error}")
            choices[next(name for name, persona in known.items() if persona.path == error.file)].pop()


def parse_persona(path: Path, content: bytes) -> Persona:
    """Return the persona that a file's content describes.

    Raises:
        PersonaError: It does not describe one.
    """
    try:
        entries, body = split(printable(decode(content)))
        name = entries.get("name", _NOTHING)
        persona = Persona(
            name=checked_name(name),
            description=one_line(entries.get("description", _NOTHING).text()),
            model=_model(entries.get("model", _NOTHING)),
            backend=entries.get("backend", _NOTHING).text() or None,
            tools=entries.get("tools", _NOTHING).items(),
            prompt=body.strip(),
            path=path,
            base=one_line(entries.get("base", _NOTHING).text()).lower() or None,
            permission_mode=one_line(entries.get("permissionMode", _NOTHING).text()) or None,
            max_turns=_max_turns(entries.get("maxTurns", _NOTHING)),
            isolation=one_line(entries.get("isolation", _NOTHING).text()) or None,
        )
    except UnreadableError as error:
        raise PersonaError(path, 0, str(error)) from error
    except FrontMatterError as error:
        raise PersonaError(path, error.line, str(error)) from error
    if not persona.prompt:
        raise PersonaError(path, 0, "has no prompt: write it below the front matter")
    return persona


def _on_its_base(persona: Persona, known: Mapping[str, Persona]) -> Persona:
    """Return the persona with what its base says before it."""
    whole = persona
    names_it = persona
    passed = {persona.name}
    while whole.base is not None and not persona.is_claudes:
        base = known.get(whole.base)
        if base is None or base.name in passed:
            problem = "is not a persona" if base is None else "leads in a cycle"
            raise PersonaError(names_it.path, 0, f"`base`: {one_line(whole.base, 40)} {problem}")
        passed.add(base.name)
        names_it = base
        whole = replace(
            persona,
            prompt=f"{base.prompt}\n\n{whole.prompt}",
            model=whole.model or base.model,
            backend=whole.backend or base.backend,
            base=None if base.is_claudes else base.base,
        )
    return replace(whole, base=persona.base)


def checked_name(entry: MetadataEntry) -> str:
    """Return the id that a file's `name` is.

    Raises:
        FrontMatterError: It is missing, or is no id.
    """
    if not entry.text():
        raise FrontMatterError(entry.line or 1, "`name` is missing from the front matter")
    try:
        return agent_id(entry.text())
    except ValueError as error:
        raise FrontMatterError(entry.line, f"`name`: {error}") from error


def _max_turns(entry: MetadataEntry) -> int | None:
    text = entry.text()
    if text and not (text.isascii() and text.isdecimal() and 0 < int(text) <= _MOST_TURNS):
        raise FrontMatterError(entry.line, f"`maxTurns` must be a number from 1 to {_MOST_TURNS}")
    return int(text) if text else None


def _model(entry: MetadataEntry) -> str | None:
    model = one_line(entry.text())
    return None if model in ("", "inherit") else model


@dataclass(frozen=True, slots=True)
class AgentFile:
    """What the file of a temporary agent says."""

    name: str
    base: str
    prompt: str
    model: str | None = None
    description: str = ""

    @property
    def summary(self) -> str:
        """The description or, without one, how the prompt begins."""
        return self.description or one_line(self.prompt, _LONGEST_DESCRIPTION)


def parse_agent_file(path: Path, content: bytes) -> AgentFile:
    """Return the agent that a file's content describes.

    Raises:
        PersonaError: It does not describe one.
    """
    try:
        entries, body = split(printable(decode(content)))
        name = checked_name(entries.get("name", _NOTHING))
        base = one_line(entries.get("base", _NOTHING).text())
        model = one_line(entries.get("model", _NOTHING).text())
        description = one_line(entries.get("description", _NOTHING).text())
    except UnreadableError as error:
        raise PersonaError(path, 0, str(error)) from error
    except FrontMatterError as error:
        raise PersonaError(path, error.line, str(error)) from error
    if not base:
        raise PersonaError(path, 0, "`base` is missing: such as `base: general-purpose`")
    if not body.strip():
        raise PersonaError(path, 0, "has no prompt: write it below the front matter")
    return AgentFile(name, base, body.strip(), None if model in ("", "inherit") else model, description)


def render_agent_file(agent: AgentFile) -> str:
    """Return the text of a file that describes the agent."""
    lines = [
        "---",
        f"name: {agent.name}",
        f"description: {_quoted(agent.summary)}",
        f"base: {agent.base}",
        *([f"model: {_quoted(agent.model)}"] if agent.model else []),
        "---",
        agent.prompt.strip(),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
