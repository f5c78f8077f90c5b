"""A fact in, effects out: all about waiting, queueing, failing, cancelling and retrying is decided here.

No await, no clock, no randomness, no logging. Where two things happen at the same moment, the fact that is
handled first wins, and the other one finds a task that has ended and changes nothing. A fact touches the
edges it must touch and no others.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import assert_never

from teambot_tui.engine.board import Lane, State, Task
from teambot_tui.engine.effects import Effect, StopTask, WakeAt
from teambot_tui.engine.facts import (
    ActivityReported,
    AgentDefined,
    AgentDismissed,
    AgentPromoted,
    BackendSet,
    BudgetReached,
    BudgetSet,
    CancelRequested,
    ContextSet,
    DefaultAgentSet,
    DependencyMet,
    Fact,
    InputEnded,
    IterationStarted,
    MemoryForgotten,
    ModelSet,
    PermissionAnswered,
    PermissionAsked,
    PermissionSettled,
    RetryRequested,
    StatementAccepted,
    StatementRejected,
    SubscriberFailed,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskDelayed,
    TaskExpired,
    TaskFailed,
    TaskQueued,
    TaskRetried,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    TextProduced,
    TimePassed,
    UpEnded,
    UpStarted,
    WaitEnded,
    WaitProlonged,
    WaitStarted,
    WorkEnded,
)
from teambot_tui.engine.moves import Moves
from teambot_tui.engine.ports import Usage


class Rules(Moves):
    """The one writer of the board."""

    def handle(self, fact: Fact) -> list[Effect]:
        """Let a fact change the board; return what is to be done about it, in order."""
        effects: list[Effect] = []
        self._effects = effects
        self._now = fact.time
        match fact:
            case TextProduced():
                self._hear(fact)
            case WorkEnded():
                self._end_work(fact)
            case TaskStarted():
                self._note_start(fact)
            case TaskCreated():
                self._create(fact)
            case CancelRequested():
                self._cancel(fact)
            case RetryRequested():
                self._retry(fact)
            case TimePassed():
                self._let_time_pass(fact)
            case InputEnded():
                self._input_has_ended = True
                self._effects.append(fact)
            case ActivityReported():
                self._note_activity(fact)
            case WaitStarted():
                self._start_wait(fact)
            case WaitEnded():
                self._go_on(fact)
            case PermissionAsked():
                self._ask(fact)
            case PermissionAnswered():
                effects += self.approvals.answer(fact)
            case BudgetSet():
                self._set_budget(fact)
            case ContextSet():
                self._set_context(fact)
            case TaskExpired():
                self._expire(fact)
            case AgentDefined(agent=agent) | AgentDismissed(agent=agent):
                self.approvals.forget(agent)
                self._effects.append(fact)
            case (
                StatementAccepted()
                | StatementRejected()
                | SubscriberFailed()
                | DefaultAgentSet()
                | ModelSet()
                | BackendSet()
                | AgentPromoted()
                | MemoryForgotten()
                | UpStarted()
                | IterationStarted()
                | UpEnded()
            ):
                self._effects.append(fact)
            case (
                TaskQueued()
                | TaskWaiting()
                | WaitProlonged()
                | DependencyMet()
                | TaskCompleted()
                | TaskFailed()
                | TaskSkipped()
                | TaskCancelled()
                | TaskRetried()
                | TaskDelayed()
                | PermissionSettled()
                | BudgetReached()
            ):
                pass  # a conclusion of these rules: replaying the facts it came from reaches it again
            case _:
                assert_never(fact)
        if self._input_has_ended:
            self._fail_stuck()
        return effects

    # Facts

    def _create(self, fact: TaskCreated) -> None:
        task = self.board.add(fact)
        self._effects.append(fact)
        self._bind_waiters(task)
        if self._skip_if_obstructed(task):
            self._fall([task])
        else:
            self._consider(task.lane)
        self._start_ready()

    def _note_start(self, fact: TaskStarted) -> None:
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.started = task.last_activity = fact.time
            task.prompt = fact.prompt
            self._effects.append(fact)

    def _hear(self, fact: TextProduced) -> None:
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.output.append(fact.text)
            task.last_activity = fact.time
            self._effects.append(fact)

    def _note_activity(self, fact: ActivityReported) -> None:
        task = self.board.tasks[fact.task]
        if task.lane.busy is task:
            if isinstance(fact.activity, Usage):  # it was used even if the task is cancelled
                self.spending.add(task.id, fact.activity)
            task.last_activity = fact.time
            self._effects.append(fact)

    def _start_wait(self, fact: WaitStarted) -> None:
        """Let others have the place of a task that waits."""
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.last_activity = fact.time
            task.level.waiting += not task.waits
            task.waits |= {fact.wait}
            self._effects.append(fact)
            self._start_ready()

    def _go_on(self, fact: WaitEnded) -> None:
        task = self.board.tasks[fact.task]
        if fact.wait in task.waits:
            task.last_activity = fact.time
            task.waits -= {fact.wait}
            task.level.waiting -= not task.waits
            self._effects.append(fact)

    def _ask(self, fact: PermissionAsked) -> None:
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.last_activity = fact.time
            self._effects += self.approvals.ask(fact)

    def _set_budget(self, fact: BudgetSet) -> None:
        self.spending.cost_limit, self.spending.token_limit = fact.cost, fact.tokens
        self._is_paused = False
        self._effects.append(fact)
        self._start_ready()

    def _end_work(self, fact: WorkEnded) -> None:
        task = self.board.tasks[fact.task]
        if task.lane.busy is not task:
            return
        self._effects.append(fact)
        task.lane.busy = None
        task.level.running -= 1
        task.level.waiting -= bool(task.waits)
        task.waits = frozenset()
        if task.state is not State.EXECUTING:
            self._consider(task.lane)
        elif fact.error is None:
            self._finish(task, State.COMPLETED)
            self._effects.append(
                TaskCompleted(self._now, task.id, task.output.text, self._now - task.started)
            )
            self._fall([task])
        elif task.attempts < task.plan.retries:
            self._try_again(task, fact.error)
            self._cancel_tasks(_unfinished(task.children))
        else:
            self._fail(task, fact.error)
            self._cancel_tasks(_unfinished(task.children))
            self._fall([task])
        self._start_ready()

    def _cancel(self, fact: CancelRequested) -> None:
        named = dict.fromkeys(self.board.tasks[each] for each in fact.tasks)
        tasks = [task for task in named if task.ended is None]
        if not tasks:
            return
        self._effects.append(fact)
        self._cancel_tasks(tasks)
        self._start_ready()

    def _cancel_tasks(self, tasks: list[Task]) -> None:
        """Cancel tasks and what they started, down to the last."""
        cancelled: list[Task] = []
        line = deque(tasks)
        while line:
            task = line.popleft()
            if task.ended is not None:
                continue
            if task.lane.busy is task and task.state is State.EXECUTING:
                self._effects.append(StopTask(task.id))
            self._finish(task, State.CANCELLED)
            self._effects.append(TaskCancelled(self._now, task.id))
            cancelled.append(task)
            line += _unfinished(task.children)
        self._fall(cancelled)

    def _expire(self, fact: TaskExpired) -> None:
        task = self.board.tasks[fact.task]
        if task.ended is not None:
            return
        self._effects.append(fact)
        if task.state is State.EXECUTING:
            self._effects.append(StopTask(task.id))
        self._fail(task, f"Timed out after {fact.seconds:g} s.")
        self._cancel_tasks(_unfinished(task.children))
        self._fall([task])
        self._start_ready()

    def _set_context(self, fact: ContextSet) -> None:
        if fact.value is None:
            self.board.context.pop(fact.key, None)
        else:
            self.board.context[fact.key] = fact.value
        self._effects.append(fact)

    def _retry(self, fact: RetryRequested) -> None:
        root = self.board.tasks[fact.task]
        if root.state not in (State.FAILED, State.CANCELLED):
            return
        self._effects.append(fact)
        revived = self.board.revival(root)
        for task in revived:
            self._revive(task)
        lanes: dict[Lane, list[Task]] = {}
        for task in revived:
            lanes.setdefault(task.lane, []).append(task)
        for lane, tasks in lanes.items():
            self._rejoin(lane, tasks)
        for task in revived:
            for index, dependency in enumerate(task.plan.dependencies):
                self._await_again(task, index, dependency)
            self._bind_waiters(task)
        expecting = [lane for task in revived for lane in self._expect_again(task)]
        self._fall([task for task in revived if self._skip_if_obstructed(task)])
        for lane in (*lanes, *expecting):
            self._consider(lane)
        self._start_ready()

    def _let_time_pass(self, fact: TimePassed) -> None:
        self._effects.append(fact)
        deadlines = self.board.deadlines
        while deadlines and deadlines[0][0] <= fact.time:
            deadline, _, task = heapq.heappop(deadlines)
            if task.deadline != deadline:
                continue
            if task.state is State.QUEUED:
                task.deadline = None
                self._consider(task.lane)
            else:
                self._end_wait(task)
        self._start_ready()
        while deadlines and deadlines[0][2].deadline != deadlines[0][0]:
            heapq.heappop(deadlines)
        if deadlines:
            self._effects.append(WakeAt(deadlines[0][0]))


def _unfinished(tasks: list[Task]) -> list[Task]:
    return [task for task in tasks if task.ended is None]
