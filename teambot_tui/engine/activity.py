"""What agents do besides answering: tools, thoughts, plans and what they use, kept within bounds.

A view is a value that is made again only after something changed, so that asking for it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.ports import Plan, Step, Thought, ToolCall, ToolState, Usage
from teambot_tui.engine.spending import difference, together
from teambot_tui.engine.text import Tail, one_line

if TYPE_CHECKING:
    from teambot_tui.engine.facts import PermissionAsked
    from teambot_tui.engine.ports import Activity, Verdict

_MOST_TOOLS: Final = 200
_LONGEST_DETAIL: Final = 500
_MOST_THOUGHTS: Final = 16 * 1024
_OVER: Final = (ToolState.DONE, ToolState.FAILED)


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What an agent wants to do and may not without leave."""

    task: TaskId
    request: str
    tool: str
    kind: str
    detail: str
    is_whole: bool = True

    @property
    def agent(self) -> AgentId:
        """Who asks."""
        return agent_of(self.task)

    @property
    def summary(self) -> str:
        """The request in one line: `execute: npm test`; more than one ends in an ellipsis."""
        more = " …" if self.kind == "execute" and "\n" in self.detail.strip() else ""
        return _line(self.kind, self.tool, self.detail) + more


@dataclass(frozen=True, slots=True)
class Answered:
    """A permission request with its answer."""

    request: PermissionRequest
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Doing:
    """What a task did besides answering; of very many tools only the last are kept."""

    tools: tuple[ToolCall, ...] = ()
    tool_count: int = 0
    current: ToolCall | None = None
    """The tool that is at work, if nothing was said since it began."""
    plan: tuple[Step, ...] = ()
    thoughts: str = ""
    usage: Usage | None = None


NOTHING: Final = Doing()
_NOTHING: Final = Usage()


def permission_request(asked: PermissionAsked) -> PermissionRequest:
    """Return the request that a fact tells of."""
    return PermissionRequest(asked.task, asked.request, asked.tool, asked.kind, asked.detail, asked.is_whole)


def tool_line(tool: ToolCall) -> str:
    """Say in one line what a tool does: `execute: npm test`."""
    return _line(tool.kind, tool.title, tool.detail)


def _line(kind: str, title: str, detail: str) -> str:
    """Say what the command is or, where there is none, what the agent calls it."""
    command = one_line(detail.strip().partition("\n")[0][:_LONGEST_DETAIL])
    words = command if kind == "execute" and command else title or command
    if words.lower().startswith(f"{kind} ".lower()):
        words = words[len(kind) + 1 :].lstrip()
    return f"{kind}: {words}" if kind and words else kind or words


class Activities:
    """Follows what all tasks do."""

    def __init__(self) -> None:
        self._records: dict[TaskId, _Record] = {}
        self._used: dict[AgentId, Usage] = {}
        self.total: Usage | None = None
        """What all agents have used."""

    def take_in(self, task: TaskId, activity: Activity) -> None:
        """Follow what a task does."""
        record = self._records.get(task)
        if record is None:
            record = self._records[task] = _Record()
        if isinstance(activity, Usage):
            more = difference(record.usage or _NOTHING, activity)
            agent = agent_of(task)
            self._used[agent] = together(self._used.get(agent, _NOTHING), more)
            self.total = together(self.total or _NOTHING, more)
        record.take_in(activity)

    def hear(self, task: TaskId, text: str) -> bool:
        """Note that a task has said something: what it does, if anything, is no longer the latest of it."""
        record = self._records.get(task)
        if record is None or record.current is None or not text.strip():
            return False
        record.current = None
        record.view = None
        return True

    def begin_again(self, task: TaskId) -> None:
        """Forget what a task did; what it used stays in the sums."""
        self._records.pop(task, None)

    def end(self, task: TaskId, *, well: bool) -> None:
        """Let the tools of a task be over that it never told the end of."""
        if (record := self._records.get(task)) is not None:
            record.end(ToolState.DONE if well else ToolState.FAILED)

    def of(self, task: TaskId) -> Doing:
        """Return what a task did."""
        record = self._records.get(task)
        return record.seen() if record is not None else NOTHING

    def used_by(self, agent: AgentId) -> Usage | None:
        """Return what an agent has used in all, if it said so."""
        return self._used.get(agent)


class _Record:
    __slots__ = ("count", "current", "plan", "thoughts", "tools", "usage", "view")

    def __init__(self) -> None:
        self.tools: dict[str, ToolCall] = {}
        self.count = 0
        self.current: str | None = None
        self.plan: tuple[Step, ...] = ()
        self.thoughts: Tail | None = None
        self.usage: Usage | None = None
        self.view: Doing | None = None

    def take_in(self, activity: Activity) -> None:
        self.view = None
        match activity:
            case Thought(text):
                if self.thoughts is None:
                    self.thoughts = Tail(_MOST_THOUGHTS)
                self.thoughts.append(text)
            case ToolCall():
                self._use(activity)
            case Plan(steps):
                self.plan = steps
            case Usage(cost=None) if self.usage is not None:
                self.usage = replace(activity, cost=self.usage.cost)
            case Usage():
                self.usage = activity

    def _use(self, tool: ToolCall) -> None:
        before = self.tools.get(tool.id)
        if before is None:
            self.count += 1
            if len(self.tools) >= _MOST_TOOLS:
                del self.tools[next(iter(self.tools))]
        else:  # an update may say only what is new
            tool = replace(
                tool,
                title=tool.title or before.title,
                kind=tool.kind or before.kind,
                detail=tool.detail or before.detail,
            )
        self.tools[tool.id] = replace(tool, detail=tool.detail[:_LONGEST_DETAIL])
        if tool.state not in _OVER:
            self.current = tool.id
        elif self.current == tool.id:
            busy = (each.id for each in reversed(self.tools.values()) if each.state not in _OVER)
            self.current = next(busy, None)

    def end(self, state: ToolState) -> None:
        self.current = self.view = None
        for name, tool in self.tools.items():
            if tool.state not in _OVER:
                self.tools[name] = replace(tool, state=state)

    def seen(self) -> Doing:
        if self.view is None:
            self.view = Doing(
                tuple(self.tools.values()),
                self.count,
                self.tools.get(self.current) if self.current is not None else None,
                self.plan,
                self.thoughts.text if self.thoughts is not None else "",
                self.usage,
            )
        return self.view
