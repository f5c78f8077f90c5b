"""`teambot doctor`: what is here, what the settings make of it, and what to do; it always ends well."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.headless.conftest import Teambot

SECRET = "canary-5f1e"


def install(teambot: Teambot, name: str, script: str) -> str:
    """Put a program on the PATH that is returned."""
    folder = teambot.home / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"


def examined(teambot: Teambot, **environ: str) -> dict[str, Any]:
    done = teambot.run("doctor", "--json", **environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert SECRET not in done.stdout
    report: dict[str, Any] = json.loads(done.stdout)
    report["backends"] = {each["name"]: each for each in report["backends"]}
    return report


def test_every_backend_is_told_with_what_to_do(teambot: Teambot) -> None:
    path = install(teambot, "claude", "echo '2.1.0 (Claude Code)'")
    path = install(teambot, "codex", "echo codex-cli 0.9.1")
    teambot.configure(
        'backend = "mine"\n[backends.mine]\ntype = "command"\ncommand = ["no-such-program"]\n'
        '[agents.pm]\nbackend = "claude-cli"\nmodel = "opus"\n[agents.ba]\nmodel = "x"\n'
    )
    report = examined(teambot, PATH=path, ANTHROPIC_API_KEY=SECRET)
    backends = report["backends"]
    claude = backends["claude-cli"]
    assert (claude["found"], claude["version"], claude["login"], claude["used_by"]) == (
        True,
        "2.1.0",
        "yes",
        ["pm"],
    )
    codex = backends["codex-cli"]
    assert (codex["version"], codex["login"], codex["what_to_do"]) == (
        "0.9.1",
        "not seen",
        "run `codex login`",
    )
    assert (backends["gemini"]["found"], backends["gemini"]["what_to_do"]) == (
        False,
        "npm install -g @google/gemini-cli",
    )
    assert backends["mine"]["what_to_do"] == "install no-such-program, or correct [backends.mine]"
    assert backends["rehearsal"]["where"] == "built in"
    assert set(backends) >= {"ollama-server", "lm-studio", "llama-cpp"}
    assert report["warnings"] == [
        "@ba has the model x, but mine is not told: there is no {model} in its command",
        "mine is not told who an agent is: there is no {system} in its command",
    ]


def test_whom_deny_does_not_bind_is_a_warning(teambot: Teambot) -> None:
    mine = 'type = "command"\ncommand = ["cat", "{system}"]'
    teambot.configure(
        f'permissions = "deny"\n[backends.mine]\n{mine}\n'
        f'[backends.bound]\n{mine}\nread_only_arguments = ["--look"]\n'
        '[agents.pm]\nbackend = "mine"\n[agents.ba]\nbackend = "bound"\n'
        '[agents.writer]\nbackend = "copilot"\n[agents.reviewer]\nbackend = "gemini"\n'
        '[agents.builder-1]\nbackend = "mine"\npermissions = "ask"\n'
    )
    never, asks = examined(teambot)["warnings"]
    assert never.startswith('@pm has permissions = "deny", which does not bind mine: it never asks; ')
    assert never.endswith("name it as read_only_arguments in [backends.mine]")
    assert asks.startswith("@writer has")
    assert "does not bind copilot: only what it asks for is rejected" in asks
    assert asks.endswith("read_only_mode in [backends.copilot]")


def test_a_model_on_this_machine_is_found_or_it_is_told_how_to_get_one(teambot: Teambot) -> None:
    model = teambot.home / "my.gguf"
    teambot.configure(
        f'[backends.mine]\ntype = "local"\nmodel_path = "{model}"\n'
        '[backends.server]\ntype = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    backends = examined(teambot)["backends"]
    assert [backends[name]["found"] for name in ("local", "mine")] == [False, False]
    extra = "" if find_spec("xllamacpp") else "pip install 'teambot-tui[local]'"
    assert backends["local"]["what_to_do"] == (extra or "teambot models pull")
    assert backends["mine"]["what_to_do"] == (extra or "correct model_path in [backends.mine]")
    assert backends["server"]["what_to_do"] == "", "what it needs is installed with the tests"
    model.write_bytes(b"GGUF")
    mine = examined(teambot)["backends"]["mine"]
    assert (mine["found"], mine["where"], mine["what_to_do"]) == (True, str(model), extra)


def test_files_and_trust_are_told(teambot: Teambot) -> None:
    project = teambot.home / "teambot.toml"

    def states() -> list[str]:
        return [file["state"] for file in examined(teambot)["files"]]

    assert states() == ["not there", "not there"]
    teambot.configure("max_parallel = 2\n")
    project.write_text('permissions = "allow"\n')
    told = "not used until you run: teambot trust (permissions: never taken from a project)"
    assert states() == ["read", told]
    assert teambot.run("trust").returncode == 0
    assert states() == ["read", "read, trusted"]
    assert examined(teambot)["notes"][0].startswith("teambot.toml: permissions is ignored")


@pytest.mark.parametrize("settings", ["= broken", 'backend = "nobody"', '[agents.pm]\npersona = "nobody"'])
def test_settings_that_cannot_be_used_are_a_warning(teambot: Teambot, settings: str) -> None:
    teambot.configure(settings)
    (warning,) = examined(teambot)["warnings"]
    assert "config.toml" in warning


def test_the_table_is_for_people(teambot: Teambot) -> None:
    path = install(teambot, "llm", "echo 'llm, version 0.27'")
    done = teambot.run("doctor", PATH=path, OPENAI_API_KEY=SECRET)
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert lines["backend"][:4] == ["backend", "type", "found", "version"]
    assert lines["llm"] == ["llm", "command", "yes", "0.27", "yes"]
    assert "Who runs on what\n  rehearsal: @pm, @ba, " in done.stdout
    assert "npm install -g opencode-ai" in done.stdout
    assert SECRET not in done.stdout
