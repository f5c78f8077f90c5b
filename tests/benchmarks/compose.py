"""What a compose file adds: loading it, and running it instead of placing the same orders by hand."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.orders import Need, Newcomer, Order
from teambot_tui.engine.ports import Member
from teambot_tui.engine.session import Session
from teambot_tui.language.nodes import Span, Words
from teambot_tui.workflows.compose import load_compose
from teambot_tui.workflows.selection import select
from teambot_tui.workflows.up import Up
from tests.benchmarks.contestants import POLICY, Silent
from tests.benchmarks.graphs import SHAPES, layers
from tests.benchmarks.measure import at_most, best, in_time, undisturbed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.workflows.schema import ComposeFile
    from tests.benchmarks.graphs import Graph
    from tests.benchmarks.measure import Figure, Scale

LIMIT = 1.5
SECONDS = 1.0
_BASE = "general-purpose"
_PROMPT = "Go on"


def figures(scale: Scale) -> Iterator[Figure]:
    """Measure files of up to a thousand tasks."""
    size = min(1_000, scale.tasks[-1])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "teambot.yaml"
        path.write_text(_text(layers(size)))
        (seconds,) = best(scale.rounds, partial(_loading, path))
        yield at_most(
            f"{size:,} tasks, loading", in_time(seconds), in_time(SECONDS), seconds / SECONDS, SECONDS
        )
        for shape in SHAPES:
            graph = shape(size)
            path.write_text(_text(graph))
            file = load_compose(path)
            ours, bare = best(scale.rounds * 2, partial(_by_file, file), partial(_by_orders, graph))
            yield at_most(
                str(graph),
                f"{in_time(ours / size)}/task",
                f"placed by hand {in_time(bare / size)}",
                ours / bare,
                LIMIT,
            )


def _text(graph: Graph) -> str:
    lines = ['version: "1"', "tasks:"]
    for number, sources in enumerate(graph.sources):
        needs = ", ".join(f"task-{source}" for source in sources)
        lines.append(f"  task-{number}: {{prompt-string: {_PROMPT}, depends_on: [{needs}]}}")
    return "\n".join(lines)


def _loading(path: Path) -> float:
    with undisturbed():
        begin = time.process_time()
        load_compose(path)
        return time.process_time() - begin


def _by_file(file: ComposeFile) -> float:
    return asyncio.run(_run_file(file))


async def _run_file(file: ComposeFile) -> float:
    async with _session() as session:
        with undisturbed():
            begin = time.process_time()
            up = Up(session, file, select(file))
            up.begin()
            await up.wait()
            seconds = time.process_time() - begin
        _check(session, len(file.tasks))
    return seconds


def _by_orders(graph: Graph) -> float:
    return asyncio.run(_place_orders(graph))


async def _place_orders(graph: Graph) -> float:
    async with _session() as session:
        with undisturbed():
            begin = time.process_time()
            agents = [AgentId(f"task-{number}") for number in range(len(graph))]
            orders = [
                Order(
                    agent,
                    (Words(_PROMPT, Span(0, len(_PROMPT))),),
                    tuple(Need(agents[source]) for source in sources),
                    label=agent,
                )
                for agent, sources in zip(agents, graph.sources, strict=True)
            ]
            session.place(orders, [Newcomer(agent, _BASE) for agent in agents])
            await session.idle()
            seconds = time.process_time() - begin
        _check(session, len(graph))
    return seconds


def _session() -> Session:
    backend = Silent()

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "", None, backend)

    lead = Member(AgentId("pm"), "", None, backend)
    return Session([lead], policy=POLICY, directory=Path(), bases=[_BASE], recruit=recruit)


def _check(session: Session, size: int) -> None:
    completed = sum(task.state is State.COMPLETED for task in session.board.tasks.values())
    assert completed == size, "every task completes, or the time means nothing"
