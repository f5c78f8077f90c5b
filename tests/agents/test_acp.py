"""Agents over ACP: what they remember, ask, report and break, against a real process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.agents.backends.acp_files import FileRefusedError, Files
from teambot_tui.agents.catalogue import build
from teambot_tui.agents.groups import guard
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import (
    Notice,
    Permission,
    Plan,
    Stateful,
    Step,
    Text,
    Thought,
    ToolCall,
    ToolServer,
    ToolState,
    Usage,
    Verdict,
)
from tests.agents.conformance import SAFETY, SOON, Go, Heard, listen, request, until_text
from tests.agents.subjects import acp_command, acp_processes
from tests.agents.test_process import carriers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator

    from teambot_tui.engine.ports import Update


KEPT = "; its partial output is kept"
WAYS = " (Log in by browser)"
COST: Any = pytest.approx(0.1)
PM = AgentId("pm")


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
def go(tmp_path: Path) -> Iterator[Go]:
    go = Go(tmp_path / "go")
    yield go
    go.close()


class Stage:
    """An ACP backend in a directory of its own."""

    def __init__(self, backend: Acp, directory: Path) -> None:
        self.backend = backend
        self.directory = directory

    @property
    def alive(self) -> bool:
        return any(session.alive for session in self.backend._sessions.values())

    def run(self, prompt: str, **more: str) -> AsyncGenerator[Update, None]:
        return self.backend.run(request(self.directory, prompt, **more))

    async def hear(self, prompt: str, **more: str) -> Heard:
        return await listen(self.run(prompt, **more))

    async def recall(self, **more: str) -> dict[str, Any]:
        heard = await self.hear("recall", **more)
        assert heard.error is None
        known: dict[str, Any] = json.loads(heard.text)
        return known

    async def answering(self, prompt: str, verdict: Verdict | Callable[[Permission], Verdict]) -> Heard:
        heard = Heard()
        updates = self.run(prompt)
        async with asyncio.timeout(SAFETY):
            async for update in updates:
                heard.updates.append(update)
                if isinstance(update, Permission):
                    update.answer(verdict if isinstance(verdict, Verdict) else verdict(update))
        return heard

    async def calls(
        self, *calls: tuple[str, dict[str, Any]], verdict: Verdict = Verdict.ALLOW
    ) -> tuple[list[Any], list[Permission]]:
        heard = await self.answering("call " + json.dumps(calls), verdict)
        return json.loads(heard.text), [
            request for request in heard.updates if isinstance(request, Permission)
        ]


@pytest.fixture
def stage(tmp_path: Path, go: Go) -> Callable[..., Any]:
    directory = tmp_path / "work"
    directory.mkdir()

    @asynccontextmanager
    async def make(*flags: str, **options: object) -> AsyncIterator[Stage]:
        given: dict[str, Any] = options
        backend = Acp(AcpOptions(command=acp_command(go.path, *flags), **given))
        try:
            yield Stage(backend, directory)
        finally:
            async with asyncio.timeout(SAFETY):
                await backend.aclose()

    return make


Make = Any


async def test_an_agent_remembers_until_it_forgets(stage: Make) -> None:
    async with stage() as team:
        first = await team.recall()
        second = await team.recall()
        other = await team.recall(agent="ba")
        await team.backend.forget(PM)
        third = await team.recall()
    assert first["memory"] == ["recall"]
    assert second["memory"] == ["recall", "recall"]
    assert (second["pid"], second["session"]) == (first["pid"], first["session"])
    assert other["memory"] == ["recall"]
    assert other["pid"] != first["pid"]
    assert third["memory"] == ["recall"]
    assert third["pid"] != first["pid"]
    assert not psutil.pid_exists(first["pid"])


async def test_an_agent_that_is_to_forget_while_it_works_finishes_and_then_forgets(
    stage: Make, go: Go
) -> None:
    async with stage() as team:
        first = await team.recall()
        updates = team.run("stream")
        said = await until_text(updates)
        await team.backend.forget(PM)
        assert psutil.pid_exists(first["pid"])
        go.tell()
        said += "".join([update.text async for update in updates if isinstance(update, Text)])
        assert said == "one two"
        assert not psutil.pid_exists(first["pid"])
        assert (await team.recall())["memory"] == ["recall"]
        assert len(acp_processes()) == 1


@pytest.mark.parametrize("loads", [False, True])
async def test_a_suspended_agent_has_no_process_and_goes_on_if_it_can(stage: Make, *, loads: bool) -> None:
    async with stage("models", *["load"] * loads) as team:
        first = await team.recall(system="You are pm.", model="large-1")
        for _ in range(2):
            await team.backend.suspend(PM)
            assert acp_processes() == []
        heard = await team.hear("recall", system="You are pm.")
        second = json.loads(heard.text)  # and no word of what is replayed
        await team.backend.suspend(PM)
        again = await team.hear("recall")
        assert await team.backend.models(team.directory) == ("small-1", "large-1")
    notices = [update.text for update in heard.updates if isinstance(update, Notice)]
    if loads:
        assert second["memory"] == ["(loaded)", "recall"], "the persona is not told again"
        assert second["session"] == first["session"]
        assert notices == []
    else:
        assert "=== Who You Are ===" in second["memory"][0]
        assert len(notices) == 1
        assert notices[0].startswith("has lost its memory of earlier tasks")
    assert second["model"] == "small-1"
    assert not any(isinstance(update, Notice) for update in again.updates), "it is told once"


async def test_an_agent_at_work_is_not_suspended(stage: Make, go: Go) -> None:
    async with stage() as team:
        updates = team.run("stream")
        await until_text(updates)
        await team.backend.suspend(PM)
        go.tell()
        assert [update.text async for update in updates if isinstance(update, Text)] == ["two"]
        assert team.alive


async def test_an_agent_can_be_told_to_remember_nothing(stage: Make) -> None:
    async with stage(fresh=True) as team:
        await team.recall()
        assert (await team.recall())["memory"] == ["recall"]


async def test_the_persona_is_told_once_and_again_when_it_changes(stage: Make) -> None:
    async with stage() as team:
        for system in ("You are pm.", "You are pm.", "You are other."):
            known = await team.recall(system=system)
        await team.backend.forget(PM)
        anew = await team.recall(system="You are other.")
    # The prompt comes first: agents name their own session after it.
    told = "recall\n\n=== Who You Are ===\nYou are {}."
    assert known["memory"] == [told.format("pm"), "recall", told.format("other")]
    assert anew["memory"] == [told.format("other")]


@pytest.mark.parametrize(
    ("allowed", "turns", "options"),
    [
        (("Read", "Grep"), 5, {"tools": ["Read", "Grep"], "maxTurns": 5}),
        ((), 5, {"maxTurns": 5}),
        ((), None, None),
    ],
)
async def test_claudes_adapter_is_told_what_the_agent_may_use(
    stage: Make, allowed: tuple[str, ...], turns: int | None, options: dict[str, Any] | None
) -> None:
    async with stage("load", claude_options=True) as team:
        asked = replace(request(team.directory, "recall"), allowed_tools=allowed, max_turns=turns)
        first = json.loads((await listen(team.backend.run(asked))).text)
        await team.backend.suspend(PM)
        loaded = json.loads((await listen(team.backend.run(asked))).text)
    wanted = {"claudeCode": {"options": options}} if options else None
    assert (first["meta"], loaded["meta"]) == (wanted, wanted)


async def test_nobody_else_is_told(stage: Make) -> None:
    async with stage() as team:
        asked = replace(request(team.directory, "recall"), allowed_tools=("Read",), max_turns=5)
        assert json.loads((await listen(team.backend.run(asked))).text)["meta"] is None


@pytest.mark.parametrize("loads", [False, True])
async def test_an_agent_that_died_between_tasks_is_started_again(stage: Make, *, loads: bool) -> None:
    async with stage(*["load"] * loads) as team:
        first = await team.recall()
        heard = await team.hear("die-after")
        assert heard.text == "bye"
        async with asyncio.timeout(SAFETY):
            while team.alive:  # noqa: ASYNC110  no event tells it
                await asyncio.sleep(0)
        second = await team.recall()
    assert second["pid"] != first["pid"]
    assert second["memory"] == (["(loaded)", "recall"] if loads else ["recall"])
    assert (second["session"] == first["session"]) is loads


async def test_a_prompt_arrives_as_it_is(stage: Make) -> None:
    prompt = 'hello {system} $HOME\n\0 "quoted" \\ ünï \N{PILE OF POO} \ud800'
    async with stage() as team:
        heard = await team.hear(prompt)
    assert heard.text == prompt.replace("\ud800", "?")


@pytest.mark.parametrize("flags", [["models"], ["models", "grouped"], ["models", "terse"], ["listed"]])
async def test_the_model_is_chosen_for_a_task_and_no_longer(stage: Make, flags: list[str]) -> None:
    async with stage(*flags) as team:
        assert await team.backend.models(team.directory) == ()
        assert (await team.recall())["model"] == "small-1"
        assert await team.backend.models(team.directory) == ("small-1", "large-1")
        assert (await team.recall(model="large-1"))["model"] == "large-1"
        assert (await team.recall(model="LARGE"))["model"] == "large-1"
        assert (await team.recall())["model"] == "small-1"
        heard = await team.hear("x", model="opus")
    assert heard.error == "Test Agent has no model opus: it offers small-1, large-1"


@pytest.mark.parametrize("named", [{}, {"model": "small-1"}])
async def test_an_agent_goes_back_to_the_model_it_began_with_if_only_in_another_process(
    stage: Make, named: dict[str, str]
) -> None:
    async with stage("models", "leaves", "load") as team:
        first = await team.recall(model="large-1")
        assert (await team.recall(model="large-1"))["pid"] == first["pid"]
        second = await team.recall(**named)
        assert (await team.recall())["pid"] == second["pid"]
    assert (first["model"], second["model"]) == ("large-1", "small-1")
    assert (second["session"], second["memory"]) == (first["session"], ["(loaded)", "recall"])


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        ([], "Test Agent failed: Internal error: it is no longer offered"),
        (["load", "stays"], "it does not go back to the model it began with: name one with --model, or"),
    ],
)
async def test_an_agent_that_cannot_go_back_to_its_model_says_so(
    stage: Make, flags: list[str], error: str
) -> None:
    async with stage("models", "leaves", *flags) as team:
        await team.recall(model="large-1")
        heard = await team.hear("x")
    assert heard.error.startswith(error)


async def test_a_model_that_cannot_be_chosen(stage: Make) -> None:
    async with stage() as team:
        heard = await team.hear("x", model="opus")
    assert heard.error == (
        "Test Agent does not let us choose its model: leave the model out, or give it in its command"
    )


async def test_the_mode_is_set_for_every_session(stage: Make) -> None:
    async with stage("modes", mode="plan") as team:
        assert (await team.recall())["mode"] == "plan"
    async with stage("modes", mode="yolo") as team:
        assert (await team.hear("x")).error == "Test Agent has no mode yolo: it offers ask, plan"


async def test_an_agent_that_may_change_nothing_is_put_into_its_read_only_mode(stage: Make) -> None:
    async with stage("modes", "load", mode="ask", read_only_mode="plan") as team:
        modes = []
        for read_only in (False, True, False):
            work = replace(request(team.directory, "recall"), read_only=read_only)
            modes.append(json.loads((await listen(team.backend.run(work))).text)["mode"])
    assert modes == ["ask", "plan", "ask"]
    async with stage("modes", read_only_mode="read-only") as team:
        heard = await listen(team.backend.run(replace(request(team.directory, "x"), read_only=True)))
    why = "Test Agent has no mode read-only: it offers ask, plan"
    assert heard.error == f'permissions = "deny" cannot be kept: {why}; correct read_only_mode of its backend'


async def test_everything_an_agent_does_is_reported(stage: Make) -> None:
    async with stage() as team:
        heard = await team.hear("tools end_turn")
    nameless, other = "a tool without a name", "other"
    place = "at: /a:3\nat: /b"
    command = "pytest -k 'a b'\ncwd: /x"
    assert heard.updates == [
        Thought("hm"),
        ToolCall("new", nameless, other, ToolState.RUNNING),
        ToolCall("run", "Test", "execute", ToolState.RUNNING, command),
        ToolCall("see", "See", other, ToolState.PENDING, place),
        ToolCall("run", "Test", "execute", ToolState.DONE, command),
        Plan((Step("look", "completed"),)),
        ToolCall("new", nameless, other, ToolState.DONE),
        ToolCall("see", "See", other, ToolState.DONE, place),
    ]


async def test_tools_left_open_by_a_turn_that_failed_have_failed(stage: Make) -> None:
    async with stage() as team:
        heard = await team.hear("tools max_tokens")
    ends = {call.id: call.state for call in heard.updates if isinstance(call, ToolCall)}
    assert ends == {"new": ToolState.FAILED, "see": ToolState.FAILED, "run": ToolState.DONE}


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("end_turn", None),
        ("max_tokens", "stopped because it reached its limit of tokens"),
        ("max_turn_requests", "stopped because it reached its limit of requests in a turn"),
        ("refusal", "refused to go on"),
        ("cancelled", "cancelled its turn"),
        ("whim", "gave an answer that does not fit the protocol"),
    ],
)
async def test_every_way_to_stop(stage: Make, reason: str, error: str | None) -> None:
    async with stage() as team:
        heard = await team.hear(f"stop {reason}")
    assert heard.text == "so far"
    assert heard.error == (error and f"Test Agent {error}{KEPT}")


async def test_usage_is_that_of_the_task(stage: Make) -> None:
    async with stage() as team:
        heard = [await team.hear(prompt) for prompt in ("usage", "usage", "usage counted")]
    usages = [[update for update in each.updates if isinstance(update, Usage)] for each in heard]
    assert usages == [
        [Usage(0, 0, COST, 100)],
        [Usage(0, 0, COST, 200)],
        [Usage(0, 0, COST, 300), Usage(70, 25, COST, 300)],
    ]


async def test_permission_is_granted_once_and_never_more_than_that(stage: Make) -> None:
    async with stage() as team:
        allowed = await team.answering("ask", Verdict.ALLOW)
        denied = await team.answering("ask", Verdict.REJECT)
        heard = await team.answering("only-id", Verdict.ALLOW)
    assert allowed.text == "allowed"
    assert denied.text == "denied (no)"
    assert heard.text == "yes yes forever"
    requests = [request for request in heard.updates if isinstance(request, Permission)]
    edit = "--- /a\n+++ /a\n@@ -1 +1 @@\n-1\n-2\n+1\n+3"  # there is no such file: both sides whole
    assert [(request.id, request.tool, request.kind, request.detail) for request in requests] == [
        ("t1", "Edit", "edit", edit),
        ("t2", "a tool without a name", "other", "t2"),
        ("t3", "a tool without a name", "other", "t3\nallowing it means: Always"),
    ]


async def test_nothing_that_was_announced_hides_behind_a_shorter_request(stage: Make) -> None:
    async with stage() as team:
        heard = await team.answering("ask-with-less", Verdict.ALLOW)
    details = [request.detail for request in heard.updates if isinstance(request, Permission)]
    assert details == ['make\nworkdir: /\npatterns: ["/*"]', "make\nworkdir: /"]


async def test_a_permission_that_cannot_be_refused_is_cancelled(stage: Make) -> None:
    async with stage() as team:
        heard = await team.answering("only-id", Verdict.REJECT)
    assert heard.text == "no no cancelled"


async def test_requests_are_answered_each_for_itself(stage: Make) -> None:
    def decide(request: Permission) -> Verdict:
        return Verdict.ALLOW if request.tool == "PermissionRequest 2002" else Verdict.REJECT

    async with stage() as team:
        heard = await team.answering("twice", decide)
    assert [outcome["optionId"] for outcome in json.loads(heard.text)] == ["no", "yes"]


async def test_a_turn_that_is_cancelled_after_a_denial(stage: Make) -> None:
    async with stage() as team:
        updates = team.run("ask and-cancel")
        request = await anext(update async for update in updates if isinstance(update, Permission))
        request.answer(Verdict.REJECT)
        heard = await listen(updates)
    assert heard.error == f"Test Agent cancelled its turn after it was denied permission{KEPT}"


async def test_a_turn_that_ends_without_a_word_after_a_denial_has_failed(stage: Make) -> None:
    async with stage() as team:
        updates = team.run("ask and-end")
        request = await anext(update async for update in updates if isinstance(update, Permission))
        request.answer(Verdict.REJECT)
        heard = await listen(updates)
    assert heard.error == "Test Agent ended its turn without a word after it was denied permission"
    assert [call.state for call in heard.updates if isinstance(call, ToolCall)][-1] is ToolState.FAILED


@pytest.mark.parametrize("ending", ["", " and-end", " and-cancel"])
async def test_the_words_of_a_rejection_are_the_next_prompt_of_the_same_task(
    stage: Make, ending: str
) -> None:
    async with stage() as team:
        updates = team.run(f"ask{ending}")
        request = await anext(update async for update in updates if isinstance(update, Permission))
        request.answer(Verdict.REJECT, "use make clean")
        heard = await listen(updates)
        assert heard.error is None
        assert heard.text.endswith("so I hear: The person did not allow this: Remove it\n\nuse make clean")
        assert heard.text.startswith("so I" if ending == " and-end" else "denied (no)\n\nso I")
        assert [update.tokens for update in heard.updates if isinstance(update, Usage)][-1] == 22
        assert (await team.recall())["memory"][1].startswith("The person did not allow")


async def test_the_words_of_a_rejection_are_in_the_error_of_what_the_agent_asked_of_us(stage: Make) -> None:
    async with stage(files=True) as team:
        updates = team.run(
            "call "
            + json.dumps([("fs/write_text_file", {"path": str(team.directory / "x.txt"), "content": "x"})])
        )
        request = await anext(update async for update in updates if isinstance(update, Permission))
        request.answer(Verdict.REJECT, "not in this folder")
        heard = await listen(updates)
    assert "the person did not allow it: not in this folder" in heard.text


async def test_silence_after_a_denial_ends_the_task_and_the_next_one_starts_anew(stage: Make) -> None:
    async with stage(silence_timeout=2.0) as team:
        updates = team.run("ask and-hush")
        request = await anext(update async for update in updates if isinstance(update, Permission))
        request.answer(Verdict.REJECT)
        heard = await listen(updates)
        assert heard.error == f"Test Agent was stopped: no output for 2 s{KEPT}"
        assert (await team.recall())["memory"] == ["recall"]


async def test_a_request_is_withdrawn_when_its_task_is_cancelled(stage: Make) -> None:
    async with stage() as team:
        first = await team.recall()
        updates = team.run("ask")
        await anext(update async for update in updates if isinstance(update, Permission))
        await updates.aclose()
        assert (await team.recall())["pid"] == first["pid"]


async def test_a_cancelled_agent_lives_on_and_what_it_still_says_is_not_mixed_in(stage: Make) -> None:
    async with stage() as team:
        first = await team.recall()
        updates = team.run("hang")
        assert await until_text(updates) == "ready"
        await updates.aclose()
        after = await team.recall()
    assert after["pid"] == first["pid"]
    assert after["memory"] == ["recall", "hang", "recall"]


@pytest.mark.parametrize("flags", [[], ["stubborn"]])
async def test_an_agent_that_ignores_a_cancel_is_soon_killed(stage: Make, flags: list[str]) -> None:
    async with stage(*flags) as team:
        first = await team.recall()
        updates = team.run("ignore")
        assert await until_text(updates) == "ready"
        begin = asyncio.get_running_loop().time()
        await updates.aclose()
        assert asyncio.get_running_loop().time() - begin < SOON
        assert not psutil.pid_exists(first["pid"])
        assert (await team.recall())["memory"] == ["recall"]


async def test_an_agent_in_full_flood_can_be_cancelled(stage: Make) -> None:
    async with stage() as team:
        updates = team.run("flood")
        assert await until_text(updates)
        begin = asyncio.get_running_loop().time()
        await updates.aclose()
        assert asyncio.get_running_loop().time() - begin < SOON
        assert (await team.hear("hello")).text == "hello"


@pytest.mark.parametrize("steps", [0, 1, 3, 10, 30, 100])
async def test_cancelling_at_any_moment_of_the_start_leaves_nothing(stage: Make, steps: int) -> None:
    async with stage() as team:
        task = asyncio.create_task(team.hear("hang"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=SAFETY)
        assert task.cancelled()
        assert (await team.hear("hello")).text == "hello"


def test_a_loop_that_shuts_down_leaves_nothing(tmp_path: Path, go: Go) -> None:
    async def main() -> None:
        backend = Acp(AcpOptions(command=acp_command(go.path)))
        assert (await listen(backend.run(request(tmp_path, "hello")))).text == "hello"

    asyncio.run(main())


async def test_closing_ends_also_who_will_not(stage: Make) -> None:
    async with stage("stubborn") as team:
        pids = [(await team.recall(agent=agent))["pid"] for agent in ("pm", "ba")]
    assert not any(map(psutil.pid_exists, pids))


async def test_a_death_tells_its_last_words_and_the_next_task_starts_anew(stage: Make) -> None:
    async with stage() as team:
        heard = await team.hear("death")
        assert heard.error == f"Test Agent was killed by SIGKILL: last words{KEPT}"
        assert (await team.hear("hello")).text == "hello"


@pytest.mark.parametrize(
    ("flag", "options", "error"),
    [
        ("stillborn", {}, "python ended with exit status 3: no licence"),
        ("mute", {"start_timeout": 0.3}, "python was not ready within 0.3 s"),
        ("never-new", {"start_timeout": 3.0}, "Test Agent was not ready within 3 s"),
        (
            "newer",
            {},
            "Test Agent speaks version 2 of the protocol and we speak 1: try another release of it",
        ),
        ("locked", {"login": "run `agent login`"}, "Test Agent is not logged in: run `agent login`"),
        (
            "locked",
            {},
            f"Test Agent is not logged in: start {sys.executable} in a terminal and log in there{WAYS}",
        ),
    ],
)
async def test_every_way_not_to_start(stage: Make, flag: str, options: dict[str, Any], error: str) -> None:
    async with stage(flag, **options) as team:
        heard = await team.hear("x")
    name = Path(sys.executable).name  # python, or python3
    assert heard.error == (f"{name}{error.removeprefix('python')}" if error.startswith("python ") else error)


async def test_a_log_in_that_ran_out_in_the_middle(stage: Make) -> None:
    async with stage(login="run `agent login`") as team:
        heard = await team.hear("error login")
    assert (heard.text, heard.error) == (
        "half",
        "Test Agent is not logged in: run `agent login`",
    )


async def test_a_program_that_is_missing(tmp_path: Path) -> None:
    heard = await listen(Acp(AcpOptions(command=["no-such-agent"])).run(request(tmp_path, "x")))
    assert heard.error == "there is no program no-such-agent: it is not on PATH"


async def test_a_program_that_is_no_agent(tmp_path: Path) -> None:
    backend = Acp(AcpOptions(command=["cat"], start_timeout=SAFETY))
    heard = await listen(backend.run(request(tmp_path, "x")))  # it sends our own requests back to us
    assert heard.error is not None


async def test_a_banner_early_updates_and_noise_are_not_part_of_the_answer(
    stage: Make, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = list(logging.getLogger().handlers)
    async with stage("banner", "early") as team:
        assert (await team.hear("noise")).text == "quiet"
        assert (await team.hear("garbage")).text == "\x1b[2Jfine"
    assert logging.getLogger().handlers == handlers
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_huge_line_arrives(stage: Make) -> None:
    async with stage() as team:
        heard = await team.hear("huge")
    assert heard.text == "z" * 5_000_000


async def test_of_our_environment_an_agent_sees_what_is_harmless_or_named(
    stage: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_SECRET", "x")
    monkeypatch.setenv("CANARY_NAMED", "x")
    async with stage(env={"CANARY_NAMED": None}) as team:
        names = json.loads((await team.hear("environment")).text)
    assert "CANARY_NAMED" in names
    assert "CANARY_SECRET" not in names


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("no/such", {}),
        ("_vendor/thing", {}),
        ("elicitation/create", {"mode": "form", "message": "x", "requestedSchema": {"type": "object"}}),
        ("fs/read_text_file", {"path": "/etc/passwd"}),
        ("fs/write_text_file", {"path": "/tmp/x", "content": "x"}),
        ("terminal/create", {"command": "id"}),
        ("terminal/output", {"terminalId": "x"}),
        ("terminal/kill", {"terminalId": "x"}),
        ("terminal/release", {"terminalId": "x"}),
        ("terminal/wait_for_exit", {"terminalId": "x"}),
    ],
)
async def test_what_is_not_offered_is_refused(stage: Make, method: str, params: dict[str, Any]) -> None:
    async with stage() as team:
        [answer], requests = await team.calls((method, params))
    assert (answer["code"], requests) == (-32601, [])


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/request_permission", {}),
        ("session/request_permission", {"toolCall": {"toolCallId": "x"}, "options": [{"kind": "bribe"}]}),
        ("fs/read_text_file", {"path": 5}),
        ("fs/read_text_file", {"path": "x", "_meta": {"path": 5, "nonsense": 1}, "limit": "many"}),
    ],
)
async def test_requests_that_do_not_fit_the_protocol(
    stage: Make, method: str, params: dict[str, Any]
) -> None:
    async with stage(files=True) as team:
        [answer], requests = await team.calls((method, params))
    assert (answer["code"] in (-32602, -32603), requests) == (True, [])


async def test_capabilities_are_off_unless_switched_on(stage: Make) -> None:
    async with stage() as team:
        known = json.loads((await team.hear("capabilities")).text)
        assert "true" not in json.dumps(known)
    async with stage(files=True, terminal=True) as team:
        known = json.loads((await team.hear("capabilities")).text)
    assert known["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert known["terminal"] is True


async def test_files_are_read_and_written_with_permission(stage: Make) -> None:
    async with stage(files=True) as team:
        there = team.directory / "notes.txt"
        there.write_text("one\ntwo\nthree\n")
        new = team.directory / "a" / "b.txt"
        answers, requests = await team.calls(
            ("fs/read_text_file", {"path": str(there)}),
            ("fs/read_text_file", {"path": str(there), "line": 2, "limit": 1}),
            ("fs/write_text_file", {"path": str(there), "content": "one\n2\nthree\n"}),
            ("fs/write_text_file", {"path": str(new), "content": "new"}),
        )
        refused, _ = await team.calls(
            ("fs/write_text_file", {"path": str(there), "content": "no"}),
            ("fs/read_text_file", {"path": str(there)}),
            verdict=Verdict.REJECT,
        )
        assert answers == [{"content": "one\ntwo\nthree\n"}, {"content": "two\n"}, None, None]
        assert there.read_text() == "one\n2\nthree\n"
        assert new.read_text() == "new"
        assert [answer["message"] for answer in refused] == ["the person did not allow it"] * 2
        assert [(request.tool, request.kind, request.detail) for request in requests] == [
            (f"read {there}", "read", str(there)),
            (f"read {there}", "read", str(there)),
            (f"write {there}", "edit", f"--- {there}\n+++ {there}\n@@ -2 +2 @@\n one\n-two\n+2\n three"),
            (
                f"write {new}",
                "edit",
                f"--- /dev/null\n+++ {new}\n@@ -1 +1 @@\n+new\n\\ no newline at the end",
            ),
        ]


@pytest.mark.parametrize("happens", ["changed", "shorter", "gone", "swapped", "appeared", "a directory"])
async def test_a_file_that_changes_while_the_person_looks_is_asked_about_again(
    stage: Make, tmp_path: Path, happens: str
) -> None:
    async with stage(files=True) as team:
        there, other = team.directory / "notes.txt", team.directory / "other.txt"
        other.write_text("theirs\n")
        if happens != "appeared":
            there.write_text("one\ntwo\n")
        asked: list[str] = []

        def look(request: Permission) -> Verdict:
            asked.append(request.detail)
            if len(asked) > 1:
                return Verdict.ALLOW
            if happens != "appeared":
                there.unlink()
            match happens:
                case "changed" | "appeared":
                    there.write_text("one\nthree\n")
                case "shorter":
                    there.write_text("one\n")
                case "swapped":
                    there.symlink_to(other)
                case "a directory":
                    there.mkdir()
            return Verdict.ALLOW

        write = ("fs/write_text_file", {"path": str(there), "content": "one\nmine\n"})
        heard = await team.answering("call " + json.dumps([write]), look)
        [answer] = json.loads(heard.text)
        head = f"--- {there}\n+++ {there}\n@@ -2 +2 @@\n one\n"
        new = f"--- /dev/null\n+++ {there}\n@@ -1 +1 @@\n+one\n+mine"
        swapped = f"leads to: {other}\n--- {there}\n+++ {there}\n@@ -1 +1 @@\n-theirs\n+one\n+mine"
        again = {
            "changed": [f"{head}-three\n+mine"],
            "shorter": [f"{head}+mine"],
            "gone": [new],
            "swapped": [swapped],
            "appeared": [f"{head}-three\n+mine"],
            "a directory": [],
        }
        assert asked == [new if happens == "appeared" else f"{head}-two\n+mine", *again[happens]]
        assert (answer is None) == (happens != "a directory")
        if answer is None:
            assert there.read_text() == "one\nmine\n"
        assert other.read_text() == ("one\nmine\n" if happens == "swapped" else "theirs\n")


async def test_where_a_path_leads_is_shown(stage: Make) -> None:
    async with stage(files=True) as team:
        hook = team.directory / "hook"
        hook.write_text("true\n")
        (team.directory / "notes.txt").symlink_to(hook)
        path = f"{team.directory}/notes.txt"
        _, requests = await team.calls(
            ("fs/read_text_file", {"path": path}), ("fs/write_text_file", {"path": path, "content": "true\n"})
        )
    assert [request.detail for request in requests] == [
        f"{path}\nleads to: {hook}",
        f"leads to: {hook}\n--- {path}\n+++ {path}\n@@ -2 +2 @@\n true",
    ]


async def test_no_path_leads_out_of_the_working_directory(stage: Make, tmp_path: Path) -> None:
    async with stage(files=True, terminal=True) as team:
        work = team.directory
        secret = tmp_path / "secret"
        secret.write_text("canary")
        (tmp_path / "work-too").mkdir()
        (work / "link").symlink_to(secret)
        (work / "way").symlink_to(tmp_path)
        (work / "loop").symlink_to(work / "loop")
        os.mkfifo(work / "pipe")
        (work / "big").write_bytes(b"x" * (1024 * 1024 + 1))
        (work / "binary").write_bytes(b"\xff\xfe")
        paths = [
            str(secret),
            f"{work}/../secret",
            f"{work}/link",
            f"{work}/way/secret",
            f"{tmp_path}/work-too/x",
            "secret",
            "",
            f"{work}/\0",
            str(work),
            f"{work}/pipe",
            f"{work}/loop",
            f"{work}/big",
            f"{work}/binary",
        ]
        reads, _ = await team.calls(*(("fs/read_text_file", {"path": path}) for path in paths))
        writes, requests = await team.calls(
            *(("fs/write_text_file", {"path": path, "content": "x"}) for path in paths)
        )
        large, large_requests = await team.calls(
            ("fs/write_text_file", {"path": f"{work}/large", "content": "x" * (1024 * 1024 + 1)})
        )
        terminal, terminal_requests = await team.calls(
            ("terminal/create", {"command": "pwd", "cwd": f"{work}/way"})
        )
        assert all("message" in answer for answer in [*reads, *writes, *large, *terminal])
        assert "canary" not in json.dumps([reads, writes])
        assert [*requests, *large_requests, *terminal_requests] == []
        assert secret.read_text() == "canary"
        assert not (work / "large").exists()
        assert list((tmp_path / "work-too").iterdir()) == []


@pytest.mark.parametrize("swapped", ["sub", "sub/file"])
def test_a_link_that_appears_after_the_check_is_not_followed(tmp_path: Path, swapped: str) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    for place in (work / "sub", outside):
        place.mkdir(parents=True)
        (place / "file").write_text("canary")
    files = Files(work)
    checked = files.within(str(work / "sub" / "file"))
    (work / swapped).rename(tmp_path / "away")
    (work / swapped).symlink_to(outside if swapped == "sub" else outside / "file")
    with pytest.raises(FileRefusedError):
        files._content(checked)


async def test_terminals_run_with_permission_and_bounded_output(stage: Make) -> None:
    async with stage(terminal=True) as team:
        (team.directory / "sub").mkdir()
        script = "echo $FOO; pwd; echo err >&2; cat; exit 3"
        run = {"command": "sh", "args": ["-c", script], "cwd": f"{team.directory}/sub"}
        answers, requests = await team.calls(
            ("terminal/create", {**run, "env": [{"name": "FOO", "value": "bar"}]}),
            ("terminal/wait_for_exit", {"terminalId": "terminal-1"}),
            ("terminal/output", {"terminalId": "terminal-1"}),
            ("terminal/release", {"terminalId": "terminal-1"}),
            ("terminal/output", {"terminalId": "terminal-1"}),
            ("terminal/create", {"command": "printf", "args": ["ä%.0s", *"x" * 100], "outputByteLimit": 5}),
            ("terminal/wait_for_exit", {"terminalId": "terminal-2"}),
            ("terminal/output", {"terminalId": "terminal-2"}),
            ("terminal/create", {"command": "tail", "args": ["-f", "/dev/null"]}),
            ("terminal/kill", {"terminalId": "terminal-3"}),
            ("terminal/output", {"terminalId": "terminal-3"}),
            ("terminal/create", {"command": "no-such-program"}),
            ("terminal/create", {"command": "tail", "args": ["-f", "/dev/null"]}),  # ends with the task
        )
        refused, _ = await team.calls(("terminal/create", {"command": "id"}), verdict=Verdict.REJECT)
        place = (team.directory / "sub").resolve()
    assert requests[0].kind == "execute"
    assert requests[0].detail == f"sh -c '{script}'\nFOO=bar\nin {place}"
    assert answers[1] == {"exitCode": 3}
    assert answers[2] == {
        "output": f"bar\n{place}\nerr\n",
        "truncated": False,
        "exitStatus": {"exitCode": 3},
    }
    assert answers[4]["message"] == "there is no terminal terminal-1"
    assert (answers[7]["output"], answers[7]["truncated"]) == ("ää", True)
    assert answers[10]["exitStatus"] == {"signal": "SIGTERM"}
    assert answers[11]["message"] == "there is no program no-such-program: it is not on PATH"
    assert answers[12] == {"terminalId": "terminal-4"}
    assert refused[0]["message"] == "the person did not allow it"


@pytest.mark.parametrize("can", [False, True])
async def test_an_agent_that_can_use_our_tools_is_told_where_they_are(stage: Make, *, can: bool) -> None:
    async def tools() -> ToolServer:
        return ToolServer("teambot1", "http://127.0.0.1:1/mcp", "s3cret")

    async with stage(*["tools"] * can) as team:
        work = replace(request(team.directory, "servers"), tools=tools)
        heard = await listen(team.backend.run(work))
    headers = [{"name": "Authorization", "value": "Bearer s3cret"}]
    server = {"type": "http", "name": "teambot1", "url": "http://127.0.0.1:1/mcp", "headers": headers}
    assert json.loads(heard.text) == ([server] if can else [])


async def test_an_agent_is_built_from_settings(tmp_path: Path, go: Go) -> None:
    backend = build("acp", {"command": acp_command(go.path), "files": True, "start_timeout": SAFETY})
    assert isinstance(backend, Stateful)
    heard = await listen(backend.run(request(tmp_path, "hello")))
    await backend.aclose()
    assert heard.updates == [Text("hello")]


def test_the_sdk_is_imported_only_when_an_agent_is_needed() -> None:
    script = """
import sys
import teambot_tui.cli, teambot_tui.ui.app
from teambot_tui.agents.backends.acp_files import Files, FileRefusedError
from teambot_tui.agents.catalogue import build
build("acp", {"command": ("agent",)})
print([name for name in ("acp", "pydantic") if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
