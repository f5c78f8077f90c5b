"""The one crossing: facts merged and once a frame one way, answers and errors back to whoever asked."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.facts import TaskCancelled, TaskCompleted, TextProduced
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.ports import Text
from teambot_tui.ui.bridge import Bridge
from tests.team import Gate, session_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ports import Backend, Request, Update
    from teambot_tui.engine.session import Session

PATIENCE = 60.0


class Chatter:
    """Says a thousand pieces, all at once."""

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        for number in range(1000):
            yield Text(f"{number} ")


class Bell:
    """Counts how often the screen was woken, and lets the test wait for it."""

    def __init__(self) -> None:
        self.rung = 0
        self._heard = threading.Event()

    def __call__(self) -> None:
        self.rung += 1
        self._heard.set()

    def wait(self) -> None:
        assert self._heard.wait(PATIENCE), "woken"
        self._heard.clear()


@contextmanager
def bridge_to(backend: Backend, bell: Bell | None = None) -> Iterator[Bridge]:
    bridge = Bridge(session_of(backend))
    bridge.start(bell or Bell())
    try:
        yield bridge
    finally:
        assert bridge.close(PATIENCE)


def take_until_completed(bridge: Bridge, bell: Bell) -> list[list[Fact]]:
    taken: list[list[Fact]] = []
    while not any(isinstance(fact, TaskCompleted) for facts in taken for fact in facts):
        bell.wait()
        taken.append(bridge.take())
    return taken


def test_facts_cross_once_per_take_with_their_text_merged() -> None:
    bell = Bell()
    with bridge_to(Chatter(), bell) as bridge:
        done = threading.Event()

        def submit(session: Session) -> None:
            session.submit("@pm talk")
            asyncio.get_running_loop().create_task(session.idle()).add_done_callback(lambda _: done.set())

        bridge.ask(submit).result(PATIENCE)
        assert done.wait(PATIENCE)
        assert bell.rung == 1, "woken once, whatever has piled up since"
        facts = bridge.take()
        pieces = [fact for fact in facts if isinstance(fact, TextProduced)]
        assert [piece.text for piece in pieces] == ["".join(f"{number} " for number in range(1000))]
        assert bridge.take() == []
        bridge.ask(lambda session: session.submit("@ba talk")).result(PATIENCE)
        assert bell.rung == 2, "and again only after the screen came to take"


def test_nothing_is_lost_while_the_screen_takes_as_it_likes() -> None:
    bell = Bell()
    with bridge_to(Chatter(), bell) as bridge:
        bridge.ask(lambda session: session.submit("@pm talk"))
        taken = take_until_completed(bridge, bell)
        said = "".join(fact.text for facts in taken for fact in facts if isinstance(fact, TextProduced))
        assert said == "".join(f"{number} " for number in range(1000))


def test_an_exception_goes_to_whoever_asked() -> None:
    with bridge_to(Gate()) as bridge:
        with pytest.raises(RefusedError, match="no task, agent or label"):
            bridge.ask(lambda session: session.cancel("nobody")).result(PATIENCE)
        assert bridge.ask(lambda session: session.roster.agents[0]).result(PATIENCE) == "pm"


def test_a_request_that_nobody_waits_for_any_more_is_not_carried_out() -> None:
    warnings: list[dict[str, object]] = []
    with bridge_to(Gate()) as bridge:
        held = threading.Event()
        bridge.ask(
            lambda _: asyncio.get_running_loop().set_exception_handler(lambda _, told: warnings.append(told))
        )
        bridge.ask(lambda _: held.wait(PATIENCE))
        answer = bridge.ask(lambda session: session.submit("@pm plan"))
        assert answer.cancel()
        held.set()
        assert bridge.ask(lambda session: len(session.board.tasks)).result(PATIENCE) == 0
    assert not warnings


def test_closing_cancels_the_agents_and_ends_the_thread() -> None:
    gate = Gate()
    with bridge_to(gate) as bridge:
        bridge.ask(lambda session: session.submit("@pm plan\n@ba check")).result(PATIENCE)
        bridge.ask(lambda _: None).result(PATIENCE)
        assert bridge.close(PATIENCE)
        assert sorted(gate.closed) == ["ba#1", "pm#1"]
        assert not any(thread.name == "engine" for thread in threading.enumerate())
        assert bridge.close(PATIENCE), "twice is once"
        with pytest.raises(RefusedError, match="has ended"):
            bridge.ask(lambda session: session.submit("@pm plan")).result(PATIENCE)
        assert not bridge.death


def die(session: Session) -> None:
    raise SystemExit("out of memory")


def test_an_engine_that_dies_says_so_and_refuses_what_it_is_asked() -> None:
    bell, gate = Bell(), Gate()
    with bridge_to(gate, bell) as bridge:
        bridge.ask(lambda session: session.submit("@pm plan")).result(PATIENCE)
        bell.wait()
        bridge.take()
        last = bridge.ask(die)
        with pytest.raises(RefusedError, match="The engine has died: SystemExit: out of memory"):
            last.result(PATIENCE)
        while not bridge.death:
            bell.wait()
        facts = bridge.take()
        assert any(isinstance(fact, TaskCancelled) for fact in facts), "its agents ended with it"
        assert gate.closed == ["pm#1"]
        for late in (
            bridge.ask(lambda session: session.submit("@pm plan")),
            bridge.run(lambda session: session.idle()),
        ):
            with pytest.raises(RefusedError, match="The engine has died"):
                late.result(PATIENCE)


def test_an_engine_may_be_closed_while_it_still_tells_of_its_death() -> None:
    tells, heard = threading.Event(), threading.Event()

    def wake() -> None:
        if bridge.death:
            tells.set()
            heard.wait(PATIENCE)

    bridge = Bridge(session_of())
    bridge.start(wake)
    bridge.ask(die)
    assert tells.wait(PATIENCE)
    assert not bridge.close(0)
    heard.set()
    assert bridge.close(PATIENCE)


def test_an_engine_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of()

    async def broken() -> Session:
        raise OSError("no more files")

    monkeypatch.setattr(type(session), "__aenter__", lambda _: broken())
    bridge, bell = Bridge(session), Bell()
    bridge.start(bell)
    bell.wait()
    assert bridge.death == "The engine has died: OSError: no more files"
    with pytest.raises(RefusedError, match="no more files"):
        bridge.ask(lambda session: session.submit("@pm plan")).result(PATIENCE)
    assert bridge.close(PATIENCE)


def test_closing_what_was_never_started() -> None:
    assert Bridge(session_of()).close()
