"""The files by which a directory could change the team, each read once: what is judged is what is used.

They are read whether or not anybody trusts them. No link leads out of the directory, and what cannot be read
is told and left out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.places import PROJECT_FILE, user_path
from teambot_tui.engine.files import UnreadableError, read_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLAUDE_FOLDER: Final = Path(".claude", "agents")
PROJECT_FOLDER: Final = Path(".teambot", "agents")
TEMPORARY_FOLDER: Final = Path(".teambot", "temp-agents")
_MOST: Final = 500


@dataclass(frozen=True, slots=True)
class TeamFiles:
    """What a directory has: the content by path, as seen from the directory, and a line for each problem."""

    directory: Path
    content: Mapping[Path, bytes] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def inside(self, folder: Path) -> Iterator[tuple[Path, bytes]]:
        """Yield the files of one folder by their whole paths, in the order of their names."""
        for path, content in self.content.items():
            if path.parent == folder:
                yield self.directory / path, content

    def without(self, path: Path) -> TeamFiles:
        """Return the same without one file."""
        rest = {each: content for each, content in self.content.items() if each != path}
        return TeamFiles(self.directory, rest, self.problems)


def read_team_files(directory: Path, environ: Mapping[str, str]) -> TeamFiles:
    """Read all of them, but for settings that `TEAMBOT_CONFIG` names: those are the user's own.

    Raises:
        SettingsError: Nothing says where the user is at home.
    """
    own = user_path(directory, environ)
    content: dict[Path, bytes] = {}
    problems: list[str] = []
    for path in _candidates(directory, problems):
        if own is not None and os.path.realpath(own) == os.path.realpath(directory / path):
            continue
        try:
            content[path] = _read(directory / path, directory)
        except PersonaError as error:
            problems.append(f"passed over: {error}")
    return TeamFiles(directory, content, tuple(problems))


def _candidates(directory: Path, problems: list[str]) -> Iterator[Path]:
    if (directory / PROJECT_FILE).exists() or (directory / PROJECT_FILE).is_symlink():
        yield Path(PROJECT_FILE)
    for folder in (CLAUDE_FOLDER, PROJECT_FOLDER, TEMPORARY_FOLDER):
        try:
            names = sorted(
                path.name
                for path in (directory / folder).iterdir()
                if path.suffix == ".md" and not path.name.startswith(".")
            )
        except FileNotFoundError:
            continue
        except OSError as error:
            if folder == TEMPORARY_FOLDER:
                continue  # told when temporary agents are loaded
            why = f"cannot be read: {error.strerror or type(error).__name__}"
            problems.append(f"passed over: {PersonaError(directory / folder, 0, why)}")
            continue
        if len(names) > _MOST:
            why = f"has more than {_MOST} files: those after {names[_MOST - 1]} do not count"
            problems.append(f"passed over: {PersonaError(directory / folder, 0, why)}")
        yield from (folder / name for name in names[:_MOST])


def _read(path: Path, root: Path) -> bytes:
    """Read a file that belongs to the root, whatever links are on the way."""
    try:
        target = path.resolve(strict=True)
        if not target.is_relative_to(root.resolve()):
            raise PersonaError(path, 0, "is a link that leads out of the project")
        return read_inside(root.resolve(), target)
    except UnreadableError as error:
        raise PersonaError(path, 0, str(error)) from error
    except FileNotFoundError as error:
        raise PersonaError(path, 0, "is a link to a file that does not exist") from error
    except (OSError, RuntimeError) as error:  # Python before 3.13 reports a cycle of links as RuntimeError
        raise PersonaError(path, 0, "is a link that cannot be followed") from error
