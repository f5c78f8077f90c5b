"""Closed streams, a full disk, a directory that is gone, pipes for files: one sentence, or it just works."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.headless.conftest import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark import ParameterSet

COMMANDS: Final = {
    "--version": (),
    "doctor": (),
    "agents": (),
    "models": (),
    "trust": (),
    "prune": ("--dry-run",),
    "run": ("--backend", "echo", "@pm Hello"),
    "run -f": ("-", "--backend", "echo"),
    "run --dry-run": ("@pm Hello",),
    "up": ("--headless", "--backend", "echo"),
    "up --dry-run": (),
    "--web": (),
    "": (),
}
PRINTS_NOTHING: Final = ("", "run -f")
FILES: Final = (
    ".config/teambot/config.toml",
    ".config/teambot/trusted.json",
    ".teambot",
    ".teambot/outputs",
    "project/teambot.toml",
    "project/teambot.yaml",
    "project/.teambot",
    "project/.teambot/agents/x.md",
    "project/.teambot/agents/registry.json",
    "project/.claude/agents/x.md",
    "project/.git/HEAD",
)
COMPOSE: Final = 'version: "1"\ntasks: {one: {agent: pm, prompt-string: Hello}}\n'


def often(*always: str, without: tuple[str, ...]) -> list[ParameterSet]:
    """Return all commands but some, of which those that are not always tried are tried thoroughly only."""
    return [
        pytest.param(command, marks=() if command in always else pytest.mark.thorough)
        for command in COMMANDS
        if command not in without
    ]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "teambot.toml").write_text("")
    (folder / "teambot.yaml").write_text(COMPOSE)
    return folder


def teambot(
    project: Path, command: str, surroundings: str = "{}", passed_on: tuple[int, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell, with what is to be broken before or behind it."""
    words = [sys.executable, "-P", "-m", "teambot_tui", *command.split(), *COMMANDS[command]]
    return subprocess.run(
        ["sh", "-c", surroundings.format(f"exec {shlex.join(words)}")],
        pass_fds=passed_on,
        cwd=project,
        env={"PATH": os.environ["PATH"], "HOME": str(project.parent), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def assert_told(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Assert that one sentence says what is wrong."""
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    [sentence] = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert all(word in sentence for word in words), done.stderr


@pytest.mark.parametrize("command", often("run", "up", "trust", "prune", "doctor", without=("--version", "")))
def test_a_directory_that_was_deleted(project: Path, command: str) -> None:
    done = teambot(project, command, "rm -r ../project; {}")
    assert_told(done, "The current directory has been deleted: change to another one.")


@pytest.mark.parametrize("command", often("run", "--version", "--web", without=PRINTS_NOTHING))
def test_a_full_disk(project: Path, command: str) -> None:
    assert_told(teambot(project, command, "{} >/dev/full"), "The output cannot be written", "No space left")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", often("run", "run -f", "prune", without=("--web",)))
def test_closed_streams(project: Path, command: str, closed: str) -> None:
    usual = teambot(project, command)
    done = teambot(project, command, f"{{}} {closed}")
    assert done.returncode == usual.returncode, done
    assert "Traceback" not in done.stderr
    if ">&-" not in closed:
        assert bool(done.stdout) == bool(usual.stdout)


@pytest.mark.parametrize("command", often("doctor", "run", "--web", without=PRINTS_NOTHING))
def test_nobody_reads(project: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = teambot(project, command, f"{{}} >&{writing}", (writing,))
    finally:
        os.close(writing)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "endless"])
@pytest.mark.parametrize("command", often("agents", "run", without=("--web", "")))
def test_files_that_are_none(project: Path, command: str, kind: str) -> None:
    for name in FILES:
        file = project.parent / name
        if file.is_dir():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_bytes() if file.exists() else None
        file.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(file)
        else:
            file.symlink_to("/dev/zero")
        done = teambot(project, command)
        assert "Traceback" not in done.stderr, name
        assert done.returncode in (0, 1, 2), name
        file.unlink()
        if before is not None:
            file.write_bytes(before)
