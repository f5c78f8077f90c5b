"""What there is to see of one agent at a moment: a value, so that the same twice is known to be the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State

if TYPE_CHECKING:
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.dependencies import Via
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.engine.reading import TaskText
    from teambot_tui.engine.views import AgentView, TaskView
    from teambot_tui.ui.setup import Profile
    from teambot_tui.ui.views import Views


@dataclass(frozen=True, slots=True)
class NeedView:
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
    needs: tuple[NeedView, ...] = ()
    unblocks: tuple[TaskView, ...] = ()
    context: tuple[Entry, ...] = ()
    """What the agent is told beside its task."""
    profile: Profile | None = None

    @property
    def name(self) -> TaskId | None:
        """The name of the task at hand."""
        return self.task.task if self.task is not None else None


def inspect(
    views: Views, agent: AgentId, now: float, text: TaskText | None, profile: Profile
) -> InspectorView:
    """Return what there is to see of an agent: of the task whose texts these are, if it has had one."""
    status = views.agent(agent)
    queue = tuple(each for each in views.queue(agent) if views.task(each).state is not State.EXECUTING)
    if text is None:
        return InspectorView(agent, status, queue=queue, now=now, context=views.context, profile=profile)
    view = views.task(text.task)
    sources = zip(view.dependencies, view.sources, text.sizes, strict=False)
    needs = tuple(
        NeedView(
            dependency.agent,
            dependency.via,
            views.task(source) if source is not None else None,
            size,
            dependency.name,
        )
        for dependency, source, size in sources
    )
    return InspectorView(
        agent,
        status,
        view,
        text.prompt,
        text.output,
        tuple(views.task(each) for each in views.tasks(agent)),
        queue,
        now,
        needs,
        tuple(views.task(each) for each in view.dependents),
        text.context,
        profile,
    )
