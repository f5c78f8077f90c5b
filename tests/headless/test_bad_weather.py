"""`teambot run` when things go wrong: interrupts, readers that leave, agents that flood, hang and stay."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.headless.conftest import PATIENCE, events

if TYPE_CHECKING:
    import subprocess

    from tests.headless.conftest import Teambot

HANGS = "print('working', flush=True); import signal; signal.pause()"
IGNORES_TERM = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('working', flush=True)\n"
    "while True: signal.pause()"
)


def agents(**scripts: str) -> str:
    """Return settings that give each agent a Python script as its program."""
    return "".join(
        f'[backends.{name}]\ntype = "command"\n'
        f"command = {json.dumps([sys.executable, '-c', script])}\n"
        f'[agents.{name}]\nbackend = "{name}"\n'
        for name, script in scripts.items()
    )


def wait_for(process: subprocess.Popen[str], words: str) -> list[psutil.Process]:
    """Read the output up to these words; return the processes that work by then."""
    assert process.stdout is not None
    while words not in (line := process.stdout.readline()):
        assert line, "ended before it said so"
    return psutil.Process(process.pid).children(recursive=True)


def assert_gone(processes: list[psutil.Process]) -> None:
    """Assert that none of these processes lives on."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    assert not alive


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_cancels_cleanly(teambot: Teambot, number: signal.Signals) -> None:
    teambot.configure(agents(pm=HANGS))
    process = teambot.start("run", "@pm Plan -> @ba Check")
    working = wait_for(process, "working")
    assert working
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "@pm: cancelled pm#1\n" in out
    assert "@ba: cancelled ba#1\n" in out
    assert out.endswith("2 cancelled\n")
    assert "again" in err
    assert_gone(working)


def test_a_second_interrupt_stops_at_once(teambot: Teambot) -> None:
    teambot.configure(agents(pm=IGNORES_TERM))
    process = teambot.start("run", "@pm Plan")
    working = wait_for(process, "working")
    process.send_signal(signal.SIGINT)
    wait_for(process, "cancelled")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert_gone(working)


def test_a_reader_that_leaves_stops_the_run(teambot: Teambot) -> None:
    teambot.configure(agents(pm="while True: print('word ' * 100)"))
    process = teambot.start("run", "@pm Talk")
    working = wait_for(process, "word")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 1
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert_gone(working)


def test_it_never_exits_while_an_agent_works(teambot: Teambot) -> None:
    gate = teambot.home / "gate"
    os.mkfifo(gate)
    teambot.configure(agents(pm=f"print('working', flush=True); print(open({str(gate)!r}).read())"))
    process = teambot.start("run", "--json", "@pm Plan &")
    wait_for(process, "working")
    assert process.poll() is None
    gate.write_text("done", encoding="utf-8")
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert [event["output"] for event in events(out) if event["event"] == "task_completed"] == [
        "working\ndone\n"
    ]


def test_killed_in_the_middle_keeps_what_was_said(teambot: Teambot) -> None:
    teambot.configure(agents(pm="import os; print('half', flush=True); os.kill(os.getpid(), 9)"))
    done = teambot.run("run", "--json", "@pm Plan")
    seen = {event["event"]: event for event in events(done.stdout)}
    assert done.returncode == 1
    assert seen["text"]["text"] == "half\n"
    assert "SIGKILL" in seen["task_failed"]["error"]
    assert "partial output is kept" in seen["task_failed"]["error"]


def test_a_silent_agent_is_given_up(teambot: Teambot) -> None:
    teambot.configure(agents(pm=HANGS).replace("[agents", "silence_timeout = 0.2\n[agents"))
    done = teambot.run("run", "@pm Plan")
    assert done.returncode == 1
    assert "no output for 0.2 s" in done.stdout


def test_a_program_that_does_not_exist(teambot: Teambot) -> None:
    teambot.configure('[backends.gone]\ntype = "command"\ncommand = ["no-such-program"]\n')
    done = teambot.run("run", "--backend", "gone", "@pm Plan")
    assert done.returncode == 1
    assert "no-such-program" in done.stdout
    assert "PATH" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_nothing_an_agent_prints_reaches_the_terminal_raw(teambot: Teambot) -> None:
    evil = r"import sys; sys.stdout.buffer.write(b'\x1b]0;x\x07a\x1b[2Jb\xc2\x9bc\xff\r\nd\x00\xe2\x80\xaee')"
    teambot.configure(agents(pm=evil))
    done = teambot.run("run", "@pm Plan")
    assert done.returncode == 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("pm ")]
    assert lines == ["pm        │ ab\ufffd", "pm        │ de"]
    assert not any(ord(character) < 32 and character != "\n" for character in done.stdout)


def test_a_flood_costs_no_memory_and_its_end_is_kept_exactly(teambot: Teambot) -> None:
    flood = (
        "import sys\n"
        "for number in range(100):\n"
        "    for line in range(1024): sys.stdout.write(f'{number:03}{line:04}' + 'x' * 1016 + '\\n')"
    )
    teambot.configure(agents(pm=flood))
    quiet = peak_of(teambot.start("run", "--backend", "echo", "@pm Plan"))[0]
    process = teambot.start("run", "--json", "@pm Plan")
    peak, end, size = peak_of(process)
    assert size > 100 * 1024**2
    assert peak - quiet < 50 * 1024**2
    completed = next(event for event in map(json.loads, end) if event["event"] == "task_completed")
    expected = "".join(f"099{line:04}" + "x" * 1016 + "\n" for line in range(1024))[-100 * 1024 :]
    kept = completed["output"][-100 * 1024 :]
    assert hashlib.sha256(kept.encode()).digest() == hashlib.sha256(expected.encode()).digest()


def peak_of(process: subprocess.Popen[str]) -> tuple[int, list[str], int]:
    """Let a process end; return its peak of memory, its last lines and how much it printed."""
    assert process.stdout is not None
    size, last = 0, [""]
    for line in process.stdout:
        size += len(line)
        last = [*last[-5:], line]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024, last, size
