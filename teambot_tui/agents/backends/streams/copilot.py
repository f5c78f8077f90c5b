"""What `copilot --output-format json` prints: the events of its session, and a result at the end.

Pieces arrive as they are written, and whole messages repeat them: what came in pieces is counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teambot_tui.agents.backends.streams.shape import Stream, at, complaint, table, tokens, words
from teambot_tui.engine.ports import Thought, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.ports import Update

    _Say = Callable[[str], list[Update]]


class CopilotStream(Stream):
    """Copilot CLI's shape."""

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
