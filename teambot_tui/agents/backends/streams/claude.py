"""What `claude -p --output-format stream-json` and `qwen -o stream-json` print.

Pieces arrive as they are written, and whole messages repeat them: what came in pieces is counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.backends.streams.shape import Stream, amount, at, table, tables, tokens, words
from teambot_tui.engine.ports import Thought, Usage

if TYPE_CHECKING:
    from teambot_tui.engine.ports import Update

_INVENTED: Final = "<synthetic>"
"""The model of a message that the program wrote itself, to say what its last line says again."""
_FAILED: Final = "[API Error: "
"""How qwen's answer begins when there is none; it calls that a success."""


class ClaudeStream(Stream):
    """Claude Code's shape, and Qwen Code's."""

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
