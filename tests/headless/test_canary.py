"""A secret in the environment, or written where none belongs, appears nowhere we write, print or pass it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.headless.conftest import events

if TYPE_CHECKING:
    from pathlib import Path

    from tests.headless.conftest import Teambot

SECRET = "canary-8d2b0c"
CHECKS = f"""
import os, sys
secret = {SECRET[::-1]!r}[::-1]  # the settings hold this script, and are searched too
assert os.environ.get("NAMED_KEY") == secret, "the key that was named is there"
assert "UNNAMED_KEY" not in os.environ, "and no other"
assert secret not in sys.stdin.read()
assert not any(secret in argument for argument in sys.argv)
print("all is well", flush=True)
"""
FAILS = CHECKS + "\nsys.stderr.write('no luck\\n'); sys.exit(3)"
BREAKS = CHECKS + "\nos.kill(os.getpid(), 9)"
STREAMS = CHECKS + ('\nprint(\'{"type": "turn.failed", "error": {"message": "no luck"}}\', flush=True)')


def backend(name: str, script: str, stream: str = "text") -> str:
    command = json.dumps([sys.executable, "-c", script, "{model}"])
    more = f'env = ["NAMED_KEY"]\nstream = "{stream}"\n'
    return f'[backends.{name}]\ntype = "command"\ncommand = {command}\n{more}'


def written(home: Path) -> str:
    """Everything in the home, whatever wrote it."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.mark.parametrize("as_json", [True, False])
def test_a_secret_in_the_environment_appears_nowhere(teambot: Teambot, as_json: bool) -> None:
    teambot.configure(
        backend("good", CHECKS)
        + backend("fails", FAILS)
        + backend("breaks", BREAKS)
        + backend("streams", STREAMS, "codex-json")
        + '[backends.missing]\ntype = "command"\ncommand = ["no-such-program"]\nenv = ["NAMED_KEY"]\n'
        + "".join(
            f'[agents.{agent}]\nbackend = "{name}"\nmodel = "m"\n'
            for agent, name in {
                "pm": "good",
                "ba": "fails",
                "reviewer": "breaks",
                "writer": "streams",
                "builder-1": "missing",
                "builder-2": "echo",
            }.items()
        )
    )
    done = teambot.run(
        "run",
        "@pm,ba,reviewer,writer,builder-1 Say what you see\n@builder-2 Sum up $pm",
        *(["--json"] if as_json else []),
        "--log-file",
        "debug.log",
        NAMED_KEY=SECRET,
        UNNAMED_KEY=SECRET,
    )
    assert done.returncode == 1
    assert (teambot.home / "debug.log").stat().st_size
    assert SECRET not in done.stdout + done.stderr + written(teambot.home)
    assert "no luck" in done.stdout
    if as_json:
        ends = {each["agent"]: each for each in events(done.stdout) if each["event"].startswith("task_")}
        assert ends["pm"]["output"] == "all is well\n"
        assert {agent: ends[agent]["event"] for agent in ("ba", "reviewer", "writer", "builder-1")} == (
            dict.fromkeys(("ba", "reviewer", "writer", "builder-1"), "task_failed")
        )


@pytest.mark.parametrize(
    "settings",
    [
        f'[backends.x]\ntype = "command"\ncommand = ["a"]\nenv = ["KEY={SECRET}"]\n',
        f'[backends.x]\ntype = "command"\ncommand = ["a"]\nenv = "{SECRET}"\n',
        f'[backends.x]\ntype = "command"\ncommand = "run --key {SECRET}"\n',
        f'max_parallel = "{SECRET}"\n',
        f'[backends.x]\ntype = "command"\ncommand = ["a"]\nsystem_in_prompt = "{SECRET}"\n',
        f'[backends.x]\ntype = "command"\ncommand = ["no-such-program", "--key", "{SECRET}"]\n',
    ],
)
@pytest.mark.parametrize("arguments", [("run", "@pm Plan"), ("doctor", "--json")])
def test_a_secret_in_the_wrong_place_of_the_settings_is_not_repeated(
    teambot: Teambot, settings: str, arguments: tuple[str, ...]
) -> None:
    teambot.configure(settings + ('[agents.pm]\nbackend = "x"\n' if "backends.x" in settings else ""))
    done = teambot.run(*arguments)
    assert SECRET not in done.stdout + done.stderr
