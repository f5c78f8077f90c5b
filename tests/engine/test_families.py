"""Runs that agents start: how many work at once, and why nobody waits for a place that it holds itself."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.board import State
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
    """A session in which every run starts others and ends only when all of them have ended."""

    def __init__(self, max_parallel: int, spawn_parallel: int) -> None:
        super().__init__(max_parallel=max_parallel, spawn_parallel=spawn_parallel)
        self._runs = 0

    def start(self, parent: TaskId | None = None) -> TaskId:
        """Start a run that has an agent of its own, as every run of an agent has."""
        self._runs += 1
        agent = AgentId(f"run-{self._runs}")
        roster = Roster((*self.roster.agents, agent), None)
        order = Order(agent, parse_prompt("Go"), parent=parent)
        (task,) = place([order], self.board, roster, self.policy, self.now)
        self.report(task)
        return task.task

    def at_work(self) -> list[Task]:
        return [lane.busy for lane in self.board.lanes.values() if lane.busy is not None]

    def able_to_end(self) -> list[Task]:
        """Those at work that wait for nobody."""
        return [task for task in self.at_work() if all(child.ended is not None for child in task.children)]


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


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_whoever_waits_for_what_it_started_always_gets_it(first: int) -> None:
    for seed in range(first, first + 100):
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
        while bench.board.unfinished:
            able = bench.able_to_end()
            assert able, f"seed {seed}: everybody waits, and nobody can end"
            bench.complete(random.choice(able).id)
