"""Every test here starts real programs, and nothing of them may be left afterwards."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import hashlib
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.groups import guard
from teambot_tui.agents.process import Process, SilenceError, kill_all
from tests.leftovers import HIDES, processes_in

if TYPE_CHECKING:
    from collections.abc import Iterator

SAFETY = 30.0
"""Seconds after which a test that hangs fails; no test needs them."""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="strays are found in /proc")


def python(script: str, *arguments: object) -> list[str]:
    prelude = "import os, select, signal, subprocess, sys; own = [sys.executable, '-I', '-S', '-c']\n"
    return [sys.executable, "-I", "-S", "-c", prelude + script, *map(str, arguments)]


def alive(pid: int) -> bool:
    """Tell whether a process that was killed lives on: dying takes the kernel a moment."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for _ in range(1000):
            if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return False
            with suppress(psutil.TimeoutExpired):
                process.wait(0.01)
        return True
    return False


async def everything(process: Process) -> bytes:
    async with asyncio.timeout(SAFETY):
        return b"".join([chunk async for chunk in process])


async def some(process: Process) -> bytes:
    async with asyncio.timeout(SAFETY):
        return await anext(process)


class Gate:
    """A named pipe by which a child tells how far it is; an empty message: all its writers are gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    async def message(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._fd, ready.set)
        try:
            async with asyncio.timeout(SAFETY):
                await ready.wait()
        finally:
            loop.remove_reader(self._fd)
        return os.read(self._fd, 4096)

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.close()


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Every child inherits this mark beside its own.
    mark = f"test-{os.urandom(8).hex()}"
    monkeypatch.setenv("TEAMBOT_PROCESS", mark)
    yield
    guard.dismiss()
    assert psutil.Process().children(recursive=True) == []
    assert carriers(mark) == []


def carriers(mark: str) -> list[str]:
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in environment.read_bytes():
                found.append(environment.parent.name)
    return found


async def test_output_comes_as_it_is_written_and_the_status_after_it(tmp_path: Path) -> None:
    script = "os.write(1, b'one'); sys.stdin.read(); os.write(1, b'two'); sys.exit(7)"
    async with Process(python(script), directory=tmp_path) as process:
        assert await some(process) == b"one"
        assert process.returncode is None
        process.end_input()
        assert await everything(process) == b"two"
        assert process.returncode == 7


async def test_input_arrives_whole_and_ends(tmp_path: Path) -> None:
    async with Process(["cat"], directory=tmp_path) as process:
        process.write(b"to ")
        process.write(b"and fro")
        process.end_input()
        assert await everything(process) == b"to and fro"
        assert process.returncode == 0


async def test_a_program_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with Process(["no-such-program"], directory=tmp_path):
            pytest.fail("it cannot have started")


async def test_a_flood_arrives_in_order_and_costs_no_memory(tmp_path: Path) -> None:
    blocks = 1600
    script = "for block in range(1600): sys.stdout.buffer.write(block.to_bytes(8, 'big') * 8192)"
    expected = hashlib.sha256()
    for block in range(blocks):
        expected.update(block.to_bytes(8, "big") * 8192)
    received, length, ourselves = hashlib.sha256(), 0, psutil.Process()
    before = most = ourselves.memory_info().rss
    async with asyncio.timeout(SAFETY), Process(python(script), directory=tmp_path) as process:
        async for chunk in process:
            received.update(chunk)
            length += len(chunk)
            most = max(most, ourselves.memory_info().rss)
    assert length == blocks * 64 * 1024
    assert received.digest() == expected.digest()
    assert most - before < 50 * 1024 * 1024


async def test_a_child_nobody_listens_to_is_held_and_not_called_silent(tmp_path: Path, gate: Gate) -> None:
    script = """
os.set_blocking(1, False)
block, sent, told = b"x" * 65536, 0, False
while sent < 8 * 2**20:
    if select.select([], [1], [], 0.5)[1]:
        sent += os.write(1, block)
    elif not told:
        told = True
        with open(sys.argv[1], "w") as gate:
            gate.write(str(sent))
