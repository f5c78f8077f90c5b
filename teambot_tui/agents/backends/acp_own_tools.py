"""Whether an agent asks permission for a tool of ours: such a tool asks the person itself, so once is enough.

What a model writes becomes titles of tool calls: a command called as a tool of ours is shown as that by many
agents. So a title alone proves nothing. All that was told of a call must fit a tool of ours: its names,
its kind, and its arguments, of which a command or an edit has others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from teambot_tui.engine.ports import ToolServer

_TOLD: Final = ("title", "kind", "rawInput", "locations", "content", "_meta")
_ENDS: Final = ("completed", "failed")
_CODEX_ASKS: Final = "Approve MCP tool call"


class OwnTools:
    """Follows the tool calls of one turn of an agent that was given a server of ours."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._names = {name: tool for tool in server.tools for name in _names(server.name, tool)}
        self._calls: dict[str, list[Mapping[str, Any]]] = {}

    def hear(self, update: Mapping[str, Any]) -> None:
        """Take in what an agent tells of a tool call."""
        identity = update.get("toolCallId")
        if update.get("sessionUpdate") not in ("tool_call", "tool_call_update") or not isinstance(
            identity, str
        ):
            return
        if update.get("status") in _ENDS:
            self._calls.pop(identity, None)
        else:
            self._calls.setdefault(identity, []).append({key: update[key] for key in _TOLD if key in update})

    def asked_for(self, identity: str, call: Mapping[str, Any]) -> bool:
        """Whether permission is asked for a call of one of our tools, and certainly for no other."""
        told = [*self._calls.get(identity, ()), call]
        tools = {self._names.get(name) for each in told for name in _full_names(each)}
        named = {self._names[title] for each in told if (title := _title(each)) in self._names}
        if len(named) != 1 or not tools <= named:
            return False
        (tool,) = named
        return all(self._fits(each, tool) for each in told) and self._shows_arguments(identity, told, tool)

    def _fits(self, told: Mapping[str, Any], tool: str) -> bool:
        title = _title(told)
        return (
            (not title or self._names.get(title) == tool or title in (tool, _CODEX_ASKS))
            and told.get("kind") in (None, "other")
            and not told.get("locations")
            and all(item.get("type") == "content" for item in _items(told.get("content")))
            and (not told.get("rawInput") or self._takes(tool, told["rawInput"]))
        )

    def _shows_arguments(self, identity: str, told: list[Mapping[str, Any]], tool: str) -> bool:
        asked = told[-1]
        if "rawInput" in asked:
            return True
        # Gemini tells the arguments as a text, and names the tool in an id that it makes itself.
        match asked.get("content"):
            case [{"type": "content", "content": {"type": "text", "text": str(text)}}]:
                begin = f"mcp_{self._server.name}_{tool}__"
                return identity.startswith(begin) and self._takes(tool, _json(text))
        return False

    def _takes(self, tool: str, given: object) -> bool:
        own = self._server.name
        match given:
            case {"server": server, "tool": name, "arguments": arguments, **more}:  # Codex, announcing
                return (server, name, more) == (own, tool, {}) and self._takes(tool, arguments or {})
            case {
                "server_name": server,
                "request": {"_meta": {"codex_approval_kind": "mcp_tool_call"} as about},
            }:
                return bool(server == own) and self._takes(tool, about.get("tool_params") or {})
            case dict():
                return self._server.tools[tool].issuperset(given)
        return False


def _names(server: str, tool: str) -> Iterator[str]:
    """Yield what agents call a tool of an MCP server in the titles of its calls."""
    yield f"mcp__{server}__{tool}"  # Claude Code
    yield f"{tool} ({server} MCP Server)"  # Gemini
    yield f"{server}-{tool}"  # Copilot
    yield f"{server}: {tool}"  # goose
    yield f"{server}__{tool}"  # goose, fast-agent
    yield f"{server}_{tool}"  # OpenCode
    yield f"Tool: {server}/{tool}"  # Codex


def _full_names(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that a program gives the tool beside the title, as those do that have them."""
    match told.get("_meta"):
        case {"claudeCode": {"toolName": str(name)}} | {"goose": {"toolCall": {"toolName": str(name)}}}:
            yield name
        case {"toolName": str(name)}:
            yield name


def _title(told: Mapping[str, Any]) -> str:
    title = told.get("title")
    return title if isinstance(title, str) else ""


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _items(content: object) -> list[Mapping[str, Any]]:
    return [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
