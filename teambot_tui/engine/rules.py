"""A fact in, effects out: all about waiting, queueing, failing, cancelling and retrying is decided here.

No await, no clock, no randomness, no logging. Where two things happen at the same moment, the fact that is
handled first wins, and the other one finds a task that has ended and changes nothing. A fact touches the
edges it must touch and no others, and a chain of consequences is a loop, never a recursion.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, assert_never

from teambot_tui.engine.approvals import Approvals
from teambot_tui.engine.board import Board, Lane, State, Task
from teambot_tui.engine.effects import Effect, Publish, StartTask, StopTask, WakeAt
from teambot_tui.engine.facts import (
    ActivityReported,
    BudgetReached,
    BudgetSet,
    CancelRequested,
    DependencyMet,
    Fact,
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
    TaskFailed,
    TaskQueued,
    TaskRetried,
    TaskSkipped,
    TaskStarted,
    TaskWaiting,
    TextProduced,
    TimePassed,
    WorkEnded,
)
from teambot_tui.engine.injection import compose, ending
from teambot_tui.engine.policy import OnFailure, Policy
from teambot_tui.engine.ports import Usage
from teambot_tui.engine.spending import Spending
from teambot_tui.engine.text import Tail

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rules:
    """The one writer of the board."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.board = Board(policy.output_limit)
        self.approvals = Approvals()
        self.spending = Spending(policy.budget, policy.token_budget)
        self._is_paused = False
        self._effects: list[Effect] = []
        self._lined_up: list[Task] = []
        self._now = 0.0

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
            case ActivityReported():
                self._note_activity(fact)
            case PermissionAsked():
                self._ask(fact)
            case PermissionAnswered():
                effects += self.approvals.answer(fact)
            case BudgetSet():
                self._set_budget(fact)
            case StatementAccepted() | StatementRejected() | SubscriberFailed():
                effects.append(Publish(fact))
            case (
                TaskQueued()
                | TaskWaiting()
                | DependencyMet()
                | TaskCompleted()
                | TaskFailed()
                | TaskSkipped()
                | TaskCancelled()
                | TaskRetried()
                | PermissionSettled()
                | BudgetReached()
            ):
                pass  # a conclusion of these rules: replaying the facts it came from reaches it again
            case _:
                assert_never(fact)
        return effects

    # Facts

    def _create(self, fact: TaskCreated) -> None:
        task = self.board.add(fact)
        self._tell(task, fact)
        self._bind_waiters(task)
        if self._skip_if_obstructed(task):
            self._fall([task])
        else:
            self._consider(task.lane)
        self._start_ready()

    def _note_start(self, fact: TaskStarted) -> None:
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.started = task.heard = fact.time
            self._tell(task, fact)

    def _hear(self, fact: TextProduced) -> None:
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.output.append(fact.text)
            task.heard = fact.time
            self._effects.append(Publish(fact))

    def _note_activity(self, fact: ActivityReported) -> None:
        task = self.board.tasks[fact.task]
        if isinstance(fact.activity, Usage):  # it was used even if the task is over
            self.spending.add(task.id, fact.activity)
        if task.lane.busy is task:
            task.heard = fact.time
            self._effects.append(Publish(fact))

    def _ask(self, fact: PermissionAsked) -> None:
        task = self.board.tasks[fact.task]
        if task.state is State.EXECUTING:
            task.heard = fact.time
            self._effects += self.approvals.ask(fact)

    def _set_budget(self, fact: BudgetSet) -> None:
        self.spending.cost_limit, self.spending.token_limit = fact.cost, fact.tokens
        self._is_paused = False
        self._effects.append(Publish(fact))
        self._start_ready()

    def _end_work(self, fact: WorkEnded) -> None:
        task = self.board.tasks[fact.task]
        if task.lane.busy is not task:
            return
        self._tell(task, fact)
        task.lane.busy = None
        self.board.running -= 1
        if task.state is State.EXECUTING:
            if fact.error is None:
                self._finish(task, State.COMPLETED)
                self._tell(
                    task, TaskCompleted(self._now, task.id, task.output.text, self._now - task.started)
                )
            else:
                self._fail(task, fact.error)
            self._fall([task])
        else:
            self._consider(task.lane)
        self._start_ready()

    def _cancel(self, fact: CancelRequested) -> None:
        named = dict.fromkeys(self.board.tasks[each] for each in fact.tasks)
        tasks = [task for task in named if task.ended is None]
        if not tasks:
            return
        self._effects.append(Publish(fact))
        for task in tasks:
            if task.lane.busy is task and task.state is State.EXECUTING:
                self._effects.append(StopTask(task.id))
            self._finish(task, State.CANCELLED)
            self._tell(task, TaskCancelled(self._now, task.id))
        self._fall(tasks)
        self._start_ready()

    def _retry(self, fact: RetryRequested) -> None:
        root = self.board.tasks[fact.task]
        if root.state not in (State.FAILED, State.CANCELLED):
            return
        self._effects.append(Publish(fact))
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
                self._await_again(task, index, self.board.lane(dependency.agent))
            self._bind_waiters(task)
        expecting = [lane for task in revived for lane in self._expect_again(task)]
        self._fall([task for task in revived if self._skip_if_obstructed(task)])
        for lane in (*lanes, *expecting):
            self._consider(lane)
        self._start_ready()

    def _let_time_pass(self, fact: TimePassed) -> None:
        self._effects.append(Publish(fact))
        deadlines = self.board.deadlines
        while deadlines and deadlines[0][0] <= fact.time:
            deadline, _, task = heapq.heappop(deadlines)
            if task.deadline == deadline:
                names = ", ".join(f"@{agent}" for agent in task.lacking)
                self._fail(task, f"Timed out after {task.plan.wait_timeout:g} s waiting for {names}.")
                # At once, so that another that expires with it, but waits for it, is skipped instead.
                self._fall([task])
        self._start_ready()
        while deadlines and deadlines[0][2].deadline != deadlines[0][0]:
            heapq.heappop(deadlines)
        if deadlines:
            self._effects.append(WakeAt(deadlines[0][0]))

    # Going forward

    def _consider(self, lane: Lane) -> None:
        """Look at the task that is next for this agent: it waits, or it lines up to run."""
        task = lane.head
        if task is None or lane.busy is not None:
            return
        if task.pending:
            if task.state is not State.WAITING:
                self._wait(task)
        elif task not in self.board.ready:
            task.state = State.QUEUED
            task.deadline = None
            self.board.ready[task] = None
            self._lined_up.append(task)

    def _start_ready(self) -> None:
        """Start as many as may run at once; say of the others that they are queued."""
        ready = self.board.ready
        if ready and self.spending.exhausted:
            self._pause()
        while ready and self.board.running < self.policy.max_parallel and not self.spending.exhausted:
            task, _ = ready.popitem(last=False)
            self._start(task)
        for task in self._lined_up:
            if task in ready:
                self._tell(task, TaskQueued(self._now, task.id))
        self._lined_up.clear()

    def _pause(self) -> None:
        if not self._is_paused:
            self._is_paused = True
            self._effects.append(Publish(BudgetReached(self._now, self.spending.cost, self.spending.tokens)))

    def _start(self, task: Task) -> None:
        task.state = State.EXECUTING
        task.lane.busy = task
        self.board.running += 1
        prompt = compose(task, self.policy.inject_limit)
        self._effects.append(StartTask(task.id, task.agent, prompt, task.plan.model))

    def _wait(self, task: Task) -> None:
        task.state = State.WAITING
        task.count_lacking()
        self._tell_waiting(task)
        deadlines = self.board.deadlines
        task.deadline = self._now + task.plan.wait_timeout
        if not deadlines or task.deadline < deadlines[0][0]:
            self._effects.append(WakeAt(task.deadline))
        heapq.heappush(deadlines, (task.deadline, task.order, task))

    def _receive(self, task: Task, source: Task) -> None:
        """Let a task have one output more."""
        task.pending.remove(source)
        if task.state is State.WAITING:
            task.lacking[source.agent] -= 1
            if not task.lacking[source.agent]:
                del task.lacking[source.agent]
                self._tell(task, DependencyMet(self._now, task.id, source.agent))
        if not task.pending:
            self._consider(task.lane)

    def _bind_waiters(self, task: Task) -> None:
        """Whoever waits for an output of this agent waits for this task from now on."""
        waiters, task.lane.waiters = task.lane.waiters, []
        for waiter in waiters:
            if waiter.ended is None and task.lane in waiter.pending:
                self.board.bind(waiter, task)
                if waiter.state is State.WAITING:
                    self._tell_waiting(waiter)

    # Ending

    def _finish(self, task: Task, state: State, reason: str = "") -> None:
        task.state = state
        task.ended = self._now
        task.reason = reason
        task.deadline = None
        task.pending.clear()
        self.board.ready.pop(task, None)
        del task.lane.queue[task.id]
        self.board.unfinished -= 1
        if self.approvals.open:
            self._effects += self.approvals.withdraw(task.id, self._now)
        if state is State.COMPLETED or state is State.FAILED:
            task.lane.spoken.append(task)

    def _fail(self, task: Task, reason: str) -> None:
        self._finish(task, State.FAILED, reason)
        self._tell(task, TaskFailed(self._now, task.id, reason))

    def _skip(self, task: Task, because_of: Task) -> None:
        reason = because_of.reason if because_of.state is State.SKIPPED else ending(because_of)
        self._finish(task, State.SKIPPED, reason)
        self._tell(task, TaskSkipped(self._now, task.id, reason))

    def _skip_if_obstructed(self, task: Task) -> bool:
        obstacle = task.obstacle() if task.plan.on_failure is OnFailure.SKIP else None
        if obstacle is None:
            return False
        self._skip(task, obstacle)
        return True

    def _fall(self, ended: Iterable[Task]) -> None:
        """Pass the end of tasks on to whatever depends on them, down the graph, and to their queues."""
        line = deque(ended)
        while line:
            source = line.popleft()
            completed = source.state is State.COMPLETED
            for task in source.dependents:
                if source not in task.pending:
                    continue
                if completed or task.plan.on_failure is OnFailure.PROCEED:
                    self._receive(task, source)
                else:
                    self._skip(task, source)
                    line.append(task)
            if completed:
                source.dependents.clear()
            self._consider(source.lane)

    # Coming back

    def _revive(self, task: Task) -> None:
        task.state = State.QUEUED
        task.ended = None
        task.reason = ""
        task.output = Tail(self.policy.output_limit)
        self.spending.begin_again(task.id)
        self.board.unfinished += 1
        self._tell(task, TaskRetried(self._now, task.id))

    def _rejoin(self, lane: Lane, tasks: list[Task]) -> None:
        """Put tasks back into their agent's queue, where they were submitted."""
        head = lane.head
        merged = sorted((*lane.queue.values(), *tasks), key=lambda task: task.order)
        lane.queue = OrderedDict((task.id, task) for task in merged)
        if head is None or head is lane.head:
            return
        self.board.ready.pop(head, None)
        if head.state is State.WAITING:
            head.state = State.QUEUED
            head.deadline = None
            self._tell(head, TaskQueued(self._now, head.id))

    def _await_again(self, task: Task, index: int, lane: Lane) -> None:
        source = task.sources[index]
        if source is not None:
            self.board.await_source(task, source, lane.agent)
        elif found := lane.newest or lane.latest:
            self.board.bind(task, found)
        else:
            self.board.await_source(task, None, lane.agent)

    def _expect_again(self, source: Task) -> list[Lane]:
        """Let those wait again that were to go on without the output and have not started; return where."""
        lanes: list[Lane] = []
        for task in source.dependents:
            if task.ended is None and task.state is not State.EXECUTING and source not in task.pending:
                task.pending.add(source)
                self.board.ready.pop(task, None)
                if task.state is State.WAITING:
                    task.count_lacking()
                    self._tell_waiting(task)
                lanes.append(task.lane)
        return lanes

    # Telling

    def _tell(self, task: Task, fact: Fact) -> None:
        task.story.append(fact)
        self._effects.append(Publish(fact))

    def _tell_waiting(self, task: Task) -> None:
        self._tell(task, TaskWaiting(self._now, task.id, tuple(task.lacking), task.no_output_yet()))
