"""A terminal with a real `teambot` in it: what is typed goes in as bytes, what comes out becomes a screen.

Reading happens only inside `until`, `wait` and `watch`; between them the terminal is one that nobody reads.
Everything that waits has a deadline and nothing sleeps.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import psutil
import pyte

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from pathlib import Path

PATIENCE: Final = 60.0
"""Seconds for what takes a moment; only a failure waits that long."""

KEYS: Final = {
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "escape": "\x1b",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pageup": "\x1b[5~",
    "end": "\x1b[F",
    "f1": "\x1bOP",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}
"""What a classic xterm sends."""

MODES: Final = (1049, 1000, 1003, 1006, 1015, 1004, 2004)
"""What the screen switches on; the cursor, 25, it switches off."""

_MODE: Final = re.compile(rb"\x1b\[\?(\d+)([hl])")
_KEYBOARD: Final = re.compile(rb"\x1b\[[<>]\d*u")  # pyte would draw its last letter

# Like a shell: it leads the session, gives teambot the terminal, tells how it ended and keeps the terminal.
_SHELL: Final = """
import os, signal, sys
os.login_tty(int(sys.argv[1]))
report = int(sys.argv[2])
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.set_inheritable(report, False)
    os.execv(sys.executable, [sys.executable, "-m", "teambot_tui", *sys.argv[3:]])
os.write(report, b"%d " % pid)
if os.environ.get("STUBBORN_SHELL"):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
_, status = os.waitpid(pid, 0)
try:
    os.tcsetpgrp(0, os.getpid())
except OSError:  # the terminal is gone
    pass
