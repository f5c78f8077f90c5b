"""The screen's own copy of what the engine knows, rebuilt from the facts that crossed the bridge.

The same rules that moved the engine's board move this one, so nothing here can disagree with it, only lag a
frame behind. Widgets get views: small values that say what to show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teambot_tui.engine.activity import Activities, Wish, tool_line, wish
from teambot_tui.engine.board import State, Task
from teambot_tui.engine.context import entries
from teambot_tui.engine.explain import Explanation, explain_facts, find_slips_in
from teambot_tui.engine.facts import (
    ActivityReported,
    AgentDefined,
    AgentDismissed,
    BudgetReached,
    BudgetSet,
    StatementAccepted,
    SubscriberFailed,
    TaskCancelled,
    TaskCompleted,
    TaskDelayed,
    TaskFailed,
    TaskRetried,
    TaskSkipped,
    TextProduced,
    WaitProlonged,
)
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.injection import Prompt, compose
from teambot_tui.engine.ports import Notice
from teambot_tui.engine.resolver import resolve
from teambot_tui.engine.rules import Rules
from teambot_tui.engine.status import waiting_clause
from teambot_tui.engine.targets import find_task
from teambot_tui.engine.text import printable
from teambot_tui.engine.views import AgentView, TaskView, VariableView
from teambot_tui.engine.workflow_progress import Workflows
from teambot_tui.language.errors import StatementError
from teambot_tui.language.nodes import Command, Words
from teambot_tui.language.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.ports import Usage
    from teambot_tui.engine.roster import Roster
    from teambot_tui.engine.spending import Spending

_LAST_LINE = 400


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
    troubles: tuple[str, ...] = ()
    """What went wrong beside the work, such as a disk that is full."""
    active: tuple[TaskId, ...] = ()
    """The tasks that did something besides talking."""


class Mirror:
    """Follows a session from the facts it is given."""

    def __init__(self, roster: Roster, policy: Policy) -> None:
        self.roster = roster
        self.policy = policy
        self.ups = Workflows()
        self._rules = Rules(policy)
        self._board = self._rules.board
        self._statements: dict[TaskId, StatementAccepted] = {}
        self._last_lines: dict[TaskId, str] = {}
        self._first_lines: dict[TaskId, str] = {}
        self._last_ended: dict[AgentId, Task] = {}
        self._activities = Activities()
        self.budget_reached: BudgetReached | None = None
        """How tasks came to wait until more may be spent, if they do."""

    def take_in(self, facts: Iterable[Fact]) -> Changes:
        """Follow the facts; return what they changed."""
        agents: set[AgentId] = set()
        tasks: dict[TaskId, None] = {}
        said: list[tuple[TaskId, str]] = []
        ended: list[TaskId] = []
        joined: list[AgentId] = []
        left: list[AgentId] = []
        troubles: list[str] = []
        active: dict[TaskId, None] = {}
        for fact in facts:
            self._rules.handle(fact)
            self.ups.see(fact)
            match fact:
                case TextProduced(_, task, text):
                    said.append((task, text))
                    self._last_lines[task] = (self._last_lines.get(task, "") + text[-_LAST_LINE:])[
                        -_LAST_LINE:
                    ]
                    if "\n" not in self._first_lines.get(task, ""):
                        first = self._first_lines.get(task, "") + text[:_LAST_LINE]
                        self._first_lines[task] = first.lstrip()[:_LAST_LINE]
                    self._activities.hear(task, text)
                    agents.add(agent_of(task))
                case ActivityReported(_, task, Notice(text)):
                    troubles.append(f"@{agent_of(task)} {text}")
                case ActivityReported(_, task, activity):
                    self._activities.take_in(task, activity)
                    active[task] = None
                    agents.add(agent_of(task))
                case BudgetReached() | BudgetSet():
                    self.budget_reached = fact if isinstance(fact, BudgetReached) else None
                case AgentDefined(agent=agent):
                    self.roster = self.roster.with_agents(fact)
                    joined.append(agent)
                case AgentDismissed(agent=agent):
                    self.roster = self.roster.without_agents(agent)
                    left.append(agent)
                case SubscriberFailed(_, subscriber, reason):
                    troubles.append(f"{subscriber}: {reason}")
                case WaitProlonged(_, task, waiting_for, seconds):
                    clause = waiting_clause(waiting_for, ())
                    troubles.append(f"@{agent_of(task)} ({task}) still waits{clause} after {seconds:g} s.")
                case StatementAccepted(tasks=made):
                    self._statements.update(dict.fromkeys(made, fact))
                case _:
                    task_of = getattr(fact, "task", None)
                    if isinstance(fact, TaskCompleted | TaskFailed | TaskSkipped | TaskCancelled):
                        self._last_ended[agent_of(fact.task)] = self._board.tasks[fact.task]
                        ended.append(fact.task)
                        self._activities.end(fact.task, well=isinstance(fact, TaskCompleted))
                    elif isinstance(fact, TaskRetried | TaskDelayed):
                        self._first_lines.pop(fact.task, None)
                        self._last_lines.pop(fact.task, None)
                        self._activities.begin_again(fact.task)
                    if task_of is not None:
                        tasks[task_of] = None
                        agents.add(agent_of(task_of))
        return Changes(
            frozenset(agents),
            tuple(tasks),
            tuple(ended),
            tuple(said),
            tuple(joined),
            tuple(left),
            tuple(troubles),
            tuple(active),
        )

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
        view = self._doing(agent)
        defined = self.roster.temporary.get(agent)
        if defined is None:
            return view
        return replace(view, joined=True, parent=defined.parent, model=view.model or defined.model)

    def _doing(self, agent: AgentId) -> AgentView:
        lane = self._board.lanes.get(agent)
        if lane is None:
            return AgentView(agent, "idle", None)
        task = lane.busy or lane.head or self._last_ended.get(agent)
        if task is None:
            return AgentView(agent, "idle", None)
        line = self._last_lines.get(task.id, "").rstrip("\n").rpartition("\n")[2]
        doing, total = self._activities.of(task.id), self._activities.used_by(agent)
        if task.ended is not None and lane.busy is None:
            return AgentView(
                agent,
                "idle",
                task.id,
                since=task.ended,
                last_end=task.state,
                last_seconds=task.ended - task.started if task.started else 0.0,
                last_line=self._first_lines.get(task.id, "").partition("\n")[0].lstrip("# ")
                if task.state is State.COMPLETED
                else task.reason,
                model=task.plan.model,
                usage=doing.usage,
                total=total,
            )
        waiting = task.state is State.WAITING
        wishes = self._wishes_of(task.id)
        return AgentView(
            agent,
            State.EXECUTING.value if lane.busy is not None else task.state.value,
            task.id,
            tuple(task.lacking) if waiting else (),
            task.no_output_yet() if waiting else (),
            since=task.started if task.state is State.EXECUTING else task.plan.time,
            queued=len(lane.queue) - 1,
            last_line=line,
            model=task.plan.model,
            heard=task.heard,
            wishes=len(wishes),
            tool=wishes[0].summary if wishes else tool_line(doing.current) if doing.current else "",
            usage=doing.usage,
            total=total,
        )

    def reference_states(self) -> dict[str, str]:
        """Return what a reference to each agent would be: `bound`, `waiting`, or `unknown` without output."""
        states: dict[str, str] = {}
        for agent in self.roster.agents:
            lane = self._board.lanes.get(agent)
            if lane is None or not (lane.newest or lane.latest):
                states[agent] = "unknown"
            else:
                states[agent] = "waiting" if lane.newest else "bound"
        return states

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The variables that some task captures."""
        return tuple(self._board.captures)

    def variables(self) -> tuple[VariableView, ...]:
        """Return the variables, each as its newest capture stands."""
        views: list[VariableView] = []
        for name, tasks in self._board.captures.items():
            task = tasks[-1]
            first = self._first_lines.get(task.id, "").partition("\n")[0]
            views.append(VariableView(name, task.id, task.state, task.output.total, first))
        return tuple(views)

    def context(self, name: TaskId | None = None) -> tuple[Entry, ...]:
        """Return what a task is told beside its prompt, or without a task what everyone is."""
        return entries(self._board.tasks[name] if name is not None else None, self._board)

    def task(self, name: TaskId) -> TaskView:
        """Return what is known of a task."""
        task = self._board.tasks[name]
        statement = self._statements.get(name)
        waiting = task.state is State.WAITING
        return TaskView(
            task=name,
            agent=task.agent,
            state=task.state,
            statement=statement.text if statement else _ordered(task),
            siblings=statement.tasks if statement else (name,),
            background=task.plan.background,
            created=task.plan.time,
            started=task.started,
            ended=task.ended,
            waiting_for=tuple(task.lacking) if waiting else (),
            no_output_yet=task.no_output_yet() if waiting else (),
            reason=task.reason,
            dependencies=task.plan.dependencies,
            sources=tuple(source.id if source else None for source in task.sources),
            dependents=tuple(dict.fromkeys(each.id for each in task.dependents)),
            model=task.plan.model,
            doing=self._activities.of(name),
            wishes=self._wishes_of(name),
            label=task.plan.label,
            step=self.ups.step(name),
        )

    def tasks(self, agent: AgentId | None = None) -> tuple[TaskId, ...]:
        """Return the tasks in the order of submission, all or an agent's."""
        return tuple(name for name, task in self._board.tasks.items() if agent in (None, task.agent))

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
    def wishes(self) -> tuple[Wish, ...]:
        """What agents ask leave for, in the order they asked."""
        return tuple(map(wish, self._rules.approvals.open.values()))

    def _wishes_of(self, task: TaskId) -> tuple[Wish, ...]:
        asked = self._rules.approvals.open
        return tuple(wish(each) for each in asked.values() if each.task == task) if asked else ()

    @property
    def spending(self) -> Spending:
        """What was used and may be, to read."""
        return self._rules.spending

    @property
    def used(self) -> Usage | None:
        """What all agents have used, as far as they say."""
        return self._activities.total

    @property
    def counts(self) -> dict[State, int]:
        """How many tasks are in which state."""
        counts = dict.fromkeys(State, 0)
        for task in self._board.tasks.values():
            counts[task.state] += 1
        return counts


def _ordered(task: Task) -> str:
    """Say what a task that nobody typed is about, as if somebody had."""
    words = next((part.text for part in task.plan.parts if isinstance(part, Words)), "")
    return f"@{task.agent} {words[:_LAST_LINE]}"
