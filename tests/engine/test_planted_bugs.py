"""The tests are tested: each of these bugs is found by the random schedules, and soon."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import teambot_tui.engine.cycles as cycles
import teambot_tui.engine.resolver as resolver
from teambot_tui.engine.board import Board, Lane, State, Task
from teambot_tui.engine.cycles import PlannedBoard
from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.effects import Effect, WakeAt
from teambot_tui.engine.facts import (
    CancelRequested,
    TaskCancelled,
    TaskCreated,
    TextProduced,
    WaitEnded,
    WaitProlonged,
    WaitStarted,
    WorkEnded,
)
from teambot_tui.engine.injection import compose
from teambot_tui.engine.policy import OnWaitTimeout
from teambot_tui.engine.rules import Rules
from tests.engine.driver import run_schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.policy import Policy

WITHIN = 500
"""The schedules in which a planted bug must show."""


class LostWakeUp(Rules):
    """An output arrives, and the task that needed it is not looked at."""

    def _receive(self, task: Task, source: Task) -> None:
        lane, task.lane = task.lane, Lane(task.agent)
        super()._receive(task, source)
        task.lane = lane


class EarlyStart(Rules):
    """One output is taken for all that were being made."""

    def _receive(self, task: Task, source: Task) -> None:
        kept = [each for each in task.pending if each is source or isinstance(each, Lane)]
        task.pending = {each: task.pending[each] for each in kept}
        super()._receive(task, source)


class DoubleEnd(Rules):
    """The end of cancelled work is told as a second end of the task."""

    def _end_work(self, fact: WorkEnded) -> None:
        task = self.board.tasks[fact.task]
        if task.lane.busy is task and task.state is State.CANCELLED:
            self._effects.append(TaskCancelled(self._now, task.id))
        super()._end_work(fact)


class LastInFirstOut(Rules):
    """A new task goes before those that were submitted earlier."""

    def _create(self, fact: TaskCreated) -> None:
        super()._create(fact)
        task = self.board.tasks[fact.task]
        head = task.lane.head
        if task.id in task.lane.queue and head is not None:
            task.lane.queue.move_to_end(task.id, last=False)
            if head.state is State.EXECUTING:
                task.lane.queue.move_to_end(head.id, last=False)


class RetriedLast(Rules):
    """A task that comes back goes behind those that were submitted later."""

    def _rejoin(self, lane: Lane, tasks: list[Task]) -> None:
        lane.queue = OrderedDict(lane.queue | {task.id: task for task in tasks})


class NoPropagation(Rules):
    """Failure reaches the next task, and not the ones behind it."""

    def _fall(self, ended: Iterable[Task]) -> None:
        roots = list(ended)
        hidden = {task: dict(task.dependents) for root in roots for task in root.dependents}
        for task in hidden:
            task.dependents.clear()
        super()._fall(roots)
        for task, dependents in hidden.items():
            task.dependents.update(dependents)


class SlotLeak(Rules):
    """The place of cancelled work is never free again."""

    def _end_work(self, fact: WorkEnded) -> None:
        task = self.board.tasks[fact.task]
        if task.lane.busy is task and task.state is State.CANCELLED:
            self.board.levels[0].running += 1
        super()._end_work(fact)


class NoNextAlarm(Rules):
    """After the first alarm no other is set."""

    def handle(self, fact: Fact) -> list[Effect]:
        effects = super().handle(fact)
        return effects if fact.time == 0 else [each for each in effects if not isinstance(each, WakeAt)]


class NoDeadline(Rules):
    """Only the task that waits first ever times out."""

    def _wait(self, task: Task) -> None:
        super()._wait(task)
        del self.board.deadlines[1:]


class DeadlineSurvives(Rules):
    """A task that stopped waiting times out all the same."""

    def _consider(self, lane: Lane) -> None:
        deadline = lane.head.deadline if lane.head else None
        super()._consider(lane)
        if lane.head:
            lane.head.deadline = deadline or lane.head.deadline


class EveryWaitIsHard(Rules):
    """A task that waits for one that works fails as if nobody worked."""

    def _end_wait(self, task: Task) -> None:
        policy, self.policy = self.policy, replace(self.policy, on_wait_timeout=OnWaitTimeout.FAIL)
        super()._end_wait(task)
        self.policy = policy


class NoWaitIsHard(Rules):
    """However long a task waits for nothing, it is only told."""

    def _end_wait(self, task: Task) -> None:
        self._effects.append(WaitProlonged(self._now, task.id, tuple(task.lacking), self.policy.wait_timeout))
        task.deadline = self._now + self.policy.wait_timeout


class LongWaitsAreNotTold(Rules):
    """A wait that lasts long lasts on, and nobody is told."""

    def _end_wait(self, task: Task) -> None:
        is_hard = self.policy.on_wait_timeout is OnWaitTimeout.FAIL
        if is_hard or task.waits_for_nothing:
            super()._end_wait(task)
        else:
            task.deadline = None


class ClockDoesNotStop(Rules):
    """A wait for nothing that has got a task behind it fails all the same."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._were_open: set[Task] = set()

    def _wait(self, task: Task) -> None:
        super()._wait(task)
        if task.waits_for_nothing:
            self._were_open.add(task)

    def _end_wait(self, task: Task) -> None:
        if task in self._were_open and not task.waits_for_nothing:
            self._fail(task, "Timed out.")
            self._fall([task])
        else:
            super()._end_wait(task)


