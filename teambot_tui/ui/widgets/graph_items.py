"""Which nodes and lines the tasks make: each node has a name, and each line says why one follows another.

A line that asks for success, which goes without saying, has no label. What is done folds into one node when
the person wants that, or where there are few rows, and never a run that is over as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Condition, Via
from teambot_tui.engine.states import STATES, task_state
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import duration
from teambot_tui.ui.graph.ranks import critical_path
from teambot_tui.ui.graph.shapes import Edge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.glyphs import Glyphs

FOLD: Final = "\0fold"
"""The key of the node for what is folded."""
ENDED: Final = frozenset(state for state in State if STATES[state].is_final)
CONDITIONS: Final = {
    Condition.SUCCESS: "",
    Condition.FAILURE: "on failure",
    Condition.ANY: "any",
    Condition.ALWAYS: "always",
}
"""How a line says on which condition the next one runs."""
_FEWEST_FOLDED: Final = 2
_TITLE: Final = 40
_VARIABLE: Final = 16
_SOON: Final = 0.5
"""Seconds that count for a task that has not started: it may be on the critical path, but nobody knows."""


@dataclass(frozen=True, slots=True)
class Item:
    """A node as it is shown."""

    key: str
    state: str
    glyph: str
    title: str
    note: str
    task: TaskId | None = None


class Gathering:
    """The nodes and lines of the tasks; those of a task are made again only when its view is another."""

    def __init__(self, glyphs: Glyphs, most: int | None = None) -> None:
        """Of more tasks than `most`, if it is given, those that are done fold while others are not."""
        self.folds = False
        """Whether the person wants what is done folded."""
        self._glyphs = glyphs
        self._most = most
        self._items: dict[TaskId, tuple[TaskView, Item]] = {}
        self._edges: dict[TaskId, tuple[TaskView, tuple[Edge, ...]]] = {}

    def gather(self, tasks: Sequence[TaskView], now: float | None) -> tuple[dict[str, Item], list[Edge]]:
        """Return the nodes and the lines between them; `now` lets the clocks of the executing tasks run."""
        done = _done(tasks) if self._is_folding(tasks) else frozenset()
        items: dict[str, Item] = {}
        if done:
            items[FOLD] = Item(FOLD, "completed", self._glyphs["completed"], f"{len(done)} done", "o unfolds")
        edges: dict[tuple[str, str], Edge] = {}
        for view in tasks:
            if view.task in done:
                continue
            items[view.task] = self._item(view, now)
            for edge in self._edges_to(view):
                if edge.source in done:
                    edges.setdefault((FOLD, edge.target), replace(edge, source=FOLD))
                    continue
                edges[edge.source, edge.target] = edge
                if edge.source[:1] == "@" and edge.source not in items:
                    name = clip(edge.source, _TITLE)
                    items[edge.source] = Item(
                        edge.source, "idle", self._glyphs["idle"], name, "no output yet"
                    )
        return items, list(edges.values())

    def _is_folding(self, tasks: Sequence[TaskView]) -> bool:
        if self._most is None or len(tasks) <= self._most:
            return self.folds
        return self.folds or any(view.state not in ENDED for view in tasks)

    def _item(self, view: TaskView, now: float | None) -> Item:
        kept = self._items.get(view.task)
        if kept is not None and kept[0] is view and view.state is not State.EXECUTING:
            return kept[1]
        state = task_state(view)
        item = Item(view.task, state, self._glyphs[state], title(view), self._note(view, now), view.task)
        self._items[view.task] = (view, item)
        return item

    def _note(self, view: TaskView, now: float | None) -> str:
        match view.state:
            case State.WAITING if view.waiting_for:
                words = f"{self._glyphs['waiting']} @{','.join(view.waiting_for)}"
            case State.EXECUTING if view.requests:
                words = STATES["asking"].word
            case State.EXECUTING if now is not None:
                words = duration(now - view.started)
            case State.COMPLETED if view.ended is not None:
                words = duration(view.ended - view.started)
            case _:
                words = STATES[task_state(view)].word
        return f"{view.agent} {words}"

    def _edges_to(self, view: TaskView) -> tuple[Edge, ...]:
        kept = self._edges.get(view.task)
        if kept is not None and (kept[0] is view or kept[0].sources == view.sources):
            return kept[1]
        labels: dict[str, dict[str, bool]] = {}
        for dependency, source in zip(view.dependencies, view.sources, strict=True):
            origin: str = f"@{dependency.agent}" if source is None else source
            conditional = dependency.condition is not Condition.SUCCESS
            labels.setdefault(origin, {})[_label(dependency)] = conditional
        edges = tuple(
            Edge(origin, view.task, " ".join(filter(None, via)), any(via.values()))
            for origin, via in labels.items()
        )
        self._edges[view.task] = (view, edges)
        return edges


def title(view: TaskView, room: int = _TITLE) -> str:
    """Return what a task is called: by its label, else by its own words, else by its agent."""
    return clip(view.label or view.words or view.agent, room)


def _label(dependency: Dependency) -> str:
    if words := CONDITIONS[dependency.condition]:
        return words
    match dependency.via:
        case Via.REFERENCE:
            return "$"
        case Via.VARIABLE:
            return f"{{{clip(dependency.name, _VARIABLE)}}}"
        case _:
            return ""


def critical(tasks: Sequence[TaskView], now: float) -> tuple[dict[str, str], float]:
    """Return the chain of tasks that takes longest, each with the one before it, and its seconds so far."""
    views: dict[str, TaskView] = {
        view.task: view for view in tasks if view.state not in (State.SKIPPED, State.CANCELLED)
    }
    took = {name: _seconds(view, now) for name, view in views.items()}
    needs: dict[str, list[str]] = {
        name: [
            source
            for dependency, source in zip(view.dependencies, view.sources, strict=True)
            if source is not None and (dependency.condition is Condition.SUCCESS or view.started)
        ]
        for name, view in views.items()
    }
    path = critical_path({name: seconds or _SOON for name, seconds in took.items()}, needs)
    return dict(zip(path, ("", *path), strict=False)), sum(took[name] for name in path)


def _seconds(view: TaskView, now: float) -> float:
    if not view.started or view.state in (State.QUEUED, State.WAITING):
        return 0.0
    return max(0.0, (now if view.ended is None else view.ended) - view.started)


def _done(tasks: Sequence[TaskView]) -> frozenset[str]:
    """Return the tasks to fold: completed, and nobody still needs them."""
    needed = {source for view in tasks if view.state not in ENDED for source in view.sources}
    done = frozenset(view.task for view in tasks if view.state is State.COMPLETED and view.task not in needed)
    return done if len(done) >= _FEWEST_FOLDED else frozenset()
