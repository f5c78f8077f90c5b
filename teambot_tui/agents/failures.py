"""Why a program failed, in words a user can act on."""

from __future__ import annotations

import errno
import shutil
from os import F_OK
from signal import Signals
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from teambot_tui.agents.process import Process

KEPT: Final = "; its partial output is kept"
_SHOWN_LINES: Final = 5
SHOWN_CHARACTERS: Final = 1000


def encodable(text: str) -> str:
    """The text with a question mark for every lone surrogate, which no encoding knows."""
    return text.encode("utf-8", "replace").decode()


def why_it_did_not_start(program: str, error: OSError, directory: Path) -> str:
    """Say what the system has against starting a program in a directory."""
    is_path = "/" in program
    there = (directory / program).exists() if is_path else bool(shutil.which(program, F_OK))
    if str(error.filename) == str(directory):
        return f"{program} cannot work in the directory {directory}: {error.strerror}"
    if not there:
        return f"there is no program {program}" + ("" if is_path else ": it is not on PATH")
    if error.errno == errno.ENOENT:
        return f"{program} does not start: the interpreter that its first line names is missing"
    if error.errno == errno.EACCES:
        return f"{program} is not executable: try chmod +x"
    return f"{program} does not start: {error.strerror}"


def how_it_ended(process: Process, other_lines: Iterable[str] = ()) -> str:
    """Say how a program that is over ended, with its last words, or else these lines of its output."""
    assert process.returncode is not None
    lines = process.errors.decode("utf-8", "replace").split("\n")
    shown = [line for line in lines if line.strip()][-_SHOWN_LINES:] or other_lines
    last_words = "\n".join(shown)[-SHOWN_CHARACTERS:]
    if process.returncode < 0:
        return f"was killed by {signal_name(-process.returncode)}" + (last_words and f": {last_words}")
    return f"ended with exit status {process.returncode}" + (
        f": {last_words}" if last_words else " and wrote nothing to its standard error"
    )


def signal_name(number: int) -> str:
    """The name of a signal, if it has one."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
