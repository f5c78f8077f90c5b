"""The screen in a real terminal, as the person in front of it has it.

What is said carries the time at which it was said, on a clock that all processes share; here the bytes that
reach the terminal are searched for it. Nothing else is done with them: a terminal that is slow to read would
be measured too.
"""

from __future__ import annotations

import fcntl
import math
import os
import random
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.benchmarks.measure import Figure, at_most, best, in_time
from tests.benchmarks.screen_child import CHUNKS_PER_MARK, CLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measure import Scale

COLUMNS, ROWS = 120, 40
RATE = 500
"""Chunks a second and agent."""
LIMITS = {6: 0.050, 24: 0.100}
"""Within how many seconds news are to be seen when so many agents talk."""
ECHO_LIMIT = 0.050
FLOODED_ECHO_LIMIT = 0.250
CPU_LIMIT = 1 / 3
STARTUP_LIMIT = 1.3
GROWTH_LIMIT = 100.0

_MARK = re.compile(rb"z([TSLE])(\d{9})x(\d+)z")
_LONGEST_MARK = 32
_ROOT = Path(__file__).parents[2]
_PATIENCE = 60.0
_LONGEST_ECHO = 5.0
"""Nobody waits longer; what is not seen by then is counted as that late."""
_TICK = 0.01
"""Seconds: the system tells the time of a processor no finer."""
_BETWEEN_KEYS = (0.05, 0.11)
_LAST_TAB = b"\x1b[1;3D"
_MEGABYTE = 1_000_000


@dataclass(slots=True)
class _Seen:
    """What reached a terminal, how late, and what the program in it took for it."""

    delays: dict[str, list[float]] = field(default_factory=lambda: {"T": [], "S": []})
    numbers: dict[str, list[int]] = field(default_factory=lambda: {"T": [], "S": []})
    echoes: list[float] = field(default_factory=list)
    cpu: float = 0.0
    """The share of a core."""
    per_chunk: float = 0.0
    """Seconds of a core for each chunk."""
    held_up: float = 0.0
    """The share of the time in which it could have run, but other programs did."""

    def lost(self, kind: str) -> int:
        """How many marks never became visible."""
        numbers = self.numbers[kind]
        return max(numbers) - min(numbers) + 1 - len(numbers) if numbers else 0


class _Terminal:
    """A program in a terminal; each mark counts when it is first seen."""

    def __init__(self, command: list[str], folder: str) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        env = {**kept, "HOME": folder, "TERM": "xterm-256color", "PYTHONUTF8": "1", "PYTHONPATH": str(_ROOT)}
        self._child = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.process = psutil.Process(self._child.pid)
        self.marks: dict[tuple[str, int], tuple[float, float]] = {}
        """When each mark was made and how much later it was seen."""
        self._tail = b""
        self._typed = ""
        self._dice = random.Random(1)

    def close(self) -> None:
        """End the program."""
        self._child.kill()
        self._child.wait()
        os.close(self._master)

    def read(self, timeout: float) -> bytes:
        """Return what was drawn, with the end of what was drawn before."""
        if not select.select([self._master], [], [], max(0.0, timeout))[0]:
            return b""
        try:
            data = os.read(self._master, 1 << 20)
        except OSError as error:
            raise RuntimeError(f"the screen has ended: {self._tail.decode(errors='replace')}") from error
        now = time.monotonic()
        data = self._tail[-_LONGEST_MARK:] + data
        for kind, stamp, number in _MARK.findall(data):
            key = (kind.decode(), int(number))
            if key not in self.marks:
                delay = (now * 1e6 - int(stamp)) % CLOCK / 1e6
                self.marks[key] = (now - delay, delay)
        self._tail = data[-2000:]
        return data

    def held_up(self) -> float:
        """Return for how many seconds its threads waited for a processor, where the system tells."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        with suppress(OSError):  # a thread has ended meanwhile
            return sum(int((task / "schedstat").read_text().split()[1]) for task in tasks.iterdir()) / 1e9
        return 0.0

    def until(self, text: bytes) -> None:
        """Read until a text is drawn."""
        deadline = time.monotonic() + _PATIENCE
        while text not in self.read(0.1):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{text!r} is not seen: {self._tail.decode(errors='replace')}")

    def until_marked(self) -> None:
        """Read until a mark is drawn."""
        deadline = time.monotonic() + _PATIENCE
        while not any(kind == "T" for kind, _ in self.marks):
            self.read(0.1)
            if time.monotonic() > deadline:
                raise RuntimeError(f"nothing is said: {self._tail.decode(errors='replace')}")

    def write(self, data: bytes) -> None:
        """Send keys."""
        os.write(self._master, data)

    def read_for(self, seconds: float) -> None:
        """Read what comes for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def echo(self) -> float:
        """Type a letter and return when it is seen, after a moment at which no frame is due."""
        self.read_for(self._dice.uniform(*_BETWEEN_KEYS))
        if len(self._typed) >= 60:
            self.write(b"\x7f" * len(self._typed))
            self._typed = ""
            self.read_for(0.2)
        self._typed += self._dice.choice("bcdfghjklmnpqrstvw")
        wanted = self._typed[-12:].encode()
        begin = time.monotonic()
        self.write(wanted[-1:])
        while wanted not in self.read(0.1) and time.monotonic() - begin < _LONGEST_ECHO:
            pass
        return time.monotonic() - begin