class StuckForEver(Rules):
    """Waits for nothing go on though nothing can end them."""

    def _fail_stuck(self) -> None:
        pass


class HastyEnd(Rules):
    """As soon as nothing more will be submitted, waits for nothing fail, though agents are at work."""

    def _fail_stuck(self) -> None:
        if self._input_has_ended:
            for task in [lane.head for lane in self.board.lanes.values()]:
                if task is not None and task.waits_for_nothing:
                    self._fail(task, "Nobody is left.")
                    self._fall([task])
                    self._start_ready()


class EmptyPromptsAreSent(Rules):
    """A task that has nothing to do is given to its agent."""

    def _start(self, task: Task) -> None:
        task.sent = replace(compose(task, self.board, self.policy.inject_limit), problem="")
        super()._start(task)


class ForgetfulBoard(Board):
    """A retry brings back the task and none of those that were skipped because of it."""

    def revival(self, root: Task) -> list[Task]:
        return [root]


class RetryForgetsTheSkipped(Rules):
    """See its board."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.board = ForgetfulBoard(policy.output_limit)


class GenerousBoard(Board):
    """A retry brings back what has other obstacles, too."""

    def revival(self, root: Task) -> list[Task]:
        revived = {root: None}
        line = deque([root])
        while line:
            skipped = [each for each in line.popleft().dependents if each.state is State.SKIPPED]
            line.extend(each for each in skipped if each not in revived)
            revived |= dict.fromkeys(skipped)
        return sorted(revived, key=lambda task: task.order)


class RetryBringsTooMuch(Rules):
    """See its board."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.board = GenerousBoard(policy.output_limit)


class CancelFreesTheAgent(Rules):
    """An agent whose task is cancelled starts the next before the work has ended."""

    def _cancel(self, fact: CancelRequested) -> None:
        super()._cancel(fact)
        for task in map(self.board.tasks.__getitem__, fact.tasks):
            if task.lane.busy is task and task.state is State.CANCELLED:
                task.lane.busy = None
                self.board.levels[0].running -= 1
                self._consider(task.lane)
        self._start_ready()


class OpenWaitsStayOpen(Rules):
    """A wait for an agent that has no task is not bound to the first one it gets."""

    def _bind_waiters(self, task: Task) -> None:
        pass


def _if(fact: TaskCreated, condition: Condition) -> TaskCreated:
    dependencies = (replace(each, condition=condition) for each in fact.dependencies)
    return replace(fact, dependencies=tuple(dependencies))


class SkipAlways(Rules):
    """Tasks that should go on without an output are skipped."""

    def _create(self, fact: TaskCreated) -> None:
        super()._create(_if(fact, Condition.SUCCESS))


class SkipNever(Rules):
    """Tasks that should be skipped go on without the output."""

    def _create(self, fact: TaskCreated) -> None:
        super()._create(_if(fact, Condition.ALWAYS))


class LateTextIsHeard(Rules):
    """What a cancelled task still says is published."""

    def _hear(self, fact: TextProduced) -> None:
        self._effects.append(fact)
        self.board.tasks[fact.task].output.append(fact.text)


class UnfairSlots(Rules):
    """Whoever could run last runs first."""

    def _start_ready(self) -> None:
        level = self.board.levels[0]
        level.ready = OrderedDict(reversed(level.ready.items()))
        super()._start_ready()


class TooManyAtOnce(Rules):
    """One more than allowed."""

    def _start_ready(self) -> None:
        self.board.levels[0].running -= 1
        super()._start_ready()
        self.board.levels[0].running += 1


class WaitersKeepTheirPlaces(Rules):
    """Whoever waits for others keeps them from starting."""

    def _start_wait(self, fact: WaitStarted) -> None:
        super()._start_wait(fact)
        task = self.board.tasks[fact.task]
        task.level.waiting -= len(task.waits) == 1


class EveryWaitFreesAPlace(Rules):
    """Whoever waits twice at once leaves two places."""

    def _start_wait(self, fact: WaitStarted) -> None:
        self.board.tasks[fact.task].level.waiting += bool(self.board.tasks[fact.task].waits)
        super()._start_wait(fact)


class NobodyComesBack(Rules):
    """The place of whoever has waited is free for ever."""

    def _go_on(self, fact: WaitEnded) -> None:
        level = self.board.tasks[fact.task].level
        waiting = level.waiting
        super()._go_on(fact)
        level.waiting = waiting


