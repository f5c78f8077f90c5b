"""A text or a file in the user's own editor: the terminal is lent out, and no text is ever lost."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.engine.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager


class EditorError(Exception):
    """The editor could not be used; the message says why and what to do."""


def edit_text(
    text: str, environ: Mapping[str, str], lend_terminal: Callable[[], AbstractContextManager[None]]
) -> str:
    """Let the user edit a text in `$VISUAL` or `$EDITOR` and return what became of it.

    Raises:
        EditorError: There is no editor, it could not be started or it failed.
    """
    command = _editor(environ)
    path: Path | None = None
    try:
        number, name = tempfile.mkstemp(prefix="teambot-", suffix=".md")  # readable by the user alone
        path = Path(name)
        with os.fdopen(number, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        _run(command, path, lend_terminal, "Your text is unchanged.")
        edited = printable(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise EditorError(
            f"Could not run {one_line(command[0], 60)}: {error.strerror or error}. Your text is unchanged."
        ) from error
    finally:
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()
    # Most editors end the last line; a text of one line has no such end.
    return edited if text.endswith("\n") else edited.removesuffix("\n")


def edit_file(
    path: Path, environ: Mapping[str, str], lend_terminal: Callable[[], AbstractContextManager[None]]
) -> None:
    """Let the user edit a file of their own in `$VISUAL` or `$EDITOR`.

    Raises:
        EditorError: There is no editor, it could not be started or it failed.
    """
    command = _editor(environ)
    try:
        # By its whole path: what begins with a dash would be an option.
        _run(command, path.absolute(), lend_terminal)
    except OSError as error:
        raise EditorError(f"Could not run {one_line(command[0], 60)}: {error.strerror or error}.") from error


def _run(
    command: list[str],
    path: Path,
    lend_terminal: Callable[[], AbstractContextManager[None]],
    consolation: str = "",
) -> None:
    with lend_terminal(), _interrupts_ignored():
        status = subprocess.call([*command, str(path)])  # noqa: S603  the user's own command, no shell
    if status != 0:
        raise EditorError(f"{one_line(command[0], 60)} ended with status {status}. {consolation}".rstrip())


def _editor(environ: Mapping[str, str]) -> list[str]:
    configured = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        command = shlex.split(configured)
    except ValueError as error:
        raise EditorError(f"Could not read $VISUAL or $EDITOR: {error}.") from error
    if not command:
        raise EditorError("No editor is set. Set $VISUAL or $EDITOR, for example EDITOR=vim.")
    return command


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ctrl+C belongs to the editor meanwhile. A handler, unlike SIG_IGN, is not passed on to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
