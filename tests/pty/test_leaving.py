"""However it ends, the terminal is as it was, the status is right and nobody is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.leftovers import HIDES_AND_STAYS, processes_in
from tests.pty.terminal import MODES, Terminal, agents, assert_gone

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pty.conftest import Open

STAYS = "print('working', flush=True); import signal; signal.pause()"
IGNORES_TERM = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('working', flush=True)\n"
    "while True: signal.pause()"
)
TALKS = "print('working', flush=True)\nwhile True: print('word ' * 100, flush=True)"
HIDES = (
    "import subprocess, sys, signal\n"
    "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], start_new_session=True)\n"
    "print('working', flush=True); signal.pause()"
)
INTERRUPTS = """
import signal, sys

class Impatience:
    def find_spec(self, name, path=None, target=None):
        if name == "teambot_tui.ui.start":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Impatience())
"""
"""Ctrl+C, as soon as the screen is about to be loaded."""
BOUND = 25.0
"""Seconds within which every end has to come, on a very busy machine too."""


def with_an_agent_at_work(
    open_terminal: Open, script: str, *, stubborn_shell: str = ""
) -> tuple[Terminal, list[psutil.Process]]:
    """Return a terminal whose agent works, and all processes there are."""
    terminal = open_terminal(settings=agents(pm=script), STUBBORN_SHELL=stubborn_shell)
    terminal.until("Your team")
    terminal.enter("@pm stay")
    terminal.until("● exec", "▏ wor")
    processes = [terminal.process, *terminal.children()]
    assert len(processes) > 2, "the guard and the agent"
    return terminal, processes


def test_the_modes_that_are_watched_are_used(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.until("Your team")
    terminal.watch(lambda: all(terminal.modes.get(mode) for mode in MODES))
    assert terminal.modes[25] is False
    with pytest.raises(AssertionError):
        terminal.assert_restored()


@pytest.mark.parametrize("keys", [("ctrl+q",), ("ctrl+d",), ("ctrl+c", "ctrl+c")])
def test_a_person_who_leaves(open_terminal: Open, keys: tuple[str, ...]) -> None:
    terminal = open_terminal()
    terminal.until("Your team", "Tab complete")
    processes = terminal.children()
    terminal.press(*keys)
    assert terminal.wait() == 0
    terminal.assert_restored()
    assert_gone(processes)


def test_a_person_who_leaves_before_the_screen_is_there(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS)
    path = os.pathsep.join((str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])))
    master, slave = os.openpty()
    try:
        done = subprocess.run(  # it is too quick for a terminal that somebody reads
            [sys.executable, "-m", "teambot_tui"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": path},
            timeout=30,
            check=False,
        )
        assert done.returncode == 128 + signal.SIGINT
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):  # nothing is said
            os.read(master, 1)
    finally:
        os.close(master)
        os.close(slave)


def test_leaving_asks_while_an_agent_works(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, STAYS)
    terminal.press("ctrl+q")
    terminal.until("Quit?", "pm#1")
    terminal.type("y")
    assert terminal.wait() == 0
    terminal.assert_restored()
    assert_gone(processes)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_a_signal(open_terminal: Open, number: signal.Signals) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, HIDES)
    terminal.signal(number)
    assert terminal.wait() == 128 + number
    terminal.assert_restored()
    assert_gone(processes)


def test_a_flood_of_interrupts(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, STAYS)
    for _ in range(100):
        if terminal.process.is_running():
            terminal.signal(signal.SIGINT)
    assert terminal.wait() == 128 + signal.SIGINT
    terminal.assert_restored()
    assert_gone(processes)


def test_agents_that_do_not_want_to_end(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, IGNORES_TERM)
    begin = time.monotonic()
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    assert_gone(processes)
    assert time.monotonic() - begin < BOUND
    terminal.assert_restored()


def test_a_terminal_that_nobody_reads(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, TALKS)
    begin = time.monotonic()
    terminal.stop_reading_until_it_is_full()
    terminal.signal(signal.SIGTERM)
    assert terminal.wait_unread() == 128 + signal.SIGTERM
    assert_gone(processes)
    assert time.monotonic() - begin < BOUND
    terminal.assert_restored()


def test_killed(open_terminal: Open) -> None:
    terminal = open_terminal(settings=agents(pm=STAYS, ba=IGNORES_TERM, writer=HIDES))
    terminal.until("Your team")
    terminal.enter("@pm,ba,writer stay")
    terminal.watch(lambda: terminal.text.count("▏ working") == 3)
    processes = [terminal.process, *terminal.children()]
    assert len(processes) == 6, "the guard, three agents and what one of them hides"
    terminal.signal(signal.SIGKILL)
    assert terminal.wait() == -signal.SIGKILL
    assert_gone(processes)
    terminal.assert_restored()


@pytest.mark.skipif(sys.platform != "linux", reason="a daemon is found in /proc only")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_killed_with_agents_that_hide_daemons(open_terminal: Open, number: signal.Signals) -> None:
    terminal = open_terminal(settings=agents(pm=HIDES_AND_STAYS))
    terminal.until("Your team")
    terminal.enter("@pm stay")
    terminal.watch(lambda: len(processes_in(terminal.text)) >= 2)
    processes = processes_in(terminal.text)
    terminal.signal(number)
    assert terminal.wait() == -number
    assert_gone(processes)
    terminal.assert_restored()


def test_killed_while_nobody_reads(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, STAYS)
    terminal.stop_reading_until_it_is_full()
    terminal.signal(signal.SIGKILL)
    assert terminal.wait_unread() == -signal.SIGKILL
    assert_gone(processes)
    terminal.assert_restored()


def test_killed_leaves_the_agents_of_another_teambot_alone(open_terminal: Open) -> None:
    first, _ = with_an_agent_at_work(open_terminal, STAYS)
    second, processes = with_an_agent_at_work(open_terminal, STAYS)
    first.signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    first.assert_restored()
    assert all(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes)
    second.signal(signal.SIGTERM)
    assert second.wait() == 128 + signal.SIGTERM


def test_a_window_that_is_closed(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, IGNORES_TERM)
    begin = time.monotonic()
    terminal.hang_up()
    assert_gone(processes)
    assert time.monotonic() - begin < BOUND


@pytest.mark.parametrize("script", [STAYS, IGNORES_TERM, TALKS])
def test_a_terminal_that_goes_away_without_a_word(open_terminal: Open, script: str) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, script, stubborn_shell="yes")
    begin = time.monotonic()
    terminal.hang_up()
    assert_gone(processes)
    assert time.monotonic() - begin < BOUND
    assert terminal.wait_unread() == 128 + signal.SIGHUP


def test_suspended_and_back(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, STAYS)
    terminal.press("ctrl+z")
    terminal.watch(lambda: terminal.process.status() == psutil.STATUS_STOPPED)
    terminal.assert_restored()
    terminal.clear()
    terminal.signal(signal.SIGCONT)
    terminal.until("teambot", "exec", "working", "Tab complete")
    assert all(terminal.modes.get(mode) for mode in (1049, 1000, 2004))
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    terminal.assert_restored()
    assert_gone(processes)


def test_stopped_by_others_and_back(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, STAYS)
    terminal.signal(signal.SIGSTOP)
    terminal.watch(lambda: terminal.process.status() == psutil.STATUS_STOPPED)
    terminal.make_sane()
    terminal.clear()
    terminal.signal(signal.SIGCONT)
    terminal.until("teambot", "exec", "working", "Tab complete")
    assert all(terminal.modes.get(mode) for mode in (1049, 1000, 2004))
    terminal.enter("@ba typed only once")
    terminal.until("✓ @ba ", "ba#1 · ", "▏ typed only once")
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    terminal.assert_restored()
    assert_gone(processes)


def test_killed_while_suspended_says_nothing_to_the_shell(open_terminal: Open) -> None:
    terminal, processes = with_an_agent_at_work(open_terminal, STAYS)
    terminal.press("ctrl+z")
    terminal.watch(lambda: terminal.process.status() == psutil.STATUS_STOPPED)
    terminal.assert_restored()
    before = len(terminal.raw)
    terminal.signal(signal.SIGKILL)
    assert terminal.wait() == -signal.SIGKILL
    assert_gone(processes)
    terminal.assert_restored()
    assert terminal.raw[before:] == b""


def test_a_storm_of_sizes(open_terminal: Open) -> None:
    terminal, _ = with_an_agent_at_work(open_terminal, STAYS)
    for step in range(500):
        terminal.resize(1 + step * 7 % 220, 1 + step * 5 % 60)
        terminal.glance()
    terminal.resize(120, 40)
    terminal.until("╭ 1 @pm · pm ", " ● 0:", "│ ▏working ", "Tab complete")
    assert "Traceback" not in terminal.text
    terminal.resize(80, 24)
    terminal.until("1 pm        ● exec", "Tab complete", without="╭ 1 @pm")
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    terminal.assert_restored()


@pytest.mark.parametrize("piped", ["stdin", "stdout", "stderr"])
def test_without_a_terminal_it_says_what_to_use(tmp_path: Path, piped: str) -> None:
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "teambot_tui"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL if piped == "stdin" else slave,
        stdout=subprocess.DEVNULL if piped == "stdout" else slave,
        stderr=subprocess.PIPE if piped == "stderr" else slave,
    )
    os.close(slave)
    try:
        _, errors = process.communicate(timeout=BOUND)
        said = errors if piped == "stderr" else os.read(master, 4096)
        assert process.returncode == 2
        assert b"teambot run" in said
        assert b"\x1b" not in said
    finally:
        process.kill()
        os.close(master)
