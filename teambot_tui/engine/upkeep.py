"""When to end what backends keep between tasks: with the agent, with the last one, or when too many are idle.

Only decisions: the runner tells who works and who comes and goes, asks what is due, and does it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.ports import Stateful, Suspendable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Backend, Member


@dataclass(frozen=True, slots=True)
class ForgetAgent:
    """The agent has left this backend: end what is kept for it."""

    backend: Stateful
    agent: AgentId


@dataclass(frozen=True, slots=True)
class SuspendAgent:
    """The agent has been idle the longest: end its process until its next task."""

    backend: Suspendable
    agent: AgentId


@dataclass(frozen=True, slots=True)
class CloseBackend:
    """No agent runs on this backend any more: end everything it keeps."""

    backend: Stateful


Due: TypeAlias = ForgetAgent | SuspendAgent | CloseBackend


class Upkeep:
    """Knows who runs on what; of the idle agents that can be suspended at most `most_idle` are not."""

    def __init__(self, members: Iterable[Member], most_idle: int) -> None:
        self._most_idle = most_idle
        self._runs_on: dict[AgentId, Backend] = {}
        self._users: Counter[int] = Counter()
        self._backends: dict[int, Backend] = {}
        self._suspendable: dict[int, Suspendable] = {}
        """Those among them: asking one what it can do takes longer than the rest of a task."""
        self._at_work: dict[AgentId, Backend] = {}
        self._kept: set[AgentId] = set()
        """Those for whom their backend may keep something."""
        self._idle: dict[AgentId, Suspendable] = {}
        """Those who could be suspended, in the order in which they became idle."""
        self._left: list[tuple[AgentId, Backend]] = []
        for member in members:
            self.place(member)
        self._team = frozenset(self._runs_on)

    @property
    def backends(self) -> Iterator[Stateful]:
        """Every backend that an agent was ever to run on and that may keep something."""
        return (backend for backend in self._backends.values() if isinstance(backend, Stateful))

    def place(self, member: Member) -> None:
        """A member joins, or takes the place of the one of its name."""
        backend = member.backend
        before = self._runs_on.get(member.id)
        if before is backend:
            return
        if before is not None:
            self.leave(member.id)
        if id(backend) not in self._backends:
            self._backends[id(backend)] = backend
            if isinstance(backend, Suspendable):
                self._suspendable[id(backend)] = backend
        self._runs_on[member.id] = backend
        self._users[id(backend)] += 1

    def leave(self, agent: AgentId) -> None:
        """A member leaves, if it is there; if it is at work, what is kept for it ends after that."""
        backend = self._runs_on.pop(agent, None)
        if backend is None:
            return
        self._users[id(backend)] -= 1
        self._idle.pop(agent, None)
        if agent in self._kept and agent not in self._at_work:
            self._kept.discard(agent)
            self._left.append((agent, backend))

    def begin(self, member: Member) -> None:
        """Work of a member begins, perhaps of one that has left."""
        self._idle.pop(member.id, None)
        self._kept.add(member.id)
        self._at_work[member.id] = member.backend

    def end(self, agent: AgentId) -> None:
        """The work of an agent has ended."""
        backend = self._at_work.pop(agent)
        if self._runs_on.get(agent) is not backend:
            self._left.append((agent, backend))
        elif suspendable := self._suspendable.get(id(backend)):
            self._idle[agent] = suspendable

    def due(self) -> list[Due]:
        """Return what is to be ended now, each once."""
        if not self._left and len(self._idle) <= self._most_idle:
            return []
        due: dict[Due, None] = {}
        for agent, backend in self._left:
            if isinstance(backend, Stateful):
                in_use = self._users[id(backend)] or any(each is backend for each in self._at_work.values())
                due[ForgetAgent(backend, agent) if in_use else CloseBackend(backend)] = None
        self._left.clear()
        while len(self._idle) > self._most_idle:
            # Whoever joined for this session first: the memory of the team is worth more.
            agent = next((each for each in self._idle if each not in self._team), next(iter(self._idle)))
            due[SuspendAgent(self._idle.pop(agent), agent)] = None
        return list(due)