class WaitsOutliveTheWork(Rules):
    """Work that ends while its agent waits leaves a place too many."""

    def _end_work(self, fact: WorkEnded) -> None:
        task = self.board.tasks[fact.task]
        task.level.waiting += task.lane.busy is task and bool(task.waits)
        super()._end_work(fact)


class WaitsOfBefore(Rules):
    """The end of a wait counts, though the work in which it began is over."""

    def _go_on(self, fact: WaitEnded) -> None:
        task = self.board.tasks[fact.task]
        task.waits |= {fact.wait}
        super()._go_on(fact)


class WrongReason(Rules):
    """Whoever is skipped is told of the task before it, not of the one at the root."""

    def _skip(self, task: Task, because_of: Task) -> None:
        reason, because_of.reason = because_of.reason, because_of.agent
        super()._skip(task, because_of)
        because_of.reason = reason


class StaleOutput(Rules):
    """A retried task begins with what its failed attempt said."""

    def _revive(self, task: Task) -> None:
        output = task.output
        super()._revive(task)
        task.output = output


class ProceedDoesNotWaitAgain(Rules):
    """Whoever was to go on without an output does so, though the task that gives it was retried."""

    def _expect_again(self, source: Task) -> list[Lane]:
        return []


class QueuedIsNotTold(Rules):
    """The agent that could run and may not looks as if it waited."""

    def _start_ready(self) -> None:
        self._lined_up.clear()
        super()._start_ready()


@pytest.fixture(params=["with the board's own checks", "by the model alone"], autouse=True)
def _checks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by the model alone":
        monkeypatch.setattr(Board, "validate", lambda self, max_parallel: None)


@pytest.mark.parametrize(
    "rules",
    [
        LostWakeUp,
        EarlyStart,
        DoubleEnd,
        LastInFirstOut,
        RetriedLast,
        NoPropagation,
        SlotLeak,
        NoNextAlarm,
        NoDeadline,
        DeadlineSurvives,
        EveryWaitIsHard,
        NoWaitIsHard,
        LongWaitsAreNotTold,
        ClockDoesNotStop,
        StuckForEver,
        HastyEnd,
        EmptyPromptsAreSent,
        RetryForgetsTheSkipped,
        RetryBringsTooMuch,
        CancelFreesTheAgent,
        OpenWaitsStayOpen,
        SkipAlways,
        SkipNever,
        LateTextIsHeard,
        UnfairSlots,
        TooManyAtOnce,
        WaitersKeepTheirPlaces,
        EveryWaitFreesAPlace,
        NobodyComesBack,
        WaitsOutliveTheWork,
        WaitsOfBefore,
        WrongReason,
        StaleOutput,
        ProceedDoesNotWaitAgain,
        QueuedIsNotTold,
    ],
)
def test_a_bug_in_the_rules_is_found(rules: type[Rules]) -> None:
    assert_found(rules)


class NoCycles(PlannedBoard):
    """Cycles are not looked for."""

    def add(self, plan: TaskCreated) -> list[AgentId]:
        super().add(plan)
        return []


class QueuesDoNotCount(PlannedBoard):
    """A task that is queued is not taken to depend on the one before it."""

    def _line(self, agent: AgentId) -> Iterator[TaskId]:
        return iter(())


class OneWaitIsEnough(PlannedBoard):
    """Of several that wait for an agent, only the first is asked."""

    def _take_waiters(self, agent: AgentId) -> list[TaskId]:
        return super()._take_waiters(agent)[:1]


class OnlyWhatIsFinished(PlannedBoard):
    """A reference is bound to an output that is there, not to the task that is about to give a newer one."""

    def newest(self, agent: AgentId) -> TaskId | None:
        return None if self.latest(agent) else super().newest(agent)


class FailuresForgotten(PlannedBoard):
    """An agent whose newest task failed is taken by its output before."""

    def latest(self, agent: AgentId) -> Task | None:
        lane = self._board.lanes.get(agent)
        outputs = [task for task in lane.finished if task.state is State.COMPLETED] if lane else []
        return outputs[-1] if outputs else super().latest(agent)


@pytest.mark.parametrize(
    "planned_board", [NoCycles, QueuesDoNotCount, OneWaitIsEnough, OnlyWhatIsFinished, FailuresForgotten]
)
def test_a_bug_in_the_resolver_is_found(
    planned_board: type[PlannedBoard], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "PlannedBoard", planned_board)
    assert_found(Rules)


def test_a_retry_that_looks_for_no_cycles_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "cycle_of_retry", lambda board, root: [])
    assert_found(Rules)


def test_the_true_rules_pass_the_same_schedules() -> None:
    for seed in range(WITHIN):
        run_schedule(seed)


def assert_found(rules: type[Rules]) -> None:
    for seed in range(WITHIN):
        try:
            run_schedule(seed, rules)
        except AssertionError as error:
            if isinstance(error.__cause__, AssertionError):
                return
            raise
    pytest.fail(f"not found in {WITHIN} schedules")
