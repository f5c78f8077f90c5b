"""Our side of the protocol: what an agent may ask of us, and what it is answered.

Every answer is a result or an error of the protocol. While an agent waits for ours it is not silent.
"""

from __future__ import annotations

import asyncio
import shlex
from contextlib import contextmanager
from logging import getLogger
from typing import TYPE_CHECKING, Any, Final

from acp import RequestError
from acp.schema import (
    AllowedOutcome,
    CreateTerminalResponse,
    DeniedOutcome,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalExitStatus,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)

from teambot_tui.agents.backends.acp_files import ChangedError, FileRefusedError, Files
from teambot_tui.agents.backends.acp_requests import diff, entry
from teambot_tui.agents.backends.acp_terminals import Terminals
from teambot_tui.engine.ports import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from acp.schema import EnvVariable, PermissionOption, ToolCallUpdate

    from teambot_tui.agents.backends.acp_own_tools import OwnTools
    from teambot_tui.agents.backends.acp_turn import Turn

logger = getLogger(__name__)

_PREFERRED: Final = {
    Verdict.ALLOW: ("allow_once", "allow_always"),
    Verdict.REJECT: ("reject_once", "reject_always"),
}


class AgentClient:
    """What the agent in one process finds at the other end.

    `waits` is told when the agent begins to wait for our answer and when it no longer does.
    """

    def __init__(
        self,
        directory: Path,
        *,
        files: bool,
        terminal: bool,
        silence: float,
        waits: Callable[[bool], None],
    ) -> None:
        self.turn: Turn | None = None
        self.session: str | None = None
        self.own_tools: OwnTools | None = None
        self.terminals = Terminals(silence)
        self._directory = directory
        self._files = Files(directory)
        self._offers_files = files
        self._offers_terminals = terminal
        self._waits = waits
        self._unanswered = 0
        self._asked = 0

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """The agent waits for us; nothing but an error of the protocol gets out to it."""
        self.count_wait(True)
        try:
            yield
        except FileRefusedError as error:
            raise RequestError(-32603, str(error)) from error
        except (RequestError, asyncio.CancelledError):
            raise
        except Exception as error:  # the SDK would print it on the screen
            logger.debug("a request of an agent failed", exc_info=error)
            raise RequestError.internal_error() from error
        finally:
            self.count_wait(False)

    def count_wait(self, begins: bool) -> None:
        """The agent begins to wait for something of ours, or has it."""
        before = self._unanswered
        self._unanswered += 1 if begins else -1
        if not (before and self._unanswered):
            self._waits(begins)

    async def request_permission(
        self, options: list[PermissionOption], session_id: str, tool_call: ToolCallUpdate
    ) -> RequestPermissionResponse:
        """Let the person decide about a tool call."""
        with self._answering():
            turn = self.turn if session_id == self.session else None
            verdict = None
            if turn is not None:
                call = tool_call.model_dump(mode="json", by_alias=True, exclude_none=True)
                if self._is_ours(tool_call.tool_call_id, call, options):
                    verdict = Verdict.ALLOW
                else:
                    consequence = _consequence(options)
                    answered = await turn.ask_for_call(tool_call.tool_call_id, call, consequence)
                    verdict = answered.verdict if answered is not None else None
            choice = _choose(options, verdict) if verdict is not None else None
            if choice is None:
                return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
            outcome = AllowedOutcome(outcome="selected", option_id=choice.option_id)
            return RequestPermissionResponse(outcome=outcome)

    def _is_ours(self, identity: str, call: Mapping[str, Any], options: Sequence[PermissionOption]) -> bool:
        """Whether one of our tools is to be called this once: it asks the person itself where it must."""
        once = any(option.kind == "allow_once" for option in options)
        return once and self.own_tools is not None and self.own_tools.asked_for(identity, call)

    async def read_text_file(
        self, path: str, session_id: str, limit: int | None = None, line: int | None = None
    ) -> ReadTextFileResponse:
        """Return the text of a file, if the person, or what they have set, allows it."""
        with self._answering():
            turn = self._working_turn("fs/read_text_file", session_id, offered=self._offers_files)
            content = await asyncio.to_thread(self._files.read, path, line, limit)
            place = await asyncio.to_thread(self._files.within, path)
            await self._ask(turn, f"read {path}", "read", "\n".join(_path(path, place)))
            return ReadTextFileResponse(content=content)

    async def write_text_file(self, content: str, path: str, session_id: str) -> None:
        """Write a file, if the person allows it."""
        with self._answering():
            turn = self._working_turn("fs/write_text_file", session_id, offered=self._offers_files)
            while True:
                before = await asyncio.to_thread(self._files.before, path, content)
                change = diff(path, before.text, content)
                detail = "\n".join([*_path(path, before.place)[1:], change])
                await self._ask(turn, f"write {path}", "edit", detail)
                try:
                    return await asyncio.to_thread(self._files.write, path, content, before)
                except ChangedError:  # what was shown is not what would happen
                    logger.debug("%s changed before it was written", path)

    async def create_terminal(
        self,
        command: str,
        session_id: str,
        args: list[str] | None = None,
        cwd: str | None = None,
        env: list[EnvVariable] | None = None,
        output_byte_limit: int | None = None,
    ) -> CreateTerminalResponse:
        """Start a program, if the person allows it."""
        with self._answering():
            turn = self._working_turn("terminal/create", session_id, offered=self._offers_terminals)
            words = [command, *(args or [])]
            place = self._files.within(cwd) if cwd else self._directory
            variables = {variable.name: variable.value for variable in env or ()}
            detail = [entry("", shlex.join(words), "")]
            detail += [entry(name, value, "=") for name, value in variables.items()]
            if place != self._files.within(str(self._directory)) and cwd:
                detail.append(entry("in", str(place), " "))
            await self._ask(turn, "run a command", "execute", "\n".join(detail))
            made = await self.terminals.create(words, place, variables, output_byte_limit)
            if turn.abandoned:  # it came too late to be ended with the others
                await self.terminals.release(made)
            return CreateTerminalResponse(terminal_id=made)

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalOutputResponse:
        """Return what a program has printed so far."""
        with self._answering():
            self._working_turn("terminal/output", session_id, offered=self._offers_terminals)
            terminal = self.terminals[terminal_id]
            status = terminal.exit and TerminalExitStatus(exit_code=terminal.exit[0], signal=terminal.exit[1])
            return TerminalOutputResponse(
                output=terminal.output, truncated=terminal.truncated, exit_status=status or None
            )

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str) -> WaitForTerminalExitResponse:
        """Wait until a program is over."""
        with self._answering():
            self._working_turn("terminal/wait_for_exit", session_id, offered=self._offers_terminals)
            status, signal = await self.terminals[terminal_id].wait()
            return WaitForTerminalExitResponse(exit_code=status, signal=signal)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        """End a program and keep what it printed."""
        with self._answering():
            self._working_turn("terminal/kill", session_id, offered=self._offers_terminals)
            await self.terminals[terminal_id].close()

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        """End a program and forget it."""
        with self._answering():
            self._working_turn("terminal/release", session_id, offered=self._offers_terminals)
            await self.terminals.release(terminal_id)

    def _working_turn(self, method: str, session: str, *, offered: bool) -> Turn:
        if not offered:
            raise RequestError.method_not_found(method)
        if self.turn is None or session != self.session:
            raise FileRefusedError("no task is running in this session")
        return self.turn

    async def _ask(self, turn: Turn, tool: str, kind: str, detail: str) -> None:
        self._asked += 1
        answered = await turn.ask(f"request {self._asked}", tool, kind, detail)
        # The answer and the end of the task can come in the same moment.
        if answered is None or turn.abandoned:
            raise FileRefusedError("the task was cancelled")
        if answered.verdict is not Verdict.ALLOW:
            words = f": {answered.words}" if answered.words else ""
            raise FileRefusedError(f"the person did not allow it{words}")


def _path(path: str, place: Path) -> list[str]:
    """Show a path, and where it leads if that is somewhere else."""
    return [entry("", path, ""), *([entry("leads to", str(place))] if str(place) != path else [])]


def _choose(options: Sequence[PermissionOption], verdict: Verdict) -> PermissionOption | None:
    """Pick the option that does no more than the verdict; nothing if there is none."""
    for kind in _PREFERRED[verdict]:
        for option in options:
            if option.kind == kind:
                return option
    return None


def _consequence(options: Sequence[PermissionOption]) -> str:
    """Say in the agent's words what allowing means, unless it is simply this once."""
    choice = _choose(options, Verdict.ALLOW)
    if choice is None or [option.kind for option in options].count("allow_once") == 1:
        return ""
    return choice.name
