"""AT-001 to AT-008 with agents that are real processes and speak ACP: each answers with its prompt.

A prompt that begins with "stream" answers "one two", with a pause in the middle until the test says go on.
"""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.agents.backends.command import CommandBackend
from teambot_tui.agents.backends.openai import OpenAI
from teambot_tui.agents.groups import guard
from teambot_tui.engine.facts import TaskStarted
from teambot_tui.engine.headings import as_data
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.policy import Policy
from teambot_tui.language.errors import StatementError
from tests.agents.conformance import SAFETY, Go
from tests.agents.http_server import ChatServer
from tests.agents.subjects import acp_command, acp_processes
from tests.agents.test_process import carriers
from tests.team import Watch, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from teambot_tui.engine.ports import Backend


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    mark = f"test-{os.urandom(8).hex()}"
    monkeypatch.setenv("TEAMBOT_PROCESS", mark)
    yield
    guard.dismiss()
    assert psutil.Process().children(recursive=True) == []
    assert carriers(mark) == []


@pytest.fixture
def go(tmp_path: Path) -> Iterator[Go]:
    go = Go(tmp_path / "go")
    yield go
    go.close()


@pytest.fixture
def agents(go: Go) -> Acp:
    return Acp(AcpOptions(command=acp_command(go.path)))


class Story(Watch):
    """Everything that happened, and what each task was sent."""

    def prompt(self, task: str) -> str:
        """Return what a task was sent."""
        sent = {fact.task: fact.prompt for fact in self.facts if isinstance(fact, TaskStarted)}
        return next(prompt for started, prompt in sent.items() if started == task)


async def test_at_001_and_002_a_reference_waits_for_its_output(agents: Acp, go: Go) -> None:
    story = Story()
    async with asyncio.timeout(SAFETY), session_of(agents) as session:
        with session.bus.subscribe(story.see):
            session.submit("@pm stream")
            session.submit("@builder-1 Implement $pm")
            assert story.status("builder-1") == "@builder-1: waiting for @pm"
            go.tell()
            await session.idle()
            session.submit("@ba Check $pm, $builder-1")
            await session.idle()
    assert story.prompt("builder-1#1") == "Implement [Output from @pm]: one two"
    assert story.prompt("ba#1") == (
        "Check [Output from @pm]: one two, [Output from @builder-1]: Implement [Output from @pm]: one two"
    )


async def test_at_003_several_references(agents: Acp) -> None:
    story = Story()
    async with asyncio.timeout(SAFETY), session_of(agents) as session:
        with session.bus.subscribe(story.see):
            session.submit("@pm plan\n@ba needs\n@builder-1 Implement $pm using $ba, as $pm says")
            await session.idle()
    assert story.prompt("builder-1#1") == (
        "Implement [Output from @pm]: plan using [Output from @ba]: needs, as [Output from @pm, above] says"
    )


@pytest.mark.parametrize(
    ("first", "statement", "message"),
    [
        ("", "@pm Plan $nonexistent", "Unknown agent reference: $nonexistent. "),
        ("", "@builder-1 Implement $pm", "Agent @pm has no output to reference. "),
        (
            "@pm Plan with $builder-1 &",
            "@builder-1 Implement $pm",
            "Circular dependency detected: @builder-1 → @pm → @builder-1",
        ),
    ],
)
async def test_at_004_to_006_what_cannot_work_is_refused(
    agents: Acp, first: str, statement: str, message: str
) -> None:
    async with session_of(agents) as session:
        if first:
            session.submit(first)
        with pytest.raises(StatementError) as refused:
            session.submit(statement)
    assert refused.value.message.startswith(message)


async def test_at_007_and_008_a_pipeline_with_references_and_escapes(agents: Acp) -> None:
    story = Story()
    async with asyncio.timeout(SAFETY), session_of(agents) as session:
        with session.bus.subscribe(story.see):
            session.submit("@ba needs")
            session.submit("@pm plan -> @builder-1 Build with $ba and \\$pm")
            await session.idle()
        output = session.board.tasks[TaskId("builder-1#1")].output.text
    assert story.prompt("builder-1#1") == (
        "=== Output from @pm ===\nplan\n\n=== Your Task ===\nBuild with [Output from @ba]: needs and $pm"
    )
    assert output == story.prompt("builder-1#1")


