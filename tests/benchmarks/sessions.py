"""What a whole session costs its caller: waiting for each of many submissions, and keeping what was said."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.engine.ports import Member, Text
from teambot_tui.engine.session import Session
from tests.benchmarks.contestants import POLICY, Tally, team_of
from tests.benchmarks.measure import Figure, at_most, best, in_time, undisturbed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from teambot_tui.engine.ports import Request, Update
    from tests.benchmarks.measure import Scale

RUNS = 4_000
RUNS_LIMIT = 2.0
OUTPUTS = 200
OUTPUTS_LIMIT = 1.05
_PIECE = 64 * 1024
_MIB = 1024 * 1024


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure waiting and keeping."""
    size = min(RUNS, scale.tasks[-1])
    waited, idle = best(scale.rounds, partial(_run, size, waiting=True), partial(_run, size, waiting=False))
    yield at_most(
        f"{size:,} runs at once, each waited for",
        f"{in_time(waited / size)}/run",
        f"submit, idle {in_time(idle / size)}",
        waited / idle,
        RUNS_LIMIT,
    )
    count = min(OUTPUTS, scale.repeats)
    kept = asyncio.run(_keep(count))
    yield at_most(
        f"{count} outputs of 1 MiB",
        f"+{kept / _MIB:,.0f} MiB",
        f"one copy {count} MiB",
        kept / (count * _MIB),
        OUTPUTS_LIMIT,
    )


def _run(size: int, *, waiting: bool) -> float:
    return asyncio.run(_submit(size, waiting=waiting))


async def _submit(size: int, *, waiting: bool) -> float:
    members = team_of(100)
    texts = [f"@{members[number % len(members)].id} Go on" for number in range(size)]
    async with Session(members, policy=POLICY, directory=Path(), clock=time.monotonic) as session:
        with undisturbed():
            begin = time.process_time()
            if waiting:
                await asyncio.gather(*map(session.run, texts))
            else:
                for text in texts:
                    session.submit(text)
                await session.idle()
            return time.process_time() - begin


class _Talkative:
    """A backend that says a mebibyte."""

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        for number in range(_MIB // _PIECE):
            yield Text(chr(ord("a") + number) * _PIECE)


async def _keep(count: int) -> float:
    """Return by how many bytes a session has grown after so many outputs."""
    members = [Member(member.id, "", None, _Talkative()) for member in team_of(10)]
    tally = Tally()
    async with Session(members, policy=POLICY, directory=Path(), clock=time.monotonic) as session:
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            with session.bus.subscribe(tally.see):
                for number in range(count):
                    session.submit(f"@{members[number % len(members)].id} Go on")
                await session.idle()
            return tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
