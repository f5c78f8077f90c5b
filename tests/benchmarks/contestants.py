"""Who runs the graphs: a session, asyncio by hand, and langgraph where it is installed.

Each returns the seconds it took; what a user would have ready before, such as the team, is not counted.
"""

from __future__ import annotations

import asyncio
import operator
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Dependency, Via
from teambot_tui.engine.facts import (
    ActivityReported,
    DependencyMet,
    TaskCompleted,
    TaskCreated,
    TaskStarted,
    TaskWaiting,
    WorkEnded,
)
from teambot_tui.engine.ids import AgentId, task_id
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import Member, Request
from teambot_tui.engine.session import Session
from teambot_tui.language.nodes import Span, Words
from tests.benchmarks.measure import undisturbed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ports import Activity
    from tests.benchmarks.graphs import Graph

POLICY = Policy(wait_timeout=1e6, max_parallel=1_000_000)


class Silent:
    """A backend that has nothing to say."""

    async def run(self, request: Request) -> AsyncGenerator[Activity, None]:
        return
        yield


class Tally:
    """A subscriber that counts."""

    def __init__(self) -> None:
        self.count = 0

    def see(self, fact: Fact) -> None:
        self.count += 1


def team_of(size: int) -> list[Member]:
    """Return a team on one silent backend."""
    backend = Silent()
    return [Member(_agent(number), "", None, backend) for number in range(size)]


def plan(graph: Graph, now: float) -> list[TaskCreated]:
    """Return the facts that the resolver would make of a graph."""
    created: list[TaskCreated] = []
    for number, sources in enumerate(graph.sources):
        agent = _agent(number % graph.team)
        created.append(
            TaskCreated(
                time=now,
                task=task_id(agent, number // graph.team + 1),
                agent=agent,
                parts=(Words("Go on", Span(0, 5)),),
                dependencies=tuple(
                    Dependency(created[source].agent, created[source].task, Via.HANDOFF) for source in sources
                ),
                background=False,
                model=None,
            )
        )
    return created


def by_session(graph: Graph, repeats: int = 1) -> float:
    """Run a graph in a session with one subscriber, from the creation of its tasks to its end."""
    return asyncio.run(_by_session(graph, repeats))


async def _by_session(graph: Graph, repeats: int) -> float:
    members = team_of(graph.team)
    facts = plan(graph, time.monotonic())
    sessions = [
        Session(members, policy=POLICY, directory=Path(), clock=time.monotonic) for _ in range(repeats)
    ]
    tallies = [Tally() for _ in sessions]
    with undisturbed():
        begin = time.process_time()
        for session, tally in zip(sessions, tallies, strict=True):
            report = session._runner.report  # the door for facts that are resolved already
            with session.bus.subscribe(tally.see):
                async with session:
                    for fact in facts:
                        report(fact)
                    await session.idle()
        seconds = time.process_time() - begin
    for session in sessions:
        _check(session, len(graph))
    return seconds / repeats


def by_text(graph: Graph) -> float:
    """Run a chain as someone would type it: parsed, resolved and run."""
    return asyncio.run(_by_text(graph))


async def _by_text(graph: Graph) -> float:
    names = [_agent(number % graph.team) for number in range(len(graph))]
    text = " -> ".join(f"@{name} Go on" for name in names)
    session = Session(team_of(graph.team), policy=POLICY, directory=Path(), clock=time.monotonic)
    with undisturbed():
        begin = time.process_time()
        async with session:
            await session.run(text)
        seconds = time.process_time() - begin
    _check(session, len(graph))
    return seconds


def _check(session: Session, size: int) -> None:
    completed = sum(task.state is State.COMPLETED for task in session.board.tasks.values())
    assert completed == size, "every task completes, or the time means nothing"


def by_hand(graph: Graph, repeats: int = 1) -> float:
    """Run a graph on a bare task group: a task waits for those it needs and does nothing."""
    return asyncio.run(_by_hand(graph, repeats))


async def _by_hand(graph: Graph, repeats: int) -> float:
    async def work(upstream: list[asyncio.Task[None]]) -> None:
        for task in upstream:
            await task

    with undisturbed():
        begin = time.process_time()
        for _ in range(repeats):
            tasks: list[asyncio.Task[None]] = []
            async with asyncio.TaskGroup() as group:
                for sources in graph.sources:
                    tasks.append(group.create_task(work([tasks[source] for source in sources])))
        return (time.process_time() - begin) / repeats


def by_generator(graph: Graph, repeats: int = 1) -> float:
    """Run a graph on a task group whose tasks drain a backend and tell what a session would tell."""
    return asyncio.run(_by_generator(graph, repeats))


async def _by_generator(graph: Graph, repeats: int) -> float:
    backend, see, clock, directory = Silent(), Tally().see, time.monotonic, Path()

    async def work(plan: TaskCreated, upstream: list[asyncio.Task[None]]) -> None:
        if upstream:
            see(TaskWaiting(clock(), plan.task, tuple(each.agent for each in plan.dependencies), ()))
        for task, dependency in zip(upstream, plan.dependencies, strict=True):
            await task
            see(DependencyMet(clock(), plan.task, dependency.agent))
        request = Request(plan.task, plan.agent, "Go on", "", None, directory, "Go on", ())
        begin = clock()
        see(TaskStarted(begin, plan.task, request.prompt, request.system, request.model))
        async for update in backend.run(request):
            see(ActivityReported(clock(), plan.task, update))
        end = clock()
        see(WorkEnded(end, plan.task, None))
        see(TaskCompleted(end, plan.task, "", end - begin))

    plans = plan(graph, clock())
    with undisturbed():
        start = time.process_time()
        for _ in range(repeats):
            tasks: list[asyncio.Task[None]] = []
            async with asyncio.TaskGroup() as group:
                for created, sources in zip(plans, graph.sources, strict=True):
                    see(created)
                    tasks.append(group.create_task(work(created, [tasks[source] for source in sources])))
        return (time.process_time() - start) / repeats


def has_langgraph() -> bool:
    """Whether langgraph can be imported; it is no dependency of this project."""
    return find_spec("langgraph") is not None


class _Done(TypedDict):
    done: Annotated[int, operator.add]


def by_langgraph(graph: Graph, *, compiling: bool) -> float:
    """Run a graph on langgraph; describing it is not counted, compiling it only if asked for."""
    langgraph: Any = import_module("langgraph.graph")
    builder = langgraph.StateGraph(_Done)

    async def work(state: _Done) -> _Done:
        return {"done": 1}

    for number, sources in enumerate(graph.sources):
        builder.add_node(str(number), work)
        builder.add_edge([str(source) for source in sources] if sources else langgraph.START, str(number))
    return asyncio.run(_by_langgraph(builder, len(graph), compiling=compiling))


async def _by_langgraph(builder: Any, size: int, *, compiling: bool) -> float:  # noqa: ANN401  foreign types
    with undisturbed():
        begin = time.process_time()
        compiled = builder.compile()
        if not compiling:
            begin = time.process_time()
        result = await compiled.ainvoke({"done": 0}, {"recursion_limit": size + 10})
        seconds = time.process_time() - begin
    assert result["done"] == size, "every node ran, or the time means nothing"
    return seconds


def _agent(number: int) -> AgentId:
    return AgentId(f"agent-{number}")