os.set_blocking(1, True)
"""
    command = python(script, gate.path)
    async with Process(command, directory=tmp_path, silence=0.25) as process:
        held_after = int(await gate.message())
        assert held_after < 2 * 1024 * 1024
        assert len(await everything(process)) >= 8 * 1024 * 1024
    assert process.returncode == 0


@on_linux
async def test_what_a_dead_child_wrote_is_delivered_however_late_we_listen(
    tmp_path: Path, gate: Gate
) -> None:
    # The grandchild holds the pipe, so that its end never comes, and the gate, whose end tells its death. We
    # keep the first MiB; the rest waits in the pipe, which is made large enough for it.
    script = """
import fcntl
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 2**20)
gate = os.open(sys.argv[1], os.O_WRONLY)
os.set_inheritable(gate, True)
subprocess.Popen([*own, "import signal; signal.pause()"], close_fds=False)
os.close(gate)
sys.stdout.write("x" * (3 * 2**19) + "the end")
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
    async with Process(python(script, gate.path), directory=tmp_path) as process:
        assert await gate.message() == b""
        assert await everything(process) == b"x" * (3 * 2**19) + b"the end"
        assert process.returncode == -signal.SIGKILL


async def test_a_grandchild_that_holds_the_pipe_does_not_keep_us(tmp_path: Path) -> None:
    script = "print(subprocess.Popen([*own, 'import signal; signal.pause()']).pid)"
    async with Process(python(script), directory=tmp_path) as process:
        grandchild = int(await everything(process))
        assert process.returncode == 0
    assert not alive(grandchild)


async def test_a_grandchild_that_holds_no_pipe_ends_with_its_parent(tmp_path: Path, gate: Gate) -> None:
    script = """
gate = os.open(sys.argv[1], os.O_WRONLY)
os.set_inheritable(gate, True)
quiet = subprocess.DEVNULL
subprocess.Popen(
    [*own, "import signal; signal.pause()"], stdin=quiet, stdout=quiet, stderr=quiet, close_fds=False
)
"""
    async with Process(python(script, gate.path), directory=tmp_path) as process:
        assert await everything(process) == b""
        assert await gate.message() == b""


@on_linux
async def test_a_grandchild_that_left_the_group_is_found_by_its_mark(tmp_path: Path) -> None:
    script = """
print(subprocess.Popen([*own, "import signal; signal.pause()"], start_new_session=True).pid, flush=True)
signal.pause()
"""
    async with Process(python(script), directory=tmp_path) as process:
        grandchild = int(await some(process))
        assert os.getsid(grandchild) == grandchild
    assert not alive(grandchild)


async def test_a_stray_that_holds_our_input_cannot_keep_us(tmp_path: Path) -> None:
    script = """
hidden = subprocess.Popen([*own, "import signal; signal.pause()"], start_new_session=True, env={})
print(hidden.pid)
"""
    async with asyncio.timeout(SAFETY):
        async with Process(python(script), directory=tmp_path) as process:
            process.write(b"x" * 10_000_000)
            process.end_input()
            hidden = int(await everything(process))
    if sys.platform == "linux":
        assert not alive(hidden)
    else:
        os.kill(hidden, signal.SIGKILL)


@on_linux
async def test_a_daemon_ends_with_the_child_that_started_it_and_with_no_other(tmp_path: Path) -> None:
    async with Process(python(HIDES), directory=tmp_path) as one:
        async with Process(python(HIDES), directory=tmp_path) as other:
            [hidden] = processes_in((await everything(one)).decode())
            [hidden_by_other] = processes_in((await everything(other)).decode())
            assert hidden.environ() == {}
        assert not alive(hidden_by_other.pid)
        assert hidden.status() != psutil.STATUS_ZOMBIE
    assert not alive(hidden.pid)


@on_linux
async def test_a_daemon_that_has_ended_is_reaped_where_orphans_come_to_us(tmp_path: Path) -> None:
    become_subreaper = 36
    libc = ctypes.CDLL(None)
    libc.prctl(become_subreaper, 1)
    try:
        async with Process(python(HIDES), directory=tmp_path) as process:
            [hidden] = processes_in((await everything(process)).decode())
            assert hidden.ppid() == os.getpid()
        assert process.returncode == 0
    finally:
        libc.prctl(become_subreaper, 0)
    assert not psutil.pid_exists(hidden.pid)


@on_linux
async def test_our_own_limits_stay_as_they_were(tmp_path: Path) -> None:
    before = psutil.Process().rlimit(psutil.RLIMIT_RTTIME)
    async with Process(["cat"], directory=tmp_path):
        assert psutil.Process().rlimit(psutil.RLIMIT_RTTIME) == before


