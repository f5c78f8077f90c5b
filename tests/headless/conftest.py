"""A real `teambot` process in an empty home, which no test can leave running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 60


@dataclass
class Teambot:
    """Runs `teambot` in a directory of its own."""

    home: Path
    children: list[subprocess.Popen[str]]

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        """Start it and return at once."""
        return self.start_python("-m", "teambot_tui", *arguments, **environ)

    def start_python(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        """Start a Python program in its place and return at once."""
        passed_on = ("PATH", "LANG", "LC_ALL", "PYTHONPATH")
        kept = {name: os.environ[name] for name in passed_on if name in os.environ}
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.home,
            env={**kept, "HOME": str(self.home), "PYTHONUTF8": "1", **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(process)
        return process

    def run(self, *arguments: str, typed: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        process = self.start(*arguments, **environ)
        out, err = process.communicate(typed, timeout=PATIENCE)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def configure(self, text: str) -> None:
        """Write the user's settings."""
        folder = self.home / ".config" / "teambot"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def teambot(tmp_path: Path) -> Iterator[Teambot]:
    """Return a way to run teambot; whatever it started is gone afterwards.

    The user has been told once where outputs are kept.
    """
    teambot = Teambot(tmp_path, [])
    (tmp_path / ".teambot").mkdir(mode=0o700)
    (tmp_path / ".teambot" / "outputs").mkdir(mode=0o700)
    yield teambot
    for process in teambot.children:
        if process.poll() is None:
            process.kill()
        process.communicate()


def events(output: str) -> list[dict[str, Any]]:
    """Return the JSON objects that were printed."""
    return [json.loads(line) for line in output.splitlines()]
