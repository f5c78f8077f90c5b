"""Any program as an agent: the prompt goes in, what it prints is the answer, and a failure says what to do.

What a request brings is put into the arguments once and never looked at again, and never sees a shell.
"""

from __future__ import annotations

import errno
import re
import shutil
from codecs import getincrementaldecoder
from os import F_OK
from pathlib import PurePath
from signal import Signals
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.process import Process, SilenceError
from teambot_tui.engine.ports import BackendError, Text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from teambot_tui.engine.ports import Request, Update

_PLACEHOLDER: Final = re.compile(r"\{(prompt|system|model)\}")
_KEPT: Final = "; its partial output is kept"
_SHOWN_LINES: Final = 5
_SHOWN_CHARACTERS: Final = 1000


class Command:
    """A program that is started anew for every task.

    `{prompt}`, `{system}` and `{model}` in its arguments stand for those of the request; without `{prompt}`
    the prompt goes by standard input. `env` names the variables it may see besides the harmless ones.
    """

    def __init__(
        self, command: Sequence[str], *, env: Sequence[str] = (), silence_timeout: float = 600.0
    ) -> None:
        self._program, *self._arguments = command
        self._env = tuple(env)
        self._silence_timeout = silence_timeout

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Start the program and report what it prints.

        Raises:
            BackendError: it cannot be started, fails, or falls silent.
        """
        process = Process(
            [self._program, *self._fill_in(request)],
            directory=request.directory,
            names=self._env,
            silence=self._silence_timeout,
        )
        name = PurePath(self._program).name
        decoder = getincrementaldecoder("utf-8")("replace")
        note = ""
        try:
            async with process:
                if not self._takes("prompt"):
                    process.write(_encodable(request.prompt).encode())
                process.end_input()
                async for chunk in process:
                    if text := decoder.decode(chunk):
                        yield Text(text)
                        note = _KEPT
        except OSError as error:
            raise BackendError(self._why_it_did_not_start(error, request.directory)) from error
        except SilenceError as error:
            raise BackendError(f"{name} was stopped: {error}{note}") from error
        if text := decoder.decode(b"", final=True):
            yield Text(text)
            note = _KEPT
        if process.returncode != 0:
            raise BackendError(f"{name} {_how_it_ended(process)}{note}")

    def _takes(self, placeholder: str) -> bool:
        return any(f"{{{placeholder}}}" in argument for argument in self._arguments)

    def _fill_in(self, request: Request) -> list[str]:
        if self._takes("model") and not request.model:
            raise BackendError(
                f"{self._program} needs a model: write @{request.agent} --model NAME …, "
                f'or set model = "NAME" under [agents.{request.agent}]'
            )
        values = {"prompt": request.prompt, "system": request.system, "model": request.model or ""}
        filled_in = [
            _encodable(_PLACEHOLDER.sub(lambda found: values[found[1]], argument))
            for argument in self._arguments
        ]
        if any("\0" in argument for argument in filled_in):
            raise BackendError(
                f"{self._program} cannot be given a NUL character as an argument: {self._way_out()}"
            )
        return filled_in

    def _why_it_did_not_start(self, error: OSError, directory: Path) -> str:
        program = self._program
        is_path = "/" in program
        there = (directory / program).exists() if is_path else bool(shutil.which(program, F_OK))
        if error.errno == errno.E2BIG:
            return f"the arguments of {program} are too long: {self._way_out()}"
        if str(error.filename) == str(directory):
            return f"{program} cannot work in the directory {directory}: {error.strerror}"
        if not there:
            return f"there is no program {program}" + ("" if is_path else ": it is not on PATH")
        if error.errno == errno.ENOENT:
            return f"{program} does not start: the interpreter that its first line names is missing"
        if error.errno == errno.EACCES:
            return f"{program} is not executable: try chmod +x"
        return f"{program} does not start: {error.strerror}"

    def _way_out(self) -> str:
        if self._takes("prompt"):
            return "leave {prompt} out of its command, and the prompt goes by standard input"
        return "leave {system} out of its command"


def _encodable(text: str) -> str:
    """The text with a question mark for every lone surrogate, which no encoding knows."""
    return text.encode("utf-8", "replace").decode()


def _how_it_ended(process: Process) -> str:
    assert process.returncode is not None
    lines = process.errors.decode("utf-8", "replace").split("\n")
    last_words = "\n".join([line for line in lines if line.strip()][-_SHOWN_LINES:])[-_SHOWN_CHARACTERS:]
    if process.returncode < 0:
        return f"was killed by {_signal_name(-process.returncode)}" + (last_words and f": {last_words}")
    return f"ended with exit status {process.returncode}" + (
        f": {last_words}" if last_words else " and wrote nothing to its standard error"
    )


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