@on_linux
async def test_strays_that_start_strays_are_all_found(tmp_path: Path, gate: Gate) -> None:
    script = """
gate = os.open(sys.argv[1], os.O_WRONLY)
for generation in range(200):
    if os.fork():
        signal.pause()
    os.setsid()
    os.write(gate, b"x")
signal.pause()
"""
    async with Process(python(script, gate.path), directory=tmp_path, patience=0.1):
        assert await gate.message()


async def test_ending_asks_first_and_gives_the_whole_group_time(tmp_path: Path, gate: Gate) -> None:
    # The shell dies of the signal at once; its child needs the time.
    script = """
def leave(*_):
    select.select([], [], [], 0.2)
    with open(sys.argv[1], "w") as gate:
        gate.write("goodbye")
    sys.exit()
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
signal.pause()
"""
    shell = ["sh", "-c", '"$@"; :', "sh", *python(script, gate.path)]
    async with Process(shell, directory=tmp_path, patience=SAFETY) as process:
        assert await some(process) == b"ready\n"
    assert await gate.message() == b"goodbye"


async def test_a_child_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
    async with asyncio.timeout(SAFETY), Process(python(script), directory=tmp_path, patience=0.1) as process:
        assert await some(process) == b"ready\n"
    assert process.returncode == -signal.SIGKILL


async def test_a_child_that_hangs_in_a_write_can_still_leave_in_peace(tmp_path: Path, gate: Gate) -> None:
    script = """
signal.signal(signal.SIGTERM, lambda *_: None)
gate = os.open(sys.argv[1], os.O_WRONLY)
os.write(gate, b"ready")
left = 4 * 2**20
while left:
    left -= os.write(1, b"x" * min(left, 65536))
os.write(gate, b"done")
"""
    async with Process(python(script, gate.path), directory=tmp_path, patience=SAFETY):
        assert await gate.message() == b"ready"
    assert await gate.message() == b"done"


async def test_closing_again_or_from_another_task_is_harmless(tmp_path: Path) -> None:
    async with Process(["cat"], directory=tmp_path) as process:
        reader = asyncio.create_task(everything(process))
        await asyncio.gather(process.close(), process.close())
        await process.close()
        assert await reader == b""
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("program", ["cat", "no-such-program"])
@pytest.mark.parametrize("steps", range(8))
async def test_cancelling_while_it_starts_leaves_nothing(tmp_path: Path, steps: int, program: str) -> None:
    async def host() -> None:
        async with Process([program], directory=tmp_path) as process:
            await everything(process)

    task = asyncio.create_task(host())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, FileNotFoundError)):
        await task


async def test_cancelling_the_end_does_not_stop_it(tmp_path: Path, gate: Gate) -> None:
    script = """
gate = os.open(sys.argv[1], os.O_WRONLY)
signal.signal(signal.SIGTERM, lambda *_: os.write(gate, b"asked"))
os.write(1, b"ready")
while True:
    signal.pause()
"""

    async def host() -> None:
        async with Process(python(script, gate.path), directory=tmp_path, patience=0.3) as process:
            assert await some(process) == b"ready"

    task = asyncio.create_task(host())
    assert await gate.message() == b"asked"
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("is_ending", [False, True])
def test_a_loop_that_shuts_down_leaves_nothing(tmp_path: Path, gate: Gate, *, is_ending: bool) -> None:
    script = """
gate = os.open(sys.argv[1], os.O_WRONLY)
signal.signal(signal.SIGTERM, lambda *_: os.write(gate, b"asked"))
subprocess.Popen([*own, "import signal; signal.pause()"], start_new_session=True)
os.write(gate, b"ready")
while True:
    signal.pause()
"""
    patience = SAFETY if is_ending else 0.1

    async def host() -> None:
        async with Process(python(script, gate.path), directory=tmp_path, patience=patience) as process:
            await everything(process)

    async def main() -> asyncio.Task[None]:
        forgotten = asyncio.create_task(host())
        assert await gate.message() == b"ready"
        if is_ending:
            forgotten.cancel()
            assert await gate.message() == b"asked"
        return forgotten

    assert asyncio.run(main()).cancelled()


