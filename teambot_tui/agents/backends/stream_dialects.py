"""What known command line agents print while they work, one class for each shape.

Each was recorded from the program itself: `tests/agents/recorded`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.backends.json_lines import (
    Stream,
    amount,
    at,
    complaint,
    detail_of,
    table,
    tables,
    tokens,
    words,
)
from teambot_tui.engine.ports import Plan, Step, Thought, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teambot_tui.engine.ports import Update

    _Say = Callable[[str], list[Update]]

_INVENTED: Final = "<synthetic>"
"""The model of a message that the program wrote itself, to say what its last line says again."""
_FAILED: Final = "[API Error: "
"""How qwen's answer begins when there is none; it calls that a success."""


class ClaudeStream(Stream):
    """What `claude -p --output-format stream-json` and `qwen -o stream-json` print.

    Pieces arrive as they are written, and whole messages repeat them: what came in pieces is counted once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._in_pieces: set[str] = set()
        self._message = ""

    def _see(self, kind: str, event: dict[str, Any]) -> list[Update] | None:
        is_helper = bool(words(event, "parent_tool_use_id"))  # a helper speaks to the agent, not to us
        match kind:
            case "stream_event":
                return [] if is_helper else self._piece(table(event, "event"))
            case "assistant":
                return self._message_ended(table(event, "message"), is_helper)
            case "user":
                return [
                    update
                    for block in tables(event, "message", "content")
                    if words(block, "type") == "tool_result"
                    for update in self._tool_ended(
                        words(block, "tool_use_id"), done=at(block, "is_error") is not True
                    )
                ]
            case "result":
                return self._result(event)
            case "system":
                return []
            case _:
                return None

    def _piece(self, event: dict[str, Any]) -> list[Update]:
        match words(event, "type"):
            case "message_start":
                self._message = words(event, "message", "id")
            case "content_block_start":
                self._pause()
                block = table(event, "content_block")
                if words(block, "type") == "tool_use":
                    return self._tool_began(words(block, "id"), words(block, "name"))
            case "content_block_delta":
                text, thought = words(event, "delta", "text"), words(event, "delta", "thinking")
                if text or thought:
                    self._in_pieces.add(self._message)
                return [*self._say(text), *([Thought(thought)] if thought else ())]
        return []

    def _message_ended(self, message: dict[str, Any], is_helper: bool) -> list[Update]:
        is_new = words(message, "id") not in self._in_pieces and words(message, "model") != _INVENTED
        speaks = is_new and not is_helper
        updates: list[Update] = []
        for block in tables(message, "content"):
            match words(block, "type"):
                case "text" if speaks:
                    self._pause()
                    updates += self._say(words(block, "text"))
                case "thinking" if speaks and words(block, "thinking"):
                    updates.append(Thought(words(block, "thinking")))
                case "tool_use":
                    updates += self._tool_began(words(block, "id"), words(block, "name"), at(block, "input"))
        return updates

    def _result(self, event: dict[str, Any]) -> list[Update]:
        result, subtype = words(event, "result"), words(event, "subtype")
        if at(event, "is_error") is True or subtype.startswith("error") or result.startswith(_FAILED):
            errors = at(event, "errors")
            told = [each for each in errors if isinstance(each, str)] if isinstance(errors, list) else []
            self.error = (
                result
                or words(event, "error", "message")
                or "; ".join(told)
                or subtype.replace("_", " ")
                or "an error"
            )
        else:
            self.error = ""
        updates = [] if self._paragraphs.has_begun or self.error else self._say(result)
        usage = table(event, "usage")
        taken_in = sum(
            tokens(usage, key)
            for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        return [*updates, Usage(taken_in, tokens(usage, "output_tokens"), amount(event, "total_cost_usd"))]


class CodexStream(Stream):
    """What `codex exec --json` prints: whole items, each with an id, and how the turn ended."""

    def _see(self, kind: str, event: dict[str, Any]) -> list[Update] | None:
        match kind:
            case "item.started" | "item.updated" | "item.completed":
                return self._item(table(event, "item"), ended=kind == "item.completed")
            case "turn.completed":
                self.error = ""  # an error before it was one of those that are tried again
                usage = table(event, "usage")
                return [Usage(tokens(usage, "input_tokens"), tokens(usage, "output_tokens"))]
            case "turn.failed":
                self.error = complaint(words(event, "error", "message")) or "the turn failed"
                return []
            case "error":
                self.error = complaint(words(event, "message")) or "an error"
                return []
            case "thread.started" | "turn.started":
                return []
            case _:
                return None

    def _item(self, item: dict[str, Any], *, ended: bool) -> list[Update]:
        kind = words(item, "type")
        match kind:
            case "agent_message" if ended:
                self._pause()
                return self._say(words(item, "text"))
            case "reasoning" if ended:
                text = words(item, "text")
                return [Thought(f"{text}\n")] if text else []
            case "todo_list":
                return [
                    Plan(
                        tuple(
                            Step(words(each, "text"), "completed" if at(each, "completed") else "pending")
                            for each in tables(item, "items")
                        )
                    )
                ]
            case "command_execution":
                command = words(item, "command")
                return self._call(item, command, "execute", command, ended=ended)
            case "file_change":
                changes = tables(item, "changes")
                detail = "\n".join(f"{words(each, 'kind')} {words(each, 'path')}" for each in changes)
                files = "1 file" if len(changes) == 1 else f"{len(changes)} files"
                return self._call(item, f"change {files}", "edit", detail, ended=ended)
            case "mcp_tool_call":
                title = f"{words(item, 'server')}.{words(item, 'tool')}"
                return self._call(item, title, "other", detail_of(at(item, "arguments")), ended=ended)
            case "collab_tool_call":
                return self._call(item, words(item, "tool"), "think", words(item, "prompt"), ended=ended)
            case "web_search":
                return self._call(item, "web search", "fetch", words(item, "query"), ended=ended)
            case _:
                return []

    def _call(self, item: dict[str, Any], title: str, kind: str, detail: str, *, ended: bool) -> list[Update]:
        call = words(item, "id")
        updates = self._tool(call, title, kind, detail)
        if ended:
            updates += self._tool_ended(call, done=words(item, "status") not in ("failed", "declined"))
        return updates


class CopilotStream(Stream):
    """What `copilot --output-format json` prints: the events of its session, and a result at the end.

    As Claude's, whole messages repeat the pieces that came before them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._in_pieces: set[str] = set()
        self._used = Usage()

    def _see(self, kind: str, event: dict[str, Any]) -> list[Update] | None:
        data = table(event, "data")
        is_helper = bool(words(data, "parentToolCallId"))  # a helper speaks to the agent, not to us
        match kind:
            case "assistant.message_delta" | "assistant.message":
                message = words(data, "messageId")
                return [] if is_helper else self._once(kind, message, data, self._say)
            case "assistant.reasoning_delta" | "assistant.reasoning":
                return [] if is_helper else self._once(kind, words(data, "reasoningId"), data, _think)
            case "tool.execution_start":
                return self._tool_began(
                    words(data, "toolCallId"), words(data, "toolName"), at(data, "arguments")
                )
            case "tool.execution_complete":
                return self._tool_ended(words(data, "toolCallId"), done=at(data, "success") is not False)
            case "assistant.usage":
                self._used = Usage(
                    self._used.input_tokens + tokens(data, "inputTokens"),
                    self._used.output_tokens + tokens(data, "outputTokens"),
                )
                return [self._used]
            case "session.error":
                self.error = complaint(words(data, "message")) or "an error"
                return []
            case "result":
                status = at(event, "exitCode")
                if status == 0:
                    self.error = ""
                elif isinstance(status, int):
                    self.error = self.error or f"it ended with exit status {status}"
                return []
            case "assistant.turn_start" | "assistant.message_start":
                return self._pause()
            case _:
                return [] if kind.startswith(("assistant.", "session.", "user.", "model.")) else None

    def _once(self, kind: str, message: str, data: dict[str, Any], say: _Say) -> list[Update]:
        if kind.endswith("_delta"):
            self._in_pieces.add(message)
            return say(words(data, "deltaContent"))
        return [] if message in self._in_pieces else say(words(data, "content"))


