"""The same world, driven by hypothesis: it looks for the shortest way to a disagreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.engine.driver import TEAM, TIMEOUT, World
from tests.engine.model import Phase, Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.engine.model import Duty

NAMES = st.lists(st.sampled_from(TEAM), max_size=2, unique=True)
PHASES = st.builds(
    lambda agents, references, words: Phase(tuple(agents), tuple(references), words=words),
    st.lists(st.sampled_from(TEAM), min_size=1, max_size=2, unique=True),
    NAMES,
    st.booleans(),
)
SENTENCES = st.builds(
    lambda phases, background: Sentence(tuple(phases), background),
    st.lists(PHASES, min_size=1, max_size=3),
    st.booleans(),
)
INDEX = st.integers(0, 1000)


def _fitting(sentence: Sentence, team: tuple[str, ...]) -> Sentence:
    """Return the sentence with the agents there are; one that is empty gets words."""
    phases = [
        Phase(_known(phase.agents, team), _known(phase.references, team), words=phase.words)
        for phase in sentence.phases
    ]
    if all(phase.empty for phase in phases[:2]):
        phases[0] = Phase(phases[0].agents)
    return Sentence(tuple(phases), sentence.background)


def _known(names: tuple[str, ...], team: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(team[TEAM.index(name) % len(team)] for name in names))


class Sessions(RuleBasedStateMachine):
    """Whatever can happen in a session; the world checks itself after every step."""

    world: World

    @initialize(
        agents=st.integers(2, 5), max_parallel=st.integers(1, 4), proceed=st.booleans(), hard=st.booleans()
    )
    def begin(self, agents: int, max_parallel: int, proceed: bool, hard: bool) -> None:
        self.world = World(agents, max_parallel, proceed=proceed, hard=hard)

    @precondition(lambda self: not self.world.model.input_has_ended)
    @rule(sentences=st.lists(SENTENCES, min_size=1, max_size=2))
    def submit(self, sentences: list[Sentence]) -> None:
        self.world.submit(*(_fitting(each, self.world.model.agents) for each in sentences))

    @precondition(lambda self: self.world.model.busy)
    @rule(index=INDEX, well=st.booleans(), silent=st.booleans())
    def end_work(self, index: int, well: bool, silent: bool) -> None:
        duty = _pick(list(self.world.model.busy.values()), index)
        if well:
            self.world.complete(duty.id, silent=silent)
        else:
            self.world.fail(duty.id)

    @precondition(lambda self: self.world.model.duties)
    @rule(index=INDEX)
    def start_wait(self, index: int) -> None:
        self.world.start_wait(_pick(list(self.world.model.duties.values()), index).id)

    @precondition(lambda self: self.world.waits)
    @rule(index=INDEX)
    def end_wait(self, index: int) -> None:
        self.world.end_wait(index % len(self.world.waits))

    @precondition(lambda self: self.world.model.duties)
    @rule(indexes=st.lists(INDEX, min_size=1, max_size=3))
    def cancel(self, indexes: list[int]) -> None:
        duties = list(self.world.model.duties.values())
        self.world.cancel(dict.fromkeys(_pick(duties, index).id for index in indexes))

    @precondition(lambda self: self.spoiled())
    @rule(index=INDEX)
    def retry(self, index: int) -> None:
        self.world.retry(_pick(self.spoiled(), index).id)

    @precondition(lambda self: self.world.model.duties)
    @rule(index=INDEX)
    def news(self, index: int) -> None:
        duty = _pick(list(self.world.model.duties.values()), index)
        if duty in self.world.model.busy.values():
            self.world.say(duty.id)
        else:
            self.world.repeat(duty.id)

    @rule(seconds=st.sampled_from((0.0, 1.0, TIMEOUT / 2, TIMEOUT)), ring=st.booleans())
    def pass_time(self, seconds: float, ring: bool) -> None:
        self.world.pass_time(seconds, ring=ring)

    @rule()
    def end_input(self) -> None:
        self.world.end_input()

    @rule(proceed=st.booleans())
    def decide(self, proceed: bool) -> None:
        self.world.decide(proceed=proceed)

    def spoiled(self) -> list[Duty]:
        return [duty for duty in self.world.model.duties.values() if duty.end in ("failed", "cancelled")]

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.drain()


def _pick(duties: Sequence[Duty], index: int) -> Duty:
    return duties[index % len(duties)]


TestSessions = Sessions.TestCase
TestSessions.settings = hypothesis.settings(
    max_examples=150,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    report_multiple_bugs=False,
)
