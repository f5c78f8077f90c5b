"""A guard: a tiny child that sees us end, whatever ends us, and tidies up what we can no longer.

Nothing inside a process helps when it is killed. The guard holds the other end of a pipe and, for a screen,
the terminal; when the pipe closes it takes back the modes that are on and kills what our children left.

Every process that a child starts, directly or not, carries the child's mark: a number in its environment and,
on Linux, as a resource limit, which an empty environment, a new session and a second fork do not take off.

The guard runs this file alone, without the package: it must be there before the screen is, and cost nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from subprocess import Popen

POLL: Final = 0.02
"""Seconds between two looks at what no event tells."""
VARIABLE: Final = "TEAMBOT_PROCESS"
CHILD_BITS: Final = 20
"""The last bits of a mark number the children of one program; the others are the program's."""

_PROC: Final = "/proc"
_ENDED: Final = (b"Z", b"X")
_PATIENCE: Final = 2.0  # seconds
_marking: Final = threading.Lock()
_MODES_OFF: Final = (
    "\x18"  # whatever sequence was cut off ends here
    "\x1b[?2026l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?2004l\x1b[?1004l\x1b[?2048l"
    "\x1b[?7h\x1b[0m"
    "\x1b[<u"  # the keyboard's modes belong to the alternate screen: before leaving it
    "\x1b[?1049l\x1b[?25h"
)


@contextmanager
def marked(mark: int | None) -> Iterator[None]:
    """Let what is started in the block carry this mark as its limit, or none, not even ours."""
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415  there is no such limit elsewhere

    # The time that a process of the highest priority may take. Whoever needs it sets it, as nobody may be of
    # that priority without; a limit of so many years is none.
    kind = resource.RLIMIT_RTTIME
    with _marking:
        before, most = resource.getrlimit(kind)
        with suppress(ValueError, OSError):  # the system allows less: the environment has to do
            resource.setrlimit(kind, (most if mark is None else mark, most))
        try:
            yield
        finally:
            resource.setrlimit(kind, (before, most))


class Guard:
    """The guard as the program sees it. It is started again if somebody has killed it."""

    def __init__(self, program: int) -> None:
        """Prepare a guard for the children whose marks begin with this number; nothing is started yet."""
        self._program = program
        self._flags: tuple[int, int] | None = None
        self._is_on = False
        self._groups: set[int] = set()
        self._pipe: int | None = None
        self._process: Popen[bytes] | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """See to it that a guard is there."""
        with self._starting:
            if self._process is not None:
                if self._process.poll() is None:
                    return
                self._close()
            with suppress(OSError):  # a system that has no process left for us: then without
                self._start()

    def start_with_terminal(self) -> None:
        """See to it that a guard is there, for the terminal of our standard streams too."""
        flags = termios.tcgetattr(sys.stdin.fileno())
        self._flags = flags[0], flags[3]  # input and local: those that the screen changes
        self.start()

    def watch_modes(self, *, on: bool) -> None:
        """Tell it that the screen's modes are about to be switched on, or were switched off."""
        self._is_on = on
        self._tell("on" if on else "off")

    def watch_group(self, leader: int) -> None:
        """Tell it that there is a process group to end."""
        self._groups.add(leader)
        self._tell(f"group {leader}")

    def forget_group(self, leader: int) -> None:
        """Tell it that a process group has ended."""
        self._groups.discard(leader)
        self._tell(f"ended {leader}")

    def dismiss(self) -> None:
        """Let it have a last look, and end."""
        with self._starting:
            self._close()

    def take_over(self) -> None:
        """Prepare for an end at once; without a guard mend the terminal ourselves, as far as it lets us."""
        if self._flags is not None and (self._process is None or self._process.poll() is not None):
            _mend(sys.stderr.fileno(), *self._flags)

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415  the guard itself loads this file, too

        flags = self._flags or ()
        theirs, ours = os.pipe()
        try:
            # Nobody's from its first moment: who ends us with all we started must leave it to end the rest.
            with marked(None):
                self._process = subprocess.Popen(  # noqa: S603  this file
                    [
                        sys.executable,
                        "-I",
                        "-S",
                        __file__,
                        str(self._program),
                        str(os.getsid(0)),
                        *map(str, flags),
                    ],
                    stdin=theirs,
                    stdout=sys.stderr if flags else subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={name: value for name, value in os.environ.items() if name != VARIABLE},
                    start_new_session=True,
                    cwd="/",
                )
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(ours, False)  # a guard that somebody has stopped must not stop us
        self._pipe = ours
        if self._is_on:
            self._tell("on")
        for leader in tuple(self._groups):
            self._tell(f"group {leader}")

    def _close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        if self._process is not None:
            from subprocess import TimeoutExpired  # noqa: PLC0415  as above

            with suppress(TimeoutExpired):
                self._process.wait(2 * _PATIENCE)
            self._process = None

    def _tell(self, line: str) -> None:
        if self._pipe is not None:
            with suppress(OSError):  # somebody has killed it
                os.write(self._pipe, f"{line}\n".encode())


