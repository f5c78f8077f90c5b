"""What is wrong with a workflow in a file: which file, where in it, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from pathlib import Path


def placed(path: Path | str, line: int, column: int, message: str, hint: str) -> str:
    """Say something about a place in a file, in one line."""
    place = f", line {line}, column {column}" if line else ""
    return f"{one_line(str(path))}{place}: {message}{f' ({hint})' if hint else ''}"


class WorkflowError(Exception):
    """A workflow that cannot be used; the text is one line for the user."""


class ComposeError(WorkflowError):
    """A compose file that cannot be used, or a request that it cannot fulfil.

    Line and column are counted from 1; a line of 0 means the file as a whole.
    """

    def __init__(self, path: Path, line: int, column: int, message: str, hint: str = "") -> None:
        super().__init__(placed(path, line, column, message, hint))
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint


class IncludeError(WorkflowError):
    """An include that cannot be done. The chain leads from the first file to the one that is wrong."""

    def __init__(self, chain: tuple[str, ...], message: str, hint: str) -> None:
        super().__init__(f"{' → '.join(one_line(name, 200) for name in chain)}: {message}")
        self.chain = chain
        self.message = message
        self.hint = hint
