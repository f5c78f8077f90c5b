"""The newest view of everything, as the frames brought it: all that the screen knows without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.engine.views import AgentView, BudgetView

if TYPE_CHECKING:
    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.engine.roster import Roster
    from teambot_tui.engine.views import Frame, TaskView, VariableView
    from teambot_tui.engine.workflow_progress import Progress


class Views:
    """Keeps what the frames of a session bring, from its first one on."""

    roster: Roster
    models: dict[AgentId, str | None]

    def __init__(self, first: Frame) -> None:
        self.frame = 0
        """The number of the last frame."""
        self._tasks: dict[TaskId, TaskView] = {}
        self._of_agents: dict[AgentId, dict[TaskId, None]] = {}
        self._unfinished: dict[AgentId, dict[TaskId, None]] = {}
        self._agents: dict[AgentId, AgentView] = {}
        self._variables: dict[str, VariableView] = {}
        self.labels: dict[str, None] = {}
        """The labels by which tasks can be named."""
        self.counts = dict.fromkeys(State, 0)
        """How many tasks are in which state."""
        self.requests: tuple[PermissionRequest, ...] = ()
        """What agents ask permission for, in the order they asked."""
        self.used: Usage | None = None
        """What all agents have used, as far as they say."""
        self.budget = BudgetView()
        self.context: tuple[Entry, ...] = ()
        """What everyone is told."""
        self.workflows: tuple[Progress, ...] = ()
        """How far the workflows are that go on."""
        assert first.roster is not None, "the first frame holds everything"
        self.take_in(first)

    def take_in(self, frame: Frame) -> None:
        """Replace what a frame brings anew."""
        self.frame = frame.number
        for view in frame.tasks:
            self._keep(view)
        self._agents |= {view.agent: view for view in frame.agents}
        self._variables |= {view.name: view for view in frame.variables}
        if frame.counts is not None:
            self.counts = frame.counts
        if frame.requests is not None:
            self.requests = frame.requests
        if frame.roster is not None:
            self.roster = frame.roster
        if frame.models is not None:
            self.models = frame.models
        if frame.context is not None:
            self.context = frame.context
        if frame.workflows is not None:
            self.workflows = frame.workflows
        if frame.budget is not None:
            self.budget, self.used = frame.budget, frame.used

    def _keep(self, view: TaskView) -> None:
        name = view.task
        self._tasks[name] = view
        self._of_agents.setdefault(view.agent, {})[name] = None
        unfinished = self._unfinished.setdefault(view.agent, {})
        if view.ended is None:
            unfinished[name] = None
        else:
            unfinished.pop(name, None)
        if view.label is not None:
            self.labels[view.label] = None

    def task(self, name: TaskId) -> TaskView:
        """Return what is known of a task."""
        return self._tasks[name]

    def tasks(self, agent: AgentId | None = None) -> tuple[TaskId, ...]:
        """Return the tasks in the order of submission, all or an agent's."""
        return tuple(self._tasks if agent is None else self._of_agents.get(agent, ()))

    def queue(self, agent: AgentId) -> tuple[TaskId, ...]:
        """Return an agent's unfinished tasks; the one at work is the first."""
        unfinished = self._unfinished.get(agent, ())
        return tuple(sorted(unfinished, key=lambda name: self._tasks[name].state is not State.EXECUTING))

    def agent(self, agent: AgentId) -> AgentView:
        """Return what an agent is doing."""
        if view := self._agents.get(agent):
            return view
        defined = self.roster.temporary.get(agent)
        if defined is None:
            return AgentView(agent)
        return AgentView(agent, joined=True, parent=defined.parent, model=defined.model)

    def reference_states(self) -> dict[str, str]:
        """Return what a reference to each agent would be: `bound`, `waiting`, or `unknown` without output."""
        return {agent: self.agent(agent).reference for agent in self.roster.agents}

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The variables that some task captures."""
        return tuple(self._variables)

    def variables(self) -> tuple[VariableView, ...]:
        """Return the variables, each as its newest capture stands."""
        return tuple(self._variables.values())
