"""What agents do, want and use, as lines and as JSON; and nobody waits for a person who is not there."""

from __future__ import annotations

import asyncio
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from teambot_tui.engine.facts import BudgetReached, TaskDelayed, WaitProlonged
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import (
    Notice,
    Permission,
    Plan,
    Step,
    Text,
    Thought,
    ToolCall,
    ToolState,
    Usage,
)
from teambot_tui.headless.events import JsonLines
from teambot_tui.headless.output import OutputStream
from teambot_tui.headless.plain import PlainPrinter
from teambot_tui.headless.run import follow, run
from tests.team import session_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.ports import Request, Update, Verdict


class Worker:
    """Reports these updates, asks leave for some commands and waits for each answer, then says it is done."""

    def __init__(self, *updates: Update, asks: tuple[str, ...] = (), kind: str = "execute") -> None:
        self._updates = updates
        self._asks = asks
        self._kind = kind
        self.verdicts: list[Verdict] = []

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        for update in self._updates:
            yield update
        for number, detail in enumerate(self._asks):
            answered: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()

            def answer(verdict: Verdict, words: str = "", asked: asyncio.Future[Verdict] = answered) -> None:
                asked.set_result(verdict)

            yield Permission(str(number), "Run", self._kind, detail, answer)
            self.verdicts.append(await answered)
        yield Text("done")


async def printed(
    worker: Worker, text: str, policy: Policy | None = None, *, as_json: bool
) -> tuple[int, str]:
    """Run a submission; return the exit status and what was printed."""
    session = session_of(worker, policy=policy)
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    output = OutputStream(out)
    printer = (
        JsonLines(output.write, ascii_only=False)
        if as_json
        else PlainPrinter(output.write, session.roster.agents, colour=False, bar="|")
    )
    complaints: list[str] = []
    status = await run(session, text, printer, output, complaints.append)
    assert not complaints
    out.seek(0)
    return status, out.read()


async def events(worker: Worker, text: str = "@pm go", policy: Policy | None = None) -> list[dict[str, Any]]:
    """Run a submission; return the events about what the agents did."""
    _, output = await printed(worker, text, policy, as_json=True)
    common = ("seq", "time")
    return [
        {key: value for key, value in json.loads(line).items() if key not in common}
        for line in output.splitlines()
    ]


async def test_everything_an_agent_does_is_an_event() -> None:
    seen = await events(
        Worker(
            Thought("hm"),
            ToolCall("7", "Run", "execute", ToolState.RUNNING, "npm test"),
            Plan((Step("look", "completed"),)),
            Usage(10, 5, 0.5),
            Usage(20, 5),
            asks=("rm -rf x",),
        )
    )
    of = {"task": "pm#1", "agent": "pm"}
    tool = {"id": "7", "title": "Run", "kind": "execute", "state": "running", "detail": "npm test"}
    asked = {"request": "0", "tool": "Run", "kind": "execute", "detail": "rm -rf x"}
    settled = {"request": "0", "verdict": "reject", "why": "nobody is here to ask", "words": ""}
    no_context = {"context": None}
    assert seen[4:-4] == [
        {"event": "thought", **of, "text": "hm"},
        {"event": "tool", **of, **tool},
        {"event": "plan", **of, "steps": [{"text": "look", "state": "completed"}]},
        {"event": "usage", **of, "input_tokens": 10, "output_tokens": 5, "cost": 0.5, **no_context},
        {"event": "usage", **of, "input_tokens": 20, "output_tokens": 5, "cost": None, **no_context},
        {"event": "permission_asked", **of, **asked},
        {"event": "permission_settled", **of, **settled},
    ]
    assert [event["event"] for event in seen[-4:]] == [
        "text",
        "task_completed",
        "agent_status",
        "run_finished",
    ]


@pytest.mark.parametrize(
    ("detail", "shown"),
    [
        ("rm -rf x", "rm -rf x"),
        ("rm -rf x\nrm -rf y", "rm -rf x rm -rf y"),
        ("", "Run"),
        ("\x1b]0; touch x\x07rm\u202e", "<ESC>]0; touch x<BEL>rm<U+202E>"),
        ("y" * 1000, "y" * 199 + "…"),
    ],
)
async def test_a_rejected_request_is_a_line(detail: str, shown: str) -> None:
    worker = Worker(asks=(detail,))
    status, output = await printed(worker, "@pm go", as_json=False)
    assert status == 0
    assert worker.verdicts == ["reject"]
    line = (
        f"@pm: wanted to execute `{shown}`: rejected, nobody is here to ask; set permissions in your settings"
    )
    assert line in output.splitlines()


