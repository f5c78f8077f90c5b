"""The known agents: each fits the table of its type, is enough by its name, and can be replaced."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from teambot_tui.agents.catalogue import TYPES
from teambot_tui.agents.discovery import agents_on_path, login_seen, missing_extra, servers_here, version_of
from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.presets import PRESETS, Login, Preset, Server
from teambot_tui.agents.settings import BackendSettings, Settings, load_settings
from teambot_tui.agents.settings_file import remember_backend, remember_theme

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return folder


def install(folder: Path, name: str, script: str = "") -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_fits_the_table_of_its_type(name: str) -> None:
    preset = PRESETS[name]
    options = preset.backend_options()
    table = TYPES[preset.type].options
    assert set(table.required) <= set(options) <= set(table.keys)
    for key, value in options.items():
        is_list = isinstance(value, tuple) or (isinstance(value, dict) and not any(value.values()))
        written = list(value) if is_list else value  # type: ignore[call-overload]
        assert table.keys[key](written) == value
    assert preset.install
    # A clause that can stand behind a colon as it is, with the command alone in quotes.
    assert re.fullmatch(r"run `[^`]+`( and [^`]+)?|set [^`]+", preset.login.how) or not preset.login.needed


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_approves_anything_unasked(name: str) -> None:
    assert not any(
        word in argument
        for command in PRESETS[name].commands
        for argument in command
        for word in ("yolo", "dangerous", "allow", "yes", "bypass", "skip-perm", "auto-approve", "skip-trust")
    )


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.type == "command"])
def test_a_command_is_told_everything(name: str) -> None:
    options = PRESETS[name].backend_options()
    said = f"{options['command']} {options.get('model_arguments')} {options.get('system_arguments')}"
    assert "{model}" in said
    assert "{system}" in said or options["system_in_prompt"] is True


@pytest.mark.parametrize("name", [name for name in PRESETS if name.endswith("-cli") and name != "gemini-cli"])
def test_whoever_is_started_anew_for_every_task_is_offered_our_tools(name: str) -> None:
    options = PRESETS[name].backend_options()
    told = f"{options.get('tool_arguments')} {options.get('tool_env')}"
    assert "{tools}" in told or "{tools_url}" in told
    assert "teambot" not in told, "the name of the server is another in every session"
    assert "secret" not in str(options.get("tool_arguments")), "everybody can read arguments"


def test_who_cannot_be_held_to_reading_is_known() -> None:
    """The README and `teambot doctor` name them: what they do not ask for is not kept from them."""
    held = {"acp": "read_only_mode", "command": "read_only_arguments"}
    free = [name for name, preset in PRESETS.items() if held[preset.type] not in preset.options]
    assert free == ["copilot", "fast-agent"]


def test_a_name_is_enough_and_a_table_takes_its_place(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    environ = {"HOME": str(tmp_path), "TEAMBOT_CONFIG": str(config)}
    config.write_text('backend = "claude-cli"\n[agents.pm]\nbackend = "codex"\n')
    settings = load_settings(tmp_path, environ)
    found = settings.find_backend("claude-cli")
    assert found is not None
    assert found.type == "command"
    assert found.options == PRESETS["claude-cli"].backend_options()
    config.write_text('backend = "claude-cli"\n[backends.claude-cli]\ntype = "echo"\n')
    assert load_settings(tmp_path, environ).find_backend("claude-cli") == BackendSettings(
        "claude-cli", "echo"
    )
    assert Settings().find_backend("nobody") is None


def test_of_several_commands_the_installed_one_counts(programs: Path) -> None:
    assert PRESETS["claude"].command() == ("claude-agent-acp",)
    install(programs, "claude-code-acp")
    assert PRESETS["claude"].command() == ("claude-code-acp",)
    install(programs, "claude-agent-acp")
    assert PRESETS["claude"].command() == ("claude-agent-acp",)


def test_what_is_on_path_is_found(programs: Path) -> None:
    assert agents_on_path() == []
    path = install(programs, "llm")
    (programs / "vibe-acp").write_text("not executable")
    assert [(found.name, found.how) for found in agents_on_path()] == [("llm", str(path))]


def test_an_agent_is_offered_only_if_we_can_speak_to_it(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(programs, "gemini")
    speaks_acp = ModuleType("acp")
    speaks_acp.__spec__ = ModuleSpec("acp", None)
    monkeypatch.setitem(sys.modules, "acp", speaks_acp)
    assert [found.name for found in agents_on_path()] == ["gemini", "gemini-cli"]
    monkeypatch.setitem(sys.modules, "acp", None)
    assert [found.name for found in agents_on_path()] == ["gemini-cli"]
    assert missing_extra(PRESETS["gemini"].type) == "pip install 'teambot-tui[acp]'"
    assert (missing_extra("command"), missing_extra("rehearsal")) == ("", "")
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert missing_extra("openai") == "pip install 'teambot-tui[http]'"
    assert missing_extra("local") == "pip install 'teambot-tui[local]'"


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("echo 'codex-cli 0.169.0'", "0.169.0"),
        ("echo '2.1.197 (Claude Code)'", "2.1.197"),
        ("echo 'GitHub Copilot CLI 1.0.102.'", "1.0.102"),
        ("echo v1.2.3-beta+4 >&2", ""),
        ("printf '\\033]0;x\\0071.2\\033[31m'", "1.2"),
        ("exit 3", ""),
        ("cat", ""),
    ],
)
async def test_a_version_is_what_the_program_says(programs: Path, script: str, version: str) -> None:
    path = install(programs, "agent", script)
    preset = Preset("agent", "", "command", (("agent",),), "", Login())
    assert await version_of(preset, str(path)) == version


async def test_a_server_is_one_that_takes_a_connection() -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        here, gone = Server("here", "Here", port), Server("gone", "Gone", 1)
        assert [found.name for found in await servers_here([here, gone])] == ["here"]


def test_a_login_is_seen_by_what_is_there(tmp_path: Path) -> None:
    login = Login(("KEY",), (("AGENT_HOME", ".agent", "auth.json"),), "agent login")
    home = {"HOME": str(tmp_path)}
    assert login_seen(login, home) == ""
    assert login_seen(login, home | {"KEY": ""}) == ""
    assert login_seen(login, home | {"KEY": "canary"}) == "KEY is set"
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "auth.json").write_text("canary")
    assert login_seen(login, home) == f"{tmp_path}/.agent/auth.json is there"
    assert login_seen(login, home | {"AGENT_HOME": str(tmp_path)}) == ""
    assert login_seen(login, home | {"AGENT_HOME": "\0"}) == ""


@pytest.mark.parametrize(
    "before",
    ["", "# mine\nmax_parallel = 2\n", "[agents.pm]\nmodel = 'x'\n", "\ufeffwait_timeout = 3", "[backends]"],
)
def test_a_choice_is_remembered_and_nothing_else_changes(tmp_path: Path, before: str) -> None:
    config = tmp_path / ".config" / "teambot" / "config.toml"
    if before:
        config.parent.mkdir(parents=True)
        config.write_text(before)
    environ = {"HOME": str(tmp_path)}
    assert remember_backend("claude", tmp_path, environ) == config
    assert config.read_text() == f'backend = "claude"\n{before.lstrip(chr(0xFEFF))}'
    assert config.stat().st_mode & 0o777 == 0o600
    assert load_settings(tmp_path, environ).backend == "claude"


def test_a_linked_file_stays_linked(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("max_parallel = 2\n")
    (tmp_path / "link.toml").symlink_to(real)
    remember_backend("llm", tmp_path, {"TEAMBOT_CONFIG": "link.toml"})
    assert (tmp_path / "link.toml").is_symlink()
    assert real.read_text() == 'backend = "llm"\nmax_parallel = 2\n'


@pytest.mark.parametrize(
    ("before", "backend", "message"),
    [
        (b'backend = "echo"\n', "llm", "is set already"),
        (b"= broken", "llm", "is not valid TOML"),
        (b"\xff", "llm", "is not UTF-8"),
        (b"", 'x"\npermissions = "allow', "cannot be set to this name"),
    ],
)
def test_a_choice_that_cannot_be_remembered_changes_nothing(
    tmp_path: Path, before: bytes, backend: str, message: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_bytes(before)
    with pytest.raises(SettingsError, match=message):
        remember_backend(backend, tmp_path, {"TEAMBOT_CONFIG": str(config)})
    assert config.read_bytes() == before
    assert list(tmp_path.iterdir()) == [config]


def test_without_a_file_there_is_nothing_to_remember_in(tmp_path: Path) -> None:
    assert remember_backend("llm", tmp_path, {"TEAMBOT_CONFIG": os.devnull}) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'theme = "nord"\n'),
        ('theme = "dracula"\n[agents.pm]\nmodel = "x"\n', 'theme = "nord"\n[agents.pm]\nmodel = "x"\n'),
        (
            'backend = "llm"\n  # mine\ntheme="a"  # dark\n[keys]\n',
            'theme = "nord"\nbackend = "llm"\n  # mine\n[keys]\n',
        ),
    ],
)
def test_a_theme_is_kept_in_place_of_the_one_before(tmp_path: Path, before: str, after: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(before)
    environ = {"TEAMBOT_CONFIG": str(config)}
    assert remember_theme("nord", tmp_path, environ) == config
    assert config.read_text() == after
    assert load_settings(tmp_path, environ).theme == "nord"


@pytest.mark.parametrize(
    "before", ['"theme" = "a"\n', 'notes = """\ntheme = 1\n"""\ntheme = "a"\n', "= broken"]
)
def test_a_theme_that_cannot_be_kept_changes_nothing(tmp_path: Path, before: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(before)
    with pytest.raises(SettingsError):
        remember_theme("nord", tmp_path, {"TEAMBOT_CONFIG": str(config)})
    assert config.read_text() == before
