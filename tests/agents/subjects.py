"""The backends that are put through the conformance suite, each with something real behind it."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from teambot_tui.agents.backends.acp import Acp, AcpOptions
from teambot_tui.agents.backends.acp_session import AcpSession  # noqa: F401  importing takes memory of its own
from teambot_tui.agents.backends.command import CommandBackend
from tests.agents.conformance import Behaviour

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from teambot_tui.engine.ports import Backend
    from tests.agents.conformance import Go

AGENT = Path(__file__).with_name("acp_agent.py")


def acp_command(go: Path, *flags: str) -> list[str]:
    """The command that starts the test agent."""
    return [sys.executable, "-I", "-S", str(AGENT), str(go), *flags]


def acp_processes() -> list[int]:
    """Return the test agents that we have started and that live."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if str(AGENT) in child.cmdline():
                found.append(child.pid)
    return found


class AcpSubject:
    """The agent of `acp_agent.py`, which behaves as the first word of its prompt says."""

    asks = True
    moment = 2.0

    @asynccontextmanager
    async def backend(
        self, behaviour: Behaviour, go: Go, silence: float
    ) -> AsyncIterator[tuple[Backend, str]]:
        """Start the agent in the way it is started for users."""
        backend = Acp(AcpOptions(command=acp_command(go.path), silence_timeout=silence))
        try:
            yield backend, behaviour
        finally:
            await backend.aclose()


_SCRIPTS = {
    Behaviour.STREAM: "say('one '); open(sys.argv[1]).read(1); say('two')",
    Behaviour.ORDER: "for number in range(1000): say(f'{number}\\n')",
    Behaviour.HANG: "say('ready'); signal.pause()",
    Behaviour.ERROR: "say('half'); sys.exit('out of ideas')",
    Behaviour.DEATH: "say('half'); os.kill(os.getpid(), signal.SIGKILL)",
    Behaviour.FLOOD: "for _ in range(160): say('x' * 65536)",
    Behaviour.GARBAGE: r"os.write(1, b'\xff\x00\x1b[2J\n{]\n'); say('fine')",
}


class CommandSubject:
    """A small program for each behaviour."""

    asks = False
    moment = 2.0

    @asynccontextmanager
    async def backend(
        self, behaviour: Behaviour, go: Go, silence: float
    ) -> AsyncIterator[tuple[Backend, str]]:
        """Make the program the agent."""
        prelude = "import os, signal, sys\ndef say(text): print(text, end='', flush=True)\n"
        script = prelude + _SCRIPTS[behaviour]
        command = [sys.executable, "-I", "-S", "-c", script, str(go.path)]
        yield CommandBackend(command, silence_timeout=silence), "go"
