"""Agents reach the team through MCP: a real client over loopback, in the place of a real agent."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.agents.backends.command import CommandBackend
from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.facts import PermissionAsked
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import Member, Permissions, Text, ToolServer, Verdict
from teambot_tui.engine.session import Session
from teambot_tui.engine.spawning import Run
from teambot_tui.headless.events import JsonLines
from teambot_tui.workflows.mcp_server import McpTeamTools
from tests.agents.subjects import acp_command
from tests.team import TEAM, Gate, settle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

    from mcp import Client

    from teambot_tui.engine.facts import AgentDefined, Fact
    from teambot_tui.engine.ports import Backend, Request, Update

pytest.importorskip("mcp")


class Leader:
    """An agent that does with its tools what the test says."""

    def __init__(self, lead: Callable[[Client], Awaitable[str]]) -> None:
        self._lead = lead

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        assert request.tools is not None
        server = await request.tools()
        assert server is not None
        async with client_of(server) as client:
            answer = await self._lead(client)
        yield Text(answer)


@asynccontextmanager
async def client_of(server: ToolServer) -> AsyncIterator[Client]:

    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {server.secret}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(server.url, http_client=http)) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:  # noqa: ANN401  JSON
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]
    return text if result.is_error else json.loads(text)


@asynccontextmanager
async def session_led_by(
    lead: Callable[[Client], Awaitable[str]],
    gate: Gate,
    *,
    permissions: Permissions = Permissions.ALLOW,
    policy: Policy | None = None,
    attended: bool = True,
    beat: float = 10.0,
) -> AsyncIterator[Session]:
    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, f"You are {defined.base}.", None, gate)

    leader = Member(AgentId("pm"), "You lead.", None, Leader(lead), permissions)
    others = [Member(AgentId(name), f"You are {name}.", None, gate) for name in TEAM[1:]]
    session = Session(
        [leader, *others], policy=policy, bases=("general-purpose",), recruit=recruit, attended=attended
    )
    session.offer_tools(McpTeamTools(session, beat=beat))
    async with session:
        yield session


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  the server has its own pace
            await asyncio.sleep(0)


async def test_an_agent_starts_another_and_reads_what_it_said() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        started = await call(client, "spawn", task="Look", label="research", shared_context={"depth": 2})
        (run,) = started["runs"]
        assert run == {"run": "research#1", "agent": "research", "status": "executing", "label": "research"}
        (ended,) = (await call(client, "wait", runs=["research"]))["runs"]
        assert ended["status"] == "completed"
        return str((await call(client, "output", run="research"))["output"])

    async with session_led_by(lead, gate) as session:
        session.submit("@pm Lead")
        await until(lambda: gate.started == ["research#1"])
        assert gate.requests[0].system.endswith("[Shared Context]:\n- depth: 2")
        assert session.board.tasks[TaskId("research#1")].plan.parent == "pm#1"
        gate.answer("research#1", "found it")
        await session.idle()
        assert session.outcome(TaskId("pm#1")).output == "found it"


async def test_the_tools_describe_themselves_and_tell_what_is_wrong() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [
            "spawn",
            "wait",
            "output",
            "status",
            "list_agents",
            "shared_context",
        ]
        assert all(tool.description for tool in tools)
        assert tools[0].input_schema["required"] == ["task"]
        assert all("description" in each for each in tools[0].input_schema["properties"].values())
        names = [each["agent"] for each in (await call(client, "list_agents"))["agents"]]
        assert names == [*TEAM, "general-purpose"]
        assert await call(client, "shared_context") == {"goal": "ship"}
        assert [run["run"] for run in (await call(client, "status"))["runs"]] == ["pm#1"]
        wrong = await call(client, "output", run="nothing")
        assert "There is no task, label or agent nothing" in wrong
        wrong = await call(client, "spawn", task="x", agent="generalpurpose")
        assert "Did you mean general-purpose?" in wrong
        wrong = await call(client, "spawn", task=["a"] * 9, parallel=True)
        assert "at most 8 others (spawn_children)" in wrong
        return "done"

    async with session_led_by(lead, gate) as session:
        session.set_context("goal", "ship")
        result = await session.run("@pm Lead")
        assert result.output == "done", result


async def test_any_of_several_and_the_time_that_is_over() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        runs = await call(client, "spawn", task=["a", "b"], parallel=True)
        names = [run["run"] for run in runs["runs"]]
        stand = await call(client, "wait", runs=names, at_least=1)
        late = await call(client, "wait", runs=names, timeout=0.01)
        return " ".join(run["status"] for run in [*stand["runs"], *late["runs"]])

    async with session_led_by(lead, gate) as session:
        session.submit("@pm Lead")
        await until(lambda: len(gate.started) == 2)
        gate.answer(gate.started[0])
        await until(lambda: session.board.tasks[TaskId("pm#1")].ended)
        assert session.outcome(TaskId("pm#1")).output == "completed executing completed executing"
        session.cancel()


async def test_whoever_waits_is_told_that_it_goes_on() -> None:
    """Clients give up after a minute without a sign, and runs and people may take longer."""
    gate = Gate()

    async def lead(client: Client) -> str:
        async def allow(progress: float, total: float | None, message: str | None) -> None:
            for asked in session.approvals:
                session.answer(asked.task, asked.request, Verdict.ALLOW)

        async def let_it_end(progress: float, total: float | None, message: str | None) -> None:
            if progress == 3:
                gate.answer("general-purpose-1#1", "found it")

        await client.call_tool("spawn", {"task": "Look"}, progress_callback=allow)
        await client.call_tool("wait", {"runs": ["general-purpose-1"]}, progress_callback=let_it_end)
        return str((await call(client, "output", run="general-purpose-1"))["output"])

    async with (
        asyncio.timeout(60),
        session_led_by(lead, gate, permissions=Permissions.ASK, beat=0.01) as session,
    ):
        assert (await session.run("@pm Lead")).output == "found it"


@pytest.mark.parametrize("verdict", list(Verdict))
async def test_the_first_run_needs_leave_and_the_answer_holds(verdict: Verdict) -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        first = await call(client, "spawn", task="a")
        second = await call(client, "spawn", task="b")
        return f"{first} {second}"

    async with session_led_by(lead, gate, permissions=Permissions.ASK) as session:
        session.submit("@pm Lead")
        await until(lambda: session.approvals)
        (asked,) = session.approvals
        assert asked.tool == "spawn"
        assert asked.detail.startswith(
            "start @general-purpose on its own model\nA yes holds for all that @pm"
        )
        assert asked.detail.endswith("\nTask:\n  a")
        session.answer(asked.task, asked.request, verdict, words="Ask ba instead.")
        await until(lambda: session.board.tasks[TaskId("pm#1")].ended)
        started = len([task for task in session.board.tasks.values() if task.parent])
        assert started == (2 if verdict is Verdict.ALLOW else 0)
        told = "did not allow you to start other agents. The person says: Ask ba instead."
        refused = session.outcome(TaskId("pm#1")).output.count(told)
        assert refused == (0 if verdict is Verdict.ALLOW else 2)
        session.cancel()


async def test_another_agent_that_takes_the_name_is_asked_about_again() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        return str(await call(client, "spawn", task="a"))

    def recruit(defined: AgentDefined) -> Member:
        backend = Leader(lead) if defined.agent == "scout" else gate
        return Member(defined.agent, "You are new.", None, backend, Permissions.ASK)

    team = [Member(AgentId("pm"), "You are pm.", None, gate)]
    session = Session(team, bases=("general-purpose",), recruit=recruit, attended=True)
    session.offer_tools(McpTeamTools(session, beat=10.0))
    scout = AgentId("scout")
    async with asyncio.timeout(60), session:
        session.define(scout, "general-purpose", "You look.")
        questions = 0
        for number, is_new in enumerate([False, False, True], 1):
            if is_new:
                session.dismiss(scout)
                session.define(scout, "general-purpose", "You are evil.")
            session.submit("@scout Look")
            task = session.board.tasks[TaskId(f"scout#{number}")]
            await until(lambda: session.approvals or task.ended)  # noqa: B023
            for asked in session.approvals:
                questions += 1
                session.answer(asked.task, asked.request, Verdict.ALLOW)
            await session.ended([task.id])
        assert questions == 2
        session.cancel()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "x", "agent": "nobody"}, "There is no agent nobody."),
        ({"task": "x", "agent": "ba", "base": "general-purpose", "prompt": "x"}, "There is an agent ba"),
        ({"task": []}, "A run needs a task."),
        ({"task": ["a", "b"]}, "at most 1 others (spawn_children)"),
        ({"task": "x", "label": "a#1"}, "A label must not contain"),
        ({"task": "x", "depends_on": "nothing"}, "There is no task, label or agent nothing"),
    ],
)
async def test_nobody_is_asked_for_what_would_be_refused_anyway(
    arguments: dict[str, Any], message: str
) -> None:
    async def lead(client: Client) -> str:
        return str(await call(client, "spawn", **arguments))

    policy = Policy(spawn_children=1)
    asked: list[Fact] = []
    async with (
        asyncio.timeout(60),
        session_led_by(lead, Gate(), permissions=Permissions.ASK, policy=policy) as session,
    ):
        with session.bus.subscribe(asked.append, PermissionAsked):
            session.submit("@pm Lead")
            await until(lambda: session.approvals or session.board.tasks[TaskId("pm#1")].ended)
    assert not asked
    assert message in session.outcome(TaskId("pm#1")).output
    assert list(session.board.tasks) == ["pm#1"]


async def test_what_can_be_started_no_more_when_the_answer_comes_is_refused_then() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        return str(await call(client, "spawn", task="x"))

    policy = Policy(spawn_runs=1)
    async with (
        asyncio.timeout(60),
        session_led_by(lead, gate, permissions=Permissions.ASK, policy=policy) as session,
    ):
        session.submit("@pm Lead")
        await until(lambda: session.approvals)
        run = await session.spawn("The only one")
        assert isinstance(run, Run)
        assert run.agent == "general-purpose-1", "a question takes no name"
        (asked,) = session.approvals
        session.answer(asked.task, asked.request, Verdict.ALLOW)
        await session.ended([TaskId("pm#1")])
        assert "at most 1 runs (spawn_runs)" in session.outcome(TaskId("pm#1")).output
        session.cancel()


async def test_the_question_names_agent_task_model_and_what_a_yes_costs() -> None:
    async def lead(client: Client) -> str:
        tasks = ["Scan auth\nA yes costs nothing.", "Scan the rest"]
        new = {"agent": "scanner", "base": "general-purpose", "prompt": "You know OWASP.", "model": "opus"}
        further = {"retries": 2, "sharedContext": {"goal": "ship\nTask 3:"}, "label": "scan"}
        return str(await call(client, "spawn", task=tasks, parallel=True, **new, **further))

    policy = Policy(budget=5.0, spawn_runs=9, spawn_children=3, spawn_parallel=2)
    async with session_led_by(lead, Gate(), permissions=Permissions.ASK, policy=policy) as session:
        session.submit("@pm Lead")
        await until(lambda: session.approvals)
        (asked,) = session.approvals
        assert asked.detail.split("\n") == [
            "start a new agent @scanner, made of @general-purpose, 2 runs at once, on opus",
            "A yes holds for all that @pm starts from now on, without asking again:",
            "  9 more runs in this session (spawn_runs), 3 by one task,",
            "  2 at work at once.",
            "  Each costs what its agent uses; $0.00 and 0 tokens are used so far, of $5.00.",
            "Who it is:",
            "  You know OWASP.",
            "Task 1:",
            "  Scan auth",
            "  A yes costs nothing.",
            "Task 2:",
            "  Scan the rest",
            "label:",
            "  scan",
            "retries:",
            "  2",
            "shared_context:",
            '  {"goal": "ship\\nTask 3:"}',
        ]
        session.cancel()


async def test_spawn_takes_all_that_the_python_one_does() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        await call(client, "spawn", task="Look", label="research")
        await call(client, "spawn", task="Ask", label="asked")
        options: dict[str, Any] = {
            "agent": "scanner",
            "base": "general-purpose",
            "prompt": "You know OWASP.",
            "dependsOn": ["research"],
            "chain_after": "asked",
            "includeDependencyResult": True,
            "shared_context": {"$research": "reference", "goal": "ship"},
            "timeout": 60,
            "onDependencyFailure": "proceed",
            "retries": 1,
            "model": "opus",
        }
        (run,) = (await call(client, "spawn", task="Scan", **options))["runs"]
        gate.answer("research#1", "found it")
        gate.answer("asked#1", "yes")
        await call(client, "wait", runs=["scanner"])
        return str(run["run"])

    async with asyncio.timeout(60), session_led_by(lead, gate) as session:
        session.submit("@pm Lead")
        await until(lambda: "scanner#1" in gate.started)
        request = gate.requests[-1]
        assert request.prompt == (
            "[Previous step result: asked]:\nyes\n\n[Previous step result: research]:\nfound it\n\n"
            "[Current task]:\nScan"
        )
        assert '- research: "found it"' in request.system
        assert '- goal: "ship"' in request.system
        assert request.model == "opus"
        assert session.roster.temporary[AgentId("scanner")].prompt == "You know OWASP."
        plan = session.board.tasks[TaskId("scanner#1")].plan
        assert plan.retries == 1
        assert {each.condition for each in plan.dependencies} == {Condition.ALWAYS}
        gate.answer("scanner#1", "safe")
        await session.idle()
        assert session.outcome(TaskId("pm#1")).output == "scanner#1"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("spawn", {"task": "x", "dependson": "y"}, "spawn takes no dependson. Did you mean depends_on?"),
        ("spawn", {"task": "x", "shareContext": {}}, "Did you mean shared_context?"),
        ("spawn", {"task": "x", "dependsOn": "a", "depends_on": "b"}, "depends_on is given twice."),
        ("spawn", {"task": "x", "on_dependency_failure": "stop"}, "'skip', 'refuse' or 'proceed'"),
        ("spawn", {"task": "x", "timeout": 0}, "greater than 0"),
        ("wait", {"runs": ["pm"], "atleast": 1}, "Did you mean at_least?"),
        ("list_agents", {"of": "x"}, "list_agents takes no of."),
    ],
)
async def test_an_argument_that_a_tool_does_not_know_is_refused(
    tool: str, arguments: dict[str, Any], message: str
) -> None:
    async def lead(client: Client) -> str:
        return str(await call(client, tool, **arguments))

    async with session_led_by(lead, Gate()) as session:
        assert message in (await session.run("@pm Lead")).output
        assert list(session.board.tasks) == ["pm#1"]


async def test_the_context_of_a_run_is_for_itself_and_its_siblings() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        told = [
            await call(client, "shared_context"),
            await call(client, "shared_context", run="b"),
            await call(client, "shared_context", run="ba"),
        ]
        return json.dumps(told)

    members: dict[str, Backend] = {"pm": gate, "ba": gate, "led": Leader(lead)}

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "", None, members[defined.base])

    team = [Member(AgentId(name), "", None, members[name]) for name in members]
    session = Session(team, recruit=recruit)
    session.offer_tools(McpTeamTools(session))
    async with asyncio.timeout(60), session:
        parent = await session.spawn("Lead", agent="pm", shared_context={"goal": "ship"})
        await session.spawn("Else", agent="ba", shared_context={"secret": 1})
        assert isinstance(parent, Run)
        await session.spawn("B", agent="ba", label="b", parent=parent.id, shared_context={"part": "b"})
        child = await session.spawn("A", agent="led", parent=parent.id, shared_context={"part": "a"})
        assert isinstance(child, Run)
        own, sibling, stranger = json.loads(await child.wait())
        assert own == {"goal": "ship", "part": "a"}
        assert sibling == {"goal": "ship", "part": "b"}
        assert "ba#1 was not started by whoever started you" in stranger
        session.cancel()


async def test_a_question_that_nobody_answered_is_asked_again() -> None:
    async def lead(client: Client) -> str:
        return str(await call(client, "spawn", task="a"))

    async with session_led_by(lead, Gate(), permissions=Permissions.ASK) as session:
        session.submit("@pm Lead")
        await until(lambda: session.approvals)
        session.cancel("pm")
        await session.idle()
        assert not session.approvals
        session.submit("@pm Lead")
        await until(lambda: session.approvals)
        (asked,) = session.approvals
        session.answer(asked.task, asked.request, Verdict.ALLOW)
        await until(lambda: session.board.tasks[TaskId("pm#2")].ended)
        assert "general-purpose-1#1" in session.outcome(TaskId("pm#2")).output
        session.cancel()


async def test_what_an_agent_calls_its_runs_is_one_clean_line() -> None:
    async def lead(client: Client) -> str:
        context = {"a\x1b[2Jb\nc": 1}
        return str(
            await call(client, "spawn", task="a", label="\x1b]0;x\x07[b]red\nx", shared_context=context)
        )

    async with session_led_by(lead, Gate()) as session:
        await session.run("@pm Lead")
        (run,) = (task for task in session.board.tasks.values() if task.parent)
        assert (run.plan.label, run.plan.context) == ("[b]red x", (("ab c", "1"),))
        session.cancel()


async def test_an_agent_waits_for_a_task_that_waits_for_its_place() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        return str((await call(client, "wait", runs=["ba"]))["runs"][0]["status"])

    async with asyncio.timeout(60), session_led_by(lead, gate, policy=Policy(max_parallel=1)) as session:
        session.submit("@pm Lead &\n@ba Work &\n@writer Write")
        await until(lambda: gate.started)
        level = session.board.levels[0]
        assert (level.running, level.occupied) == (2, 1)
        gate.answer("ba#1")
        await session.ended([TaskId("pm#1")])
        assert session.outcome(TaskId("pm#1")).output == "completed"
        await until(lambda: gate.started == ["ba#1", "writer#1"])
        session.cancel()


async def test_nobody_waits_for_what_waits_for_them() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        await call(client, "spawn", task="Follow", label="follow", chain_after="pm")
        await call(client, "spawn", task="Go on", label="go-on", chain_after="follow")
        await call(client, "spawn", task="Work", label="work")
        told = [await call(client, "wait", runs=[run]) for run in ("pm", "pm#2", "go-on")]
        gate.answer("work#1", "done")
        told.append(await call(client, "wait", runs=["go-on", "work"], at_least=1))
        return "\n".join(map(str, told))

    async with asyncio.timeout(60), session_led_by(lead, gate) as session:
        session.submit("@pm Lead\n@pm Again")
        await until(lambda: session.board.tasks[TaskId("pm#1")].ended)
        *refused, content = session.outcome(TaskId("pm#1")).output.split("\n")
        assert all("begins when you have ended" in line for line in refused)
        assert len(refused) == 3
        assert "completed" in content
        session.cancel()


async def test_where_nobody_is_there_to_ask_nothing_is_started() -> None:
    async def lead(client: Client) -> str:
        return str(await call(client, "spawn", task="a"))

    async with session_led_by(lead, Gate(), permissions=Permissions.ASK, attended=False) as session:
        assert "did not allow" in (await session.run("@pm Lead")).output


async def test_a_child_is_cancelled_with_its_parent() -> None:
    gate = Gate()

    async def lead(client: Client) -> str:
        await call(client, "spawn", task="a")
        await call(client, "wait", runs=["general-purpose-1"])
        return "never"

    async with session_led_by(lead, gate) as session:
        session.submit("@pm Lead")
        await until(lambda: gate.started)
        session.cancel("pm")
        await session.idle()
        assert {task.state for task in session.board.tasks.values()} == {State.CANCELLED}


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
async def test_nobody_gets_in_without_a_secret(headers: dict[str, str]) -> None:
    import httpx2

    async def lead(client: Client) -> str:
        return ""

    async with session_led_by(lead, Gate()) as session:
        team_tools = McpTeamTools(session)
        server = await team_tools.server_for(AgentId("pm"))
        assert server is not None
        async with httpx2.AsyncClient() as http:
            answer = await http.post(server.url, json={}, headers=headers)
        assert answer.status_code == 401
        await team_tools.aclose()
        await settle()


async def test_an_acp_agent_lets_another_agent_work_and_reads_what_it_said(tmp_path: Path) -> None:
    agent = Acp(AcpOptions(command=acp_command(tmp_path / "go", "tools")))
    members = [Member(AgentId("pm"), "You lead.", None, agent, Permissions.ALLOW)]

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "You help.", None, agent)

    session = Session(members, bases=("general-purpose",), recruit=recruit, directory=tmp_path)
    session.offer_tools(McpTeamTools(session))
    async with asyncio.timeout(60), session:
        result = await session.run("@pm delegate Count to three")
        assert result.output == "Count to three", result
        assert session.board.tasks[TaskId("helper#1")].plan.parent == "pm#1"


async def test_one_spawn_asks_one_question(tmp_path: Path) -> None:
    agent = Acp(AcpOptions(command=acp_command(tmp_path / "go", "tools")))
    gate = Gate()

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "You help.", None, gate)

    members = [Member(AgentId("pm"), "You lead.", None, agent)]
    session = Session(members, bases=("general-purpose",), recruit=recruit, directory=tmp_path, attended=True)
    team_tools = McpTeamTools(session)
    session.offer_tools(team_tools)
    async with asyncio.timeout(60), session:
        session.submit("@pm courteous")
        await until(lambda: session.approvals)
        (asked,) = session.approvals
        assert (asked.tool, asked.kind) == ("spawn", "spawn"), "only ours is asked"
        session.answer(asked.task, asked.request, Verdict.ALLOW)
        server = await team_tools.server_for(AgentId("pm"))
        assert server is not None
        for tool, kind in ((f"mcp__{server.name}__spawn", "execute"), ("mcp__teambot__spawn", "other")):
            await until(lambda: session.approvals)
            (asked,) = session.approvals
            assert (asked.tool, asked.kind) == (tool, kind), "neither a command nor another server is ours"
            session.answer(asked.task, asked.request, Verdict.REJECT)
        await session.ended([TaskId("pm#1")])
        assert session.outcome(TaskId("pm#1")).output == "yes no no"
        session.cancel()


SHOW = """
import json, os, stat, sys
path = sys.argv[-1].partition("=")[2]
folder = os.path.dirname(path)
servers = json.load(open(path))["mcpServers"]
keys = {name: sorted(server) for name, server in servers.items()}
print(json.dumps([sys.argv, dict(os.environ), stat.S_IMODE(os.stat(folder).st_mode), keys]))
"""


async def test_the_secret_of_an_agent_is_told_to_nobody_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    acp = Acp(AcpOptions(command=acp_command(tmp_path / "go", "tools")))
    command = CommandBackend([sys.executable, "-c", SHOW], tool_arguments=("--config={tools}",))

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "You help.", None, acp)

    members = [
        Member(AgentId("pm"), "You lead.", None, acp, Permissions.ALLOW),
        Member(AgentId("ba"), "", None, command),
    ]
    session = Session(members, bases=("general-purpose",), recruit=recruit, directory=tmp_path)
    team_tools = McpTeamTools(session)
    session.offer_tools(team_tools)
    lines: list[str] = []
    printer = JsonLines(lines.append, ascii_only=False)
    async with asyncio.timeout(60), session:
        with session.bus.subscribe(printer.see):
            assert (await session.run("@pm delegate Count to three")).completed
            shown = (await session.run("@ba Show")).output
        server = await team_tools.server_for(AgentId("pm"))
        other = await team_tools.server_for(AgentId("ba"))
    assert server is not None
    assert other is not None
    assert server.secret != other.secret
    assert server.name == other.name
    assert re.fullmatch("teambot[0-9a-f]{8}", server.name), "what every agent takes for a name"
    for secret in (server.secret, other.secret):
        assert secret not in "".join(lines) + shown + caplog.text + repr(server) + repr(other)
    arguments, _, mode, keys = json.loads(shown)
    # Claude Code drops a server whose entry has anything else.
    assert (mode, keys) == (0o700, {server.name: ["headers", "httpUrl", "trust", "type", "url"]})
    assert not await asyncio.to_thread(Path(arguments[-1].partition("=")[2]).exists), (
        "it is gone with the task"
    )


async def test_who_waits_for_another_agent_is_not_silent(tmp_path: Path) -> None:
    agent = Acp(AcpOptions(command=acp_command(tmp_path / "go", "tools"), silence_timeout=3.0))
    gate = Gate()
    leader = Member(AgentId("pm"), "You lead.", None, agent, Permissions.ALLOW)

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "You help.", None, gate)

    session = Session([leader], bases=("general-purpose",), recruit=recruit, directory=tmp_path)
    session.offer_tools(McpTeamTools(session))
    async with asyncio.timeout(60), session:
        running = asyncio.create_task(session.run("@pm delegate Count to three"))
        await until(lambda: gate.started)
        await asyncio.wait([running], timeout=3.5)
        assert not running.done()
        gate.answer("helper#1", "one two three")
        assert (await running).output == "one two three"
        result = await session.run("@pm hang")
        assert "no output for 3 s" in result.outcomes[0].reason
