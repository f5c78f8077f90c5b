"""A guard for the terminal: a tiny child that sees the screen end, whatever ends it, and tidies up after it.

Nothing inside a process helps when it is killed. The guard holds the terminal and the other end of a pipe;
when the pipe closes without a word of leave, it takes back the modes that were on and kills the agents. It
runs this file alone, without the package: it has to be there before the screen is, and cost nothing.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from typing import Final

_ON, _OFF, _LEAVE = b"+", b"-", b"."
_MARK: Final = "TEAMBOT_PROCESS"
_MARK_BYTES: Final = 16
_PATIENCE: Final = 2.0  # seconds
_POLL: Final = 0.02  # seconds

_MODES_OFF: Final = (
    "\x18"  # whatever sequence was cut off ends here
    "\x1b[?2026l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?2004l\x1b[?1004l\x1b[?2048l"
    "\x1b[?7h\x1b[0m"
    "\x1b[<u"  # the keyboard's modes belong to the alternate screen: before leaving it
    "\x1b[?1049l\x1b[?25h"
)


class Guard:
    """The guard as the screen sees it."""

    def __init__(self) -> None:
        """Start the guard, for the terminal of our standard streams and the agents started from now on."""
        self._flags = _flags(sys.stdin.fileno())
        self._pipe: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        mark = os.urandom(_MARK_BYTES).hex()
        ours, self._pipe = os.pipe()
        with suppress(OSError):  # a system that has no process left for us: then without
            self._process = subprocess.Popen(  # noqa: S603  this file
                [sys.executable, "-I", "-S", __file__, mark, str(os.getsid(0)), *map(str, self._flags)],
                stdin=ours,
                stdout=sys.stderr,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        os.close(ours)
        # The agents inherit it; where they are started, every mark that is already there is kept.
        os.environ[_MARK] = f"{os.environ.get(_MARK, '')} {mark}".strip()

    def watch(self, *, on: bool) -> None:
        """Tell it that the screen's modes are about to be switched on, or were switched off."""
        self._tell(_ON if on else _OFF)

    def dismiss(self) -> None:
        """Tell it that everything is tidy."""
        self._tell(_LEAVE)
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)

    def take_over(self) -> None:
        """Prepare for an end at once; without a guard mend the terminal ourselves, as far as it lets us."""
        if self._process is None or self._process.poll() is not None:
            _mend(sys.stderr.fileno(), *self._flags)

    def _tell(self, word: bytes) -> None:
        if self._pipe is not None:
            with suppress(OSError):  # somebody has killed it
                os.write(self._pipe, word)


def _flags(terminal: int) -> tuple[int, int]:
    """The input and the local flags: those that the screen changes."""
    flags = termios.tcgetattr(terminal)
    return flags[0], flags[3]


def _mend(terminal: int, input_flags: int, local_flags: int) -> None:
    """Take the screen's modes back; when nobody reads the terminal, what was drawn last is thrown away."""
    with suppress(OSError, termios.error):  # the terminal is gone
        flags = termios.tcgetattr(terminal)
        # A shell that has taken over again has set its own flags: they are none of our business.
        if not flags[3] & (termios.ICANON | termios.ECHO | termios.ISIG):
            flags[0], flags[3] = input_flags, local_flags
            termios.tcsetattr(terminal, termios.TCSANOW, flags)
        # Opened anew, since not to block is a property that the shell would share.
        mended = os.open(_path(terminal), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            _write(mended, _MODES_OFF.encode())
        finally:
            os.close(mended)


def _path(terminal: int) -> str:
    try:
        return os.ttyname(terminal)
    except OSError:  # it came from outside our container
        return f"/dev/fd/{terminal}"


def _write(terminal: int, data: bytes) -> None:
    deadline = time.monotonic() + _PATIENCE
    while data and time.monotonic() < deadline:
        _, ready, _ = select.select([], [terminal], [], 5 * _POLL)
        if ready:
            with suppress(BlockingIOError):
                data = data[os.write(terminal, data) :]
        else:
            termios.tcflush(terminal, termios.TCOFLUSH)


def _marked(mark: bytes) -> list[int]:
    """The processes that carry exactly this mark, in the variable for it and nowhere else."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208  pathlib loads slowly
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as environ:  # noqa: PTH123
                for variable in environ.read().split(b"\0"):
                    key, _, marks = variable.partition(b"=")
                    if key == _MARK.encode() and mark in marks.split():
                        found.append(int(name))
    return found


def _agents(mark: bytes, session: int) -> list[int]:
    """The agents and what they started; they lead sessions of their own, the user's editor does not."""
    agents = []
    for process in _marked(mark):
        with suppress(OSError):  # it ended meanwhile
            if os.getsid(process) != session:
                agents.append(process)
    return agents


def _kill_agents(mark: bytes, session: int) -> None:
    """Kill until nobody carries the mark: while we look, a process can start another one."""
    deadline = time.monotonic() + _PATIENCE
    while (strays := _agents(mark, session)) and time.monotonic() < deadline:
        for stray in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        time.sleep(_POLL)


def _stand_guard(mark: str, session: str, input_flags: str, local_flags: str) -> None:
    if len(mark) != 2 * _MARK_BYTES:
        raise SystemExit("the guard is started by the screen only")  # a careless mark would name strangers
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # we end when the screen does
    last = b""
    while heard := os.read(0, 64):
        last = heard[-1:]
    if last == _ON:
        _mend(1, int(input_flags), int(local_flags))
    if last != _LEAVE:
        _kill_agents(mark.encode(), int(session))


if __name__ == "__main__":
    _stand_guard(*sys.argv[1:])
