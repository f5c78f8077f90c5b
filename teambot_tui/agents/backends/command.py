"""Any program as an agent: the prompt goes in, what it prints is the answer, and a failure says what to do.

What a request brings is put into the arguments once and never looked at again, and never sees a shell. A
program that prints a stream of JSON lines is understood line by line.
"""

from __future__ import annotations

import asyncio
import errno
import json
import re
import shutil
import tempfile
from codecs import getincrementaldecoder
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from teambot_tui.agents.agents_md import with_agents_md
from teambot_tui.agents.backends.json_lines import Lines
from teambot_tui.agents.backends.stream_dialects import STREAMS
from teambot_tui.agents.failures import KEPT, SHOWN_CHARACTERS, encodable, how_it_ended, why_it_did_not_start
from teambot_tui.agents.process import Process, SilenceError
from teambot_tui.engine.ports import BackendError, Text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

    from teambot_tui.agents.backends.json_lines import Stream
    from teambot_tui.engine.ports import Request, ToolServer, Update

_PLACEHOLDER: Final = re.compile(
    r"\{(prompt|system|model|tools|tools_name|tools_url|allowed_tools|max_turns)\}"
)
_IN_VARIABLES: Final = re.compile(r"\{(tools|tools_name|tools_url|tools_secret)\}")