@contextmanager
def _open(*command: str) -> Iterator[_Terminal]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / ".config" / "teambot"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text('backend = "echo"\n', encoding="utf-8")
        terminal = _Terminal(list(command), folder)
        try:
            yield terminal
        finally:
            terminal.close()


_held_up: list[float] = []


def latency_note() -> str:
    """Say how far the figures can be trusted."""
    share = min(_held_up, default=0.0)
    quiet = "a quiet machine" if share < 0.03 else "too much to trust the delays"
    return f"at best the screen waited {share:.0%} of the time for a processor: {quiet}"


def latency(scale: Scale) -> Iterator[Figure]:
    """Measure how soon news and keys are seen while agents talk, and what it takes."""
    _held_up.clear()
    for agents in scale.agents:
        limit = LIMITS[agents]
        rounds = [
            (_watch("team", agents, scale, scale.seconds), _watch("logs", agents, scale, scale.seconds * 0.6))
            for _ in range(scale.screens)
        ]
        ours, logs = ([each[side] for each in rounds] for side in (0, 1))
        _held_up.extend(each.held_up for each in ours)
        for kind, what in (("T", "a word"), ("S", "a change of state")):
            lost = min(each.lost(kind) for each in ours)
            subject = f"{agents} agents: {what}" + (f" ({lost} never seen)" if lost else "")
            # A log shows no state; what it shows of a word is the next best thing.
            yield from _delays(
                subject,
                [each.delays[kind] for each in ours],
                [each.delays["T"] for each in logs],
                limit if not lost else 0.0,
            )
        yield from _delays(
            f"{agents} agents: a key",
            [each.echoes for each in ours],
            [each.echoes for each in logs],
            ECHO_LIMIT,
        )
        ours_best = min(ours, key=lambda seen: seen.per_chunk)
        logs_best = min(logs, key=lambda seen: seen.per_chunk)
        yield at_most(
            f"{agents} agents: processor for a chunk",
            f"{in_time(ours_best.per_chunk)} ({ours_best.cpu:.0%})",
            f"Log {in_time(logs_best.per_chunk)} ({logs_best.cpu:.0%})",
            ours_best.per_chunk / logs_best.per_chunk,
            round(CPU_LIMIT, 2),
        )


def startup(scale: Scale) -> Iterator[Figure]:
    """Measure how long it takes from starting the program to its first picture."""
    ours, empty = best(
        scale.rounds,
        lambda: _first_picture(b"Worth typing", "-m", "teambot_tui"),
        lambda: _first_picture(b"nothing else", "-m", "tests.benchmarks.screen_empty"),
    )
    yield at_most(
        "start to the first picture",
        in_time(ours),
        f"empty app {in_time(empty)}",
        ours / empty,
        STARTUP_LIMIT,
    )