os.write(report, b"%d " % os.waitstatus_to_exitcode(status))
signal.pause()
"""


def agents(**scripts: str) -> str:
    """Return settings that give each agent a Python script as its program, and everyone else an echo."""
    return 'backend = "echo"\n' + "".join(
        f'[backends.{name}]\ntype = "command"\n'
        f"command = {json.dumps([sys.executable, '-I', '-S', '-c', script])}\n"
        f'[agents.{name}]\nbackend = "{name}"\n'
        for name, script in scripts.items()
    )


class Terminal:
    """A terminal of a size, with `teambot` running in an empty home."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        settings: str = 'backend = "echo"\n',
        **environ: str,
    ) -> None:
        folder = home / ".config" / "teambot"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(settings, encoding="utf-8")
        self.raw = bytearray()
        self.status: int | None = None
        self._seen: list[psutil.Process] = []
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._master, self._slave = os.openpty()
        self._report, report = os.pipe()
        self._said = ""
        self._resize_silently(columns, rows)
        self._before = termios.tcgetattr(self._slave)
        kept = {
            name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG", "LC_ALL") if name in os.environ
        }
        self._shell = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _SHELL, str(self._slave), str(report), *arguments],
            cwd=home,
            env={**kept, "HOME": str(home), "TERM": "xterm-256color", "PYTHONUTF8": "1", **environ},
            pass_fds=(self._slave, report),
        )
        os.close(report)
        self._wait_for(lambda: bool(self._said), "start")
        self.process = psutil.Process(int(self._said.split()[0]))

    # What is on the screen

    @property
    def text(self) -> str:
        """The screen as lines of text."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def look(self, text: str) -> tuple[object, ...]:
        """How the first place of a text on the screen is drawn, colours and all; empty if it is not there."""
        for row, line in enumerate(self._screen.display):
            if (column := line.find(text)) >= 0:
                return tuple(self._screen.buffer[row][column])[1:]
        return ()

    @property
    def modes(self) -> dict[int, bool]:
        """Which private modes are on, as the bytes so far leave them."""
        return {int(number): way == b"h" for number, way in _MODE.findall(bytes(self.raw))}

    @property
    def line_discipline(self) -> list[object]:
        """The flags of the terminal: input, output, control and local."""
        return list(termios.tcgetattr(self._slave)[:4])

    def until(self, *texts: str, without: str | None = None) -> str:
        """Read until all these texts are on the screen, and one is not; return the screen."""
        self._wait_for(
            lambda: (
                all(text in self.text for text in texts) and (without is None or without not in self.text)
            ),
            " and ".join(map(repr, texts)) + (f" without {without!r}" if without is not None else ""),
        )
        return self.text

    def watch(self, wanted: Callable[[], bool]) -> None:
        """Read until something holds."""
        self._wait_for(wanted, "what was watched for")

    # What the person does

    def type(self, text: str) -> None:
        """Type text, as it is."""
        data = text.encode()
        while data:
            data = data[os.write(self._master, data) :]

    def press(self, *keys: str) -> None:
        """Press keys by their names."""
        self.type("".join(KEYS[key] for key in keys))

    def enter(self, text: str) -> None:
        """Type a line, see it and send it."""
        self.type(text)
        self.until(text[-20:])
        self.press("enter")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the kernel tells the program in it."""
        self._screen.resize(rows, columns)
        self._resize_silently(columns, rows)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._master)
        self._master = -1

    def glance(self) -> None:
        """Read what is there, without waiting for anything."""
        while self._read(0):
            pass

    def clear(self) -> None:
        """Forget what is on the screen, so that only what is drawn from now on is seen."""
        self._screen.reset()

    def make_sane(self) -> None:
        """Set the flags of the terminal as they were before, as a shell does when a program has stopped."""
        termios.tcsetattr(self._slave, termios.TCSANOW, self._before)

    def stop_reading_until_it_is_full(self) -> None:
        """Let the program write until the terminal takes no more."""
        # Where a program may write is seen from its own side; an opened slave is that side.
        deadline = time.monotonic() + PATIENCE
        while select.select([], [self._slave], [], 0)[1]:
            assert time.monotonic() < deadline, "it does not write enough"
            self._resize_silently(self._screen.columns, self._screen.lines - 1)
            select.select([], [], [], 0.01)
            self._resize_silently(self._screen.columns, self._screen.lines)
            select.select([], [], [], 0.01)

    # How it ends

    def signal(self, number: signal.Signals) -> None:
        """Send teambot a signal."""
        self.process.send_signal(number)

    def wait(self) -> int:
        """Read on until teambot has ended; return its exit status, negative for a signal."""
        self._wait_for(lambda: self.status is not None, "the end")
        self.glance()
        assert self.status is not None
        return self.status

    def wait_unread(self) -> int:
        """Wait for the end without reading what it writes."""
        deadline = time.monotonic() + PATIENCE
        while self.status is None and time.monotonic() < deadline:
            self._listen(0.1)
        assert self.status is not None, "it does not end"
        return self.status

    def children(self) -> list[psutil.Process]:
        """All processes teambot has started, and those they have."""
        found = self.process.children(recursive=True)
        self._seen += found
        return found

    def assert_restored(self) -> None:
        """Assert that the terminal is as it was before."""
        self.glance()
        modes = self.modes
        assert not [mode for mode in MODES if modes.get(mode)], modes
        assert modes.get(25, True), "the cursor is hidden"
        assert termios.tcgetattr(self._slave)[:4] == self._before[:4]
        assert not fcntl.fcntl(self._slave, fcntl.F_GETFL) & os.O_NONBLOCK, "left without blocking"

    def close(self) -> None:
        """End everything."""
        shell = psutil.Process(self._shell.pid)
        for each in (shell, *shell.children(recursive=True), *self._seen):
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self._shell.wait()
        for descriptor in (self._master, self._slave, self._report):
            if descriptor >= 0:
                os.close(descriptor)

    # Reading

    def _resize_silently(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _wait_for(self, wanted: Callable[[], bool], name: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not wanted():
            left = deadline - time.monotonic()
            assert left > 0, f"no {name}; status {self.status}; the screen:\n{self.text}"
            self._read(min(left, 0.1))

    def _read(self, seconds: float) -> bool:
        """Read once, at most that long; tell whether the program wrote something."""
        self._listen(0)
        if self._master < 0:
            self._listen(seconds)
            return False
        ready, _, _ = select.select([self._master, *self._reports()], [], [], seconds)
        if self._master not in ready:
            return False
        data = os.read(self._master, 65536)
        self.raw += data
        self._stream.feed(_KEYBOARD.sub(b"", data))
        return True

    def _reports(self) -> list[int]:
        return [self._report] if self.status is None else []

    def _listen(self, seconds: float) -> None:
        if select.select(self._reports(), [], [], seconds)[0]:
            self._said += os.read(self._report, 100).decode()
            words = self._said.split(" ")
            if len(words) > 2:
                self.status = int(words[1])


def assert_gone(processes: list[psutil.Process]) -> None:
    """Assert that none of these processes lives on."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    assert not alive
