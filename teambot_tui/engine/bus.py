"""The bus: every fact reaches every subscriber once, in the same order for all.

Publishing never waits and never loses. A subscriber is called at once; one that wants its facts at its own
pace takes a backlog, in which the words, or thoughts, of a task become one. A subscriber that breaks hurts
nobody: its failure is published as a fact.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.facts import ActivityReported, Fact, SubscriberFailed, TextProduced
from teambot_tui.engine.ports import Thought
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from teambot_tui.engine.ids import TaskId

Handler: TypeAlias = "Callable[[Fact], None]"


class Bus:
    """Delivers facts by their type."""

    def __init__(self) -> None:
        self._subscribers: list[tuple[Handler, tuple[type[Fact], ...]]] = []
        self._routes: dict[type[Fact], tuple[Handler, ...]] = {}
        self._pending: deque[Fact] = deque()
        self._delivering = False

    @contextmanager
    def subscribe(self, handler: Handler, *kinds: type[Fact]) -> Iterator[None]:
        """Call the handler for each fact of these kinds, or of every kind, within the block."""
        entry = (handler, kinds)
        self._subscribers.append(entry)
        self._routes.clear()
        try:
            yield
        finally:
            self._subscribers.remove(entry)
            self._routes.clear()

    def publish(self, fact: Fact) -> None:
        """Deliver a fact; one that is published by a subscriber follows after the one at hand."""
        if self._delivering:
            self._pending.append(fact)
            return
        self._delivering = True
        try:
            self._deliver(fact)
            while self._pending:
                self._deliver(self._pending.popleft())
        finally:
            self._delivering = False

    def _deliver(self, fact: Fact) -> None:
        handlers = self._routes.get(type(fact))
        for handler in self._route(type(fact)) if handlers is None else handlers:
            try:
                handler(fact)
            except Exception as error:  # noqa: BLE001  a subscriber is foreign code: report, go on
                self._report(handler, fact, error)

    def _route(self, kind: type[Fact]) -> tuple[Handler, ...]:
        handlers = tuple(handler for handler, kinds in self._subscribers if not kinds or kind in kinds)
        self._routes[kind] = handlers
        return handlers

    def _report(self, handler: Handler, fact: Fact, error: Exception) -> None:
        if isinstance(fact, SubscriberFailed):
            return  # it breaks on the news of breaking: telling it again would never end
        name = getattr(handler, "__qualname__", type(handler).__qualname__)
        reason = one_line(f"{type(error).__name__}: {error}")
        self._pending.append(SubscriberFailed(fact.time, name, reason))


class Backlog:
    """Facts that wait for a reader; more words, or thoughts, of a task are added to those that wait.

    Whoever speaks in between, a task's text waits as one until another fact of the task comes, which stays
    behind it. So what waits does not grow with what is said.
    """

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._speaking: dict[TaskId, tuple[int, list[str]]] = {}
        """Where the text of each task waits that goes on, and its pieces."""

    def put(self, fact: Fact) -> None:
        """Add a fact."""
        task: TaskId | None = getattr(fact, "task", None)
        if task is not None:
            text = _text_of(fact)
            if text is not None and task in self._speaking:
                place, pieces = self._speaking[task]
                if type(self._facts[place]) is type(fact):
                    pieces.append(text)
                    return
            self._merge(task)
            if text is not None:
                self._speaking[task] = (len(self._facts), [text])
        self._facts.append(fact)

    def take(self) -> list[Fact]:
        """Return everything that has arrived since the last time."""
        for task in tuple(self._speaking):
            self._merge(task)
        facts, self._facts = self._facts, []
        return facts

    def _merge(self, task: TaskId) -> None:
        """Make one text of the pieces of a task."""
        place, pieces = self._speaking.pop(task, (0, ()))
        if len(pieces) > 1:
            first, whole = self._facts[place], "".join(pieces)
            if isinstance(first, TextProduced):
                self._facts[place] = TextProduced(first.time, task, whole)
            else:
                self._facts[place] = ActivityReported(first.time, task, Thought(whole))


def _text_of(fact: Fact) -> str | None:
    """The text of a fact that comes in pieces."""
    if isinstance(fact, TextProduced):
        return fact.text
    if isinstance(fact, ActivityReported) and isinstance(fact.activity, Thought):
        return fact.activity.text
    return None
