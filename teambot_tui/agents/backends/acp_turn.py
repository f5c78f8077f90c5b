"""One turn of an agent over ACP: what it reports, in the engine's words, and its permission requests.

What waits for the task is bounded: an agent that reports faster than anybody reads is held. A turn that is
abandoned holds nobody: its requests are withdrawn and what still comes is dropped. Whatever has an unknown
shape is left out.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.agents.backends.acp_requests import acts, described, exact, requested, with_true_changes
from teambot_tui.agents.backends.json_lines import Paragraphs, complaint
from teambot_tui.engine.ports import (
    Answered,
    Permission,
    Plan,
    Step,
    Text,
    Thought,
    ToolCall,
    ToolState,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from teambot_tui.agents.backends.acp_habits import Habits
    from teambot_tui.agents.backends.acp_usage import Meter
    from teambot_tui.engine.ports import Reply, Update

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
_MOST_WAITING: Final = 256  # updates


class Answer:
    """The text of one turn: its messages apart from each other, and nothing that is no part of the answer.

    Where the model of an agent fails, some agents say so as if it were the answer. Such a message is held
    back until it is known whether it was the last one.
    """

    def __init__(self, habits: Habits) -> None:
        self._habits = habits
        self._paragraphs = Paragraphs()
        self._message = ""
        self._held = ""
        self._reasons: list[str] | None = None

    def say(self, text: str, message: object) -> Iterator[Text | Thought]:
        """Yield a piece of the message with this id, if it has one, and what was held back before it."""
        if isinstance(message, str) and message:
            if self._message and message != self._message:
                self._paragraphs.pause()
            self._message = message
        if self._reasons is not None:
            self._reasons.append(text)
        elif not message and self._habits.notice.fullmatch(text):
            yield Thought(text)
        elif text:
            yield from self.release()
            if self._paragraphs.is_new and self._habits.may_be_no_answer(text):
                self._held = text
            else:
                yield Text(self._paragraphs.say(text))

    def pause(self) -> None:
        """Let what is said next begin a paragraph."""
        self._paragraphs.pause()

    def release(self, error: str = "") -> Iterator[Text]:
        """Yield what was held back: it was part of the answer, unless the error of the turn says the same."""
        held, self._held = self._held, ""
        if held and held not in error:
            yield Text(self._paragraphs.say(held))

    def failed(self) -> None:
        """Take what is said from now on as the reason why the model failed."""
        self._reasons = []

    def went_on(self) -> Iterator[Text]:
        """Yield what was taken as a reason: the model did not fail after all."""
        said, self._reasons = "".join(self._reasons or ()), None
        if said:
            self._paragraphs.pause()
            yield Text(self._paragraphs.say(said))

    def failure(self, *, used: bool) -> str | None:
        """Return why the model failed, if the end of the turn says so; `used` if the turn used any tokens."""
        if self._reasons is not None:
            return complaint("".join(self._reasons).strip()) or "its model failed"
        reason = self._habits.reason(self._held, used=used)
        if reason is not None:
            self._held = ""
        return reason


@dataclass(slots=True)
class _Tool:
    title: str = ""
    kind: str = "other"
    state: ToolState = ToolState.PENDING
    fields: dict[str, Any] = field(default_factory=dict)


class Activity:
    """What an agent does in one turn.

    Agents update tools they never announced, and repeat what they said: a tool call is kept by its id, filled
    in by whatever is told of it, and reported when something about it is new.
    """

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

    def permission_for(self, identity: str, call: Mapping[str, Any]) -> tuple[ToolCall, Mapping[str, Any]]:
        """Tell for which tool call permission is asked, and all that is known of it."""
        announced = self._tools[identity].fields.get("rawInput") if identity in self._tools else None
        asked = call.get("rawInput")
        if isinstance(announced, dict) and isinstance(asked, dict):
            call = {**call, "rawInput": {**announced, **asked}}  # some ask with less than they announced
        tool = self._fill_in(identity, call)
        self._reported[identity] = shown = self._tool_call(identity, tool)
        fields = dict(tool.fields)
        if announced:
            tool.fields["rawInput"] = announced  # the next request for this call is another one
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


class Turn:
    """What one task hears from its agent."""

    def __init__(self, meter: Meter, habits: Habits) -> None:
        self.spoke = False
        self.denied = False
        self.speechless = False
        """It was denied something and has not said a word since."""
        self._activity = Activity(meter, habits)
        self._updates: list[Update] = []
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._requests: set[asyncio.Future[Answered | None]] = set()
        self._untold: list[str] = []
        """What the person said with answers that have no room for words."""
        self.abandoned = False

    def hear(self, update: Mapping[str, Any]) -> None:
        """Take in what the agent reports."""
        for each in self._activity.translate(update):
            self._put(each)

    def failure(self, *, used: bool) -> str | None:
        """Return why the agent's model failed, if that is what the end of the turn says."""
        return self._activity.answer.failure(used=used)

    def release(self, error: str = "") -> None:
        """Take in the rest of what the agent said; nothing follows but the error of the turn, if any."""
        for text in self._activity.answer.release(error):
            self._put(text)

    def close_tools(self, state: ToolState) -> None:
        """Report an end for every tool call that the agent left open."""
        for call in self._activity.close(state):
            self._put(call)

    def go_on(self) -> str:
        """Return what the person has yet to say, if anything; the answer to it is a new paragraph."""
        words, self._untold = "\n\n".join(self._untold), []
        if words:
            self.release()
            self.close_tools(ToolState.DONE)
            self._activity.answer.pause()
        return words

    def report(self, update: Update) -> None:
        """Take in what is known besides."""
        self._put(update)

    async def room(self) -> None:
        """Wait until more may be taken in."""
        await self._room.wait()

    def wake(self) -> None:
        """Let who waits for updates look again."""
        self._changed.set()

    async def updates(self) -> list[Update]:
        """Wait until something has come or somebody woke us, and give it away."""
        await self._changed.wait()
        return self.take()

    def take(self) -> list[Update]:
        """Give away what has come."""
        self._changed.clear()
        updates, self._updates = self._updates, []
        self._room.set()
        return updates

    async def ask_for_call(
        self, identity: str, call: Mapping[str, Any], consequence: str = ""
    ) -> Answered | None:
        """Ask permission for a tool call of the agent's own; nothing when the turn ends before the answer.

        `consequence` is what allowing it means to the agent, where that is more than this once.
        """
        shown, fields = self._activity.permission_for(identity, call)
        self._put(shown)
        detail = requested(identity, await asyncio.to_thread(with_true_changes, fields), consequence)
        answered = await self.ask(
            identity, shown.title, shown.kind, detail, exact=exact(fields), acts=acts(fields)
        )
        if answered is not None and answered.words:
            self._untold.append(f"The person did not allow this: {shown.title}\n\n{answered.words}")
        return answered

    async def ask(
        self, identity: str, tool: str, kind: str, detail: str, *, exact: str = "", acts: bool = False
    ) -> Answered | None:
        """Ask permission; nothing when the turn ends before the answer."""
        if self.abandoned:
            return None
        request: asyncio.Future[Answered | None] = asyncio.get_running_loop().create_future()
        self._requests.add(request)
        self._put(Permission(identity, tool, kind, detail, _answer(request), exact, acts))
        try:
            answered = await request
        finally:
            self._requests.discard(request)
        if answered is not None and answered.verdict is Verdict.REJECT:
            self.denied = self.speechless = True
        return answered

    def abandon(self) -> None:
        """Nobody listens any more: withdraw the requests and drop what still comes."""
        self.abandoned = True
        self._updates.clear()
        self._room.set()
        for request in self._requests:
            if not request.done():
                request.set_result(None)

    def _put(self, update: Update) -> None:
        if self.abandoned:
            return
        if isinstance(update, Text) and update.text:
            self.spoke, self.speechless = True, False
        self._updates.append(update)
        self._changed.set()
        if len(self._updates) >= _MOST_WAITING:
            self._room.clear()


def _answer(request: asyncio.Future[Answered | None]) -> Reply:
    def answer(verdict: Verdict, words: str = "") -> None:
        if not request.done():  # it was withdrawn
            request.set_result(Answered(verdict, words))

    return answer
