"""The guard: who carries a mark, and a program that somebody kills."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.groups import guard, new_mark
from teambot_tui.agents.guard import CHILD_BITS, Guard, carriers, marked
from teambot_tui.agents.process import Process
from tests.leftovers import HIDES_AND_STAYS, PATIENCE, assert_gone, processes_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who carries a mark is found in /proc")

WAITS = [sys.executable, "-I", "-S", "-c", "input()"]
HOST = """
import asyncio, sys
from pathlib import Path
from teambot_tui.agents.process import Process

async def host():
    command = [sys.executable, "-I", "-S", "-c", sys.argv[1]]
    async with Process(command, directory=Path.cwd()) as child:
        async for data in child:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()

asyncio.run(host())
"""


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program with a child that hides what it starts."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", HOST, HIDES_AND_STAYS], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as host:
        yield host
        host.kill()


def test_who_carries_a_mark_is_found_and_nobody_else() -> None:
    mark = new_mark()
    environments = {
        "by variable": {"TEAMBOT_PROCESS": f"another {mark} 7"},
        "longer": {"TEAMBOT_PROCESS": f"{mark}0"},
        "elsewhere": {"NOTE": str(mark), "NOTE_TEAMBOT_PROCESS": str(mark)},
        "unmarked": {},
    }
    processes = {
        name: subprocess.Popen(WAITS, stdin=subprocess.PIPE, env=environ, start_new_session=True)
        for name, environ in environments.items()
    }
    with marked(mark):
        processes["by limit"] = subprocess.Popen(WAITS, stdin=subprocess.PIPE, env={}, start_new_session=True)
        processes["our session"] = subprocess.Popen(WAITS, stdin=subprocess.PIPE, env={})
    try:
        wanted = sorted([processes["by variable"].pid, processes["by limit"].pid])
        assert sorted(carriers(mark.__eq__, os.getsid(0))[0]) == wanted
        processes["by limit"].kill()
        os.waitid(os.P_PID, processes["by limit"].pid, os.WEXITED | os.WNOWAIT)
        assert carriers(mark.__eq__, os.getsid(0)) == (
            [processes["by variable"].pid],
            [processes["by limit"].pid],
        )
    finally:
        for process in processes.values():
            process.communicate(b"\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV])
def test_a_program_that_is_killed_leaves_nothing(
    hosted: subprocess.Popen[str], number: signal.Signals
) -> None:
    assert hosted.stdout is not None
    processes = processes_in(hosted.stdout.readline() + hosted.stdout.readline())
    everybody = [*processes, *psutil.Process(hosted.pid).children(recursive=True)]
    assert len(set(everybody)) == 3, "the child, its daemon and the guard"
    hosted.send_signal(number)
    hosted.wait(PATIENCE)
    assert_gone(everybody)


async def test_a_program_that_another_one_ends_leaves_nothing(tmp_path: Path) -> None:
    # As a teambot that an agent of another teambot has started: its own guard ends what it can alone find.
    said = ""
    async with Process([sys.executable, "-P", "-c", HOST, HIDES_AND_STAYS], directory=tmp_path) as host:
        while said.count("hidden") < 2:
            said += (await anext(host)).decode()
        processes = processes_in(said)
        assert len(processes) == 2
    assert_gone(processes)
    guard.dismiss()


@pytest.mark.skipif(sys.platform != "linux", reason="the mark is a limit that only Linux has")
def test_a_guard_is_nobodys_from_its_first_moment() -> None:
    import resource

    mark, new = new_mark(), Guard(new_mark() >> CHILD_BITS)
    before, most = resource.getrlimit(resource.RLIMIT_RTTIME)
    resource.setrlimit(resource.RLIMIT_RTTIME, (mark, most))  # as whoever another teambot has started
    try:
        new.start()
        assert carriers(mark.__eq__, os.getsid(0)) == ([], [])
        assert resource.getrlimit(resource.RLIMIT_RTTIME) == (mark, most), "we are still theirs"
    finally:
        resource.setrlimit(resource.RLIMIT_RTTIME, (before, most))
        new.dismiss()


def test_a_guard_that_was_killed_is_replaced() -> None:
    guard.start()
    try:
        [first] = psutil.Process().children()
        first.kill()
        psutil.wait_procs([first], PATIENCE)
        guard.start()
        [second] = psutil.Process().children()
        assert second != first
    finally:
        guard.dismiss()
    assert psutil.Process().children() == []


def test_a_guard_that_was_stopped_holds_nobody_up() -> None:
    stopped = Guard(new_mark() >> CHILD_BITS)
    stopped.start()
    [process] = psutil.Process().children()
    process.suspend()
    try:
        for number in range(1, 10_000):
            stopped.forget_group(number)
    finally:
        process.resume()
        stopped.dismiss()
