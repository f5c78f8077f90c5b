"""Feeding what was published to fresh rules rebuilds everything: orders, families, requests and budgets too.

A made-up session does at random whatever can be done with one. After each step the rules that only read are
as the rules that decided; at the end nothing is left that waits for ever.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from teambot_tui.engine.board import State, Task
from teambot_tui.engine.cycles import cycle_of_retry
from teambot_tui.engine.dependencies import Condition, Via
from teambot_tui.engine.facts import (
    ActivityReported,
    BudgetSet,
    CancelRequested,
    ContextSet,
    PermissionAnswered,
    PermissionAsked,
    RetryRequested,
    TaskExpired,
    TaskRetried,
)
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.orders import Need, Order, OrderError, place
from teambot_tui.engine.ports import Permissions, Usage, Verdict
from teambot_tui.engine.rules import Rules
from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse_prompt
from tests.engine.bench import TEAM, Bench, snapshot

STEPS = 40
TYPED = (
    "@pm Plan",
    "@ba Check $pm &",
    "@pm,ba Go -> @writer Sum up",
    'pm:"Plan":plan',
    'ba:"See {plan}"',
    "@writer See {plan} {{output:pm}}",
)


class Life(Bench):
    """A session in which anything may happen next."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        super().__init__(
            max_parallel=self.random.randint(1, 3),
            spawn_parallel=self.random.randint(1, 3),
            wait_timeout=30.0,
        )
        self._requests = 0

    def step(self) -> None:
        self.now += self.random.choice((0.0, 0.0, 0.5, 1.0, 2.0))
        chance = self.random.choice
        chance((self._type, self._order, self._order, self._end, self._end, self._disturb, self._disturb))()
        for name, _ in self.rules.approvals.open:
            assert self.board.tasks[name].state is State.EXECUTING, "nobody is asked for what is over"
        for task in self.board.tasks.values():
            if task.state in (State.FAILED, State.CANCELLED):
                self._check_children(task)

    def drain(self) -> None:
        """Let all that works end, and time pass: in the end nothing is left."""
        self.report(BudgetSet(self.now, None, None))
        for _ in range(8 * len(self.board.tasks) + 8):
            if at_work := self._at_work():
                self.complete(at_work[0].id, "done")
            elif self.board.unfinished:
                self.wait(31.0)
        assert not self.board.unfinished, "what is left never ends"
        assert not self._at_work()
        assert not self.rules.approvals.open, "nobody is left who could be answered"

    def _was_retried_since(self, task: Task, time: float) -> bool:
        return any(
            isinstance(fact, TaskRetried) and fact.task == task.id and fact.time >= time
            for fact in self.published
        )

    def _check_children(self, task: Task) -> None:
        ended = task.ended or 0.0
        going = [each for each in task.children if each.ended is None]
        assert all(self._was_retried_since(each, ended) for each in going), "children end with their parent"

    def _at_work(self) -> list[Task]:
        return [lane.busy for lane in self.board.lanes.values() if lane.busy is not None]

    def _type(self) -> None:
        with suppress(StatementError):
            self.submit(self.random.choice(TYPED))

    def _order(self) -> None:
        random = self.random
        executing = [task for task in self._at_work() if task.state is State.EXECUTING]
        parent = random.choice(executing).id if executing and random.random() < 0.5 else None
        known = [*self.board.tasks, *self.board.labels, *TEAM]
        names = random.sample(known, random.choice((0, 0, 1, 2)))
        via = (Via.AFTER, Via.RESULT, Via.CONTEXT)
        order = Order(
            AgentId(random.choice(TEAM)),
            parse_prompt("Go"),
            tuple(Need(each, random.choice(via), random.choice(list(Condition)), each) for each in names),
            label=random.choice((None, "a", "b", "c")),
            parent=parent,
            context=(("who", '"me"'),) if random.random() < 0.3 else (),
            retries=random.choice((0, 0, 1, 2)),
        )
        try:
            placed = place([order], self.board, self.roster, self.policy, self.now)
        except OrderError:
            return
        for task in placed:
            self.report(task)

    def _end(self) -> None:
        if at_work := self._at_work():
            task = self.random.choice(at_work)
            self.act(self.random.choice((f"complete {task.id} well", f"fail {task.id} broken")))

    def _disturb(self) -> None:
        random = self.random
        tasks = list(self.board.tasks.values())
        if not tasks:
            return
        task = random.choice(tasks)
        match random.randrange(9):
            case 0:
                self.report(CancelRequested(self.now, (task.id,)))
            case 1:
                self.report(TaskExpired(self.now, task.id, 5.0))
            case 2 if task.state in (State.FAILED, State.CANCELLED):
                if not cycle_of_retry(self.board, task):
                    self.report(RetryRequested(self.now, task.id))
            case 3:
                self._requests += 1
                policy = random.choice(list(Permissions))
                request = f"r{self._requests}"
                self.report(
                    PermissionAsked(
                        self.now, task.id, request, "Shell", "execute", "ls", policy, attended=True, key="ls"
                    )
                )
            case 4 if self.rules.approvals.open:
                name, request = random.choice(list(self.rules.approvals.open))
                verdict = random.choice(list(Verdict))
                self.report(PermissionAnswered(self.now, name, request, verdict, random.random() < 0.3))
            case 5:
                self.report(ActivityReported(self.now, task.id, Usage(random.randrange(100), 0, 0.1)))
            case 6:
                self.report(BudgetSet(self.now, random.choice((None, 0.2, 5.0)), None))
            case 7:
                self.report(ContextSet(self.now, random.choice("xy"), random.choice((None, "1", "2"))))
            case _:
                self.wait(random.choice((1.0, 4.0, 31.0)))


def everything(rules: Rules) -> object:
    """Return all that rules know, as values that can be compared."""
    board = rules.board
    return (
        snapshot(board),
        {
            task.id: (
                task.attempts,
                task.last_activity,
                task.parent and task.parent.id,
                [child.id for child in task.children],
            )
            for task in board.tasks.values()
        },
        {label: [task.id for task in tasks] for label, tasks in board.labels.items()},
        {name: [task.id for task in tasks] for name, tasks in board.captures.items()},
        dict(board.context),
        dict(rules.approvals.open),
        (rules.spending.cost, rules.spending.tokens, rules.spending.exhausted),
    )


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_replaying_what_was_published_rebuilds_everything(first: int) -> None:
    for seed in range(first, first + 50):
        life = Life(seed)
        rebuilt = Rules(life.policy)
        for _ in range(STEPS):
            known = len(life.published)
            life.step()
            for fact in life.published[known:]:
                rebuilt.handle(fact)
            assert everything(rebuilt) == everything(life.rules), f"seed {seed}"
        life.drain()
