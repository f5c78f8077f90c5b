"""The screen's own copy of what the engine knows, rebuilt from the facts that crossed the bridge.

The same rules that moved the engine's board move this one, so nothing here can disagree with it, only lag a
frame behind. Widgets get views: small values that say what to show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State, Task
from teambot_tui.engine.context import entries
from teambot_tui.engine.explain import Explanation, explain_facts, find_slips_in
from teambot_tui.engine.facts import (
    AgentDefined,
    AgentDismissed,
    BudgetReached,
    BudgetSet,
    DefaultAgentSet,
)
from teambot_tui.engine.ids import AgentId, TaskId, task_id
from teambot_tui.engine.injection import Prompt, compose
from teambot_tui.engine.projection import Projection
from teambot_tui.engine.resolver import resolve
from teambot_tui.engine.rules import Rules
from teambot_tui.engine.targets import find_task
from teambot_tui.engine.text import printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.nodes import Command
from teambot_tui.language.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.board import Board
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.facts import Fact, PermissionAsked
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.ports import Usage
    from teambot_tui.engine.roster import Roster
    from teambot_tui.engine.spending import Spending
    from teambot_tui.engine.views import AgentView, Frame, TaskView, VariableView


@dataclass(frozen=True, slots=True)
class Changes:
    """What a batch of facts changed: panels, tasks, which of them ended, what was said, who came and left."""

    agents: frozenset[AgentId]
    tasks: tuple[TaskId, ...]
    ended: tuple[TaskId, ...]
    said: tuple[tuple[TaskId, str], ...]
    """In order."""
    joined: tuple[AgentId, ...] = ()
    left: tuple[AgentId, ...] = ()
    warnings: tuple[str, ...] = ()
    """What went wrong beside the work, such as a disk that is full."""
    active: tuple[TaskId, ...] = ()
    """The tasks that did something besides talking."""


class Mirror:
    """Follows a session from the facts it is given."""

    def __init__(self, roster: Roster, policy: Policy) -> None:
        self.roster = roster
        self.policy = policy
        self.models: dict[AgentId, str | None] = {}
        self._rules = Rules(policy)
        self._board = self._rules.board
        self._projection = Projection(self)
        self.ups = self._projection.workflows
        self._tasks: dict[TaskId, TaskView] = {}
        self._agents: dict[AgentId, AgentView] = {}
        self._variables: dict[str, VariableView] = {}
        self.counts = dict.fromkeys(State, 0)
        """How many tasks are in which state."""
        self.requests: tuple[PermissionRequest, ...] = ()
        """What agents ask leave for, in the order they asked."""
        self.used: Usage | None = None
        """What all agents have used, as far as they say."""
        self.budget_reached: BudgetReached | None = None
        """How tasks came to wait until more may be spent, if they do."""

    def take_in(self, facts: Iterable[Fact]) -> Changes:
        """Follow the facts; return what they changed."""
        for fact in facts:
            self._rules.handle(fact)
            match fact:
                case BudgetReached() | BudgetSet():
                    self.budget_reached = fact if isinstance(fact, BudgetReached) else None
                case AgentDefined():
                    self.roster = self.roster.with_agents(fact)
                case AgentDismissed(agent=agent):
                    self.roster = self.roster.without_agents(agent)
                case DefaultAgentSet(agent=agent):
                    self.roster = replace(self.roster, default=agent)
                case _:
                    pass
            self._projection.see(fact)
        return self._keep(self._projection.frame())

    def _keep(self, frame: Frame) -> Changes:
        self._tasks |= {view.task: view for view in frame.tasks}
        self._agents |= {view.agent: view for view in frame.agents}
        self._variables |= {view.name: view for view in frame.variables}
        if frame.counts is not None:
            self.counts = frame.counts
        if frame.requests is not None:
            self.requests = frame.requests
        if frame.budget is not None:
            self.used = frame.used
        return Changes(
            frozenset(view.agent for view in frame.agents),
            frame.moved,
            frame.ended,
            frame.said,
            frame.joined,
            frame.left,
            frame.warnings,
            frame.active,
        )

    @property
    def board(self) -> Board:
        """The copy of the engine's."""
        return self._board

    @property
    def approvals(self) -> tuple[PermissionAsked, ...]:
        """What waits for the person."""
        return tuple(self._rules.approvals.open.values())

    def command(self, text: str) -> Command | None:
        """Return the slash command that this text is, if it is one."""
        try:
            first, *more = parse(printable(text), references=self.policy.references)
        except StatementError:
            return None
        return first if isinstance(first, Command) and not more else None

    def explain(self, text: str, now: float) -> Explanation:
        """Say what submitting this text would do."""
        source = printable(text)
        try:
            statements = parse(source, references=self.policy.references)
            facts = resolve(source, statements, self._board, self.roster, self.policy, now)
        except StatementError as error:
            return Explanation(error=error)
        explanation = explain_facts(facts, self._board, self.roster, self.policy)
        return replace(explanation, slips=find_slips_in(source, statements, facts, self._board, self.roster))

    def find(self, name: str) -> TaskId:
        """Return the task that is meant by a name.

        Raises:
            RefusedError: there is none.
        """
        return find_task(self._board, name, self.roster.agents).id

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels by which tasks can be named."""
        return tuple(self._board.labels)

    def agent(self, agent: AgentId) -> AgentView:
        """Return what an agent is doing."""
        return self._agents.get(agent) or self._projection.agent(agent)

    def reference_states(self) -> dict[str, str]:
        """Return what a reference to each agent would be: `bound`, `waiting`, or `unknown` without output."""
        return {agent: self.agent(agent).reference for agent in self.roster.agents}

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The variables that some task captures."""
        return tuple(self._board.captures)

    def variables(self) -> tuple[VariableView, ...]:
        """Return the variables, each as its newest capture stands."""
        return tuple(self._variables[name] for name in self._board.captures)

    def context(self, name: TaskId | None = None) -> tuple[Entry, ...]:
        """Return what a task is told beside its prompt, or without a task what everyone is."""
        return entries(self._board.tasks[name] if name is not None else None, self._board)

    def task(self, name: TaskId) -> TaskView:
        """Return what is known of a task."""
        return self._tasks[name]

    def tasks(self, agent: AgentId | None = None) -> tuple[TaskId, ...]:
        """Return the tasks in the order of submission, all or an agent's."""
        if agent is None:
            return tuple(self._board.tasks)
        lane = self._board.lanes.get(agent)
        return tuple(task_id(agent, number) for number in range(1, lane.count + 1)) if lane else ()

    def queue(self, agent: AgentId) -> tuple[TaskId, ...]:
        """Return an agent's unfinished tasks in order."""
        lane = self._board.lanes.get(agent)
        return tuple(lane.queue) if lane else ()

    def output(self, name: TaskId) -> str:
        """Return what a task has said so far, as far as it is kept."""
        return self._board.tasks[name].output.text

    def prompt(self, name: TaskId) -> Prompt | None:
        """Return the prompt a task was sent, or would be sent now; nothing while an output is lacking."""
        task: Task = self._board.tasks[name]
        if task.prompt is None or task.state in (State.QUEUED, State.WAITING):
            if any(source is None or source.ended is None for source in task.sources):
                return None
            return compose(task, self._board, self.policy.inject_limit)
        # What others have said since then changes nothing about it.
        return replace(compose(task, self._board, self.policy.inject_limit), text=task.prompt)

    def falls_with(self, names: Iterable[TaskId]) -> tuple[TaskId, ...]:
        """Return what else would be cancelled, or skipped, if these tasks were cancelled."""
        ends = {self._board.tasks[name]: State.CANCELLED for name in names}
        chosen = set(ends)
        line = list(ends)
        while line:
            source = line.pop()
            falling = {
                task: State.SKIPPED
                for task in source.dependents
                if source in task.pending and ends[source] not in task.pending[source]
            }
            if ends[source] is State.CANCELLED:
                falling |= {child: State.CANCELLED for child in source.children if child.ended is None}
            new = {task: end for task, end in falling.items() if task not in ends}
            ends |= new
            line += new
        return tuple(task.id for task in ends if task not in chosen)

    @property
    def spending(self) -> Spending:
        """What was used and may be, to read."""
        return self._rules.spending
