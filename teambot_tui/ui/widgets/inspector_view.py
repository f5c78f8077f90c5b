"""What there is to see of one agent at a moment: a value, so that the same twice is known to be the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.engine.text import size_in_bytes

if TYPE_CHECKING:
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.dependencies import Via
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.engine.views import AgentView, TaskView
    from teambot_tui.ui.mirror import Mirror


@dataclass(frozen=True, slots=True)
class Need:
    """An output that a task needs: from which task, if there is one yet, and how large it is."""

    agent: AgentId
    via: Via
    task: TaskView | None = None
    size: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class InspectorView:
    """An agent and its task at hand, as they are at `now`."""

    agent: AgentId
    status: AgentView
    task: TaskView | None = None
    prompt: Prompt | None = None
    output: str = ""
    earlier: tuple[TaskView, ...] = ()
    """The agent's tasks in the order of submission; those that are over are listed, newest first."""
    queue: tuple[TaskId, ...] = ()
    """Those that have not begun: only they can be taken out."""
    now: float = 0.0
    needs: tuple[Need, ...] = ()
    unblocks: tuple[TaskView, ...] = ()
    context: tuple[Entry, ...] = ()
    """What the agent is told beside its task."""

    @property
    def name(self) -> TaskId | None:
        """The name of the task at hand."""
        return self.task.task if self.task is not None else None


def inspect(mirror: Mirror, agent: AgentId, now: float, task: TaskId | None = None) -> InspectorView:
    """Return what there is to see of an agent: of the given task, or of the one at hand."""
    status = mirror.agent(agent)
    name = task or status.task
    queue = tuple(each for each in mirror.queue(agent) if mirror.task(each).state is not State.EXECUTING)
    if name is None:
        return InspectorView(agent, status, queue=queue, now=now, context=mirror.context())
    view = mirror.task(name)
    needs = tuple(
        Need(
            dependency.agent,
            dependency.via,
            mirror.task(source) if source is not None else None,
            size_in_bytes(mirror.output(source)) if source is not None else 0,
            dependency.name,
        )
        for dependency, source in zip(view.dependencies, view.sources, strict=True)
    )
    return InspectorView(
        agent,
        status,
        view,
        mirror.prompt(name),
        mirror.output(name),
        tuple(mirror.task(each) for each in mirror.tasks(agent)),
        queue,
        now,
        needs,
        tuple(mirror.task(each) for each in view.dependents),
        mirror.context(name),
    )
