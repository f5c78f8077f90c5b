"""What `opencode run --format json` prints: whole parts, and at the end of each step what it has cost.

It ends well, and without another word, after a tool that nobody was there to allow: whoever stops with the
call of a tool has not answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teambot_tui.agents.backends.streams.shape import Stream, amount, at, complaint, table, tokens, words
from teambot_tui.engine.ports import Thought, Usage

if TYPE_CHECKING:
    from teambot_tui.engine.ports import Update


class OpencodeStream(Stream):
    """OpenCode's shape."""

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