def memory(scale: Scale) -> Iterator[Figure]:
    """Measure what becomes of the screen when one agent says far too much."""
    size = scale.megabytes
    with _open("-m", "tests.benchmarks.screen_child", "flood", "1", str(size)) as terminal:
        terminal.until(b"executing")
        terminal.write(b"@a1 ")
        terminal.read_for(0.5)
        before = most = terminal.process.memory_info().rss
        begin = time.monotonic()
        echoes: dict[str, list[float]] = {"lines": [], "line": []}
        during = "lines"
        while True:
            echoes[during].append(terminal.echo())
            most = max(most, terminal.process.memory_info().rss)
            if ("E", 0) in terminal.marks:
                break
            if ("L", 0) in terminal.marks:
                during = "line"
            if time.monotonic() - begin > 2 * _PATIENCE:
                raise RuntimeError("the flood does not end")
        if during == "lines":
            echoes["line"] = echoes["lines"][-1:]  # the long line came and went while that key was awaited
        end_of_lines, _ = terminal.marks.get(("L", 0)) or terminal.marks["E", 0]
        taken = end_of_lines - begin
    for during, what in (("lines", f"{size:g} MB in lines"), ("line", f"{size / 10:g} MB in one line")):
        worst = max(echoes[during])
        yield Figure(
            f"{what}: a key, worst of {len(echoes[during])}",
            in_time(worst),
            f"aim {in_time(FLOODED_ECHO_LIMIT)}",
            worst / FLOODED_ECHO_LIMIT,
            f"< {in_time(FLOODED_ECHO_LIMIT)}",
            worst < FLOODED_ECHO_LIMIT,
        )
    growth = (most - before) / _MEGABYTE
    yield Figure(
        f"growth of the program, {size / max(taken, 0.1):.0f} MB a second",
        f"{growth:.0f} MB",
        f"at first {before / _MEGABYTE:.0f} MB",
        max(growth, 0.1) * _MEGABYTE / before,
        f"< {GROWTH_LIMIT:g} MB",
        growth < GROWTH_LIMIT,
    )


def _delays(
    subject: str, ours: list[list[float]], baseline: list[list[float]], limit: float
) -> Iterator[Figure]:
    for percent in (50, 99):
        mine, other = (min(_percentile(each, percent) for each in side) for side in (ours, baseline))
        aim = (f"< {in_time(limit)}", mine < limit) if percent == 99 else ("", None)
        yield Figure(f"{subject}, p{percent}", in_time(mine), f"Log {in_time(other)}", mine / other, *aim)


def _watch(kind: str, agents: int, scale: Scale, seconds: float) -> _Seen:
    """Watch a screen under its load and type on it."""
    with _open("-m", "tests.benchmarks.screen_child", kind, str(agents), str(RATE)) as terminal:
        terminal.until_marked()
        if kind == "team":
            terminal.write(_LAST_TAB)
            terminal.write(b"@a1 ")
        terminal.read_for(scale.warm_up)
        seen = _Seen()
        first = max(number for mark, number in terminal.marks if mark == "T")
        before, begin = sum(terminal.process.cpu_times()[:2]), time.monotonic()
        held_up = terminal.held_up()
        while time.monotonic() - begin < seconds:
            seen.echoes.append(terminal.echo())
        used, end = sum(terminal.process.cpu_times()[:2]) - before, time.monotonic()
        held_up = terminal.held_up() - held_up
        last = max(number for mark, number in terminal.marks if mark == "T")
        terminal.read_for(0.5)
    for (mark, number), (made, delay) in terminal.marks.items():
        if begin <= made < end:
            seen.delays[mark].append(delay)
            seen.numbers[mark].append(number)
    for mark, delays in seen.delays.items():
        delays.extend([_PATIENCE] * seen.lost(mark))  # or only what was in time would count
    used = max(used, _TICK)
    seen.cpu = used / (end - begin)
    seen.held_up = held_up / (end - begin)
    seen.per_chunk = used / (max(1, last - first) * CHUNKS_PER_MARK * agents)
    return seen


def _first_picture(text: bytes, *command: str) -> float:
    begin = time.monotonic()
    with _open(*command) as terminal:
        terminal.until(text)
        return time.monotonic() - begin


def _percentile(delays: list[float], percent: int) -> float:
    """Return what so many percent do not exceed; without any, more than anything."""
    if not delays:
        return _PATIENCE
    return sorted(delays)[math.ceil(len(delays) * percent / 100) - 1]
