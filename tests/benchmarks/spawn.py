"""What a run costs that is started by name, against the same task given to the core ready-made."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.engine.ports import Member
from teambot_tui.engine.session import Session
from tests.benchmarks.contestants import POLICY, Silent, by_session
from tests.benchmarks.graphs import fan_in
from tests.benchmarks.measure import at_most, best, in_time, undisturbed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.facts import AgentDefined
    from tests.benchmarks.measure import Figure, Scale

LIMIT = 2.0
RUNS = 200


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure a fan-out of runs by one call, and the run that waits for them all."""
    size = min(RUNS, scale.tasks[-1])
    ours, plain = best(scale.rounds * 3, partial(_spawned, size), partial(by_session, fan_in(size)))
    yield at_most(
        f"fan-out and fan-in of {size} runs",
        f"{in_time(ours / size)}/run",
        f"the core {in_time(plain / size)}",
        ours / plain,
        LIMIT,
    )


def _spawned(size: int) -> float:
    return asyncio.run(_spawn(size))


async def _spawn(size: int) -> float:
    backend = Silent()

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "", None, backend)

    session = Session(
        [], policy=POLICY, directory=Path(), clock=time.monotonic, bases=("b",), recruit=recruit
    )
    tasks = ["Go on"] * (size - 1)
    with undisturbed():
        begin = time.process_time()
        async with session:
            runs = await session.spawn(tasks, agent="b", parallel=True)
            assert isinstance(runs, list)
            await session.spawn("Sum up", agent="b", depends_on=[run.id for run in runs])
            await session.idle()
        seconds = time.process_time() - begin
    assert all(run.status == "completed" for run in runs)
    return seconds
