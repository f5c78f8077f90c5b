"""A second opinion on everything the rules decide, as plain and as slow as it can be.

The model never looks at the board. From the statements that are made and the things that are let happen it
works out again, each time and for every task, who must wait, who may run, who has ended and what is refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Phase:
    """One stage of a sentence: who, with which references, and whether there are words."""

    agents: tuple[str, ...]
    references: tuple[str, ...] = ()
    words: bool = True

    @property
    def empty(self) -> bool:
        return not self.words and not self.references

    def __str__(self) -> str:
        words = ("do",) if self.words else ()
        return " ".join(("@" + ",".join(self.agents), *words, *(f"${each}" for each in self.references)))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement of a made-up session."""

    phases: tuple[Phase, ...]
    background: bool

    def __str__(self) -> str:
        return " -> ".join(map(str, self.phases)) + " &" * self.background


class RefusedError(Exception):
    """The submission must be refused, with a message that begins like this; perhaps because of a cycle."""

    def __init__(self, message: str, cycle: dict[Duty, set[Duty]] | None = None) -> None:
        super().__init__(message)
        self.cycle = cycle or {}


@dataclass(slots=True, eq=False)
class Need:
    """An output that is needed: whose, and of which task, once there is one."""

    agent: str
    source: Duty | None


@dataclass(slots=True, eq=False)
class Duty:
    """A task, as the model sees it."""

    id: str
    agent: str
    order: int
    needs: list[Need]
    proceed: bool
    words: bool = True
    at_work: bool = False
    waits: set[int] = field(default_factory=set)
    """The waits for other tasks that its agent is in."""
    text: str = ""
    life: int = 1
    end: str = ""
    """How it ended; nothing while it has not."""
    reasons: frozenset[str] = frozenset()
    """What may be said about its end: several things when it had several obstacles at once."""
    ended_as: int = 0
    waiting_since: float | None = None
    told: bool = False
    """Whether it was told that it waits longer than usual."""
    ready_since: int | None = None

    @property
    def spoiled(self) -> bool:
        return bool(self.end) and self.end != "completed"

    @property
    def silent(self) -> bool:
        """Whether it said nothing."""
        return self.end == "completed" and not self.text

    @property
    def has_nothing_to_send(self) -> bool:
        return not self.words and all(need.source is not None and need.source.silent for need in self.needs)

    def lacking(self) -> tuple[str, ...]:
        """Whose outputs are not there, in the order of the references."""
        return tuple(
            dict.fromkeys(need.agent for need in self.needs if need.source is None or not need.source.end)
        )

    def without_source(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(need.agent for need in self.needs if need.source is None))

    def obstacles(self) -> list[Duty]:
        return [need.source for need in self.needs if need.source is not None and need.source.spoiled]

    def endings(self) -> frozenset[str]:
        """What may be said to those that are skipped because of this one."""
        match self.end:
            case "failed":
                return frozenset(f"@{self.agent} failed: {reason}" for reason in self.reasons)
            case "skipped":
                return self.reasons
            case how:
                return frozenset({f"@{self.agent} was {how}"})

    def in_place_of_output(self) -> frozenset[str]:
        """What may stand where the output would."""
        if self.end == "skipped":
            return frozenset(f"[@{self.agent} was skipped: {reason}]" for reason in self.reasons)
        return frozenset(f"[{ending}]" for ending in self.endings())


@dataclass(slots=True)
class Draft:
    """Tasks that would be made or brought back, and which open waits they would bind."""

    duties: list[Duty] = field(default_factory=list)
    bound: dict[Need, Duty] = field(default_factory=dict)

    def source(self, need: Need) -> Duty | None:
        return need.source or self.bound.get(need)


