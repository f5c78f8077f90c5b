"""Every backend streams, ends, fails and is stopped alike, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.groups import guard
from teambot_tui.engine.ports import Permission, Text, Verdict
from tests.agents.conformance import FLOOD, SAFETY, SOON, Behaviour, Go, listen, request, until_text
from tests.agents.openai_subject import OpenAISubject
from tests.agents.opencode import MARKS, OpenCodeSubject
from tests.agents.subjects import AcpSubject, CommandSubject
from tests.agents.test_process import carriers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from tests.agents.conformance import Subject

SUBJECTS: dict[str, Subject] = {
    "acp": AcpSubject(),
    "command": CommandSubject(),
    "openai": OpenAISubject(),
    "opencode": OpenCodeSubject(),
}
THIRD_PARTY = {"opencode"}


def subjects(*, who_ask: bool = False) -> list[ParameterSet]:
    """Those who are put through a test."""
    return [
        pytest.param(subject, id=name, marks=MARKS if name in THIRD_PARTY else ())
        for name, subject in SUBJECTS.items()
        if subject.asks or not who_ask
    ]


every_backend = pytest.mark.parametrize("subject", subjects())
every_backend_that_asks = pytest.mark.parametrize("subject", subjects(who_ask=True))


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


@every_backend
async def test_an_answer_comes_piece_by_piece(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.STREAM, go, SAFETY) as (backend, prompt):
        updates = backend.run(request(tmp_path, prompt))
        assert await until_text(updates) == "one "
        go.tell()
        heard = await listen(updates)
    assert (heard.text, heard.error) == ("two", None)


@every_backend
async def test_pieces_keep_their_order(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.ORDER, go, SAFETY) as (backend, prompt):
        heard = await listen(backend.run(request(tmp_path, prompt)))
    assert heard.text == "".join(f"{number}\n" for number in range(1000))
    assert heard.error is None


@every_backend
@pytest.mark.parametrize("by_task", [False, True])
async def test_cancelling_is_soon_done(subject: Subject, tmp_path: Path, go: Go, *, by_task: bool) -> None:
    async with subject.backend(Behaviour.HANG, go, SAFETY) as (backend, prompt):
        updates = backend.run(request(tmp_path, prompt))
        assert await until_text(updates) == "ready"
        waiting = asyncio.create_task(listen(updates)) if by_task else None
        await asyncio.sleep(0)
        begin = asyncio.get_running_loop().time()
        if waiting is not None:
            waiting.cancel()
            await asyncio.wait([waiting], timeout=SAFETY)
            assert waiting.cancelled()
        else:
            await updates.aclose()
        assert asyncio.get_running_loop().time() - begin < SOON


@every_backend
async def test_a_failure_keeps_what_was_said_and_says_why(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.ERROR, go, SAFETY) as (backend, prompt):
        heard = await listen(backend.run(request(tmp_path, prompt)))
    assert heard.text == "half"
    assert heard.error is not None
    assert "out of ideas" in heard.error


@every_backend
async def test_a_death_keeps_what_was_said(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.DEATH, go, SAFETY) as (backend, prompt):
        heard = await listen(backend.run(request(tmp_path, prompt)))
    assert heard.text == "half"
    assert heard.error


@every_backend
async def test_silence_ends_a_task(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.HANG, go, subject.moment) as (backend, prompt):
        heard = await listen(backend.run(request(tmp_path, prompt)))
    assert heard.text == "ready"
    assert heard.error is not None
    assert f"no output for {subject.moment:g} s" in heard.error


@every_backend
async def test_a_flood_arrives_whole_and_costs_no_memory(subject: Subject, tmp_path: Path, go: Go) -> None:
    length, ourselves = 0, psutil.Process()
    before = most = ourselves.memory_info().rss
    async with subject.backend(Behaviour.FLOOD, go, SAFETY) as (backend, prompt):
        async with asyncio.timeout(SAFETY):
            async for update in backend.run(request(tmp_path, prompt)):
                if isinstance(update, Text):
                    length += len(update.text)
                    assert not update.text.strip("x")
                    most = max(most, ourselves.memory_info().rss)
    assert length == FLOOD
    assert most - before < 60 * 1024 * 1024


@every_backend
async def test_garbage_is_survived(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.GARBAGE, go, SAFETY) as (backend, prompt):
        heard = await listen(backend.run(request(tmp_path, prompt)))
    assert heard.text.endswith("fine")
    assert heard.error is None


@every_backend_that_asks
@pytest.mark.parametrize(("verdict", "outcome"), [(Verdict.ALLOW, "allowed"), (Verdict.REJECT, "denied")])
async def test_permission_is_asked_and_the_answer_arrives(
    subject: Subject, tmp_path: Path, go: Go, verdict: Verdict, outcome: str
) -> None:
    async with subject.backend(Behaviour.ASK, go, SAFETY) as (backend, prompt):
        updates = backend.run(request(tmp_path, prompt))
        async with asyncio.timeout(SAFETY):
            async for update in updates:
                if isinstance(update, Permission):
                    assert (update.kind, update.detail.splitlines()[0]) == ("execute", "rm -rf build")
                    update.answer(verdict)
                    break
        heard = await listen(updates)
    assert outcome in (heard.error or heard.text)
    assert verdict is Verdict.REJECT or heard.error is None


@every_backend_that_asks
async def test_who_is_never_answered_is_not_silent_and_can_be_cancelled(
    subject: Subject, tmp_path: Path, go: Go
) -> None:
    async with subject.backend(Behaviour.ASK, go, subject.moment) as (backend, prompt):
        updates = backend.run(request(tmp_path, prompt))
        async with asyncio.timeout(SAFETY):
            permission = await anext(update async for update in updates if isinstance(update, Permission))
        waiting = asyncio.create_task(listen(updates))
        await asyncio.wait([waiting], timeout=1.2 * subject.moment)
        assert not waiting.done()
        begin = asyncio.get_running_loop().time()
        waiting.cancel()
        await asyncio.wait([waiting], timeout=SAFETY)
        assert asyncio.get_running_loop().time() - begin < SOON
        permission.answer(Verdict.ALLOW)  # too late, and harmless


@every_backend
async def test_tasks_after_another_each_have_their_answer(subject: Subject, tmp_path: Path, go: Go) -> None:
    async with subject.backend(Behaviour.ORDER, go, SAFETY) as (backend, prompt):
        answers = [await listen(backend.run(request(tmp_path, prompt))) for _ in range(2)]
        others = await asyncio.gather(
            *(listen(backend.run(request(tmp_path, prompt, agent=agent))) for agent in ("ba", "writer"))
        )
    assert len({heard.text for heard in [*answers, *others]}) == 1
