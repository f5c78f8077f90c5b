"""Which nodes and lines the tasks make: of many tasks, what is over and was used folds into one node.

So what goes on stays in sight, and a small picture stays whole. A line says why one task comes after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.states import STATES, task_state
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import duration
from teambot_tui.ui.graph.shapes import Edge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.glyphs import Glyphs

FOLD: Final = "\0fold"
"""The key of the node for what is folded."""
AFTER: Final = "after"
"""The kind of a line along which nothing goes: only the order counts."""
ENDED: Final = frozenset(state for state in State if STATES[state].is_final)
_FEWEST_FOLDED: Final = 2
_TITLE: Final = 26
_VARIABLE: Final = 16


@dataclass(frozen=True, slots=True)
class Item:
    """A node as it is shown."""

    key: str
    state: str
    glyph: str
    title: str
    note: str
    task: TaskId | None = None


def gather(
    tasks: Sequence[TaskView], glyphs: Glyphs, now: float | None, *, most: int | None
) -> tuple[dict[str, Item], list[Edge]]:
    """Return the nodes and the lines between them; `now` lets the clocks of the executing tasks run.

    Of more tasks than `most`, if it is given, the finished ones fold.
    """
    done = _used_up(tasks) if most is not None and len(tasks) > most else frozenset()
    items: dict[str, Item] = {}
    if done:
        items[FOLD] = Item(FOLD, "completed", glyphs["completed"], f"{len(done)} done", "Enter unfolds")
    shown = [view for view in tasks if view.task not in done]
    for view in shown:
        items[view.task] = _item(view, glyphs, now)
    labels: dict[tuple[str, str], dict[str, None]] = {}
    for view in shown:
        for dependency, source in zip(view.dependencies, view.sources, strict=True):
            origin: str = f"@{dependency.agent}" if source is None else source
            if source is None and origin not in items:
                items[origin] = Item(origin, "idle", glyphs["idle"], clip(origin, _TITLE), "no output yet")
            key = FOLD if origin in done else origin
            labels.setdefault((key, view.task), {})[_label(dependency)] = None
    edges = [
        Edge(source, target, " ".join(via), AFTER)
        if list(via) == [AFTER]
        else Edge(source, target, " ".join(via))
        for (source, target), via in labels.items()
    ]
    edges += [Edge(one, other, AFTER, AFTER) for one, other in _in_turn(tasks) if (one, other) not in labels]
    return items, edges


def _label(dependency: Dependency) -> str:
    name = clip(dependency.name, _VARIABLE)
    return f"{{{name}}}" if dependency.via is Via.VARIABLE else dependency.via.value


def _used_up(tasks: Sequence[TaskView]) -> frozenset[str]:
    """Return the tasks to fold: completed, and nobody still needs them."""
    needed = {source for view in tasks if view.state not in ENDED for source in view.sources}
    done = frozenset(view.task for view in tasks if view.state is State.COMPLETED and view.task not in needed)
    return done if len(done) >= _FEWEST_FOLDED else frozenset()


def _in_turn(tasks: Sequence[TaskView]) -> Iterable[tuple[str, str]]:
    """Yield which task of an agent comes after which."""
    lanes: dict[str, list[TaskView]] = {}
    for view in tasks:
        if view.state not in ENDED:
            lanes.setdefault(view.agent, []).append(view)
    for lane in lanes.values():
        lane.sort(key=lambda view: view.state is not State.EXECUTING)
        for one, other in pairwise(lane):
            yield one.task, other.task


def _item(view: TaskView, glyphs: Glyphs, now: float | None) -> Item:
    state = task_state(view)
    return Item(
        view.task,
        state,
        glyphs[state],
        clip(_title(view), _TITLE, glyphs["ellipsis"]),
        clip(_note(view, now), _TITLE, glyphs["ellipsis"]),
        view.task,
    )


def _title(view: TaskView) -> str:
    """Name a task, and say what else it is called."""
    return f"{view.task} {view.label}" if view.label not in (None, view.agent) else view.task


def _note(view: TaskView, now: float | None) -> str:
    match view.state:
        case State.WAITING if view.waiting_for:
            return f"waits @{','.join(view.waiting_for)}"
        case State.EXECUTING if view.requests:
            return STATES["asking"].word
        case State.EXECUTING if now is not None:
            return f"executing {duration(now - view.started)}"
        case State.COMPLETED | State.FAILED if view.ended is not None and view.started:
            return f"{view.state} {duration(view.ended - view.started)}"
        case _:
            return STATES[task_state(view)].word