class Model:
    """What must be true of a session."""

    def __init__(
        self, agents: tuple[str, ...], max_parallel: int, timeout: float, *, hard: bool = False
    ) -> None:
        self.agents = agents
        self.max_parallel = max_parallel
        self.timeout = timeout
        self.hard = hard
        """Whether every wait has an end, or only one for an agent that has no work."""
        self.input_has_ended = False
        self.told: list[tuple[str, tuple[str, ...]]] = []
        """What is told in the step at hand to wait longer than usual, and for whom."""
        self.duties: dict[str, Duty] = {}
        self.busy: dict[str, Duty] = {}
        """Whose work goes on: a cancelled task's work does, until it has stopped."""
        self.ended: dict[str, str] = {}
        """What ends in the step at hand, and how."""
        self._ends = 0

    # Looking

    def unended(self) -> list[Duty]:
        return [duty for duty in self.duties.values() if not duty.end]

    def occupied(self) -> int:
        """How many places are taken: whoever waits for others leaves its own to them."""
        return sum(not duty.waits for duty in self.busy.values())

    def next_duties(self) -> Iterator[Duty]:
        """What each free agent would do next."""
        seen = set(self.busy)
        for duty in self.unended():
            if duty.agent not in seen:
                seen.add(duty.agent)
                yield duty

    def statuses(self) -> Mapping[str, str]:
        """The status line of every agent."""
        lines = dict.fromkeys(self.agents, "idle") | dict.fromkeys(self.busy, "executing")
        for duty in self.next_duties():
            lines[duty.agent] = "queued"
            if lacking := duty.lacking():
                without = duty.without_source()
                names = (f"@{each}" + " (no output yet)" * (each in without) for each in lacking)
                lines[duty.agent] = f"waiting for {', '.join(names)}"
        return lines

    # Submitting

    def draft(self, sentences: Iterable[Sentence], *, proceed: bool) -> Draft:
        """Return the tasks that the sentences make.

        Raises:
            RefusedError: they must be refused.
        """
        draft = Draft()
        for sentence in sentences:
            upstream: list[tuple[str, Duty | None]] = []
            for index, phase in enumerate(sentence.phases):
                own = phase.agents
                if phase.empty and not upstream:
                    own = sentence.phases[index + 1].agents
                    upstream = [self._bind(each, draft, sentence, own) for each in phase.agents]
                    continue
                named = [self._bind(each, draft, sentence, own) for each in phase.references]
                numbers = Counter(duty.agent for duty in (*self.duties.values(), *draft.duties))
                made: list[Duty] = []
                for agent in phase.agents:
                    needs = [Need(*each) for each in dict.fromkeys((*named, *upstream))]
                    name = f"{agent}#{numbers[agent] + 1}"
                    order = len(self.duties) + len(draft.duties) + len(made)
                    made.append(Duty(name, agent, order, needs, proceed, phase.words))
                for duty in made:
                    self._add(duty, draft)
                upstream = [(duty.agent, duty) for duty in made]
        return draft

    def _bind(
        self, agent: str, draft: Draft, sentence: Sentence, own: tuple[str, ...]
    ) -> tuple[str, Duty | None]:
        unended = [duty for duty in (*self.unended(), *draft.duties) if duty.agent == agent]
        if unended:
            return agent, unended[-1]
        latest = self._latest(agent)
        if latest is None:
            if sentence.background and agent not in own:
                return agent, None
            raise RefusedError(f"Agent @{agent} has no output to reference. Run a task for @{agent} first.")
        if latest.end == "failed":
            (reason,) = latest.reasons
            raise RefusedError(f"Agent @{agent} failed: {reason.removesuffix('.')}. Retry it")
        return agent, latest

    def _latest(self, agent: str) -> Duty | None:
        spoke = [
            duty
            for duty in self.duties.values()
            if duty.agent == agent and duty.end in ("completed", "failed")
        ]
        return max(spoke, key=lambda duty: duty.ended_as, default=None)

    def _add(self, duty: Duty, draft: Draft) -> None:
        there = [*self.unended(), *draft.duties]
        for need in (need for each in there for need in each.needs):
            if need.agent == duty.agent and draft.source(need) is None:
                draft.bound[need] = duty
        draft.duties.append(duty)
        if cycle := self.cycle([*there, duty], draft):
            raise RefusedError("Circular dependency detected: ", cycle)

    def cycle(self, unended: list[Duty], draft: Draft) -> dict[Duty, set[Duty]]:
        """Return what could never run, and what each of it would wait for; nothing if all could."""
        graph: dict[Duty, set[Duty]] = {}
        for agent in self.agents:
            line = sorted(
                (duty for duty in unended if duty.agent == agent),
                key=lambda duty: (not duty.at_work, duty.order),
            )
            for index, duty in enumerate(line):
                graph[duty] = set() if duty.at_work else set(line[:index][-1:])
                if not duty.at_work:
                    sources = map(draft.source, duty.needs)
                    graph[duty].update(source for source in sources if source in unended)
        while free := [duty for duty, sources in graph.items() if not sources & graph.keys()]:
            for duty in free:
                del graph[duty]
        return graph

    def commit(self, draft: Draft) -> None:
        """Let the drafted tasks be there."""
        for need, duty in draft.bound.items():
            need.source = duty
        self.duties.update((duty.id, duty) for duty in draft.duties)

    # Happening

    def say(self, duty: Duty, text: str) -> None:
        if duty.at_work:
            duty.text += text

    def end_work(self, duty: Duty, error: str | None) -> None:
        """The work on a task is over; the task is too, unless it was cancelled before."""
        del self.busy[duty.agent]
        duty.waits.clear()
        if duty.at_work:
            self._end(duty, "completed" if error is None else "failed", error or "")
        self._spread()
        self._starve()

    def cancel(self, duties: Iterable[Duty]) -> None:
        for duty in duties:
            if not duty.end:
                self._end(duty, "cancelled", "")
        self._spread()
        self._starve()

    def pass_time(self, now: float) -> None:
        """Whoever has waited too long fails, or is told to wait long, one after the other."""
        while overdue := [
            (duty.waiting_since + self.timeout, duty.order, duty)
            for duty in self.next_duties()
            if duty.waiting_since is not None
            and duty.waiting_since + self.timeout <= now
            and duty.lacking()
            and not duty.told
        ]:
            duty = min(overdue)[2]
            lacking = duty.lacking() if self.hard else duty.without_source()
            if lacking:
                names = ", ".join(f"@{each}" for each in lacking)
                self._end(duty, "failed", f"Timed out after {self.timeout:g} s waiting for {names}.")
                self._spread()
            else:
                duty.told = True
                self.told.append((duty.id, duty.lacking()))
        self._starve()

    def end_input(self) -> None:
        """Nothing more will be submitted."""
        self.input_has_ended = True
        self._starve()

    def start(self, duty: Duty, prompt: str, moment: int) -> None:
        """The rules let a task run: they must be right."""
        self._take_turn(duty, moment)
        assert not duty.has_nothing_to_send, f"{duty.id} starts with nothing to do"
        for source in {need.source for need in duty.needs if need.source is not None}:
            if source.silent:
                assert "(empty)" in prompt, f"{duty.id} is not told that {source.id} said nothing"
                continue
            outputs = source.in_place_of_output() if source.spoiled else {source.text}
            assert any(prompt.count(each) == 1 for each in outputs), f"{duty.id} lacks what {source.id} said"
        assert self.occupied() < self.max_parallel, "too many at once"
        duty.at_work = True
        duty.text = ""
        self.busy[duty.agent] = duty

    def refuse(self, duty: Duty, reason: str, moment: int) -> None:
        """The rules fail a task in place of starting it: it must be its turn, and have nothing to do."""
        self._take_turn(duty, moment)
        assert duty.has_nothing_to_send, f"{duty.id} has something to do"
        self._end(duty, "failed", reason)
        self._spread()
        self._starve()

    def _take_turn(self, duty: Duty, moment: int) -> None:
        following = list(self.next_duties())
        assert duty in following, f"{duty.id} starts out of turn"
        assert not duty.lacking(), f"{duty.id} starts without {duty.lacking()}"
        assert duty.proceed or not duty.obstacles(), f"{duty.id} starts though it should be skipped"
        since = moment if duty.ready_since is None else duty.ready_since
        for other in following:
            ready = other.ready_since is not None and not other.lacking()
            assert not ready or (other.ready_since or 0) >= since, f"{other.id} could run before {duty.id}"

    def settle(self, moment: int, now: float) -> None:
        """After a step: nothing that could run is left lying, and clocks of waiting run."""
        following = list(self.next_duties())
        for duty in self.unended():
            waits = duty in following and bool(duty.lacking())
            ready = duty in following and not waits
            assert not ready or self.occupied() >= self.max_parallel, f"{duty.id} could run and does not"
            assert duty.at_work or duty.proceed or not duty.obstacles(), f"{duty.id} should be skipped"
            if not waits or duty.waiting_since is None:
                duty.waiting_since = now if waits else None
                duty.told = False
            never = self.input_has_ended and not self.busy and bool(duty.without_source())
            assert not never or any(not each.lacking() for each in following), f"{duty.id} waits for ever"
            if not ready or duty.ready_since is None:
                duty.ready_since = moment if ready else None

    # Coming back

    def revival(self, root: Duty) -> Draft:
        """Return what retrying a task brings back."""
        revived = {root}
        skipped = [duty for duty in self.duties.values() if duty.end == "skipped"]
        assert all(duty.obstacles() for duty in skipped), "nothing is skipped without a cause"
        while more := {duty for duty in skipped if revived.issuperset(duty.obstacles())} - revived:
            revived |= more
        draft = Draft(sorted(revived, key=lambda duty: duty.order))
        unended = [*self.unended(), *draft.duties]
        for duty in unended:
            for need in duty.needs:
                if need.source is None:
                    pool = draft.duties if duty not in revived else unended
                    found = [each for each in pool if each.agent == need.agent]
                    found.sort(key=lambda each: each.order, reverse=duty in revived)
                    if found:
                        draft.bound[need] = found[0]
        return draft

    def retry(self, draft: Draft) -> None:
        """Bring tasks back to where they were submitted."""
        for duty in draft.duties:
            duty.end = ""
            duty.reasons = frozenset()
            duty.at_work = False
            duty.life += 1
        for duty in draft.duties:
            for need in duty.needs:
                if need.source is None and need not in draft.bound:
                    need.source = self._latest(need.agent)
        for need, source in draft.bound.items():
            need.source = source
        for duty in self.unended():
            if any(each.agent == duty.agent and each.order < duty.order for each in draft.duties):
                duty.waiting_since = duty.ready_since = None
        self._spread()
        self._starve()

    # Ending

    def _end(self, duty: Duty, how: str, reason: str) -> None:
        self._ends += 1
        duty.end = how
        duty.reasons = frozenset({reason})
        duty.ended_as = self._ends
        duty.at_work = False
        duty.waiting_since = duty.ready_since = None
        self.ended[duty.id] = how

    def _spread(self) -> None:
        """Skip whatever depends on what has no output, until nothing changes any more."""
        skipped: list[Duty] = []
        while more := [
            duty for duty in self.unended() if not duty.at_work and not duty.proceed and duty.obstacles()
        ]:
            for duty in more:
                self._end(duty, "skipped", "")
                duty.reasons = frozenset()
            skipped += more
        changed = bool(skipped)
        while changed:
            before = [duty.reasons for duty in skipped]
            for duty in skipped:
                duty.reasons = frozenset().union(*(source.endings() for source in duty.obstacles()))
            changed = before != [duty.reasons for duty in skipped]

    def _starve(self) -> None:
        """Once nobody says anything more: if nothing can go on, the first that waits for nothing fails."""
        while self.input_has_ended and not self.busy:
            following = sorted(self.next_duties(), key=lambda duty: duty.order)
            stuck = [duty for duty in following if duty.without_source()]
            if not stuck or not all(duty.lacking() for duty in following):
                return
            names = ", ".join(f"@{each}" for each in stuck[0].without_source())
            self._end(stuck[0], "failed", f"Nobody is left who could give {names} any work.")
            self._spread()