def _think(text: str) -> list[Update]:
    return [Thought(text)] if text else []


class GeminiStream(Stream):
    """What `gemini -o stream-json` prints: pieces of messages, tools by id, a result with statistics."""

    def __init__(self) -> None:
        super().__init__()
        self._in_pieces = False

    def _see(self, kind: str, event: dict[str, Any]) -> list[Update] | None:
        match kind:
            case "message":
                return self._said(event) if words(event, "role") == "assistant" else self._pause()
            case "tool_use":
                return self._tool_began(
                    words(event, "tool_id"), words(event, "tool_name"), at(event, "parameters")
                )
            case "tool_result":
                return self._tool_ended(words(event, "tool_id"), done=words(event, "status") != "error")
            case "error":
                if words(event, "severity") != "warning":
                    self.error = complaint(words(event, "message")) or "an error"
                return []
            case "result":
                self.error = ""
                if words(event, "status") == "error":
                    self.error = complaint(words(event, "error", "message")) or "an error"
                stats = table(event, "stats")
                return [Usage(tokens(stats, "input_tokens"), tokens(stats, "output_tokens"))]
            case "init":
                return []
            case _:
                return None

    def _said(self, event: dict[str, Any]) -> list[Update]:
        if at(event, "delta") is True:
            self._in_pieces = True
        elif self._in_pieces:
            return []  # the whole of what came in pieces
        else:
            self._pause()
        return self._say(words(event, "content"))


