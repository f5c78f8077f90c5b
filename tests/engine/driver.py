"""A made-up session, driven at random: the rules and the resolver are real, agents and time are not.

After every step the board must hold its own invariants, and the model must agree with all that was published,
started, refused and shown. A schedule is a seed: the same seed always does the same.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import teambot_tui.engine.cycles as cycles
import teambot_tui.engine.resolver as resolver
from teambot_tui.engine.effects import AnswerPermission, Effect, StartTask, StopTask, WakeAt
from teambot_tui.engine.facts import (
    CancelRequested,
    Fact,
    Input,
    InputEnded,
    RetryRequested,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskRetried,
    TaskSkipped,
    TaskStarted,
    TextProduced,
    TimePassed,
    WaitEnded,
    WaitProlonged,
    WaitStarted,
    WorkEnded,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.policy import OnFailure, OnWaitTimeout, Policy
from teambot_tui.engine.roster import Roster
from teambot_tui.engine.rules import Rules
from teambot_tui.engine.status import Statuses
from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse
from tests.engine.model import Draft, Duty, Model, Phase, RefusedError, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.resolver import Accepted
    from teambot_tui.language.nodes import Statement

TEAM = ("pm", "ba", "builder-1", "reviewer", "writer")
TIMEOUT = 10.0


@cache
def _parsed(text: str) -> tuple[Statement, ...]:
    return parse(text)


class World:
    """A session without a loop: what the runner would do happens when a step says so."""

    def __init__(
        self,
        agents: int,
        max_parallel: int,
        *,
        proceed: bool = False,
        hard: bool = False,
        rules: Callable[[Policy], Rules] = Rules,
    ) -> None:
        team = TEAM[:agents]
        on_timeout = OnWaitTimeout.FAIL if hard else OnWaitTimeout.TELL
        self.policy = Policy(wait_timeout=TIMEOUT, on_wait_timeout=on_timeout, max_parallel=max_parallel)
        self.roster = Roster(tuple(map(AgentId, team)), None)
        self.rules = rules(self.policy)
        self.model = Model(team, max_parallel, TIMEOUT, hard=hard)
        self.statuses = Statuses()
        self.proceed = False
        self.facts: list[Fact] = []
        self.steps: list[tuple[object, ...]] = [
            ("team of", agents, "of which at once", max_parallel, on_timeout)
        ]
        self.waits: list[str] = []
        """Who waited for others, from the first wait to the last: a wait is known by its place here."""
        self.now = 0.0
        self.alarm: float | None = None
        self._ends: list[tuple[str, str, str]] = []
        self._told: list[tuple[str, tuple[str, ...]]] = []
        self._retried: list[str] = []
        self._stopped: list[str] = []
        self.decide(proceed=proceed)

    @property
    def board(self) -> Board:
        return self.rules.board

    def story(self) -> str:
        """Return the steps so far, a line each."""
        return "\n".join(" ".join(map(str, step)) for step in self.steps)

    # Steps

    def decide(self, *, proceed: bool) -> None:
        """From now on, tasks go on without what they depend on, or are skipped."""
        self.proceed = proceed
        self.steps.append(("proceed" if proceed else "skip",))

    def submit(self, *sentences: Sentence) -> bool:
        """Submit; return whether it was accepted, as the model says it must be."""
        text = "\n".join(map(str, sentences))
        self.steps.append(("submit", text))
        try:
            draft = self.model.draft(sentences, proceed=self.proceed)
            expected, cycle = "", {}
        except RefusedError as error:
            draft = Draft()
            expected, cycle = str(error), error.cycle
        refusal = ""
        try:
            facts = self.resolve(text)
        except StatementError as error:
            facts = []
            refusal = error.message
        assert bool(refusal) == bool(expected), f"refused: {refusal!r}, expected: {expected!r}"
        assert refusal.startswith(expected), f"refused: {refusal!r}, expected: {expected!r}"
        if cycle:
            way = refusal.removeprefix(expected).split(" → ")
            self._check_cycle([agent.removeprefix("@") for agent in way], cycle)
        plans = [fact for fact in facts if isinstance(fact, TaskCreated)]
        assert [(plan.task, _sources(plan)) for plan in plans] == [
            (duty.id, [(need.agent, need.source and need.source.id) for need in duty.needs])
            for duty in draft.duties
        ], "a reference is bound to something else"
        self.accept(facts, draft)
        return not refusal

    def resolve(self, text: str) -> list[Accepted]:
        """Return the facts that submitting a text would be; how failures are met can change."""
        on_failure = OnFailure.PROCEED if self.proceed else OnFailure.SKIP
        policy = replace(self.policy, on_dependency_failure=on_failure)
        return resolver.resolve(text, _parsed(text), self.board, self.roster, policy, self.now)

    def accept(self, facts: Sequence[Accepted], draft: Draft) -> None:
        """Let what was resolved happen."""
        self.model.commit(draft)
        for fact in facts:
            self._report(fact)
        self._check()

    def complete(self, task: str, *, silent: bool = False) -> None:
        """Let the work on a task end well; the answer is like no other, or empty."""
        self.steps.append(("complete", task, *(["silent"] if silent else [])))
        duty = self.model.duties[task]
        if not silent:
            self._say(duty, f"«{duty.id}.{duty.life}»")
        self._end_work(duty, None)

    def fail(self, task: str) -> None:
        """Let the work on a task fail."""
        self.steps.append(("fail", task))
        duty = self.model.duties[task]
        self._end_work(duty, f"broke {duty.id}.{duty.life}")

    def say(self, task: str) -> None:
        """Let a piece of text arrive, of whatever task: only one that is at work is heard."""
        self.steps.append(("say", task))
        self._say(self.model.duties[task], "more ")
        self._check()

    def start_wait(self, task: str) -> None:
        """Let the agent of a task wait for all the others: only one that is at work can."""
        wait = len(self.waits)
        self.steps.append(("wait", wait, task))
        self.waits.append(task)
        duty = self.model.duties[task]
        if duty.at_work:
            duty.waits.add(wait)
        others = tuple(TaskId(each) for each in self.model.duties if each != task)
        self._report(WaitStarted(self.now, TaskId(task), wait, others))
        self._check()

    def end_wait(self, wait: int) -> None:
        """Let a wait end, or news arrive of the end of one that has ended with the work."""
        self.steps.append(("go on", wait))
        task = self.waits[wait]
        self.model.duties[task].waits.discard(wait)
        self._report(WaitEnded(self.now, TaskId(task), wait))
        self._check()

    def repeat(self, task: str) -> None:
        """Let news arrive of work that is not going on: nobody hears them."""
        self.steps.append(("repeat", task))
        assert self.model.duties[task] not in self.model.busy.values()
        name = TaskId(task)
        for fact in (TaskStarted(self.now, name, "", "", None), WorkEnded(self.now, name, None)):
            assert self.rules.handle(fact) == [], f"news of {task} came too late and were heard"
        self._check()

    def cancel(self, tasks: Iterable[str]) -> None:
        """Ask for tasks to stop; their work goes on until it has ended."""
        named = tuple(map(TaskId, tasks))
        self.steps.append(("cancel", *named))
        duties = [self.model.duties[task] for task in named]
        stopped = [duty.id for duty in duties if duty.at_work]
        self.model.cancel(duties)
        self._report(CancelRequested(self.now, named))
        assert self._stopped == stopped, f"told to stop: {self._stopped}, not {stopped}"
        self._check()

    def retry(self, task: str) -> bool:
        """Retry a failed or cancelled task, unless that would close a cycle."""
        self.steps.append(("retry", task))
        draft = self.model.revival(self.model.duties[task])
        cycle = self.model.cycle([*self.model.unended(), *draft.duties], draft)
        found = cycles.cycle_of_retry(self.board, self.board.tasks[TaskId(task)])
        assert bool(found) == bool(cycle), f"a cycle of {list(cycle)}, found {found}"
        if found:
            self._check_cycle(found, cycle)
        else:
            self.model.retry(draft)
            self._report(RetryRequested(self.now, TaskId(task)))
            revived = [duty.id for duty in draft.duties]
            assert sorted(self._retried) == sorted(revived), f"back are {self._retried}, not {revived}"
        self._check()
        return not found

    def pass_time(self, seconds: float, *, ring: bool = True) -> None:
        """Let time pass; an alarm that is due may ring late."""
        self.steps.append(("pass", seconds, ring))
        self.now += seconds
        if ring and self.alarm is not None and self.alarm <= self.now:
            self.alarm = None
            self.model.pass_time(self.now)
            self._report(TimePassed(self.now))
            assert self.alarm is None or self.alarm > self.now, "an alarm in the past would ring for ever"
        self._check(nothing_due=ring)

    def end_input(self) -> None:
        """Say that nothing more will be submitted."""
        self.steps.append(("end",))
        self.model.end_input()
        self._report(InputEnded(self.now))
        self._check()

    def drain(self) -> None:
        """Let every agent do its work and time pass: in the end, everything has ended."""
        for _ in range(2 * len(self.model.duties) + 2):
            for duty in tuple(self.model.busy.values()):
                self.complete(duty.id)
            if not self.model.unended():
                break
            if not self.model.busy:
                self.pass_time(TIMEOUT)
        assert not self.model.unended(), "what is left never ends"
        assert not self.board.unfinished
        assert not any(level.running or level.waiting for level in self.board.levels)

    # What a runner does

    def _report(self, fact: Input) -> None:
        for effect in self.rules.handle(fact):
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case StartTask(task, _, prompt):
                self.model.start(self.model.duties[task], prompt.text, len(self.steps))
                self._report(TaskStarted(self.now, task, prompt.text, "", effect.model))
            case StopTask(task):
                self._stopped.append(task)
            case AnswerPermission():
                raise AssertionError("nobody asked")
            case WakeAt(time):
                self.alarm = time if self.alarm is None else min(time, self.alarm)
            case fact:
                self._see(fact)

    def _see(self, fact: Fact) -> None:
        self.facts.append(fact)
        self.statuses.update(fact)
        match fact:
            case TaskCompleted(task=task, output=output):
                self._ends.append((task, "completed", ""))
                assert output == self.model.duties[task].text, f"{task} gave {output!r}"
            case TaskFailed(task=task, reason=reason):
                self._ends.append((task, "failed", reason))
                if reason.startswith("There is nothing to send"):
                    self.model.refuse(self.model.duties[task], reason, len(self.steps))
            case TaskSkipped(task=task, reason=reason):
                self._ends.append((task, "skipped", reason))
            case TaskCancelled(task=task):
                self._ends.append((task, "cancelled", ""))
            case WaitProlonged(task=task, waiting_for=agents):
                self._told.append((task, agents))
            case TaskRetried(task=task):
                self._retried.append(task)
            case _:
                pass

    def _say(self, duty: Duty, text: str) -> None:
        heard = duty.at_work
        self.model.say(duty, text)
        effects = self.rules.handle(TextProduced(self.now, TaskId(duty.id), text))
        assert len(effects) == heard, f"{duty.id} is {'not ' * heard}heard"
        for effect in effects:
            self._carry_out(effect)

    def _end_work(self, duty: Duty, error: str | None) -> None:
        self.model.end_work(duty, error)
        self._report(WorkEnded(self.now, TaskId(duty.id), error))
        self._check()

    # Checking

    def _check(self, *, nothing_due: bool = False) -> None:
        model = self.model
        self.board.validate(self.policy)
        assert self._told == model.told, f"told to wait long: {self._told}, not {model.told}"
        ended = {task: how for task, how, _ in self._ends}
        assert len(ended) == len(self._ends), f"something ended twice: {self._ends}"
        assert ended == model.ended, f"ended: {ended}, not {model.ended}"
        for task, _, reason in self._ends:
            duty = model.duties[task]
            assert reason in duty.reasons, f"{task} ended by {reason!r}, not by {duty.reasons}"
            duty.reasons = frozenset({reason})
        model.settle(len(self.steps), self.now)
        statuses = {agent: str(self.statuses[AgentId(agent)]).partition(": ")[2] for agent in model.agents}
        assert statuses == model.statuses(), f"shown: {statuses}, not {model.statuses()}"
        if nothing_due:
            due = [
                duty.waiting_since
                for duty in model.unended()
                if duty.waiting_since is not None and not duty.told
            ]
            assert min(due, default=self.now) + TIMEOUT > self.now, "a wait that is due goes on"
        model.ended.clear()
        self._ends.clear()
        model.told.clear()
        self._told.clear()
        self._retried.clear()
        self._stopped.clear()

    def _check_cycle(self, named: Sequence[str], cycle: dict[Duty, set[Duty]]) -> None:
        edges = {(duty.agent, source.agent) for duty, sources in cycle.items() for source in sources}
        assert named[0] == named[-1]
        assert edges.issuperset(pairwise(named)), f"there is no cycle {named}"


def _sources(plan: TaskCreated) -> list[tuple[str, str | None]]:
    return [(each.agent, each.task) for each in plan.dependencies]


# Chance


def make_sentence(random: Random, agents: tuple[str, ...], known: Sequence[str]) -> Sentence:
    """Return a statement, more tangled than people's are; it names mostly agents that have had work."""
    phases: list[Phase] = []
    count = random.choice((1, 1, 1, 2, 2, 3))
    for _ in range(count):
        names = random.sample(agents, 2 if random.random() < 0.2 else 1)
        named = known if random.random() < 0.6 else agents
        references = random.sample(named, min(len(named), random.choice((0, 0, 1, 1, 1, 2))))
        phases.append(Phase(tuple(names), tuple(references)))
    if count > 1 and random.random() < 0.3:
        empty = random.randrange(count)
        phases[empty] = Phase(phases[empty].agents, words=False)
    return Sentence(tuple(phases), random.random() < 0.5)


