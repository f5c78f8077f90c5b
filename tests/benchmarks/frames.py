"""What a frame costs, whatever else there is in the session; and how little waits for a slow reader."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from teambot_tui.engine.facts import TextProduced
from teambot_tui.engine.ids import TaskId
from teambot_tui.service import Service
from teambot_tui.ui.views import Views
from tests.benchmarks.measure import Figure, in_time
from tests.team import TEAM, Gate, session_of, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measure import Scale

FEW, MANY = 10, 5_000
LIMIT = 0.003
GROWTH = 2.0
PIECES = 60_000
MOST_WAITING = 100


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure the frames of a small and of a large session, and what waits for a reader that stalls."""
    few, many = (asyncio.run(_frame_with_one_change(size, scale.rounds * 20)) for size in (FEW, MANY))
    yield Figure(
        f"frame with one changed task among {MANY:,}",
        in_time(many),
        f"among {FEW} {in_time(few)}",
        many / few,
        f"≤ {in_time(LIMIT)}, ≤ {GROWTH:g} ×",
        many <= LIMIT and many <= GROWTH * few,
    )
    waiting = asyncio.run(_waiting_for_a_stalled_reader())
    yield Figure(
        f"{len(TEAM)} agents in turn, {PIECES:,} pieces, the reader stalled",
        f"{waiting} texts",
        f"{len(TEAM)} agents",
        waiting / len(TEAM),
        f"≤ {MOST_WAITING} texts",
        waiting <= MOST_WAITING,
    )


async def _frame_with_one_change(size: int, rounds: int) -> float:
    gate = Gate()
    async with session_of(gate) as session:
        service = Service(session)
        with service.following():
            for number in range(size):
                session.submit(f"@{TEAM[number % len(TEAM)]} go on")
            await settle()
            views = Views(service.frame())
            costs: list[float] = []
            for number in range(rounds):
                session.bus.publish(TextProduced(0.0, TaskId("pm#1"), f"word {number}\n"))
                session.set_model(session.roster.agents[0], str(number))
                session.submit(f"@{TEAM[number % len(TEAM)]} more")
                began = time.perf_counter()
                views.take_in(service.frame())
                costs.append(time.perf_counter() - began)
    return min(costs)


async def _waiting_for_a_stalled_reader() -> int:
    async with session_of(Gate()) as session:
        service = Service(session)
        with service.following():
            session.submit("@all talk")
            await settle()
            service.frame()
            for number in range(PIECES):
                task = TaskId(f"{TEAM[number % len(TEAM)]}#1")
                session.bus.publish(TextProduced(0.0, task, f"{number} "))
            return len(service.frame().said)
