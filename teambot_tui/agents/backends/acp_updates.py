"""What an agent reports over ACP, in the engine's words; whatever has an unknown shape is left out.

Agents update tools they never announced, and repeat what they said: a tool call is kept by its id, filled in
by whatever is told of it, and reported when something about it is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.backends.acp_answer import Answer
from teambot_tui.agents.backends.acp_requests import described
from teambot_tui.engine.ports import Plan, Step, Text, Thought, ToolCall, ToolState, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from teambot_tui.agents.backends.acp_habits import Habits
    from teambot_tui.agents.backends.acp_usage import Meter

_KINDS: Final = ("read", "search", "edit", "delete", "move", "execute", "fetch", "think")
_STATES: Final = {
    "pending": ToolState.PENDING,
    "in_progress": ToolState.RUNNING,
    "completed": ToolState.DONE,
    "failed": ToolState.FAILED,
}
_OPEN: Final = (ToolState.PENDING, ToolState.RUNNING)
_TELLING: Final = ("title", "kind", "content", "rawInput", "locations")
_NAMELESS: Final = "a tool without a name"


@dataclass(slots=True)
class _Tool:
    title: str = ""
    kind: str = "other"
    state: ToolState = ToolState.PENDING
    fields: dict[str, Any] = field(default_factory=dict)


class Activity:
    """What an agent does in one turn."""

    def __init__(self, meter: Meter, habits: Habits) -> None:
        self.answer = Answer(habits)
        self._meter = meter
        self._used: Usage | None = None
        self._tools: dict[str, _Tool] = {}
        self._reported: dict[str, ToolCall] = {}

    def translate(self, update: Mapping[str, Any]) -> Iterator[Text | Thought | ToolCall | Plan | Usage]:
        """Yield what the update says, if anything."""
        match update:
            case {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": str(text)}}:
                yield from self.answer.say(text, update.get("messageId"))
                match update.get("_meta"):
                    case {"usage": dict(call)}:
                        self._meter.add(call)
                        yield from self._use()
            case {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": str(text)}}:
                yield Thought(text)
            case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": str(identity)}:
                yield from self.answer.release()
                yield from self._report(identity, self._fill_in(identity, update))
            case {"sessionUpdate": "plan", "entries": list(entries)}:
                yield Plan(tuple(_steps(entries)))
            case {"sessionUpdate": "usage_update"}:
                self._meter.note(update)
                yield from self._use()
            case {"sessionUpdate": "session_info_update", "_meta": {"codex": {"threadStatus": dict(status)}}}:
                if status.get("type") == "systemError":
                    self.answer.failed()
                elif status.get("type") == "active":
                    yield from self.answer.went_on()

    def wish(self, identity: str, call: Mapping[str, Any]) -> tuple[ToolCall, Mapping[str, Any]]:
        """Tell for which tool call permission is asked, and all that is known of it."""
        announced = self._tools[identity].fields.get("rawInput") if identity in self._tools else None
        asked = call.get("rawInput")
        if isinstance(announced, dict) and isinstance(asked, dict):
            call = {**call, "rawInput": {**announced, **asked}}  # some ask with less than they announced
        tool = self._fill_in(identity, call)
        self._reported[identity] = shown = self._tool_call(identity, tool)
        fields = dict(tool.fields)
        if announced:
            tool.fields["rawInput"] = announced  # the next wish for this call is another one
        return shown, fields

    def close(self, state: ToolState) -> Iterator[ToolCall]:
        """Yield an end for every tool call that the agent left open."""
        for identity, tool in self._tools.items():
            if tool.state in _OPEN:
                tool.state = state
                yield from self._report(identity, tool)

    def _use(self) -> Iterator[Usage]:
        usage = self._meter.usage()
        if usage != self._used:
            self._used = usage
            yield usage

    def _fill_in(self, identity: str, call: Mapping[str, Any]) -> _Tool:
        if identity not in self._tools:  # an update may come while the agent speaks
            self.answer.pause()
        tool = self._tools.setdefault(identity, _Tool())
        title, kind = call.get("title"), call.get("kind")
        if isinstance(title, str) and title:
            tool.title = title
        if isinstance(kind, str):
            tool.kind = kind if kind in _KINDS else "other"
        state = call.get("status")
        tool.state = _STATES.get(state, tool.state) if isinstance(state, str) else tool.state
        tool.fields.update({key: call[key] for key in _TELLING if call.get(key)})
        return tool

    def _report(self, identity: str, tool: _Tool) -> Iterator[ToolCall]:
        call = self._tool_call(identity, tool)
        if self._reported.get(identity) != call:
            self._reported[identity] = call
            yield call

    def _tool_call(self, identity: str, tool: _Tool) -> ToolCall:
        title = tool.title or (_NAMELESS if tool.kind == "other" else tool.kind)
        return ToolCall(identity, title, tool.kind, tool.state, described(tool.fields))


def _steps(entries: list[Any]) -> Iterator[Step]:
    for entry in entries:
        match entry:
            case {"content": str(text)}:
                yield Step(text, str(entry.get("status", "pending")))