class OpencodeStream(Stream):
    """What `opencode run --format json` prints: whole parts, and after each step what it has cost.

    It ends well, and without another word, after a tool that nobody was there to allow: whoever stops with
    the call of a tool has not answered.
    """

    def __init__(self) -> None:
        super().__init__()
        self._used = Usage()
        self._tool_error = ""

    def _see(self, kind: str, event: dict[str, Any]) -> list[Update] | None:
        part = table(event, "part")
        match kind:
            case "text":
                self._pause()
                return self._say(words(part, "text"))
            case "reasoning":
                text = words(part, "text")
                return [Thought(f"{text}\n")] if text else []
            case "tool_use":
                return self._tool_used(part)
            case "step_finish":
                self.error = ""  # an error before it was one of those that are tried again
                if words(part, "reason") == "tool-calls":
                    self.error = f"it stopped after a tool call{self._tool_error}"
                return [self._add(part)]
            case "error":
                error = table(event, "error")
                told = words(error, "data", "message") or words(event, "message") or words(event, "error")
                self.error = complaint(told) or words(error, "name") or "an error"
                return []
            case "step_start":
                self.error = self._tool_error = ""
                return []
            case _:
                return None

    def _tool_used(self, part: dict[str, Any]) -> list[Update]:
        call, state = words(part, "callID"), table(part, "state")
        updates = self._tool_began(call, words(part, "tool"), at(state, "input"))
        status = words(state, "status")
        if status == "error":
            self._tool_error = f": {words(part, 'tool')}: {words(state, 'error')}"
        if status in ("completed", "error"):
            updates += self._tool_ended(call, done=status == "completed")
        return updates

    def _add(self, part: dict[str, Any]) -> Usage:
        used, step, cost = self._used, table(part, "tokens"), amount(part, "cost")
        self._used = Usage(
            used.input_tokens
            + tokens(step, "input")
            + tokens(step, "cache", "read")
            + tokens(step, "cache", "write"),
            used.output_tokens + tokens(step, "output") + tokens(step, "reasoning"),
            used.cost if cost is None else (used.cost or 0.0) + cost,
        )
        return self._used


STREAMS: Final[Mapping[str, type[Stream]]] = {
    "claude-json": ClaudeStream,
    "codex-json": CodexStream,
    "gemini-json": GeminiStream,
    "copilot-json": CopilotStream,
    "opencode-json": OpencodeStream,
}
