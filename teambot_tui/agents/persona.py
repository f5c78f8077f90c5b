"""Who an agent is: personas are Markdown files with front matter, and a project's own beat the built-in ones.

A project's persona may have another as its `base`: it is that one, with words of its own on top.

A broken file in `.teambot/agents` stops the program. One in `.claude/agents` is passed over, with a note: it
was written for another program and may be right there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from teambot_tui.agents.checks import agent_id
from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.files import UnreadableError, decode, read_whole
from teambot_tui.agents.frontmatter import Entry, FrontMatterError, split
from teambot_tui.engine.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUILT_IN = Path(__file__).parent / "personas"
PROJECT_FOLDER = Path(".teambot", "agents")
CLAUDE_FOLDER = Path(".claude", "agents")

_NOTHING = Entry(0, "")


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

    @property
    def is_claudes(self) -> bool:
        """Whether the file was written for Claude, so that nothing in it may stop the program."""
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


def load_personas(directory: Path) -> Personas:
    """Return the built-in personas and those of a project, which override by name.

    Raises:
        PersonaError: A file in `.teambot/agents` cannot be used.
    """
    notes: list[str] = []

    def stop(error: PersonaError) -> NoReturn:
        raise error

    known = _read_folder(BUILT_IN, BUILT_IN, stop)
    known |= _read_folder(
        directory / CLAUDE_FOLDER, directory, lambda error: notes.append(f"passed over: {error}")
    )
    known |= _read_folder(directory / PROJECT_FOLDER, directory, stop)
    known = {name: _on_its_base(persona, known) for name, persona in known.items()}
    return Personas(known, tuple(notes))


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
    passed = {persona.name}
    while whole.base is not None and not persona.is_claudes:
        base = known.get(whole.base)
        if base is None or base.name in passed:
            problem = "is not a persona" if base is None else "leads in a circle"
            raise PersonaError(persona.path, 0, f"`base`: {one_line(whole.base, 40)} {problem}")
        passed.add(base.name)
        whole = replace(
            persona,
            prompt=f"{base.prompt}\n\n{whole.prompt}",
            model=whole.model or base.model,
            backend=whole.backend or base.backend,
            base=None if base.is_claudes else base.base,
        )
    return replace(whole, base=persona.base)


def checked_name(entry: Entry) -> str:
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


def _model(entry: Entry) -> str | None:
    model = one_line(entry.text())
    return None if model in ("", "inherit") else model


def _read_folder(folder: Path, root: Path, refuse: Callable[[PersonaError], None]) -> dict[str, Persona]:
    """Read the personas of a folder in the order of their file names, refusing those that cannot be used."""
    known: dict[str, Persona] = {}
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.name[0] != ".")
    except FileNotFoundError:
        return known
    except OSError as error:
        refuse(PersonaError(folder, 0, f"cannot be read: {error.strerror or type(error).__name__}"))
        return known
    for path in paths:
        try:
            persona = parse_persona(path, _read_inside(path, root))
        except PersonaError as error:
            refuse(error)
            continue
        if other := known.get(persona.name):
            refuse(PersonaError(path, 0, f"{persona.name} is already defined in {one_line(str(other.path))}"))
        else:
            known[persona.name] = persona
    return known


def _read_inside(path: Path, root: Path) -> bytes:
    """Read a file that belongs to the root, whatever links lie on the way."""
    try:
        target = path.resolve(strict=True)
        if not target.is_relative_to(root.resolve()):
            raise PersonaError(path, 0, "is a link that leads out of the project")
        return read_whole(target)
    except UnreadableError as error:
        raise PersonaError(path, 0, str(error)) from error
    except FileNotFoundError as error:
        raise PersonaError(path, 0, "is a link to a file that does not exist") from error
    except (OSError, RuntimeError) as error:  # Python before 3.13 reports a circle of links as RuntimeError
        raise PersonaError(path, 0, "is a link that cannot be followed") from error
