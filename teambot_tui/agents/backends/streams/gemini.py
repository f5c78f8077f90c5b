"""What `gemini -o stream-json` prints: pieces of messages, tools by id, and a result with statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teambot_tui.agents.backends.streams.shape import Stream, at, complaint, table, tokens, words
from teambot_tui.engine.ports import Usage

if TYPE_CHECKING:
    from teambot_tui.engine.ports import Update


class GeminiStream(Stream):
    """Gemini CLI's shape."""

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
