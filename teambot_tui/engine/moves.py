"""How tasks move on the board: forward, to their one end, and back again; each move tells what it did.

The rules decide which fact means which move. A chain of consequences is a loop, never a recursion.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from teambot_tui.engine.approvals import Approvals
from teambot_tui.engine.board import Board, Lane, State, Task
from teambot_tui.engine.effects import Effect, StartTask, WakeAt
from teambot_tui.engine.facts import (
    BudgetReached,
    DependencyMet,
    TaskDelayed,
    TaskFailed,
    TaskQueued,
    TaskRetried,
    TaskSkipped,
    TaskWaiting,
    WaitProlonged,
)
from teambot_tui.engine.injection import compose
from teambot_tui.engine.outcomes import ending
from teambot_tui.engine.policy import OnWaitTimeout
from teambot_tui.engine.spending import Spending
from teambot_tui.engine.text import Tail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.policy import Policy


class Moves:
    """The board and what can be done with it; effects gather until the fact at hand is dealt with."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.board = Board(policy.output_limit)
        self.approvals = Approvals()
        self.spending = Spending(policy.budget, policy.token_budget)
        self._is_paused = False
        self._input_has_ended = False
        self._effects: list[Effect] = []
        self._lined_up: list[Task] = []
        self._now = 0.0

    # Going forward

    def _consider(self, lane: Lane) -> None:
        """Look at the task that is next for this agent: it waits, or it lines up to run."""
        task = lane.head
        if task is None or lane.busy is not None:
            return
        if task.state is State.QUEUED and task.deadline is not None:
            return  # it is tried again later
        if task.pending:
            if task.state is not State.WAITING:
                self._wait(task)
        elif task not in task.level.ready:
            task.state = State.QUEUED
            task.deadline = None
            task.level.ready[task] = None
            self._lined_up.append(task)

    def _start_ready(self) -> None:
        """Start as many as may run at once; say of the others that they are queued."""
        if self.spending.exhausted:
            if any(level.ready for level in self.board.levels):
                self._pause()
        else:
            while (task := self._next_to_start()) is not None:
                self._start(task)
        for task in self._lined_up:
            if task in task.level.ready:
                self._effects.append(TaskQueued(self._now, task.id))
        self._lined_up.clear()

    def _next_to_start(self) -> Task | None:
        for level in reversed(self.board.levels):  # whoever is waited for first
            if level.ready and level.occupied < self.policy.at_once(level.depth):
                return level.ready.popitem(last=False)[0]
        return None

    def _fail_stuck(self) -> None:
        """Fail the waits for nothing, one by one, once no input and no task is left that could end them."""
        while stuck := self.board.stuck():
            self._fail(stuck, f"Nobody is left who could give {_at(stuck.no_output_yet())} any work.")
            self._fall([stuck])
            self._start_ready()

    def _pause(self) -> None:
        if not self._is_paused:
            self._is_paused = True
            self._effects.append(BudgetReached(self._now, self.spending.cost, self.spending.tokens))

    def _start(self, task: Task) -> None:
        prompt = task.sent or compose(task, self.board, self.policy.inject_limit)
        if prompt.problem:
            self._fail(task, prompt.problem)
            self._fall([task])
            return
        task.state = State.EXECUTING
        task.lane.busy = task
        task.level.running += 1
        self.spending.begin_again(task.id)
        task.sent = prompt if task.plan.retries else None
        self._effects.append(StartTask(task.id, task.agent, prompt, task.plan.model))

    def _wait(self, task: Task) -> None:
        task.state = State.WAITING
        task.count_lacking()
        self._tell_waiting(task)
        self._wake_at(self._now + self.policy.wait_timeout, task)

    def _end_wait(self, task: Task) -> None:
        """Let a wait that has lasted as long as waits may last fail, or tell that it goes on."""
        task.deadline = None
        seconds = self.policy.wait_timeout
        is_hard = self.policy.on_wait_timeout is OnWaitTimeout.FAIL
        if is_hard or task.waits_for_nothing:
            missing = task.lacking if is_hard else task.no_output_yet()
            self._fail(task, f"Timed out after {seconds:g} s waiting for {_at(missing)}.")
            # At once, so that another that expires with it, but waits for it, is skipped instead.
            self._fall([task])
        else:
            self._effects.append(WaitProlonged(self._now, task.id, tuple(task.lacking), seconds))

    def _wake_at(self, time: float, task: Task) -> None:
        deadlines = self.board.deadlines
        task.deadline = time
        if not deadlines or time < deadlines[0][0]:
            self._effects.append(WakeAt(time))
        heapq.heappush(deadlines, (time, task.order, task))

    def _receive(self, task: Task, source: Task) -> None:
        """Let a task have one output more."""
        del task.pending[source]
        if task.state is State.WAITING:
            task.lacking[source.agent] -= 1
            if not task.lacking[source.agent]:
                del task.lacking[source.agent]
                self._effects.append(DependencyMet(self._now, task.id, source.agent))
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
        task.level.ready.pop(task, None)
        del task.lane.queue[task.id]
        self.board.unfinished -= 1
        self._withdraw_requests(task)
        if state is State.COMPLETED or state is State.FAILED:
            task.lane.finished.append(task)

    def _fail(self, task: Task, reason: str) -> None:
        self._finish(task, State.FAILED, reason)
        self._effects.append(TaskFailed(self._now, task.id, reason))

    def _try_again(self, task: Task, reason: str) -> None:
        """Put a task that failed back to be tried again, each time later."""
        task.attempts += 1
        task.state = State.QUEUED
        task.output = Tail(self.policy.output_limit)
        self._withdraw_requests(task)
        self._wake_at(self._now + self.policy.retry_delay * 2 ** min(task.attempts - 1, 20), task)
        assert task.deadline is not None
        self._effects.append(TaskDelayed(self._now, task.id, reason, task.deadline, task.attempts))
        self._consider(task.lane)

    def _withdraw_requests(self, task: Task) -> None:
        if self.approvals.open:
            self._effects += self.approvals.withdraw(task.id, self._now)

    def _skip(self, task: Task, because_of: Task) -> None:
        reason = because_of.reason if because_of.state is State.SKIPPED else ending(because_of)
        self._finish(task, State.SKIPPED, reason)
        self._effects.append(TaskSkipped(self._now, task.id, reason))

    def _skip_if_obstructed(self, task: Task) -> bool:
        obstacle = task.obstacle()
        if obstacle is None:
            return False
        self._skip(task, obstacle)
        return True

    def _fall(self, ended: Iterable[Task]) -> None:
        """Pass the end of tasks on to whatever depends on them, down the graph, and to their queues."""
        line = deque(ended)
        while line:
            source = line.popleft()
            for task in source.dependents:
                wanted = task.pending.get(source)
                if wanted is None:
                    continue
                if source.state in wanted:
                    self._receive(task, source)
                else:
                    self._skip(task, source)
                    line.append(task)
            if source.state is State.COMPLETED:
                source.dependents.clear()
            self._consider(source.lane)

    # Coming back

    def _revive(self, task: Task) -> None:
        task.state = State.QUEUED
        task.ended = None
        task.reason = ""
        task.attempts = 0
        task.sent = None
        task.output = Tail(self.policy.output_limit)
        self.board.unfinished += 1
        self._effects.append(TaskRetried(self._now, task.id))

    def _rejoin(self, lane: Lane, tasks: list[Task]) -> None:
        """Put tasks back into their agent's queue, where they were submitted."""
        head = lane.head
        merged = sorted((*lane.queue.values(), *tasks), key=lambda task: task.order)
        lane.queue = OrderedDict((task.id, task) for task in merged)
        if head is None or head is lane.head:
            return
        head.level.ready.pop(head, None)
        if head.state is State.WAITING:
            head.state = State.QUEUED
            head.deadline = None
            self._effects.append(TaskQueued(self._now, head.id))

    def _await_again(self, task: Task, index: int, dependency: Dependency) -> None:
        source = task.sources[index]
        lane = self.board.lane(dependency.agent)
        found = lane.newest or lane.latest
        if source is None and found is not None:
            self.board.bind(task, found)
        else:
            self.board.await_source(task, source, dependency)

    def _expect_again(self, source: Task) -> list[Lane]:
        """Let those wait again that were to go on without the output and have not started; return where."""
        lanes: list[Lane] = []
        for task in source.dependents:
            has_begun = task.state is State.EXECUTING or task.attempts
            if task.ended is None and not has_begun and source not in task.pending:
                for dependency, each in zip(task.plan.dependencies, task.sources, strict=True):
                    if each is source:
                        self.board.await_source(task, source, dependency)
                task.level.ready.pop(task, None)
                if task.state is State.WAITING:
                    task.count_lacking()
                    self._tell_waiting(task)
                lanes.append(task.lane)
        return lanes

    # Telling

    def _tell_waiting(self, task: Task) -> None:
        self._effects.append(TaskWaiting(self._now, task.id, tuple(task.lacking), task.no_output_yet()))


def _at(agents: Iterable[AgentId]) -> str:
    return ", ".join(f"@{agent}" for agent in agents)
