"""The one read model: what there is to see of a session, made of its board, only where something changed.

It lives beside the engine. A fact only marks what it touched and collects the text of each task; a frame then
reads the marked tasks and agents from the board as they are by now. So a reader that is slow gets the latest
of everything, the text of each task in one piece, and what waits for it is bounded by the number of tasks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from teambot_tui.engine.activity import Activities, Decision, permission_request, tool_line
from teambot_tui.engine.board import State
from teambot_tui.engine.context import entries
from teambot_tui.engine.facts import (
    ActivityReported,
    AgentDefined,
    AgentDismissed,
    BudgetReached,
    BudgetSet,
    ContextSet,
    DefaultAgentSet,
    ModelSet,
    PermissionAsked,
    PermissionSettled,
    StatementAccepted,
    SubscriberFailed,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskDelayed,
    TaskFailed,
    TaskRetried,
    TaskSkipped,
    TextProduced,
    WaitProlonged,
)
from teambot_tui.engine.ids import agent_of
from teambot_tui.engine.ports import Notice, Usage
from teambot_tui.engine.spans import Spans
from teambot_tui.engine.status import Status, Statuses, waiting_clause
from teambot_tui.engine.text import one_line
from teambot_tui.engine.views import AgentView, BudgetView, Frame, OutputView, TaskView, VariableView
from teambot_tui.engine.workflow_progress import Workflows
from teambot_tui.language.nodes import Code, Reference, Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.board import Board, Lane, Task
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.roster import Roster
    from teambot_tui.engine.spending import Spending
    from teambot_tui.language.nodes import Part

_LONGEST_LINE = 400
_MOST_DECISIONS = 100


class Source(Protocol):
    """What is projected: a session, or whatever else keeps a board."""

    @property
    def board(self) -> Board:
        """Its tasks."""

    @property
    def roster(self) -> Roster:
        """Who can be given work."""

    @property
    def models(self) -> dict[AgentId, str | None]:
        """The model of each agent."""

    @property
    def spending(self) -> Spending:
        """What was used, and may be."""

    @property
    def approvals(self) -> tuple[PermissionAsked, ...]:
        """What waits for the person."""


class Projection:
    """Follows a session from its beginning. `see` is the handler to subscribe."""

    def __init__(self, session: Source) -> None:
        self.workflows = Workflows()
        self._session = session
        self._board: Board = session.board
        self._statuses = Statuses()
        self._activities = Activities()
        self._spans = Spans()
        self._statements: dict[TaskId, StatementAccepted] = {}
        self._words: dict[TaskId, str] = {}
        self._asked: dict[tuple[TaskId, str], str] = {}
        """The requests that wait for an answer, each in a line."""
        self._decisions: dict[TaskId, deque[Decision]] = {}
        self._first_lines: dict[TaskId, str] = {}
        self._last_lines: dict[TaskId, str] = {}
        self._last_ended: dict[AgentId, Task] = {}
        self._causes: dict[TaskId, TaskId] = {}
        self._states: dict[TaskId, State] = {}
        self._counts = dict.fromkeys(State, 0)
        self._budget_is_reached = False
        self._outcomes_told = 0
        self.frames = 0
        """How many there have been."""
        self._clear()
        self._team_changed = self._models_changed = self._context_changed = self._budget_changed = True
        self._workflows_changed = self.has_news = True

    def _clear(self) -> None:
        self.has_news = False
        """Whether a frame would hold anything."""
        self._tasks: dict[TaskId, None] = {}
        self._agents: dict[AgentId, None] = {}
        self._said: dict[TaskId, list[str]] = {}
        self._moved: dict[TaskId, None] = {}
        self._active: dict[TaskId, None] = {}
        self._ended: dict[TaskId, None] = {}
        self._joined: list[AgentId] = []
        self._left: list[AgentId] = []
        self._warnings: list[str] = []
        self._requests_changed = False
        self._team_changed = False
        self._models_changed = False
        self._context_changed = False
        self._budget_changed = False
        self._workflows_changed = False

    # Marking

    def see(self, fact: Fact) -> None:
        """Mark what a fact touched."""
        self.has_news = True
        if isinstance(fact, TextProduced):
            task = fact.task
            pieces = self._said.get(task)
            if pieces is None:
                pieces = self._said[task] = []
                self._agents[agent_of(task)] = None
            pieces.append(fact.text)
            if self._activities.hear(task, fact.text):
                self._tasks[task] = None
            return
        self._workflows_changed |= self.workflows.see(fact)
        self._statuses.update(fact)
        self._spans.see(fact)
        match fact:
            case ActivityReported(_, task, Notice(text)):
                self._warnings.append(f"@{agent_of(task)} {text}")
            case ActivityReported(_, task, activity):
                self._activities.take_in(task, activity)
                self._active[task] = None
                self._agents[agent_of(task)] = None
                self._budget_changed |= isinstance(activity, Usage)
            case StatementAccepted(tasks=made):
                self._statements.update(dict.fromkeys(made, fact))  # the tasks come behind it
            case WaitProlonged(_, task, waiting_for, seconds):
                clause = waiting_clause(waiting_for, ())
                self._warnings.append(f"@{agent_of(task)} ({task}) still waits{clause} after {seconds:g} s.")
            case SubscriberFailed(_, subscriber, reason):
                self._warnings.append(f"{subscriber}: {reason}")
            case AgentDefined(agent=agent):
                self._joined.append(agent)
                self._agents[agent] = None
                self._team_changed = self._models_changed = True
            case AgentDismissed(agent=agent):
                self._left.append(agent)
                self._agents[agent] = None
                self._team_changed = self._models_changed = True
            case DefaultAgentSet():
                self._team_changed = True
            case ModelSet():
                self._models_changed = True
            case ContextSet():
                self._context_changed = True
            case BudgetReached() | BudgetSet():
                self._budget_is_reached = isinstance(fact, BudgetReached)
                self._budget_changed = True
            case _:
                self._see_task(fact)

    def _see_task(self, fact: Fact) -> None:
        name: TaskId | None = getattr(fact, "task", None)
        if name is None:
            return
        task = self._board.tasks[name]
        match fact:
            case TaskCreated():
                self._touch_neighbours(task)
            case PermissionAsked():
                self._requests_changed = True
                self._asked[name, fact.request] = permission_request(fact).summary
            case PermissionSettled(_, _, request, verdict, why, words):
                self._requests_changed = True
                summary = self._asked.pop((name, request), "")
                decisions = self._decisions.setdefault(name, deque(maxlen=_MOST_DECISIONS))
                decisions.append(Decision(summary, verdict, why, words))
            case TaskCompleted() | TaskFailed() | TaskSkipped() | TaskCancelled():
                self._last_ended[task.agent] = task
                self._ended[name] = None
                self._activities.end(name, well=isinstance(fact, TaskCompleted))
                if (cause := task.cause) is not None:
                    self._causes[name] = cause.id
            case TaskRetried() | TaskDelayed():
                self._touch_neighbours(task)
                for lines in (self._said, self._first_lines, self._last_lines):
                    lines.pop(name, None)
                self._decisions.pop(name, None)
                self._causes.pop(name, None)
                self._activities.begin_again(name)
            case _:
                pass
        self._moved[name] = None
        self._agents[task.agent] = None

    def _touch_neighbours(self, task: Task) -> None:
        """What a task needs, and who needs it, show each other."""
        for source in task.sources:
            if source is not None:
                self._tasks[source.id] = None
        self._tasks.update(dict.fromkeys(each.id for each in task.dependents))

    # Reading

    def frame(self) -> Frame:
        """Return what changed since the last time."""
        said = tuple((task, "".join(pieces)) for task, pieces in self._said.items())
        for name, text in said:
            self._hear(name, text)
        touched = {**self._moved, **self._tasks, **self._active}  # new ones in their order
        tasks = {name: self._board.tasks[name] for name in touched}
        speaking = (self._board.tasks[name] for name in self._said)
        captured = {
            task.plan.capture: None for task in (*tasks.values(), *speaking) if task.plan.capture is not None
        }
        self.frames += 1
        frame = Frame(
            number=self.frames,
            tasks=tuple(map(self.task, tasks.values())),
            agents=tuple(map(self.agent, self._agents)),
            said=said,
            moved=tuple(self._moved),
            active=tuple(self._active),
            ended=tuple(self._ended),
            joined=tuple(self._joined),
            left=tuple(self._left),
            warnings=tuple(self._warnings),
            variables=tuple(map(self.variable, captured)),
            outcomes=tuple(self.workflows.outcomes[self._outcomes_told :]),
            counts=dict(self._counts) if self._count(tasks.values()) else None,
            requests=tuple(map(permission_request, self._session.approvals))
            if self._requests_changed
            else None,
            roster=self._session.roster if self._team_changed else None,
            models=self._session.models if self._models_changed else None,
            context=entries(None, self._board) if self._context_changed else None,
            workflows=self.workflows.progress() if self._workflows_changed else None,
            budget=self._budget() if self._budget_changed else None,
            used=self._activities.total if self._budget_changed else None,
        )
        self._outcomes_told = len(self.workflows.outcomes)
        self._clear()
        return frame

    def _hear(self, name: TaskId, text: str) -> None:
        self._last_lines[name] = (self._last_lines.get(name, "") + text[-_LONGEST_LINE:])[-_LONGEST_LINE:]
        first = self._first_lines.get(name, "")
        if "\n" not in first:
            self._first_lines[name] = (first + text[:_LONGEST_LINE]).lstrip()[:_LONGEST_LINE]

    def _count(self, tasks: Iterable[Task]) -> bool:
        changed = False
        for task in tasks:
            before = self._states.get(task.id)
            if before is task.state:
                continue
            if before is not None:
                self._counts[before] -= 1
            self._counts[task.state] += 1
            self._states[task.id] = task.state
            changed = True
        return changed

    def task(self, task: Task) -> TaskView:
        """Return what is shown of a task."""
        name = task.id
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
            dependents=tuple(each.id for each in task.dependents),
            model=task.plan.model,
            doing=self._activities.of(name),
            requests=self._requests_of(name),
            label=task.plan.label,
            step=self.workflows.step(name),
            words=self._words_of(task),
            decisions=tuple(self._decisions.get(name, ())),
            cause=self._causes.get(name),
            spans=self._spans.of(name),
            until=_until(task),
        )

    def _words_of(self, task: Task) -> str:
        words = self._words.get(task.id)
        if words is None:
            words = self._words[task.id] = _own_words(task.plan.parts)
        return words

    def _requests_of(self, name: TaskId) -> tuple[PermissionRequest, ...]:
        return tuple(permission_request(each) for each in self._session.approvals if each.task == name)

    def agent(self, agent: AgentId) -> AgentView:
        """Return what an agent is doing."""
        lane = self._board.lanes.get(agent)
        view = self._at_work(agent, lane) if lane is not None else AgentView(agent)
        if lane is not None and (lane.newest or lane.latest):
            view = replace(view, reference="waiting" if lane.newest else "bound", output=self._output(lane))
        defined = self._session.roster.temporary.get(agent)
        if defined is None:
            return view
        return replace(view, joined=True, parent=defined.parent, model=view.model or defined.model)

    def _at_work(self, agent: AgentId, lane: Lane) -> AgentView:
        task = lane.busy or lane.head or self._last_ended.get(agent)
        if task is None:
            return AgentView(agent)
        status = self._statuses[agent]
        doing, total = self._activities.of(task.id), self._activities.used_by(agent)
        if status.status is Status.IDLE:
            completed = task.state is State.COMPLETED
            first = self._first_lines.get(task.id, "").partition("\n")[0].lstrip("# ")
            return AgentView(
                agent,
                status.status,
                task.id,
                since=task.ended or 0.0,
                last_end=task.state,
                last_seconds=(task.ended or 0.0) - task.started if task.started else 0.0,
                last_line=first if completed else task.reason,
                model=task.plan.model,
                usage=doing.usage,
                total=total,
                words=self._words_of(task),
            )
        requests = self._requests_of(task.id)
        return AgentView(
            agent,
            status.status,
            task.id,
            status.waiting_for,
            status.no_output_yet,
            since=task.started if task.state is State.EXECUTING else task.plan.time,
            queued=len(lane.queue) - 1,
            last_line=self._last_lines.get(task.id, "").rstrip("\n").rpartition("\n")[2],
            model=task.plan.model,
            last_activity=task.last_activity,
            requests=len(requests),
            tool=requests[0].summary if requests else tool_line(doing.current) if doing.current else "",
            usage=doing.usage,
            total=total,
            until=_until(task),
            words=self._words_of(task),
        )

    def _output(self, lane: Lane) -> OutputView | None:
        task = lane.latest
        if task is None:
            return None
        first = self._first_lines.get(task.id, "").partition("\n")[0].lstrip("# ")
        return OutputView(task.id, task.output.total, task.ended or 0.0, first)

    def variable(self, name: str) -> VariableView:
        """Return a variable, as its newest capture stands."""
        task = self._board.captures[name][-1]
        first = self._first_lines.get(task.id, "").partition("\n")[0]
        return VariableView(name, task.id, task.state, task.output.total, first)

    def _budget(self) -> BudgetView:
        spending = self._session.spending
        return BudgetView(
            spending.cost,
            spending.tokens,
            spending.cost_limit,
            spending.token_limit,
            self._budget_is_reached,
        )


def _own_words(parts: Iterable[Part]) -> str:
    """Return the text of a task in one line, with references and variables as a person types them."""
    words, size = [], 0
    for part in parts:
        match part:
            case Words(text) | Code(text):
                words.append(text[: _LONGEST_LINE * 2])
            case Reference(agent):
                words.append(f"${agent}")
            case _:
                words.append(part.literal)
        size += len(words[-1])
        if size > _LONGEST_LINE:
            break
    return one_line("".join(words), _LONGEST_LINE)


def _ordered(task: Task) -> str:
    """Say what a task that nobody typed is about, as if somebody had."""
    return f"@{task.agent} {_own_words(task.plan.parts)}"


def _until(task: Task) -> float | None:
    """Return when a task that failed is tried again."""
    return task.deadline if task.state is State.QUEUED else None
