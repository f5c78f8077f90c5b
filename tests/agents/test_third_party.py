"""An ACP agent that we did not write: OpenCode, whose model is a server on loopback that the test leads."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.backends.echo import Echo
from teambot_tui.agents.groups import guard
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Member, Permission, Permissions, Verdict
from teambot_tui.engine.session import Session
from teambot_tui.workflows.mcp_server import McpTeamTools
from tests.agents.conformance import SAFETY, SOON, listen, request, until_text
from tests.agents.http_server import ChatServer
from tests.agents.opencode import MARKS, opencode
from tests.agents.test_process import carriers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from teambot_tui.engine.facts import AgentDefined

pytestmark = MARKS


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    mark = f"test-{os.urandom(8).hex()}"
    monkeypatch.setenv("TEAMBOT_PROCESS", mark)
    yield
    guard.dismiss()
    assert psutil.Process().children(recursive=True) == []
    assert carriers(mark) == []
    assert capfd.readouterr() == ("", "")


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with ChatServer() as server:
        yield server


async def test_it_remembers_is_cancelled_and_goes_on(server: ChatServer, tmp_path: Path) -> None:
    async with asyncio.timeout(SAFETY), opencode(tmp_path / "home", server, "slow") as backend:
        updates = backend.run(request(tmp_path, "Say it in two pieces", system="You are pm."))
        assert await until_text(updates) == "one "
        begin = asyncio.get_running_loop().time()
        await updates.aclose()
        assert asyncio.get_running_loop().time() - begin < SOON
        server.go.set()
        heard = await listen(backend.run(request(tmp_path, "And again", system="You are pm.")))
        assert (heard.text, heard.error) == ("one two", None)
        heard = await listen(backend.run(request(tmp_path, "On another", model="loopback/stream")))
        assert (heard.text, heard.error) == ("one two three ", None)
    asked = str(server.asked[-1].body)
    assert all(text in asked for text in ("You are pm.", "Say it in two pieces", "And again"))


async def test_a_third_party_agent_spawns_through_mcp_and_reads_the_childs_output(
    server: ChatServer, tmp_path: Path
) -> None:
    server.calls = [
        ("teambot_spawn", {"task": "Count to three", "label": "helper", "shared_context": {"goal": "ship"}}),
        ("teambot_wait", {"runs": ["helper"]}),
        ("teambot_output", {"run": "helper"}),
    ]

    def recruit(defined: AgentDefined) -> Member:
        return Member(defined.agent, "You help.", None, Echo())

    async with asyncio.timeout(SAFETY), opencode(tmp_path / "home", server, "tools") as backend:
        leader = Member(AgentId("pm"), "You lead.", None, backend, Permissions.ALLOW)
        session = Session([leader], bases=("general-purpose",), recruit=recruit, directory=tmp_path)
        session.offer_tools(McpTeamTools(session))
        async with session:
            result = await session.run("@pm Let somebody count")
            assert session.board.tasks[TaskId("helper#1")].plan.parent == "pm#1"
    assert '"output": "Count to three"' in result.output, result


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "detail"),
    [
        ("bash", {"command": "touch made", "description": "make it"}, "execute", "touch made"),
        ("write", {"filePath": "made", "content": "it\n"}, "edit", "+it"),
    ],
)
async def test_a_tool_does_only_what_was_allowed(
    server: ChatServer, tmp_path: Path, tool: str, arguments: dict[str, str], kind: str, detail: str
) -> None:
    server.calls = [(tool, arguments)]
    policy = {"bash": "ask", "edit": "ask"}
    async with (
        asyncio.timeout(SAFETY),
        opencode(tmp_path / "home", server, "tools", policy) as backend,
    ):
        for verdict in (Verdict.REJECT, Verdict.ALLOW):
            updates = backend.run(request(tmp_path, "Make it"))
            permission = await anext(update async for update in updates if isinstance(update, Permission))
            assert permission.kind == kind
            assert detail in permission.detail.splitlines()
            assert not (tmp_path / "made").exists()
            permission.answer(verdict)
            heard = await listen(updates)
            assert (tmp_path / "made").exists() == (verdict is Verdict.ALLOW)
            assert (heard.error is None) == (verdict is Verdict.ALLOW)
            assert "denied permission" in (heard.error or "denied permission")


async def test_what_its_model_server_refuses_is_told_in_words(server: ChatServer, tmp_path: Path) -> None:
    async with asyncio.timeout(SAFETY), opencode(tmp_path / "home", server, "nobody") as backend:
        heard = await listen(backend.run(request(tmp_path, "Say it")))
        assert heard.error is not None
        assert "no model nobody" in heard.error
        heard = await listen(backend.run(request(tmp_path, "Say it", model="loopback/stream")))
        assert (heard.text, heard.error) == ("one two three ", None)
