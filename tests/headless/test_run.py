"""`teambot run` as a script sees it: lines, JSON, exit statuses."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.headless.conftest import events

if TYPE_CHECKING:
    from tests.headless.conftest import Teambot

FAILS = json.dumps([sys.executable, "-c", "import sys; print('half'); sys.exit('out of luck')"])


def test_the_embedded_default_shows_the_flow(teambot: Teambot) -> None:
    teambot.configure('[backends.rehearsal]\ntype = "rehearsal"\nwords_per_second = 1000\n')
    done = teambot.run("run", "@pm,ba Analyse login -> @builder-1 Build it")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:3] == ["@pm: executing", "@ba: executing", "@builder-1: waiting for @pm, @ba"]
    assert "rehears" in done.stdout
    assert any(line.startswith("builder-1 │ From @pm") for line in lines)
    assert any(line.startswith("builder-1 │ From @ba") for line in lines)
    assert lines[-1] == "3 completed"
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_statements_from_standard_input(teambot: Teambot) -> None:
    done = teambot.run("run", "-f", "-", "--backend", "echo", typed="@pm Plan\n@builder-1 Implement $pm\n")
    assert done.returncode == 0
    assert "builder-1 │ Implement [Output from @pm]: Plan\n" in done.stdout


def test_statements_from_a_file_with_a_mark_at_its_beginning(teambot: Teambot) -> None:
    (teambot.home / "plan.team").write_text("\ufeff@pm Plan ->\r\n@ba Check\r\n", encoding="utf-8")
    done = teambot.run("run", "-f", "plan.team", "--backend", "echo")
    assert (done.returncode, done.stderr) == (0, "")


def test_waiting_for_nobody_fails_as_soon_as_nothing_is_left(teambot: Teambot) -> None:
    done = teambot.run("run", "--backend", "echo", "@ba Check $pm -> @writer Write &\n@reviewer Review")
    assert done.returncode == 1
    told = "Nobody is left who could give @pm any work."
    assert f"@ba: failed ba#1: {told}\n" in done.stdout
    assert f"@writer: skipped writer#1: @ba failed: {told}\n" in done.stdout
    assert "@reviewer: completed reviewer#1" in done.stdout


def test_json_tells_every_event_in_order(teambot: Teambot) -> None:
    done = teambot.run("run", "--backend", "echo", "--json", "@pm Plan 日本\u2028x -> @ba -m opus Check &")
    assert done.returncode == 0
    seen = events(done.stdout)
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert [event["time"] for event in seen] == sorted(event["time"] for event in seen)
    without = [
        {name: value for name, value in event.items() if name not in ("seq", "time", "seconds", "system")}
        for event in seen
    ]
    prompt = "=== Output from @pm ===\nPlan 日本\nx\n\n=== Your Task ===\nCheck"
    assert without == [
        {"event": "statement_accepted", "tasks": ["pm#1", "ba#1"]},
        {"event": "task_created", "task": "pm#1", "agent": "pm", "depends_on": [], "background": True},
        {"event": "task_started", "task": "pm#1", "agent": "pm", "prompt": "Plan 日本\nx", "model": None},
        {"event": "agent_status", "agent": "pm", "status": "executing", "waiting_for": []},
        {"event": "task_created", "task": "ba#1", "agent": "ba", "depends_on": ["pm#1"], "background": True},
        {
            "event": "task_waiting",
            "task": "ba#1",
            "agent": "ba",
            "waiting_for": ["pm"],
            "no_output_yet": False,
        },
        {"event": "agent_status", "agent": "ba", "status": "waiting", "waiting_for": ["pm"]},
        {"event": "text", "task": "pm#1", "agent": "pm", "text": "Plan 日本\nx"},
        {"event": "task_completed", "task": "pm#1", "agent": "pm", "output": "Plan 日本\nx"},
        {"event": "agent_status", "agent": "pm", "status": "idle", "waiting_for": []},
        {"event": "task_started", "task": "ba#1", "agent": "ba", "prompt": prompt, "model": "opus"},
        {"event": "agent_status", "agent": "ba", "status": "executing", "waiting_for": []},
        {"event": "text", "task": "ba#1", "agent": "ba", "text": prompt},
        {"event": "task_completed", "task": "ba#1", "agent": "ba", "output": prompt},
        {"event": "agent_status", "agent": "ba", "status": "idle", "waiting_for": []},
        {"event": "run_finished", "completed": 2, "failed": 0, "skipped": 0, "cancelled": 0},
    ]
    assert all("system" in event for event in seen if event["event"] == "task_started")


def test_a_shrinking_wait_and_one_without_output(teambot: Teambot) -> None:
    done = teambot.run(
        "run", "--backend", "echo", "--json", "@writer Sum up $pm and $ba &\n@pm Plan\n@ba Check"
    )
    waits = [event for event in events(done.stdout) if event["event"] == "task_waiting"]
    assert [(event["waiting_for"], event["no_output_yet"]) for event in waits] == [
        (["pm", "ba"], True),
        (["pm", "ba"], True),
        (["pm", "ba"], False),
        (["ba"], False),
    ]


def test_a_failure_is_explained_and_skips_what_needs_it(teambot: Teambot) -> None:
    teambot.configure(f'[backends.bad]\ntype = "command"\ncommand = {FAILS}\n[agents.pm]\nbackend = "bad"\n')
    done = teambot.run("run", "@pm Plan -> @ba Check")
    assert done.returncode == 1
    assert "pm        │ half\n" in done.stdout
    assert "@pm: failed pm#1: " in done.stdout
    assert "out of luck" in done.stdout
    assert "@ba: skipped ba#1: @pm failed: " in done.stdout
    assert done.stdout.endswith("1 failed, 1 skipped\n")


@pytest.mark.parametrize("flags", [(), ("--json",), ("--dry-run",)])
def test_a_refused_submission_starts_nothing(teambot: Teambot, flags: tuple[str, ...]) -> None:
    done = teambot.run("run", "--backend", "echo", *flags, "@pm Plan\n@bob Build")
    assert done.returncode == 1
    assert "line 2, column 1: Unknown agent: @bob. Valid agents: pm, ba" in done.stderr
    assert "  @bob Build\n  ^^^^\nhint: " in done.stderr
    if "--json" in flags:
        rejected, finished = events(done.stdout)
        assert (rejected["event"], rejected["line"], rejected["column"]) == ("statement_rejected", 2, 1)
        assert rejected["error"].startswith("Unknown agent: @bob.")
        assert finished["event"] == "run_finished"
    else:
        assert done.stdout == ""


@pytest.mark.parametrize("flags", [(), ("--json",), ("--dry-run",)])
def test_what_looks_like_a_slip_is_told_and_sent_as_text(teambot: Teambot, flags: tuple[str, ...]) -> None:
    done = teambot.run("run", "--backend", "echo", *flags, "@pm Plan -> ba Check")
    assert done.returncode == 0
    assert "note: -> ba is sent as text: write -> @ba\n" in done.stderr


def test_a_dry_run_starts_nothing(teambot: Teambot) -> None:
    done = teambot.run("run", "--dry-run", "@pm,ba Analyse -> @builder-1 Build $pm\n@pm Again")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "pm#1         @pm starts now",
        "ba#1         @ba starts now",
        "builder-1#1  @builder-1 waits for @pm, @ba; gets $pm = pm#1, -> @ba = ba#1",
        "pm#2         @pm is queued behind pm#1",
    ]
    steps = events(teambot.run("run", "--dry-run", "--json", "@pm Plan -> @ba Check").stdout)
    assert [(step["task"], step["starts"], step["waiting_for"]) for step in steps] == [
        ("pm#1", True, []),
        ("ba#1", False, ["pm"]),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), "either as one argument or with -f FILE"),
        (("run", "@pm x", "-f", "-"), "either as one argument or with -f FILE"),
        (("run", "-f", "missing.team"), "missing.team cannot be read: No such file or directory."),
        (("run", "-f", "."), "cannot be read: Is a directory."),
        (("run", "-f", "latin.team"), "latin.team is not UTF-8"),
        (("run", "--backend", "ecko", "@pm x"), "echo"),
        (("run", "--log-file", "no/such/folder", "@pm x"), "--log-file no/such/folder cannot be written"),
        (("trust",), "teambot.toml"),
        (("rum",), "No such command 'rum'"),
    ],
)
def test_wrong_usage(teambot: Teambot, arguments: tuple[str, ...], words: str) -> None:
    (teambot.home / "latin.team").write_bytes("@pm caf\xe9".encode("latin-1"))
    done = teambot.run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_settings_name_file_and_key(teambot: Teambot) -> None:
    teambot.configure("max_paralel = 3\n")
    done = teambot.run("run", "@pm x")
    assert done.returncode == 2
    assert "config.toml" in done.stderr
    assert "max_paralel" in done.stderr
    assert "max_parallel" in done.stderr


def test_where_outputs_are_kept_is_told_at_the_first_start_only(teambot: Teambot) -> None:
    (teambot.home / ".teambot" / "outputs").rmdir()
    assert teambot.run("run", "--backend", "echo", "--dry-run", "@pm x").stderr == ""
    first = teambot.run("run", "--backend", "echo", "@pm x")
    assert first.stderr == (
        f"Outputs are kept in {teambot.home / '.teambot/outputs'} for 30 days;"
        " keep_outputs in your settings changes that.\n"
    )
    assert teambot.run("run", "--backend", "echo", "@pm x").stderr == ""


def test_a_projects_settings_are_inert_until_trusted(teambot: Teambot) -> None:
    project = teambot.home / "teambot.toml"
    project.write_text('backend = "echo"\n', encoding="utf-8")
    asked = teambot.run("run", "--dry-run", "@pm x")
    assert "teambot trust" in asked.stderr
    assert teambot.run("trust").returncode == 0
    trusted = teambot.run("run", "@pm x")
    assert trusted.stderr == ""
    assert "pm        │ x\n" in trusted.stdout
    project.write_text('backend = "echo" # changed\n', encoding="utf-8")
    assert "teambot trust" in teambot.run("run", "--dry-run", "@pm x").stderr


def test_references_can_be_turned_off(teambot: Teambot) -> None:
    done = teambot.run("run", "--backend", "echo", "@pm Print $ba", TEAMBOT_ENABLE_AGENT_REFS="0")
    assert "pm        │ Print $ba\n" in done.stdout


def test_the_log_tells_what_was_refused(teambot: Teambot) -> None:
    teambot.run("run", "--backend", "echo", "--log-file", "log", "@pm Plan $ba &\n@ba Check $pm")
    (teambot.home / "bad.yaml").write_text('version: "1"\ntasks: {a: {promt: x}}\n')
    teambot.run("up", "-f", "bad.yaml", "--headless", "--log-file", "log")
    log = (teambot.home / "log").read_text(encoding="utf-8")
    cycle = "Circular dependency detected: @ba → @pm → @ba"
    assert f"INFO teambot_tui.engine.monitor: statement refused: line 2, column 1: {cycle} (" in log
    assert "workflow refused: bad.yaml, line 2, column" in log
    assert "Did you mean prompt?" in log


def test_the_log_tells_how_references_were_resolved(teambot: Teambot) -> None:
    teambot.run("run", "--backend", "echo", "--log-file", "log", "@pm Plan\n@ba Check $pm")
    log = (teambot.home / "log").read_text(encoding="utf-8")
    assert "DEBUG teambot_tui.engine.monitor: ba#1 received $@pm from pm#1 (completed) after waiting" in log


def test_an_output_that_cannot_be_written_in_the_terminals_characters(teambot: Teambot) -> None:
    plain = teambot.run("run", "--backend", "echo", "@pm 日本", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert "pm        | ??\n" in plain.stdout
    as_json = teambot.run(
        "run", "--backend", "echo", "--json", "@pm 日本", PYTHONUTF8="0", PYTHONIOENCODING="ascii"
    )
    assert next(event["text"] for event in events(as_json.stdout) if event["event"] == "text") == "日本"


def test_version_and_help(teambot: Teambot) -> None:
    assert teambot.run("--version").stdout.startswith("teambot, version ")
    assert "teambot run" in teambot.run("--help").stdout