def take_step(world: World, random: Random) -> None:
    """Let something happen that can happen now."""
    model = world.model
    chance = random.random()
    if not model.duties or (chance < 0.36 and not model.input_has_ended):
        count = 2 if random.random() < 0.1 else 1
        if random.random() < 0.05:
            world.decide(proceed=not world.proceed)
        known = sorted({duty.agent for duty in model.duties.values()})
        world.submit(*(make_sentence(random, model.agents, known) for _ in range(count)))
    elif chance < 0.62 and model.busy:
        duty = random.choice(list(model.busy.values()))
        if random.random() < 0.25:
            _wait_or_go_on(world, duty, random)
        elif random.random() < 0.65:
            world.complete(duty.id, silent=random.random() < 0.1)
        else:
            world.fail(duty.id)
    elif chance < 0.76:
        _cancel_some(world, random)
    elif chance < 0.88:
        spoiled = [duty.id for duty in model.duties.values() if duty.end in ("failed", "cancelled")]
        if spoiled:
            world.retry(random.choice(spoiled))
    elif chance < 0.96:
        world.pass_time(random.choice((0.0, 1.0, 4.0, TIMEOUT)), ring=random.random() < 0.7)
    elif chance < 0.965:
        world.end_input()
    else:
        duty = random.choice(list(model.duties.values()))
        if duty in model.busy.values():
            world.say(duty.id)
        else:
            world.repeat(duty.id)


