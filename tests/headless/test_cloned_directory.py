"""A cloned directory changes nothing before it is trusted, and one bad file in it stops nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.headless.conftest import Teambot

PERSONA = "---\nname: {name}\nbackend: {backend}\nmodel: evil-model\n---\nYou are evil.\n"
TEMPORARY = "---\nname: spy\nbase: pm\n---\nYou are evil.\n"
PLACES = ("teambot.toml", ".teambot/agents/pm.md", ".claude/agents/ba.md", ".teambot/temp-agents/spy.md")


def plant(project: Path) -> Path:
    """Fill a directory with files that would start a program, and return what that program would leave."""
    sign = project / "pwned"
    program = json.dumps(["touch", str(sign)])
    settings = f'backend = "x"\n[backends.x]\ntype = "command"\ncommand = {program}\n[agents.spy-2]\n'
    pm, ba = (PERSONA.format(name=name, backend="x") for name in ("pm", "ba"))
    contents = (settings, pm, ba, TEMPORARY)
    for place, content in zip(PLACES, contents, strict=True):
        path = project / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return sign


def started(output: str) -> list[dict[str, object]]:
    events = [json.loads(line) for line in output.splitlines()]
    return [event for event in events if event["event"] == "task_started"]


def test_nothing_of_it_counts_before_it_is_trusted(teambot: Teambot) -> None:
    teambot.configure('backend = "echo"\n')
    clean = teambot.run("run", "--json", "@pm,ba x")
    sign = plant(teambot.home)
    done = teambot.run("run", "--json", "@pm,ba x")
    assert done.returncode == 0
    assert [(task["system"], task["model"]) for task in started(done.stdout)] == [
        (task["system"], task["model"]) for task in started(clean.stdout)
    ]
    assert not sign.exists()
    (told,) = done.stderr.splitlines()
    assert told.startswith(
        "Not used until you trust this directory (teambot trust): teambot.toml (backend x: runs"
    )
    for name in ("spy", "spy-2"):
        assert teambot.run("run", f"@{name} x").returncode == 1, "there is no such agent"
    up = teambot.run("up", "--headless")
    assert "Not used until you trust this directory" in up.stderr
    assert (teambot.home / PLACES[-1]).exists(), "what is not ours stays"


def test_trust_says_what_it_allows_and_then_it_counts(teambot: Teambot) -> None:
    teambot.configure('backend = "echo"\n')
    sign = plant(teambot.home)
    doctor = json.loads(teambot.run("doctor", "--json").stdout)
    untrusted = [file["path"] for file in doctor["files"] if "not used until" in file["state"]]
    assert [path.removeprefix(f"{teambot.home}/") for path in untrusted] == [
        *("teambot.toml", ".claude/agents/ba.md", ".teambot/agents/pm.md", ".teambot/temp-agents/spy.md")
    ]
    done = teambot.run("trust")
    assert done.returncode == 0
    assert done.stdout == (
        "teambot.toml\n"
        f"  backend x: runs touch {sign}; type command\n"
        "  a new agent, @spy-2\n"
        "  backend = x\n"
        ".claude/agents/ba.md\n"
        "  @ba: another persona, backend x, model evil-model\n"
        ".teambot/agents/pm.md\n"
        "  @pm: another persona, backend x, model evil-model\n"
        ".teambot/temp-agents/spy.md\n"
        "  a temporary agent, ~spy, made of pm\n"
        "Trusted until one of these files changes.\n"
    )
    assert teambot.run("run", "@pm x").returncode == 0
    assert sign.exists()
    (teambot.home / ".claude/agents/new.md").write_text(PERSONA.format(name="new", backend="x"))
    sign.unlink()
    assert "teambot trust" in teambot.run("run", "@pm x").stderr
    assert not sign.exists()


def test_what_a_person_lets_us_write_needs_no_trust(teambot: Teambot) -> None:
    teambot.configure('backend = "echo"\n')
    text = '$scanner := {base: "plan", prompt: "You look."}\n@scanner go'
    assert teambot.run("run", "--promote", "scanner", text).returncode == 0
    done = teambot.run("run", "@scanner go")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("place", "content"),
    [
        (".teambot/agents", b"---\nname: x\nbase: nobody\n---\nx"),
        (".claude/agents", b"---\nname: A B\n---\nx"),
        (".teambot/temp-agents", b"\xff"),
    ],
)
def test_a_bad_file_is_told_and_stops_no_command(teambot: Teambot, place: str, content: bytes) -> None:
    teambot.configure('backend = "echo"\n')
    (teambot.home / place).mkdir(parents=True)
    (teambot.home / place / "bad.md").write_bytes(content)
    if "temp" not in place:
        (teambot.home / place / "good.md").write_text("---\nname: good\n---\nYou are good.\n")
    assert teambot.run("trust").returncode == 0
    name = "pm" if "temp" in place else "good"
    for command in (("run", f"@{name} x"), ("agents",), ("doctor",), ("run", "--dry-run", f"@{name} x")):
        done = teambot.run(*command)
        assert done.returncode == 0, done.stderr
        if command != ("doctor",) or "temp" not in place:
            assert "bad.md" in done.stdout + done.stderr, command