async def test_a_cancelled_pipeline_leaves_nothing_running(agents: Acp) -> None:
    story = Story()
    async with asyncio.timeout(SAFETY), session_of(agents) as session:
        with session.bus.subscribe(story.see):
            session.submit("@pm,ba hang -> @builder-1 Build")
            session.cancel("all")
            await session.idle()
        assert {task.state for task in session.board.tasks.values()} == {"cancelled"}


async def test_a_pipeline_mixes_agents_of_every_kind(agents: Acp) -> None:
    """An ACP agent, a CLI and an HTTP model: each hands its output to each of the others."""
    stages = [
        ("pm", "acp"),
        ("ba", "cli"),
        ("reviewer", "http"),
        ("builder-1", "acp"),
        ("writer", "http"),
        ("builder-2", "cli"),
    ]
    story = Story()
    async with asyncio.timeout(SAFETY), ChatServer() as server:
        kinds: dict[str, Backend] = {
            "acp": agents,
            "cli": CommandBackend(["cat"]),
            "http": OpenAI(server.base_url, model="echo"),
        }
        others = {agent: kinds[kind] for agent, kind in stages}
        async with session_of(others=others) as session:
            with session.bus.subscribe(story.see):
                steps = (f"@{agent} Step {number}" for number, (agent, _) in enumerate(stages))
                session.submit(" -> ".join(steps))
                await session.idle()
                session.submit("@pm Check $builder-2")
                await session.idle()
            outputs = {task.id: task.output.text for task in session.board.tasks.values()}
    said = "Step 0"
    assert outputs[TaskId("pm#1")] == said
    for number, ((before, _), (agent, _)) in enumerate(pairwise(stages), start=1):
        said = f"=== Output from @{before} ===\n{as_data(said)}\n\n=== Your Task ===\nStep {number}"
        assert outputs[TaskId(f"{agent}#1")] == said
    assert outputs[TaskId("pm#2")] == f"Check [Output from @builder-2]: {as_data(said)}"
    assert [asked.messages[-1][1] for asked in server.asked] == [
        story.prompt("reviewer#1"),
        story.prompt("writer#1"),
    ]


async def test_nobody_to_ask_means_no(agents: Acp) -> None:
    async with asyncio.timeout(SAFETY), session_of(agents) as session:
        session.submit("@pm ask")
        await session.idle()
        assert session.board.tasks[TaskId("pm#1")].output.text == "denied (no)"


async def until_processes(count: int) -> None:
    """Wait until so many agents are left: those that end take a moment."""
    async with asyncio.timeout(SAFETY):
        while len(acp_processes()) != count:  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0.01)


async def test_sixty_runs_leave_few_processes(agents: Acp) -> None:
    most = 0

    def count(_: object) -> None:
        nonlocal most
        most = max(most, len(acp_processes()))

    async with session_of(agents, policy=Policy(max_parallel=4, idle_agents=3, spawn_runs=100)) as session:
        await session.run("@pm plan")
        with session.bus.subscribe(count, TaskStarted):
            await session.spawn(["go"] * 60, agent="ba", parallel=True)
            await session.idle()
        assert most < 30, "four at work, three idle, and those that are about to end"
        await until_processes(3)
        assert agents._sessions[AgentId("pm")].alive, "the team's own stay longest"
        left = [agent for agent in session.roster.agents if agent.startswith("ba-")]
        session.dismiss_idle(*left)
        await until_processes(1)


async def test_what_an_agent_was_started_for_ends_with_the_backend_it_leaves(go: Go, agents: Acp) -> None:
    other = Acp(AcpOptions(command=acp_command(go.path)))
    async with session_of(agents) as session:
        await session.run("@pm,ba plan")
        session.submit("@pm stream")
        await asyncio.sleep(0)
        for agent in session.roster.agents:
            session.set_backend(agent, other)
        session.submit("@ba go on")
        await session.ended([TaskId("ba#2")])
        await until_processes(2)  # ba's new one, and pm's, which still works
        go.tell()
        await session.idle()
        assert session.outcome(TaskId("pm#2")).output == "one two"
        await until_processes(1)
        await session.run("@pm go on")
        await until_processes(2)
