"""What is wrong with a description of the team: which file, where in it, and what is allowed there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from pathlib import Path


class AgentsError(Exception):
    """The team cannot be made from what is written; the text is one line for the user."""


class SettingsError(AgentsError):
    """A setting that cannot be used. Without a file, `key` names an option or an environment variable."""

    def __init__(self, file: Path | None, key: str, message: str) -> None:
        place = [one_line(str(file))] if file else []
        if key:
            place.append(one_line(key, 200))
        super().__init__(": ".join([*place, message]))
        self.file = file
        self.key = key
        self.message = message


class PersonaError(AgentsError):
    """A persona that cannot be used. The line is counted from 1; 0 means the file as a whole."""

    def __init__(self, file: Path, line: int, message: str) -> None:
        super().__init__(f"{one_line(str(file))}{f', line {line}' if line else ''}: {message}")
        self.file = file
        self.line = line
        self.message = message
