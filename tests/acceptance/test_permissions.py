"""What a person allows is what happens: with an agent that is a real process and really does what it may."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.engine.facts import PermissionAsked, PermissionSettled
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Member, Permissions, Verdict
from teambot_tui.engine.session import Session
from tests.agents.conformance import SAFETY
from tests.agents.subjects import acp_command
from tests.team import Watch

if TYPE_CHECKING:
    from pathlib import Path

HELLO = "sh -c 'echo hello '"
DIFF = {"type": "diff", "path": "/etc/hosts", "oldText": "a\n", "newText": "b\n"}


class Desk:
    """A session with one agent that asks, and somebody who looks."""

    def __init__(self, directory: Path, permissions: Permissions) -> None:
        agent = Acp(AcpOptions(command=acp_command(directory / "go")))
        member = Member(AgentId("pm"), "You lead.", None, agent, permissions)
        self.session = Session([member], directory=directory, attended=True)
        self.watch = Watch()

    def wants(self, **call: object) -> None:
        """Let the agent want something."""
        self.session.submit(f"@pm do {json.dumps(call)}")

    async def asked(self) -> PermissionAsked:
        """Wait until the person is asked."""
        asks = asyncio.Event()
        with self.session.bus.subscribe(lambda _: asks.set(), PermissionAsked):
            while not self.session.approvals:
                asks.clear()
                await asks.wait()
        (asked,) = self.session.approvals
        return asked

    async def answer(self, verdict: Verdict, *, always: bool = False) -> str:
        """Answer what is asked and return what the agent says in the end."""
        asked = await self.asked()
        self.session.answer(asked.task, asked.request, verdict, always=always)
        return await self.outcome(asked.task)

    async def outcome(self, task: str) -> str:
        await self.session.idle()
        return self.session.board.tasks[TaskId(task)].output.text


@pytest.mark.parametrize(
    "hidden",
    ["\x1b]0; touch pwned #\x07", "\x9d0; touch pwned #\x9c", "\x1bP; touch pwned #\x1b\\", "\u200b"],
)
async def test_always_does_not_reach_what_only_looks_the_same(tmp_path: Path, hidden: str) -> None:
    """`A` on a harmless command once allowed another one whose payload was hidden in an escape sequence."""
    desk = Desk(tmp_path, Permissions.ASK)
    async with asyncio.timeout(SAFETY), desk.session:
        desk.wants(title="Run", kind="execute", rawInput={"command": HELLO})
        assert await desk.answer(Verdict.ALLOW, always=True) == "done"
        desk.wants(title="Run", kind="execute", rawInput={"command": HELLO})
        assert await desk.outcome("pm#2") == "done", "exactly the same"
        desk.wants(title="Run", kind="execute", rawInput={"command": f"{HELLO[:-1]}{hidden}'"})
        asked = await desk.asked()
        assert asked.detail.startswith("sh -c 'echo hello <")
        assert ("touch pwned" in asked.detail) == ("touch pwned" in hidden)
        assert asked.detail.isprintable()
        assert await desk.answer(Verdict.REJECT) == "denied"
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("kind", ["read", "search", "think"])
async def test_a_command_is_no_reading_whatever_it_is_called(tmp_path: Path, kind: str) -> None:
    desk = Desk(tmp_path, Permissions.ALLOW_READS)
    async with asyncio.timeout(SAFETY), desk.session:
        desk.wants(title="Look", kind=kind, rawInput={"command": "touch pwned"}, content=[DIFF])
        asked = await desk.asked()
        assert asked.detail == "touch pwned\n--- /etc/hosts\n+++ /etc/hosts\n@@ -1 +1 @@\n-a\n+b"
        assert not (tmp_path / "pwned").exists()
        assert await desk.answer(Verdict.ALLOW) == "done"
    assert (tmp_path / "pwned").exists()


async def test_who_is_denied_everything_is_put_into_the_mode_in_which_it_only_reads(tmp_path: Path) -> None:
    command = acp_command(tmp_path / "go", "modes")
    modes = []
    for permissions in (Permissions.DENY, Permissions.ASK):
        agent = Acp(AcpOptions(command=command, read_only_mode="plan"))
        member = Member(AgentId("pm"), "You lead.", None, agent, permissions)
        async with asyncio.timeout(SAFETY), Session([member], directory=tmp_path) as session:
            session.submit("@pm recall")
            await session.idle()
            modes.append(json.loads(session.board.tasks[TaskId("pm#1")].output.text)["mode"])
    assert modes == ["plan", "ask"]


async def test_reading_is_allowed_unseen_where_the_settings_say_so(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Permissions.ALLOW_READS)
    with desk.session.bus.subscribe(desk.watch.see):
        async with asyncio.timeout(SAFETY), desk.session:
            call = {"toolCallId": "t1", "title": "Read", "kind": "read", "rawInput": {"file_path": "/a"}}
            options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
            request = ["session/request_permission", {"toolCall": call, "options": options}]
            desk.session.submit(f"@pm call {json.dumps([request])}")
            await desk.session.idle()
    (settled,) = desk.watch.of(PermissionSettled)
    assert settled.why == "reading is allowed by the settings"  # type: ignore[union-attr]
