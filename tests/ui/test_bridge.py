"""The one crossing: frames one way, answers and errors back to whoever asked."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.ports import Text
from teambot_tui.service import Service
from teambot_tui.ui.bridge import Bridge
from tests.team import Gate, session_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from teambot_tui.engine.ports import Backend, Request, Update
    from teambot_tui.engine.session import Session

PATIENCE = 60.0


class Chatter:
    """Says a thousand pieces, all at once."""

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        for number in range(1000):
            yield Text(f"{number} ")


@contextmanager
def bridge_to(backend: Backend) -> Iterator[Bridge]:
    bridge = Bridge(session_of(backend))
    bridge.start()
    try:
        yield bridge
    finally:
        assert bridge.close(PATIENCE)


async def test_a_frame_holds_all_that_was_said_meanwhile() -> None:
    with bridge_to(Chatter()) as bridge:
        bridge.ask(Service.submit, "@pm talk").result(PATIENCE)
        bridge.run(lambda service: service._session.idle()).result(PATIENCE)
        frames = bridge.frames()
        frame = await anext(frames)
        assert frame.said == (("pm#1", "".join(f"{number} " for number in range(1000))),)
        waits = asyncio.ensure_future(anext(frames))
        bridge.ask(Service.submit, "@ba talk").result(PATIENCE)
        assert "ba#1" in (await waits).moved, "and the next one comes as soon as there is news"


async def test_nothing_is_lost_while_the_screen_takes_as_it_likes() -> None:
    with bridge_to(Chatter()) as bridge:
        bridge.ask(Service.submit, "@pm talk")
        said = ""
        async for frame in bridge.frames():
            said += "".join(text for _, text in frame.said)
            if frame.ended:
                break
        assert said == "".join(f"{number} " for number in range(1000))


def test_an_exception_goes_to_whoever_asked() -> None:
    with bridge_to(Gate()) as bridge:
        with pytest.raises(RefusedError, match="no task, agent or label"):
            bridge.ask(Service.cancel, "nobody").result(PATIENCE)
        assert bridge.ask(Service.cancel, "all").result(PATIENCE) == ()


def test_a_request_that_nobody_waits_for_any_more_is_not_carried_out() -> None:
    warnings: list[dict[str, object]] = []
    with bridge_to(Gate()) as bridge:
        held = threading.Event()
        bridge.ask(
            lambda _: asyncio.get_running_loop().set_exception_handler(lambda _, told: warnings.append(told))
        )
        bridge.ask(lambda _: held.wait(PATIENCE))
        answer = bridge.ask(Service.submit, "@pm plan")
        assert answer.cancel()
        held.set()
        assert bridge.ask(Service.consequences, "all").result(PATIENCE).tasks == ()
    assert not warnings


def test_closing_cancels_the_agents_and_ends_the_thread() -> None:
    gate = Gate()
    with bridge_to(gate) as bridge:
        bridge.ask(Service.submit, "@pm plan\n@ba check").result(PATIENCE)
        bridge.ask(lambda _: None).result(PATIENCE)
        assert bridge.close(PATIENCE)
        assert sorted(gate.closed) == ["ba#1", "pm#1"]
        assert not any(thread.name == "engine" for thread in threading.enumerate())
        assert bridge.close(PATIENCE), "twice is once"
        with pytest.raises(RefusedError, match="has ended"):
            bridge.ask(Service.submit, "@pm plan").result(PATIENCE)
        assert not bridge.death


def die(_: Service) -> None:
    raise SystemExit("out of memory")


async def test_an_engine_that_dies_says_so_and_refuses_what_it_is_asked() -> None:
    gate = Gate()
    with bridge_to(gate) as bridge:
        bridge.ask(Service.submit, "@pm plan").result(PATIENCE)
        frames = bridge.frames()
        await anext(frames)
        waits = bridge.run(Service.next_frame)
        with pytest.raises(RefusedError, match="The engine has died: SystemExit: out of memory"):
            bridge.ask(die).result(PATIENCE)
        with pytest.raises(RefusedError, match="The engine has died"):
            waits.result(PATIENCE)
        (last,) = [frame async for frame in frames]
        assert last.ended == ("pm#1",), "its agents ended with it"
        assert gate.closed == ["pm#1"]
        for late in (bridge.ask(Service.submit, "@pm plan"), bridge.run(Service.next_frame)):
            with pytest.raises(RefusedError, match="The engine has died"):
                late.result(PATIENCE)


def test_an_engine_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of()

    async def broken() -> Session:
        raise OSError("no more files")

    monkeypatch.setattr(type(session), "__aenter__", lambda _: broken())
    bridge = Bridge(session)
    bridge.start()
    assert bridge.death == "The engine has died: OSError: no more files"
    with pytest.raises(RefusedError, match="no more files"):
        bridge.ask(Service.submit, "@pm plan").result(PATIENCE)
    assert bridge.close(PATIENCE)


def test_closing_what_was_never_started() -> None:
    assert Bridge(session_of()).close()
