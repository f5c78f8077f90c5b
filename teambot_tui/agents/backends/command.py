"""Any program as an agent: the prompt goes in, what it prints is the answer, and a failure says what to do.

What a request brings is put into the arguments once and never looked at again, and never sees a shell.
"""

from __future__ import annotations

import errno
import re
from codecs import getincrementaldecoder
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.failures import KEPT, encodable, how_it_ended, why_it_did_not_start
from teambot_tui.agents.process import Process, SilenceError
from teambot_tui.engine.ports import BackendError, Text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from teambot_tui.engine.ports import Request, Update

_PLACEHOLDER: Final = re.compile(r"\{(prompt|system|model)\}")


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
                    process.write(encodable(request.prompt).encode())
                process.end_input()
                async for chunk in process:
                    if text := decoder.decode(chunk):
                        yield Text(text)
                        note = KEPT
        except OSError as error:
            raise BackendError(self._why_it_did_not_start(error, request.directory)) from error
        except SilenceError as error:
            raise BackendError(f"{name} was stopped: {error}{note}") from error
        if text := decoder.decode(b"", final=True):
            yield Text(text)
            note = KEPT
        if process.returncode != 0:
            raise BackendError(f"{name} {how_it_ended(process)}{note}")

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
            encodable(_PLACEHOLDER.sub(lambda found: values[found[1]], argument))
            for argument in self._arguments
        ]
        if any("\0" in argument for argument in filled_in):
            raise BackendError(
                f"{self._program} cannot be given a NUL character as an argument: {self._way_out()}"
            )
        return filled_in

    def _why_it_did_not_start(self, error: OSError, directory: Path) -> str:
        if error.errno == errno.E2BIG:
            return f"the arguments of {self._program} are too long: {self._way_out()}"
        return why_it_did_not_start(self._program, error, directory)

    def _way_out(self) -> str:
        if self._takes("prompt"):
            return "leave {prompt} out of its command, and the prompt goes by standard input"
        return "leave {system} out of its command"
