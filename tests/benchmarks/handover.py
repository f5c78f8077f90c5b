"""How long a task waits after the one it needs has ended: from the end of the work to the next backend."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

from teambot_tui.engine.facts import WorkEnded
from teambot_tui.engine.ports import Member
from teambot_tui.engine.session import Session
from tests.benchmarks.contestants import POLICY, plan, team_of
from tests.benchmarks.graphs import chain
from tests.benchmarks.measure import Figure, in_time, undisturbed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ports import Request, Update
    from tests.benchmarks.measure import Scale


LIMIT = 1e-3
"""Nobody sees a shorter pause."""


class _Punctual:
    """A backend that notes when it is entered."""

    def __init__(self) -> None:
        self.entered: list[float] = []

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        self.entered.append(time.perf_counter())
        return
        yield


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure the handover along a chain."""
    rounds = [
        (asyncio.run(_handovers(scale.repeats)), asyncio.run(_wakings(scale.repeats)))
        for _ in range(scale.rounds)
    ]
    for percent in (50, 99):
        ours, waking = (
            min(_percentile(side, percent) for side in column) for column in zip(*rounds, strict=True)
        )
        yield Figure(
            f"end of a task to the start of the next, p{percent}",
            in_time(ours),
            f"Event set to wake {in_time(waking)}",
            ours / waking,
            f"< {in_time(LIMIT)}",
            ours < LIMIT,
        )


async def _handovers(size: int) -> list[float]:
    """Return how long each task of a chain was not yet in its backend after the one before had ended."""
    backend = _Punctual()
    ended: list[float] = []

    def see(fact: Fact) -> None:
        ended.append(fact.time)

    graph = chain(size + 1)
    members = [Member(member.id, "", None, backend) for member in team_of(graph.team)]
    # The runner reads the clock when work has ended and before the rules hear of it.
    session = Session(members, policy=POLICY, directory=Path(), clock=time.perf_counter)
    facts = plan(graph, time.perf_counter())
    with undisturbed(), session.bus.subscribe(see, WorkEnded):
        async with session:
            for fact in facts:
                session._runner.report(fact)
            await session.idle()
    return [entry - end for end, entry in zip(ended, backend.entered[1:], strict=False)]


async def _wakings(count: int) -> list[float]:
    """Return how long a task that waits for an event takes to wake, again and again."""
    signal, answer = asyncio.Event(), asyncio.Event()
    delays: list[float] = []
    begin = 0.0

    async def wait() -> None:
        for _ in range(count):
            await signal.wait()
            delays.append(time.perf_counter() - begin)
            signal.clear()
            answer.set()

    with undisturbed():
        async with asyncio.TaskGroup() as group:
            group.create_task(wait())
            await asyncio.sleep(0)
            for _ in range(count):
                begin = time.perf_counter()
                signal.set()
                await answer.wait()
                answer.clear()
    return delays


def _percentile(delays: list[float], percent: int) -> float:
    return quantiles(delays, n=100)[percent - 1]
