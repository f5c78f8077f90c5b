"""What is measured in a terminal: a screen under a load that marks what it says with the time.

`python -m tests.benchmarks.screen_child KIND AGENTS RATE`: `team` is the screen, `logs` is one plain
`Log` per agent that is written to at each chunk, `flood` is the session's screen and an agent that says RATE
megabytes and then a tenth of it in one line. It runs until it is killed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.containers import Grid
from textual.widgets import Input, Log

from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import BackendError, Member, Text
from teambot_tui.engine.session import Session
from teambot_tui.service import Service
from teambot_tui.ui.app import TeambotApp
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.setup import ScreenSetup

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from textual.app import ComposeResult

    from teambot_tui.engine.ports import Backend, Request, Update

CHUNKS_PER_MARK = 40
CLOCK = 1_000_000_000
"""The time in a mark is in microseconds and begins again after so many."""
BURST = 0.02
"""Seconds between an agent's turns; what is due comes then, as it does from a pipe or a socket."""
MEGABYTE = 1_000_000

_WORDS = ("the ", "parser ", "keeps ", "every ", "span, ", "so ", "errors ", "point ", "home.\n")
_STATES_PER_SECOND = 5


def mark(kind: str, number: int) -> str:
    """Return a word that says when it was said, and after how many others of its kind."""
    return f"z{kind}{time.monotonic_ns() // 1000 % CLOCK:09}x{number}z"


async def chunks(rate: float, *, marked: bool) -> AsyncIterator[str]:
    """Say so many words a second for ever; whoever comes late says more at once."""
    begin, said = time.monotonic(), 0
    while True:
        await asyncio.sleep(BURST)
        due = int((time.monotonic() - begin) * rate)
        for number in range(said, due):
            is_mark = marked and number % CHUNKS_PER_MARK == 0
            yield f"\n{mark('T', number // CHUNKS_PER_MARK)}\n" if is_mark else _WORDS[number % len(_WORDS)]
        said = max(said, due)


class _Streaming:
    def __init__(self, rate: float, *, marked: bool) -> None:
        self._rate = rate
        self._marked = marked

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        async for chunk in chunks(self._rate, marked=self._marked):
            yield Text(chunk)


class _Failing:
    """Fails at once; the reason is a mark."""

    def __init__(self) -> None:
        self._failed = 0

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        self._failed += 1
        raise BackendError(mark("S", self._failed))
        yield


class _Flooding:
    """Says many megabytes in short lines as fast as they are taken, or so many in a single line at once."""

    def __init__(self, size: int, line: int) -> None:
        self._size = size
        self._line = line

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        piece = (("all work and no play " * 4)[:79] + "\n") * 50
        await asyncio.sleep(1.0)
        for _ in range(self._size // len(piece)):
            yield Text(piece)
            await asyncio.sleep(0)  # as reading a pipe would
        yield Text(f"\n{mark('L', 0)}\n")
        await asyncio.sleep(0.5)
        yield Text("x" * self._line)
        await asyncio.sleep(0.5)
        yield Text(f"\n{mark('E', 0)}\n")
        await asyncio.sleep(3600)


class _Team(TeambotApp):
    """The session's screen, and someone who gives everyone work."""

    def __init__(self, backends: dict[str, Backend]) -> None:
        agents = [AgentId(name) for name in backends]
        session = Session(
            [Member(agent, "", None, backends[agent]) for agent in agents],
            policy=Policy(max_parallel=len(agents)),
        )
        place = ScreenSetup(
            Path.cwd(), {}, {}, dict.fromkeys(agents, None), glyphs=Glyphs(ascii_only=False), history=None
        )
        super().__init__(lambda: session, place)
        self._agents = agents

    def on_session_screen_completed(self) -> None:
        for agent in self._agents:
            if agent != "probe":
                self._submit(f"@{agent} talk")
        if "probe" in self._agents:
            self.set_interval(1 / _STATES_PER_SECOND, lambda: self._submit("@probe fail"))

    def _submit(self, text: str) -> None:
        self.bridge.ask(Service.submit, text)


class _Logs(App[None]):
    """What one writes first: a log for each agent, each chunk written to it as it comes."""

    CSS = "Grid { grid-size: 3; } Log { height: 1fr; }"

    def __init__(self, agents: int, rate: float) -> None:
        super().__init__()
        self._count = agents
        self._rate = rate
        self._talking: list[asyncio.Task[None]] = []

    def compose(self) -> ComposeResult:
        with Grid():
            for _ in range(self._count):
                yield Log()
        yield Input()

    def on_ready(self) -> None:
        self.query_one(Input).focus()
        for number, log in enumerate(self.query(Log), start=1):
            talk = self._talk(log, marked=number == self._count)
            self._talking.append(asyncio.create_task(talk, name=f"agent {number}"))

    async def _talk(self, log: Log, *, marked: bool) -> None:
        async for chunk in chunks(self._rate, marked=marked):
            log.write(chunk)


def main(kind: str, agents: int, rate: float) -> None:
    """Run one of the screens."""
    if kind == "logs":
        _Logs(agents, rate).run()
        return
    backends: dict[str, Backend] = {}
    if kind == "flood":
        backends["a1"] = _Flooding(int(rate * MEGABYTE), int(rate * MEGABYTE / 10))
    else:
        for number in range(1, agents + 1):
            if number == agents:  # beside the one that is watched: of many panels not all are in sight
                backends["probe"] = _Failing()
            backends[f"a{number}"] = _Streaming(rate, marked=number == agents)
    _Team(backends).run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
