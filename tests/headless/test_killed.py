"""`teambot run`, `teambot up` and the Python API, killed without a chance to do anything: nobody lives on."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Final

import psutil
import pytest

from tests.headless.test_bad_weather import agents
from tests.leftovers import HIDES_AND_STAYS, PATIENCE, assert_gone, processes_in

if TYPE_CHECKING:
    import subprocess

    from tests.headless.conftest import Teambot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a daemon is found in /proc only")

SCRIPT: Final = """
import asyncio
from teambot_tui import Session

async def main():
    async with Session(backend="pm") as session:
        with session.bus.subscribe(lambda fact: print(getattr(fact, "text", ""), flush=True)):
            session.submit("@pm,ba Hide")
            await session.idle()

asyncio.run(main())
"""
COMPOSE: Final = """\
version: "1"
tasks:
  one: {agent: pm, prompt-string: Hide}
  other: {agent: ba, prompt-string: Hide}
"""


def begin(teambot: Teambot, face: str) -> subprocess.Popen[str]:
    """Start two agents that hide what they start."""
    teambot.configure(agents(pm=HIDES_AND_STAYS, ba=HIDES_AND_STAYS))
    match face:
        case "run":
            return teambot.start("run", "@pm,ba Hide")
        case "up":
            (teambot.home / "teambot.yaml").write_text(COMPOSE)
            return teambot.start("up", "--headless")
        case _:
            return teambot.start_python("-P", "-c", SCRIPT)


def seen(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the four processes that were named, and all that are below."""
    assert process.stdout is not None
    said = ""
    while len(found := processes_in(said)) < 4:
        line = process.stdout.readline()
        assert line, said
        said += line
    return [*found, *psutil.Process(process.pid).children(recursive=True)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT, signal.SIGABRT])
@pytest.mark.parametrize("face", ["run", "up", "api"])
def test_nobody_is_left(teambot: Teambot, face: str, number: signal.Signals) -> None:
    process = begin(teambot, face)
    processes = seen(process)
    process.send_signal(number)
    assert process.wait(PATIENCE) == -number
    assert_gone(processes)


def test_an_end_in_peace_leaves_nobody_either(teambot: Teambot) -> None:
    process = begin(teambot, "run")
    processes = seen(process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert_gone(processes, within=0)
