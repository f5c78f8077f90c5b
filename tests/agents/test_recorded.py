"""What real agents said once, played again by a real process: `recorded/` has their ways on the wire.

Each was led through the same turns, with a model server of our own behind it: an answer, a tool between two
messages, a model that fails after a tool, one that fails at once, an answer that begins like an error.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.agents.backends.acp_habits import Habits, habits_of
from teambot_tui.agents.backends.acp_turn import Activity, Answer
from teambot_tui.agents.backends.acp_usage import Meter
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import Text, Thought, Usage
from tests.agents.conformance import SAFETY, listen, request
from tests.agents.subjects import acp_command

if TYPE_CHECKING:
    from tests.agents.conformance import Heard

RECORDINGS = Path(__file__).parent / "recorded"
RECORDED = sorted(path.stem for path in RECORDINGS.glob("*.json"))
PM = AgentId("pm")


async def play(agent: str, directory: Path, turns: int | None = None) -> list[tuple[str, Heard]]:
    """Hear so many turns of an agent, or all it has, each with what its model was told to do."""
    recording = json.loads((RECORDINGS / f"{agent}.json").read_text(encoding="utf-8"))
    before, after = recording["turns"], recording.get("turns_after_load", [])
    names = [turn["prompt"] for turn in [*before, *after]][:turns]
    backend = Acp(AcpOptions(command=acp_command(directory / "nothing", f"recorded={agent}")))
    heard: list[Heard] = []
    try:
        async with asyncio.timeout(SAFETY):
            for _ in names:
                heard.append(await listen(backend.run(request(directory, "go on"))))
                while after and len(heard) == len(before) and backend._sessions[PM].alive:  # noqa: ASYNC110
                    await asyncio.sleep(0)  # until it has died
    finally:
        await backend.aclose()
    return list(zip(names, heard, strict=True))


@pytest.mark.parametrize("agent", RECORDED)
async def test_what_is_said_before_and_after_a_tool_is_apart(agent: str, tmp_path: Path) -> None:
    _, (_, heard) = await play(agent, tmp_path, 2)
    assert heard.error is None
    assert heard.text.endswith("First I look.\n\nDone.")


RETRY = "Please retry if you think this is a transient or recoverable error."
ANSWERS = {
    "hello": "Hello there.",
    "tool": "First I look.\n\nDone.",
    "late": "First I look.",
    "fail": "",
    "errorish": "Error: is what you asked about.",
}


@pytest.mark.parametrize("agent", RECORDED)
async def test_a_model_that_fails_is_a_failure_and_its_words_are_the_reason(
    agent: str, tmp_path: Path
) -> None:
    for turn, heard in await play(agent, tmp_path):
        failed = turn in ("late", "fail")
        assert ("the model is out of ideas" in (heard.error or "")) is failed, (
            turn,
            heard.error,
        )
        assert heard.text == ANSWERS[turn]


def per_turn(*, late: int = 0, tool: int = 2) -> dict[str, int]:
    """How many calls of the model a turn counts, where an agent counts them."""
    return {"hello": 1, "tool": tool, "late": late, "fail": 0, "errorish": 1}


@pytest.mark.parametrize(
    ("agent", "calls"),
    [
        ("claude", per_turn()),
        ("claude-resumed", per_turn()),
        ("codex", per_turn(late=1)),
        ("copilot", per_turn(late=1)),
        ("copilot-resumed", per_turn()),
        ("gemini", per_turn()),
        ("goose", per_turn(tool=1)),  # these two tell only of the last call
        ("opencode", per_turn(tool=1)),
        ("opencode-resumed", per_turn(tool=1)),
        ("qwen", per_turn(late=1)),
        ("vibe", per_turn(late=1)),
        ("zed-codex", dict.fromkeys(ANSWERS, 0)),  # it tells only how full its context is
    ],
)
async def test_each_token_is_counted_once(agent: str, calls: dict[str, int], tmp_path: Path) -> None:
    for turn, heard in await play(agent, tmp_path):
        *_, last = [Usage(), *(update for update in heard.updates if isinstance(update, Usage))]
        assert (last.input_tokens, last.output_tokens) == (100 * calls[turn], 10 * calls[turn]), turn
        assert last.context == 110 or agent != "zed-codex" or turn == "fail"


@pytest.mark.parametrize(("agent", "price"), [("claude-resumed", 0.00075), ("opencode-resumed", 0.11)])
async def test_a_session_that_goes_on_in_another_process_costs_no_more_than_it_did(
    agent: str, price: float, tmp_path: Path
) -> None:
    costs = []
    for _, heard in await play(agent, tmp_path):
        costs.append([update.cost for update in heard.updates if isinstance(update, Usage)][-1])
    assert costs == pytest.approx([price, 2 * price])


@pytest.mark.parametrize(
    ("names", "message", "used", "reason"),
    [
        (["Copilot"], "Error: 400 bad", True, "400 bad"),
        (["Copilot"], "Error: quota", False, "quota"),
        (["Copilot"], "Error: is what you asked about.", True, None),
        (["Copilot"], "Error: 200 lines were printed", True, None),
        (["goose-provider"], f"Ran into this error: no\n\n{RETRY}", True, "no"),
        (["goose-provider"], "Ran into this error: is what it says.", False, None),
        (["goose-provider"], "Error: 400 bad", False, None),
        (["some other", "test"], "Error: 400 bad", False, None),
    ],
)
def test_only_what_an_agent_is_known_to_say_is_a_failure(
    names: list[str], message: str, used: bool, reason: str | None
) -> None:
    assert habits_of(names).reason(message, used=used) == reason


def test_what_may_be_a_failure_is_part_of_the_answer_if_anything_follows() -> None:
    answer = Answer(habits_of(["Copilot"]))
    assert list(answer.say("Error: 400", None)) == []
    assert list(answer.say(" is a code.", None)) == [Text("Error: 400"), Text(" is a code.")]
    assert list(answer.say("Error: 400", None)) == [Text("Error: 400")]  # no message of its own
    assert answer.failure(used=False) is None


def test_what_an_agent_says_besides_its_answer_is_no_part_of_it() -> None:
    answer = Answer(habits_of(["@agentclientprotocol/codex-acp"]))
    assert list(answer.say("Warning: it is old.\n\n", None)) == [Thought("Warning: it is old.\n\n")]
    assert list(answer.say("Warning: mind the gap.\n\n", "a")) == [Text("Warning: mind the gap.\n\n")]


def test_what_codex_says_after_an_error_is_part_of_the_answer_if_it_goes_on() -> None:
    activity = Activity(Meter(), Habits())
    updates = [said("one."), codex("systemError"), said("oh"), codex("active"), said("two.")]
    reported = [each for update in updates for each in activity.translate(update)]
    assert "".join(each.text for each in reported if isinstance(each, Text)) == "one.\n\nohtwo."
    assert activity.answer.failure(used=True) is None


def test_what_a_turn_used_that_nobody_heard_of_is_counted_with_the_next() -> None:
    meter = Meter()
    meter.note({"used": 5, "cost": {"amount": 1.0, "currency": "USD"}})  # of the session that is resumed
    meter.begin()
    assert meter.usage() == Usage(0, 0, 0.0, 5)
    meter.note({"cost": {"amount": 1.5, "currency": "USD"}})  # the turn was given up
    meter.begin()
    meter.note({"cost": {"amount": 1.75, "currency": "USD"}})
    assert meter.usage().cost == 0.75
    meter.begin()
    meter.note({"cost": {"amount": 0.25, "currency": "USD"}})  # it counts from zero again
    assert meter.usage().cost == 0.25


def said(text: str, message: str | None = None) -> dict[str, Any]:
    named = {"messageId": message} if message else {}
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **named}


def codex(status: str) -> dict[str, Any]:
    return {"sessionUpdate": "session_info_update", "_meta": {"codex": {"threadStatus": {"type": status}}}}


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
    activity = Activity(Meter(), Habits())
    reported = [each for update in updates for each in activity.translate(update)]
    assert "".join(each.text for each in reported if isinstance(each, Text)) == text