class CommandBackend:
    """A program that is started again for every task.

    `{prompt}`, `{system}` and `{model}` in its arguments stand for those of the request; without `{prompt}`
    the prompt goes by standard input. `model_arguments` are added where the request has a model, and
    `system_arguments` where it says who the agent is; with `system_in_prompt` that stands before the prompt.
    `tool_arguments` and the variables `tool_env` are added where the agent is offered our tools: `{tools}` in
    them is a file that says where they are, `{tools_name}` what their server is called, `{tools_url}` its
    address and, in variables only, because everybody can read arguments, `{tools_secret}` what must be shown
    there. `read_only_arguments` are added where the agent is to change nothing, `allowed_tools_arguments` and
    `max_turns_arguments` where it is to use only some tools of its own (`{allowed_tools}`) or only so many
    turns (`{max_turns}`). With `agents_md` it is told what the project's AGENTS.md says. `env` are the
    variables it sees besides the harmless ones, with their values or None for ours; `stream` is the shape of
    what it prints.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str | None] = MappingProxyType({}),
        silence_timeout: float = 600.0,
        stream: str = "text",
        model_arguments: Sequence[str] = (),
        system_arguments: Sequence[str] = (),
        system_in_prompt: bool = False,
        tool_arguments: Sequence[str] = (),
        tool_env: Mapping[str, str] = MappingProxyType({}),
        read_only_arguments: Sequence[str] = (),
        agents_md: bool = True,
        allowed_tools_arguments: Sequence[str] = (),
        max_turns_arguments: Sequence[str] = (),
    ) -> None:
        self._program, *self._arguments = command
        self._env = env
        self._silence_timeout = silence_timeout
        self._stream = stream
        self._model_arguments = tuple(model_arguments)
        self._system_arguments = tuple(system_arguments)
        self._system_in_prompt = system_in_prompt
        self._tool_arguments = tuple(tool_arguments)
        self._tool_env = tool_env
        self._read_only_arguments = tuple(read_only_arguments)
        self._agents_md = agents_md
        self._allowed_tools_arguments = tuple(allowed_tools_arguments)
        self._max_turns_arguments = tuple(max_turns_arguments)

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """Start the program and report what it prints.

        Raises:
            BackendError: it cannot be started, fails, falls silent, or says itself that it failed.
        """
        if not self._tool_arguments and not self._tool_env:
            request = replace(request, tools=None)
        if self._agents_md:
            request = await with_agents_md(request)
        async with tool_config(request) as tools, aclosing(self._run(request, tools)) as updates:
            async for update in updates:
                yield update

    async def _run(self, request: Request, tools: ToolConfig | None) -> AsyncGenerator[Update, None]:
        stream = None if self._stream == "text" else STREAMS[self._stream]()
        process = Process(
            [self._program, *self._fill_in(request, tools)],
            directory=request.directory,
            variables={**self._env, **self._tool_variables(tools)},
            silence=self._silence_timeout,
        )
        if tools is not None:
            tools.server.attention.listener = self._patience_of(process)
        name = PurePath(self._program).name
        note = ""
        try:
            async with aclosing(self._listen(process, request, stream)) as updates:
                async for update in updates:
                    yield update
                    if isinstance(update, Text):
                        note = KEPT
        except OSError as error:
            raise BackendError(self._why_it_did_not_start(error, request.directory)) from error
        except SilenceError as error:
            raise BackendError(f"{name} was stopped: {error}{note}") from error
        if stream is not None and stream.error:
            raise BackendError(f"{name} failed: {stream.error[:SHOWN_CHARACTERS]}{note}")
        if process.returncode != 0:
            other_lines = stream.other_lines if stream is not None and not stream.understood else ()
            raise BackendError(f"{name} {how_it_ended(process, other_lines)}{note}")
        if stream is not None and not stream.understood:
            raise BackendError(
                f"{name} printed nothing that is known as {self._stream}: "
                f'check its command, or set stream = "text"'
            )

    async def _listen(
        self, process: Process, request: Request, stream: Stream | None
    ) -> AsyncGenerator[Update, None]:
        async with process:
            if not self._takes("prompt"):
                process.write(encodable(self._prompt(request)).encode())
            process.end_input()
            if stream is None:
                decoder = getincrementaldecoder("utf-8")("replace")
                async for chunk in process:
                    if text := decoder.decode(chunk):
                        yield Text(text)
                if text := decoder.decode(b"", final=True):
                    yield Text(text)
                return
            lines = Lines()
            async for chunk in process:
                for line in lines.feed(chunk):
                    for update in stream.feed(line):
                        yield update
            for line in lines.finish():
                for update in stream.feed(line):
                    yield update
        for update in stream.finish():
            yield update

    def _patience_of(self, process: Process) -> Callable[[bool], None]:
        """Return what lets a process be silent while it waits for tools of ours."""
        waits = 0

        def count(begins: bool) -> None:
            nonlocal waits
            waits += 1 if begins else -1
            process.expect_output(None if waits else self._silence_timeout)

        return count

    def _prompt(self, request: Request) -> str:
        if self._system_in_prompt and request.system:
            return f"{request.system.rstrip()}\n\n{request.prompt}"
        return request.prompt

    def _takes(self, placeholder: str) -> bool:
        return any(f"{{{placeholder}}}" in argument for argument in self._arguments)

    def _fill_in(self, request: Request, tools: ToolConfig | None) -> list[str]:
        if self._takes("model") and not request.model:
            raise BackendError(
                f"{self._program} needs a model: write @{request.agent} --model NAME …, "
                f'or set model = "NAME" under [agents.{request.agent}]'
            )
        if request.model and request.model.startswith("-"):
            # A project's files and other agents may name models, and must not give options.
            raise BackendError(f"{request.model[:SHOWN_CHARACTERS]} is no model: it would be an option")
        values = {
            "prompt": self._prompt(request),
            "system": request.system,
            "model": request.model or "",
            "tools": tools.path if tools else "",
            "tools_name": tools.server.name if tools else "",
            "tools_url": tools.server.url if tools else "",
            "allowed_tools": ",".join(request.allowed_tools),
            "max_turns": str(request.max_turns),
        }
        arguments = [
            *self._arguments,
            *(self._model_arguments if request.model else ()),
            *(self._system_arguments if request.system else ()),
            *(self._tool_arguments if tools else ()),
            *(self._read_only_arguments if request.read_only else ()),
            *(self._allowed_tools_arguments if request.allowed_tools else ()),
            *(self._max_turns_arguments if request.max_turns else ()),
        ]
        filled_in = [
            encodable(_PLACEHOLDER.sub(lambda found: values[found[1]], argument)) for argument in arguments
        ]
        if any("\0" in argument for argument in filled_in):
            raise BackendError(
                f"{self._program} cannot be given a NUL character as an argument: {self._way_out()}"
            )
        return filled_in

    def _tool_variables(self, tools: ToolConfig | None) -> dict[str, str]:
        if tools is None:
            return {}
        server = tools.server
        values = {
            "tools": tools.path,
            "tools_name": server.name,
            "tools_url": server.url,
            "tools_secret": server.secret,
        }
        return {
            name: _IN_VARIABLES.sub(lambda found: values[found[1]], value)
            for name, value in self._tool_env.items()
        }

    def _why_it_did_not_start(self, error: OSError, directory: Path) -> str:
        if error.errno == errno.E2BIG:
            return f"the arguments of {self._program} are too long: {self._way_out()}"
        return why_it_did_not_start(self._program, error, directory)

    def _way_out(self) -> str:
        if self._takes("prompt"):
            return "leave {prompt} out of its command, and the prompt goes by standard input"
        return "leave {system} out of its command"


class ToolConfig(NamedTuple):
    """The file, and the server that it leads to."""

    path: str
    server: ToolServer


@asynccontextmanager
async def tool_config(request: Request) -> AsyncIterator[ToolConfig | None]:
    """Make the file for as long as the block lasts; there is none where there are no tools."""
    server = await request.tools() if request.tools else None
    if server is None:
        yield None
        return
    # A folder of its own that nobody else may enter: the file holds the agent's secret.
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="teambot-")
    try:
        path = Path(folder, "mcp.json")
        await asyncio.to_thread(path.write_text, _tool_config_json(server))
        yield ToolConfig(str(path), server)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _tool_config_json(server: ToolServer) -> str:
    entry = {
        "type": "http",
        "url": server.url,
        "httpUrl": server.url,  # what Qwen calls it, for which `url` is another protocol
        "headers": {"Authorization": f"Bearer {server.secret}"},
        "trust": True,  # to Qwen: do not ask, our tools ask the person themselves
    }
    return json.dumps({"mcpServers": {server.name: entry}})