@pytest.mark.parametrize("steps", range(1, 13))
def test_a_loop_that_shuts_down_while_a_child_starts_is_not_held_up(tmp_path: Path, steps: int) -> None:
    async def host() -> None:
        async with Process(["cat"], directory=tmp_path) as process:
            await everything(process)

    async def main() -> asyncio.Task[None]:
        forgotten = asyncio.create_task(host())
        for _ in range(steps):
            await asyncio.sleep(0)
        return forgotten

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # asyncio forgets the pipes it has not connected
        assert asyncio.run(main()).cancelled()
        gc.collect()


def test_a_loop_in_another_thread_hosts_too(tmp_path: Path) -> None:
    heard: list[bytes] = []

    async def host() -> None:
        async with Process(["cat"], directory=tmp_path) as process:
            process.write(b"hello")
            heard.append(await some(process))

    thread = threading.Thread(target=asyncio.run, args=[host()])
    thread.start()
    thread.join(SAFETY)
    assert heard == [b"hello"]


@on_linux
async def test_kill_all_ends_everything_at_once(tmp_path: Path) -> None:
    script = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(subprocess.Popen([*own, "import signal; signal.pause()"], start_new_session=True).pid, flush=True)
signal.pause()
"""
    async with (
        Process(python(script), directory=tmp_path, patience=SAFETY) as first,
        Process(python(script), directory=tmp_path, patience=SAFETY) as second,
    ):
        strays = int(await some(first)), int(await some(second))
        kill_all()
        assert not any(map(alive, strays))
        assert await everything(first) == await everything(second) == b""
        assert first.returncode == second.returncode == -signal.SIGKILL


async def test_what_is_said_on_standard_error_breaks_the_silence(tmp_path: Path) -> None:
    script = "for _ in range(8): select.select([], [], [], 0.5); os.write(2, b'.')"
    async with Process(python(script), directory=tmp_path, silence=3.0) as process:
        assert await everything(process) == b""
    assert process.returncode == 0


async def test_of_standard_error_the_tail_is_kept(tmp_path: Path) -> None:
    async with Process(
        python("sys.stderr.write('x' * 1_000_000 + 'the end')"), directory=tmp_path
    ) as process:
        assert await everything(process) == b""
    assert process.errors.endswith(b"xxxthe end")
    assert len(process.errors) == 8 * 1024


async def test_input_that_nobody_reads_does_not_keep_us_from_ending(tmp_path: Path) -> None:
    async with Process(python("print('ready', flush=True); signal.pause()"), directory=tmp_path) as process:
        process.write(b"x" * 10_000_000)
        process.end_input()
        assert await some(process) == b"ready\n"
    assert process.returncode == -signal.SIGTERM


async def test_a_slow_reader_does_not_block_us(tmp_path: Path) -> None:
    script = """
print("ready", flush=True)
length = 0
while data := os.read(0, 4096):
    length += len(data)
print(length)
"""
    async with Process(python(script), directory=tmp_path) as process:
        process.write(b"x" * 10_000_000)
        assert await some(process) == b"ready\n"
        process.end_input()
        assert await everything(process) == b"10000000\n"


async def test_silence_counts_only_while_output_is_expected(tmp_path: Path) -> None:
    async with Process(["cat"], directory=tmp_path, silence=0.1) as process:
        process.expect_output(None)
        waiting = asyncio.create_task(some(process))
        await asyncio.wait([waiting], timeout=0.4)
        assert not waiting.done()
        process.expect_output(0.1)
        with pytest.raises(SilenceError, match=r"no output for 0\.1 s"):
            await waiting
        process.expect_output(SAFETY)
        process.write(b"back")
        assert await some(process) == b"back"


async def test_standard_error_can_be_part_of_the_output(tmp_path: Path) -> None:
    script = "os.write(1, b'one '); os.write(2, b'two '); os.write(1, os.environ['OWN'].encode())"
    command = python(script)
    async with Process(
        command, directory=tmp_path, variables={"OWN": "three"}, errors_apart=False
    ) as process:
        assert await everything(process) == b"one two three"
    assert process.errors == b""
    assert process.returncode == 0


async def test_a_child_in_a_hurry_is_killed_sooner(tmp_path: Path) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
    async with asyncio.timeout(SAFETY / 2):
        async with Process(python(script), directory=tmp_path, patience=SAFETY) as process:
            assert await some(process) == b"ready\n"
            await process.close(0.05)
    assert process.returncode == -signal.SIGKILL