def _mend(terminal: int, input_flags: int, local_flags: int) -> None:
    """Take the screen's modes back; when nobody reads the terminal, what was drawn last is thrown away."""
    with suppress(OSError, termios.error):  # the terminal is gone
        flags = termios.tcgetattr(terminal)
        # A shell that has taken over again has set its own flags: they are none of our business.
        if not flags[3] & (termios.ICANON | termios.ECHO | termios.ISIG):
            flags[0], flags[3] = input_flags, local_flags
            termios.tcsetattr(terminal, termios.TCSANOW, flags)
        # Opened again, since not to block is a property that the shell would share.
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
        _, ready, _ = select.select([], [terminal], [], 5 * POLL)
        if ready:
            with suppress(BlockingIOError):
                data = data[os.write(terminal, data) :]
        else:
            termios.tcflush(terminal, termios.TCOFLUSH)


def has_living(group: int) -> bool:
    """Whether a process group has members that have not ended, or nobody can tell."""
    if not os.path.isdir(_PROC):  # noqa: PTH112
        return True
    return any(its_group == group and state not in _ENDED for _, state, its_group, _ in _processes())


def carriers(wanted: Callable[[int], bool], our_session: int) -> tuple[list[int], list[int]]:
    """The processes that carry such a mark: those that live, and those that have ended but are still listed.

    Children lead sessions of their own, so whoever is of our session is the person's: an editor, say.
    """
    alive: list[int] = []
    ended: list[int] = []
    for process, state, _, session in _processes():
        if session != our_session and any(map(wanted, _marks(process))):
            (ended if state in _ENDED else alive).append(process)
    return alive, ended


def kill_carriers(
    wanted: Callable[[int], bool], our_session: int, patience: float
) -> tuple[list[int], list[int]]:
    """Kill until nobody carries such a mark, since while we look a process can start another one.

    Return those that live even after so many seconds, and those that have ended but are still listed.
    """
    deadline = time.monotonic() + patience
    while True:
        alive, ended = carriers(wanted, our_session)
        if not alive or time.monotonic() > deadline:
            return alive, ended
        for process in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(POLL)


def _processes() -> Iterator[tuple[int, bytes, int, int]]:
    """Yield each process with its state, group and session."""
    for name in os.listdir(_PROC) if os.path.isdir(_PROC) else ():  # noqa: PTH112, PTH208  pathlib loads slowly
        if name.isdigit():
            # The name of the program, which is its own business, is in brackets.
            state, _, group, session, *_ = [
                *_read(f"{_PROC}/{name}/stat").rpartition(b")")[2].split(),
                *[b""] * 4,
            ]
            if state:
                yield int(name), state, int(group), int(session)


def _marks(process: int) -> Iterator[int]:
    limit = _read(f"{_PROC}/{process}/limits").partition(b"Max realtime timeout")[2].split(None, 1)[:1]
    for variable in _read(f"{_PROC}/{process}/environ").split(b"\0"):
        name, _, words = variable.partition(b"=")
        if name == VARIABLE.encode():
            limit += words.split()
    for mark in limit:
        with suppress(ValueError):  # no limit, or somebody else's word
            yield int(mark)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:  # it has ended meanwhile, or is another user's
        return b""


def _stand_guard(program: str, session: str, *flags: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # we end when the program does
    is_on = False
    groups: set[int] = set()
    with open(0, "rb", closefd=False) as told:
        for line in told:
            match line.split():
                case [b"on"]:
                    is_on = True
                case [b"off"]:
                    is_on = False
                case [b"group", leader]:
                    groups.add(int(leader))
                case [b"ended", leader]:
                    groups.discard(int(leader))
    if is_on:
        _mend(1, *map(int, flags))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    kill_carriers(lambda mark: mark >> CHILD_BITS == int(program), int(session), _PATIENCE)


if __name__ == "__main__":
    _stand_guard(*sys.argv[1:])
