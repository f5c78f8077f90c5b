"""What `codex exec --json` prints: whole items, each with an id, and how the turn ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teambot_tui.agents.backends.streams.shape import (
    Stream,
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
    from teambot_tui.engine.ports import Update


class CodexStream(Stream):
    """Codex's shape."""

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
