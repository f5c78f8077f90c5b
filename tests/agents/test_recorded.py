"""What real agents said once, played again by a real process: `recorded/` has their ways on the wire.

Each was led through the same turns, with a model server of our own behind it: an answer, a tool between two
messages, a model that fails after a tool, one that fails at once, an answer that begins like an error.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.agents.backends.acp_updates import Activity, Meter
from teambot_tui.engine.ports import Text
from tests.agents.conformance import SAFETY, listen, request
from tests.agents.subjects import acp_command

if TYPE_CHECKING:
    from tests.agents.conformance import Heard

RECORDED = sorted(path.stem for path in (Path(__file__).parent / "recorded").glob("*.json"))


async def play(agent: str, directory: Path, turns: int) -> list[Heard]:
    """Hear so many turns of an agent."""
    backend = Acp(AcpOptions(command=acp_command(directory / "nothing", f"recorded={agent}")))
    heard: list[Heard] = []
    try:
        async with asyncio.timeout(SAFETY):
            for _ in range(turns):
                heard.append(await listen(backend.run(request(directory, "go on"))))  # noqa: PERF401
    finally:
        await backend.aclose()
    return heard


@pytest.mark.parametrize("agent", RECORDED)
async def test_what_is_said_before_and_after_a_tool_is_apart(agent: str, tmp_path: Path) -> None:
    _, heard = await play(agent, tmp_path, 2)
    assert heard.error is None
    assert heard.text.endswith("First I look.\n\nDone.")


def said(text: str, message: str | None = None) -> dict[str, Any]:
    named = {"messageId": message} if message else {}
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **named}


TOOL = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Look"}
TOOL_GOES_ON = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "in_progress"}


@pytest.mark.parametrize(
    ("updates", "text"),
    [
        ([said("one", "a"), said(" two", "a")], "one two"),
        ([said("one.", "a"), said("Two.", "b")], "one.\n\nTwo."),
        ([said("one\n\n"), said("two", "a")], "one\n\ntwo"),
        ([said("one\n", "a"), said("", "b"), said("two", "b")], "one\n\ntwo"),
        ([said("one", "a"), said("\ntwo", "b")], "one\n\ntwo"),
        ([TOOL, said("one")], "one"),
        ([said("one."), TOOL, said("Two.")], "one.\n\nTwo."),
        ([TOOL, said("one"), TOOL_GOES_ON, said(" two")], "one two"),
    ],
)
def test_a_message_is_apart_from_another_and_never_from_itself(
    updates: list[dict[str, Any]], text: str
) -> None:
    activity = Activity(Meter())
    reported = [each for update in updates for each in activity.translate(update)]
    assert "".join(each.text for each in reported if isinstance(each, Text)) == text
