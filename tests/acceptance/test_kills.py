"""Kills at random moments, whatever the face: nobody lives on, no terminal is hurt, next to nothing is lost.

`TEAMBOT_KILLS` says how many there are. What an agent has said a tenth of a second before the kill is on
disk; a machine that is too busy to wake a thread in time is given the time it has lost.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final

import psutil
import pytest

from tests.headless.conftest import Teambot
from tests.leftovers import HIDES, PATIENCE
from tests.pty.terminal import Terminal
from tests.ui.test_web import browsing_by_hand, page_of, read_until, serving

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="a daemon is found in /proc only"),
]

KILLS: Final = int(os.environ.get("TEAMBOT_KILLS", "40"))
FACES: Final = ("screen", "run", "up", "web")
SIGNALS: Final = (signal.SIGKILL, signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV)
EARLY: Final = 0.25  # so many of them while it starts
LATEST: Final = 1.0  # seconds after the start, or after the first words
POLL: Final = 0.02  # seconds
MAY_BE_LOST: Final = 0.1  # seconds
COMPOSE: Final = """\
version: "1"
tasks:
  one: {agent: pm, prompt-string: Talk}
  other: {agent: ba, prompt-string: Talk}
"""
TALKS: Final = (
    HIDES.replace('"import signal; signal.pause()"]', '"import signal; signal.pause()", sys.argv[1]]')
    + """
import time
with open(f"{sys.argv[1]}/said-{os.getpid()}", "w") as said:
    while True:
        now = f"<{time.monotonic():.6f}>"
        print(now, flush=True)
        print(now, file=said, flush=True)
        time.sleep(0.005)
"""
)
"""Says every few milliseconds what time it is, and notes what it has said."""


@dataclass
class Lateness:
    """How late the machine wakes a thread."""

    worst: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Lateness:
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._stop.wait(0.005):
            now = time.monotonic()
            self.worst = max(self.worst, now - before - 0.005)
            before = now


def configure(home: Path) -> None:
    folder = home / ".config" / "teambot"
    folder.mkdir(parents=True)
    command = json.dumps([sys.executable, "-I", "-S", "-c", TALKS, str(home)])
    (folder / "config.toml").write_text(
        f'backend = "talks"\n[backends.talks]\ntype = "command"\ncommand = {command}\n'
    )
    (home / "teambot.yaml").write_text(COMPOSE)


def left_of(home: Path) -> list[psutil.Process]:
    """Return the agents and what they hide: all of them are told where they write."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        arguments = process.info["cmdline"] or []
        if str(home) in arguments and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def assert_nobody_is_left(home: Path, seen: list[psutil.Process]) -> None:
    deadline = time.monotonic() + PATIENCE
    while left := [*left_of(home), *(each for each in seen if lives(each))]:
        assert time.monotonic() < deadline, left
        threading.Event().wait(POLL)  # psutil would take the exit status from whoever waits for it


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def lost(home: Path, killed: float) -> float:
    """Return how long before the kill the first words were said that are not on disk."""
    kept = "".join(file.read_text() for file in home.glob(".teambot/outputs/*/*.txt"))
    said = [
        line for file in home.glob("said-*") for line in file.read_text().splitlines() if line[-1:] == ">"
    ]
    return max((killed - float(line[1:-1]) for line in said if line not in kept), default=0.0)


class Kill:
    """One face with two agents that talk, and its end: while it starts, or while they talk."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        configure(home)
        self.home = home
        self.number = chance.choice(SIGNALS)
        self.is_early = chance.random() < EARLY
        self.moment = chance.uniform(0, LATEST)
        self.time = 0.0

    def screen(self) -> None:
        settings = (self.home / ".config" / "teambot" / "config.toml").read_text()
        terminal = Terminal(self.home, settings=settings)
        try:
            if not self.is_early:
                terminal.until("Your team")
                terminal.type("@pm,ba Talk\r")
                terminal.watch(self._is_talking)
            begin = time.monotonic()
            terminal.watch(lambda: time.monotonic() > begin + self.moment)
            self._kill(terminal.process)
            assert terminal.wait() == -self.number
            terminal.assert_restored()
        finally:
            terminal.close()

    def run(self) -> None:
        self._headless("run", "@pm,ba Talk")

    def up(self) -> None:
        self._headless("up", "--headless")

    async def web(self) -> None:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        with serving(self.home, environ, "--backend", "talks") as served:
            async with browsing_by_hand() as browser, page_of(served, browser) as socket:
                if not self.is_early:
                    await read_until(socket, "Worth typing")
                    await socket.send_json(["stdin", "@pm,ba Talk\r"])
                    while not self._is_talking():  # noqa: ASYNC110  nobody tells us
                        await asyncio.sleep(POLL)
                await asyncio.sleep(self.moment)
                for page in served.pages():
                    await asyncio.to_thread(self._kill, page)

    def _headless(self, *arguments: str) -> None:
        with Teambot(self.home, []).start(*arguments) as process:
            try:
                reading = threading.Thread(target=process.communicate)
                reading.start()
                while not (self.is_early or self._is_talking()):
                    reading.join(POLL)
                reading.join(self.moment)
                self._kill(psutil.Process(process.pid))
                reading.join(PATIENCE)
                assert process.returncode == -self.number
            finally:
                process.kill()

    def _is_talking(self) -> bool:
        return len(list(self.home.glob("said-*"))) == 2

    def _kill(self, process: psutil.Process) -> None:
        seen = process.children(recursive=True)
        self.time = time.monotonic()
        process.send_signal(self.number)
        assert_nobody_is_left(self.home, [process, *seen])


def test_killed_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(9)
    losses: dict[str, list[float]] = {face: [] for face in FACES}
    latest = 0.0
    for number, face in enumerate(islice(cycle(FACES), KILLS)):
        home = tmp_path / str(number)
        home.mkdir()
        kill = Kill(home, chance)
        with Lateness() as lateness:
            if face == "web":
                asyncio.run(kill.web())
            else:
                {"screen": kill.screen, "run": kill.run, "up": kill.up}[face]()
        loss = lost(home, kill.time)
        assert loss <= MAY_BE_LOST + lateness.worst, (number, face, kill.is_early, kill.moment)
        losses[face].append(loss)
        latest = max(latest, lateness.worst)
    worst = {face: f"{1000 * max(each):.0f} ms" for face, each in losses.items() if each}
    print(f"{KILLS} kills; most that was lost: {worst}; threads were up to {1000 * latest:.0f} ms late")
