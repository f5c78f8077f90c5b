"""The bus: every fact reaches every subscriber once, in the same order for all.

Publishing never waits and never loses. A subscriber is called at once; who reads at a pace of its own reads
the frames of the projection. A subscriber that breaks hurts nobody: its failure is published as a fact.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.facts import Fact, SubscriberFailed
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
