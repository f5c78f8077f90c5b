"""Temporary agents from the command line: the workflow of the README, the list, and keeping one."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from tests.headless.conftest import PATIENCE, events

if TYPE_CHECKING:
    from tests.headless.conftest import Teambot

SECURITY = """\
$security-scanner := {
  base: "general-purpose",
  prompt: "You are a security expert. Focus on OWASP top 10 vulnerabilities.",
  model: "opus"
}
$fixer := {base: "expert-code-implementer", prompt: "Fix security issues while maintaining functionality."}

$security-scanner:"Scan authentication and authorization code":issues ->
$fixer:"Fix the following issues: {issues}":fixes ->
general-purpose:"Verify fixes are complete"
"""


def test_the_security_workflow_runs_as_it_stands_and_its_agents_are_offered(teambot: Teambot) -> None:
    done = teambot.run("run", "-f", "-", "--backend", "echo", "--json", typed=SECURITY)
    assert done.returncode == 0
    sent = {event["task"]: event for event in events(done.stdout) if event["event"] == "task_started"}
    scanned = "You are a security expert. Focus on OWASP top 10 vulnerabilities.\n\nScan authentication and"
    assert sent["security-scanner#1"]["prompt"] == f"{scanned} authorization code"
    assert sent["security-scanner#1"]["model"] == "opus"
    assert sent["fixer#1"]["prompt"] == (
        "Fix security issues while maintaining functionality.\n\n"
        f"Fix the following issues: {scanned} authorization code"
    )
    assert sent["general-purpose#1"]["prompt"] == "Verify fixes are complete"
    assert done.stderr == (
        "Did their work and are gone now: ~security-scanner, ~fixer."
        " To keep one: teambot run --promote security-scanner …\n"
    )
    assert not (teambot.home / ".teambot" / "temp-agents").exists()

    plan = teambot.run("run", "-f", "-", "--dry-run", "--backend", "echo", typed=SECURITY)
    assert plan.stdout.splitlines()[:2] == ["defines $security-scanner", "defines $fixer"]
    assert "gets {issues} = security-scanner#1" in plan.stdout
    assert not (teambot.home / ".teambot" / "temp-agents").exists()


def test_keeping_listing_and_promoting(teambot: Teambot) -> None:
    done = teambot.run(
        "run", "-f", "-", "--backend", "echo", "--promote", "fixer", "--promote", "nobody", typed=SECURITY
    )
    assert done.returncode == 1
    assert f"fixer is in {teambot.home / '.teambot/agents/fixer.md'} from now on." in done.stderr
    assert "Not promoted: nobody is not a temporary agent that completed a task." in done.stderr
    plan = teambot.run("run", "-f", "-", "--dry-run", "--backend", "echo", typed=SECURITY)
    assert plan.stdout.splitlines()[:2] == [
        "defines $security-scanner",
        "defines $fixer for this session, in place of the promoted @fixer",
    ]
    assert teambot.run("run", "-f", "-", "--backend", "echo", typed=SECURITY).returncode == 0
    folder = teambot.home / ".teambot" / "temp-agents"
    folder.mkdir(exist_ok=True)
    (folder / "probe.md").write_text("---\nname: probe\nbase: fixer\n---\nLook at line 3 of this project.\n")
    assert "~probe" not in teambot.run("agents").stdout
    refused = teambot.run("agents", "promote", "probe")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "teambot trust" in refused.stderr
    assert teambot.run("trust").returncode == 0
    listed = teambot.run("agents")
    assert listed.returncode == 0
    assert "  ~probe" in listed.stdout
    fixer = next(line for line in listed.stdout.splitlines() if line.startswith("  fixer"))
    assert "used once" in fixer

    clash = teambot.run("agents", "promote", "probe", "--as", "writer")
    assert clash.returncode == 1
    assert "+Look at line 3 of this project." in clash.stderr
    assert "Keep both: teambot agents promote probe --as writer-2. Overwrite: --force." in clash.stderr
    kept = teambot.run("agents", "promote", "probe", "--as", "prober")
    assert kept.returncode == 0
    assert "it names a line number (“line 3”)" in kept.stderr
    assert not (folder / "probe.md").exists()
    registry = json.loads((teambot.home / ".teambot/agents/registry.json").read_text())
    assert registry["agents"].keys() == {"fixer", "prober"}
    assert teambot.run("agents", "promote", "probe").returncode == 1


def test_an_error_in_a_definition_is_told_at_its_place(teambot: Teambot) -> None:
    done = teambot.run("run", "--backend", "echo", '$x := {base: "pm", promt: "p"}')
    assert done.returncode == 1
    assert done.stderr.startswith("line 1, column 20: Unknown field: promt. Fields: base, prompt, model\n")
    assert "did you mean prompt?" in done.stderr


def test_what_a_killed_session_left_outlives_the_next_run_and_is_told(teambot: Teambot) -> None:
    file = teambot.home / ".teambot" / "temp-agents" / "scanner.md"
    killed = teambot.start(
        "run",
        "--backend",
        "rehearsal",
        '$scanner := {base: "pm", prompt: "You look."}\n@pm a -> @ba b -> @pm c',
    )
    give_up = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < give_up
        assert killed.poll() is None
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    done = teambot.run("run", "--backend", "echo", "@scanner go")
    assert done.returncode == 0
    assert "In .teambot/temp-agents from before: ~scanner." in done.stderr
    assert "gone" not in done.stderr
    assert "You look." in file.read_text()
    assert teambot.run("agents", "promote", "scanner").returncode == 0
    assert not file.exists()
