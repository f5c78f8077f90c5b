"""The small list of promoted agents: when each was made, what it is for and how often it was used."""

from __future__ import annotations

import fcntl
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.team_files import PROJECT_FOLDER
from teambot_tui.engine.files import UnreadableError, read_whole
from teambot_tui.engine.text import one_line
from teambot_tui.store.agent_files import project_folder, replace_file
from teambot_tui.store.folders import StoreError, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

REGISTRY: Final = "registry.json"


@dataclass(frozen=True, slots=True)
class Promoted:
    """An agent that was promoted."""

    created: str
    description: str
    used: int = 0


def read_registry(project: Path) -> dict[str, Promoted]:
    """Return the promoted agents of a project.

    Raises:
        StoreError: The list cannot be read.
    """
    try:
        return _parse(read_whole(project / PROJECT_FOLDER / REGISTRY))
    except FileNotFoundError:
        return {}
    except UnreadableError as error:
        raise StoreError(f"{PROJECT_FOLDER / REGISTRY} {error}") from error


def record(project: Path, name: str, promoted: Promoted) -> None:
    """Put an agent into the list.

    Raises:
        StoreError: The list cannot be read or written.
    """
    _change(project, lambda known: {**known, name: promoted})


def count_uses(project: Path, uses: Mapping[str, int]) -> None:
    """Add to how often promoted agents were used.

    Raises:
        StoreError: The list cannot be read or written.
    """
    if not any(uses.get(name) for name in read_registry(project)):
        return
    _change(
        project,
        lambda known: {
            name: replace(promoted, used=promoted.used + uses.get(name, 0))
            for name, promoted in known.items()
        },
    )


def _change(project: Path, change: Callable[[dict[str, Promoted]], dict[str, Promoted]]) -> None:
    try:
        with project_folder(project, *PROJECT_FOLDER.parts) as folder:
            fcntl.flock(folder, fcntl.LOCK_EX)  # sessions that end together count together
            known = change(read_registry(project))
            listed = {name: asdict(promoted) for name, promoted in sorted(known.items())}
            text = json.dumps({"agents": listed}, ensure_ascii=False, indent=2) + "\n"
            replace_file(folder, REGISTRY, text.encode("utf-8", "replace"), 0o644)
    except OSError as error:
        raise StoreError(f"{PROJECT_FOLDER / REGISTRY} cannot be written: {reason(error)}") from error


def _parse(content: bytes) -> dict[str, Promoted]:
    try:
        listed = json.loads(content)["agents"]
        return {
            one_line(name, 64): Promoted(
                one_line(str(each["created"]), 40),
                one_line(str(each["description"]), 400),
                max(0, int(each["used"])),
            )
            for name, each in listed.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise StoreError(
            f"{PROJECT_FOLDER / REGISTRY} is not a list of agents: mend it, or remove it"
        ) from error