def _wait_or_go_on(world: World, duty: Duty, random: Random) -> None:
    """Let an agent wait for others, or some wait end, mostly one that goes on."""
    if not world.waits or random.random() < 0.6:
        world.start_wait(duty.id)
    elif duty.waits:
        world.end_wait(random.choice(sorted(duty.waits)))
    else:
        world.end_wait(random.randrange(len(world.waits)))


def _cancel_some(world: World, random: Random) -> None:
    """Cancel one task, an agent's or all; some have ended already."""
    duties = list(world.model.duties.values())
    chance = random.random()
    if chance < 0.8:
        world.cancel([random.choice(duties).id])
        return
    agent = random.choice(world.model.agents)
    world.cancel([duty.id for duty in duties if not duty.end and (chance > 0.93 or duty.agent == agent)])


def make_world(random: Random, rules: Callable[[Policy], Rules] = Rules, kind: type[World] = World) -> World:
    """Return a session of some size."""
    return kind(
        random.choice((2, 2, 3, 3, 4, 5)),
        random.randint(1, 4),
        proceed=random.random() < 0.4,
        hard=random.random() < 0.4,
        rules=rules,
    )


def run_schedule(seed: int, rules: Callable[[Policy], Rules] = Rules, kind: type[World] = World) -> World:
    """Run the schedule of a seed to its end; a failure carries the seed and the steps.

    Raises:
        AssertionError: rules and model disagree.
    """
    random = Random(seed)
    world = make_world(random, rules, kind)
    try:
        for _ in range(random.randint(6, 20)):
            take_step(world, random)
        world.drain()
    except Exception as error:
        raise AssertionError(f"seed {seed}\n{world.story()}\n{error!r}") from error
    return world


if __name__ == "__main__":
    # python -m tests.engine.driver SEED: what happens in a schedule, step by step
    print(run_schedule(int(sys.argv[1])).story())
