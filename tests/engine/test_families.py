"""Runs that agents start: how many work at once, and why nobody waits for a place that it holds itself."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.board import State
from teambot_tui.engine.facts import WaitEnded, WaitStarted
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.orders import Order, place
from teambot_tui.engine.roster import Roster
from teambot_tui.language.parser import parse_prompt
from tests.engine.bench import Bench

if TYPE_CHECKING:
    from teambot_tui.engine.board import Task
    from teambot_tui.engine.ids import TaskId

DEPTH = 3


class Families(Bench):
    """A session in which every run ends only when all that it started, or waits for, have ended."""

    def __init__(self, max_parallel: int, spawn_parallel: int) -> None:
        super().__init__(max_parallel=max_parallel, spawn_parallel=spawn_parallel)
        self._runs = 0
        self._waits: list[tuple[Task, list[Task]]] = []
        """Who waits for whom; a wait is known by its place here."""

    def start(self, parent: TaskId | None = None) -> TaskId:
        """Start a run that has an agent of its own, as every run of an agent has."""
        self._runs += 1
        agent = AgentId(f"run-{self._runs}")
        roster = Roster((*self.roster.agents, agent), None)
        order = Order(agent, parse_prompt("Go"), parent=parent)
        (task,) = place([order], self.board, roster, self.policy, self.now)
        self.report(task)
        return task.task

    def start_wait(self, task: TaskId, *others: TaskId) -> int:
        """Let a run wait for others; return how the wait is known."""
        self._waits.append((self.task(task), [self.task(other) for other in others]))
        wait = len(self._waits) - 1
        self.report(WaitStarted(self.now, task, wait, others))
        return wait

    def wait_for_later(self, task: Task, random: Random) -> None:
        """Let a run wait for what it started, and for some others that came after it, wherever they are."""
        later = [each for each in self.board.tasks.values() if each.order > task.order and each.ended is None]
        others = {*task.children, *random.sample(later, min(2, len(later)))}
        if waited_for := [each.id for each in later if each in others]:
            self.start_wait(task.id, *waited_for)

    def end_wait(self, wait: int) -> None:
        """Let a wait end, whatever has become of what was waited for."""
        self.report(WaitEnded(self.now, self._waits[wait][0].id, wait))

    def end_waits(self) -> None:
        """Let those go on who have what they waited for."""
        for wait, (waiter, others) in enumerate(self._waits):
            if wait in waiter.waits and all(other.ended is not None for other in others):
                self.end_wait(wait)

    def at_work(self) -> list[Task]:
        return [lane.busy for lane in self.board.lanes.values() if lane.busy is not None]

    def able_to_end(self) -> list[Task]:
        """Those at work that wait for nobody, or are to stop."""
        return [
            task
            for task in self.at_work()
            if task.ended is not None
            or (not task.waits and all(child.ended is not None for child in task.children))
        ]


def test_each_depth_has_room_of_its_own() -> None:
    bench = Families(max_parallel=1, spawn_parallel=1)
    root = bench.start()
    first, second = bench.start(root), bench.start(root)
    below = bench.start(first)
    assert [bench.task(name).state for name in (root, first, below)] == [State.EXECUTING] * 3
    assert bench.task(second).state is State.QUEUED
    bench.complete(below)
    bench.complete(first)
    assert bench.task(second).state is State.EXECUTING


def test_those_that_wait_for_room_start_in_their_order() -> None:
    bench = Families(max_parallel=1, spawn_parallel=1)
    root = bench.start()
    runs = [bench.start(root) for _ in range(4)]
    for run in runs:
        assert [task.id for task in bench.at_work()] == [root, run]
        bench.complete(run)


@pytest.mark.parametrize("depth", [0, 1])
def test_whoever_waits_leaves_its_place_to_others(depth: int) -> None:
    bench = Families(max_parallel=1, spawn_parallel=1)
    parent = bench.start() if depth else None
    first, second, third = (bench.start(parent) for _ in range(3))
    states = [bench.task(name) for name in (first, second, third)]
    waits = [bench.start_wait(first, third) for _ in range(2)]
    assert [task.state for task in states] == [State.EXECUTING, State.EXECUTING, State.QUEUED]
    bench.complete(second)
    assert states[2].state is State.EXECUTING
    bench.complete(third)
    fourth = bench.start(parent)
    assert bench.task(fourth).state is State.EXECUTING
    bench.end_wait(waits[0])
    fifth = bench.start(parent)
    bench.complete(fourth)
    assert bench.task(fifth).state is State.EXECUTING, "it waits for something else, too"
    bench.end_wait(waits[1])
    sixth = bench.start(parent)
    assert states[0].level.occupied == 2, "whoever has waited goes on, though its place was given away"
    bench.complete(fifth)
    assert bench.task(sixth).state is State.QUEUED, "nobody starts before there is room again"
    bench.complete(first)
    assert bench.task(sixth).state is State.EXECUTING


def test_a_task_that_is_tried_again_is_in_no_wait_of_before() -> None:
    bench = Families(max_parallel=1, spawn_parallel=1)
    first, second = bench.start(), bench.start()
    wait = bench.start_wait(first, second)
    bench.fail(first)
    bench.complete(second)
    bench.retry(first)
    third = bench.start()
    assert bench.report(WaitEnded(bench.now, first, wait)) == []
    assert bench.task(third).state is State.QUEUED


@pytest.mark.parametrize("waits", [False, True], ids=["for what it started", "for what came after it"])
@pytest.mark.parametrize(
    "first",
    [pytest.param(first, marks=[pytest.mark.thorough] if first else []) for first in range(0, 300, 60)],
)
def test_whoever_waits_always_gets_it(first: int, *, waits: bool) -> None:
    for seed in range(first, first + 60):
        random = Random(seed)
        bench = Families(random.randint(1, 3), random.randint(1, 2))
        for _ in range(40):
            parents = [task for task in bench.at_work() if task.level.depth < DEPTH]
            if parents and random.random() < 0.6:
                bench.start(random.choice(parents).id)
            elif random.random() < 0.5:
                bench.start()
            elif able := bench.able_to_end():
                task = random.choice(able).id
                random.choice((bench.complete, bench.fail, bench.cancel))(task)
            if waits and random.random() < 0.3 and (at_work := bench.at_work()):
                bench.wait_for_later(random.choice(at_work), random)
        while bench.board.unfinished:
            bench.end_waits()
            for each in bench.at_work() if waits else ():
                if not each.waits:
                    bench.wait_for_later(each, random)
            able = bench.able_to_end()
            assert able, f"seed {seed}: everybody waits, and nobody can end"
            bench.complete(random.choice(able).id)
