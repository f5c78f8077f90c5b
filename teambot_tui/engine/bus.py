"""The bus: every fact reaches every subscriber once, in the same order for all.

Publishing never waits and never loses. A subscriber is called at once; one that wants its facts at its own
pace takes a mailbox, in which consecutive words, or thoughts, of a task become one. A subscriber that breaks
hurts nobody: its failure is published as a fact.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.facts import ActivityReported, Fact, SubscriberFailed, TextProduced
from teambot_tui.engine.ports import Thought
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

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
    """Facts that wait for a reader; consecutive words or thoughts of a task wait as one."""

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._pieces: list[str] = []

    def put(self, fact: Fact) -> None:
        """Add a fact; more of what the task that spoke last says, or thinks, is added to that."""
        text = _flowing(fact)
        if text is None:
            self._seal()
        elif self._facts and _goes_on(self._facts[-1], fact):
            self._pieces.append(text)
            return
        else:
            self._seal()
            self._pieces.append(text)
        self._facts.append(fact)

    def take(self) -> list[Fact]:
        """Return everything that has arrived since the last time."""
        self._seal()
        facts, self._facts = self._facts, []
        return facts

    def _seal(self) -> None:
        if len(self._pieces) > 1:
            whole, last = "".join(self._pieces), self._facts[-1]
            if isinstance(last, TextProduced):
                self._facts[-1] = replace(last, text=whole)
            elif isinstance(last, ActivityReported):
                self._facts[-1] = replace(last, activity=Thought(whole))
        self._pieces.clear()


def _flowing(fact: Fact) -> str | None:
    """The text of a fact that comes in pieces."""
    if isinstance(fact, TextProduced):
        return fact.text
    if isinstance(fact, ActivityReported) and isinstance(fact.activity, Thought):
        return fact.activity.text
    return None


def _goes_on(last: Fact, fact: Fact) -> bool:
    return (
        type(last) is type(fact) and _flowing(last) is not None and last.task == fact.task  # type: ignore[union-attr]  # whatever flows is of a task
    )


class Mailbox(Backlog):
    """A backlog that an async reader waits at. `mailbox.put` is the handler to subscribe."""

    def __init__(self) -> None:
        super().__init__()
        self._wake = asyncio.Event()

    def put(self, fact: Fact) -> None:
        """Add a fact and wake the reader."""
        super().put(fact)
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[Fact]:
        """Yield facts for ever, as they arrive."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            for fact in self.take():
                yield fact
