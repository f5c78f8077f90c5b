"""An agent that hides what it starts as well as a program can, and how to see that nothing of it is left."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import Final

import psutil

PATIENCE: Final = 60.0
"""Seconds for what takes a moment; only a failure waits that long."""

HIDES: Final = """
import os, signal, sys
stays = [sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"]
reading, writing = os.pipe()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.write(writing, b"%d" % os.getpid())
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        os.execve(stays[0], stays, {})
    os._exit(0)
os.wait()
os.close(writing)
with open(reading) as daemon:  # until it has begun its other life
    print(f"hidden {daemon.read()}.", flush=True)
"""
"""Starts a daemon: forked twice, in a session of its own, with an empty environment and no stream of ours."""

HIDES_AND_STAYS: Final = (
    HIDES
    + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(f"hidden {os.getpid()}.", flush=True)
while True: signal.pause()
"""
)


def processes_in(text: str) -> list[psutil.Process]:
    """Return the processes that such an agent has named."""
    return [psutil.Process(int(number)) for number in re.findall(r"hidden (\d+)\.", text)]


def assert_gone(processes: list[psutil.Process], within: float = PATIENCE) -> None:
    """Assert that none of these processes lives on."""
    deadline = time.monotonic() + within
    while (left := [each for each in processes if _lives(each)]) and time.monotonic() < deadline:
        psutil.wait_procs(left, timeout=0.05)
    for each in left:  # a test that fails leaves nobody, either
        with suppress(psutil.NoSuchProcess):
            each.kill()
    assert not left


def _lives(process: psutil.Process) -> bool:
    # A zombie has ended; its parent, which may be the system, has not looked yet.
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