async def test_a_used_up_budget_ends_the_run_instead_of_waiting_for_ever() -> None:
    worker = Worker(Usage(1000, 234, 0.5))
    text = "@pm go -> @ba go -> @reviewer go\n@writer go\n@pm again"
    policy = Policy(budget=0.4, max_parallel=1)
    status, output = await printed(worker, text, policy, as_json=False)
    assert status == 1
    budget = [line for line in output.splitlines() if line.startswith("Budget reached")]
    assert len(budget) == 1
    assert budget[0].startswith(
        "Budget reached: $0.50 and 1,234 tokens used. What has not started is cancelled"
    )
    assert output.endswith("1 completed, 4 cancelled\n")


async def test_a_used_up_budget_is_an_event_and_what_runs_may_end() -> None:
    worker = Worker(Usage(60, 0))
    seen = await events(worker, "@pm,ba go -> @writer go", Policy(token_budget=100))
    assert {"event": "budget_reached", "cost": 0.0, "tokens": 120} in seen
    assert seen[-1] == {"event": "run_finished", "completed": 2, "failed": 0, "skipped": 0, "cancelled": 1}


async def test_what_is_created_after_the_budget_was_used_up_does_not_wait_either() -> None:
    worker = Worker(Usage(60, 0))
    session = session_of(worker, policy=Policy(token_budget=100, max_parallel=1))
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    output = OutputStream(out)

    async def work() -> bool:
        for _ in range(3):
            await session.run("@pm,ba,writer go")
        return True

    status = await follow(
        session, work, session.cancel, JsonLines(output.write, ascii_only=False), output, print
    )
    assert status == 1
    states = [task.state for task in session.board.tasks.values()]
    assert states == ["completed"] * 2 + ["cancelled"] * 7


async def test_a_budget_nobody_waits_for_is_no_news() -> None:
    session = session_of(Worker(Usage(1000, 0)), policy=Policy(token_budget=100))
    reached: list[object] = []
    with session.bus.subscribe(reached.append, BudgetReached):
        async with session:
            assert (await session.run("@pm go")).completed
    assert not reached


def test_a_long_wait_is_told() -> None:
    prolonged = WaitProlonged(10.0, TaskId("ba#1"), (AgentId("pm"), AgentId("writer")), 300.0)
    lines: list[str] = []
    JsonLines(lines.append, ascii_only=False).see(prolonged)
    assert json.loads(lines[0]) == {
        "event": "wait_prolonged",
        "seq": 1,
        "time": 10.0,
        "task": "ba#1",
        "agent": "ba",
        "waiting_for": ["pm", "writer"],
        "seconds": 300.0,
    }
    lines.clear()
    PlainPrinter(lines.append, [AgentId("ba")], colour=False, bar="|").see(prolonged)
    assert lines == ["@ba: still waiting for @pm, @writer after 300 s\n"]


def test_a_run_that_is_tried_again_says_so() -> None:
    delayed = TaskDelayed(10.0, TaskId("pm#1"), "out of ideas", 12.0, 2)
    lines: list[str] = []
    JsonLines(lines.append, ascii_only=False).see(delayed)
    assert json.loads(lines[0]) == {
        "event": "task_delayed",
        "seq": 1,
        "time": 10.0,
        "task": "pm#1",
        "agent": "pm",
        "error": "out of ideas",
        "until": 12.0,
        "attempt": 2,
    }
    lines.clear()
    PlainPrinter(lines.append, [AgentId("pm")], colour=False, bar="|").see(delayed)
    assert lines == ["@pm: failed pm#1: out of ideas; tries again in 2 s\n", "@pm: queued\n"]


async def test_what_the_person_should_know_of_an_agent_is_told() -> None:
    worker = Worker(Notice("has lost its \x1b[2Jmemory"))
    seen = await events(worker)
    (notice,) = [event for event in seen if event["event"] == "notice"]
    assert notice == {"event": "notice", "task": "pm#1", "agent": "pm", "text": "has lost its memory"}
    _, plain = await printed(worker, "@pm go", as_json=False)
    assert "@pm: has lost its memory\n" in plain
