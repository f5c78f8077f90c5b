"""The manual is complete and true: what a person can type, press, set or read is in it, and nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from teambot_tui import help as manual
from teambot_tui.agents.catalogue import TYPES
from teambot_tui.agents.presets import PRESETS, SERVERS
from teambot_tui.agents.settings import load_settings
from teambot_tui.agents.settings_file import _AGENT, _DOCUMENT
from teambot_tui.cli import main
from teambot_tui.headless import events
from teambot_tui.language.names import COMMANDS
from teambot_tui.language.parser import parse
from teambot_tui.ui.action_table import ACTIONS, SLASH_COMMANDS
from teambot_tui.ui.own_keys import own_keys
from teambot_tui.workflows.compose import load_compose

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = {topic: manual.page(topic) for topic in manual.TOPICS}
DOCUMENTS = {
    **{f"help/{topic}": (ROOT / "teambot_tui" / "help" / f"{topic}.md") for topic in PAGES},
    "README": README,
    "tests/README": ROOT / "tests" / "README.md",
    "screenshots/README": ROOT / "screenshots" / "README.md",
}
MANUAL = "\n".join(PAGES.values())
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    texts = [*PAGES.values(), README.read_text(encoding="utf-8")]
    return [body for text in texts for name, body in FENCE.findall(text) if name == language]


def rows(text: str, head: str) -> list[list[str]]:
    """Return the cells of the rows of the tables whose head begins so."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        if table.startswith(head):
            found += [
                [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in table.splitlines()[2:]
            ]
    assert found, head
    return found


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def test_every_page_is_a_topic() -> None:
    assert {path.stem for path in (ROOT / "teambot_tui" / "help").glob("*.md")} == set(manual.TOPICS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    path = DOCUMENTS[name]
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        there = path.parent / file if file else path
        assert there.is_file(), target
        assert not anchor or anchor in anchors(there.read_text(encoding="utf-8")), target


def test_the_readme_is_short_and_links_every_page() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.encode()) <= 12 * 1024
    for topic in manual.TOPICS:
        assert f"(teambot_tui/help/{topic}.md)" in text


def test_slash_commands() -> None:
    listed = [
        each.replace("\\|", "|") for row in rows(PAGES["commands"], "| command |") for each in quoted(row[0])
    ]
    written = [f"/{name} {command.arguments}".rstrip() for name, command in SLASH_COMMANDS.items()]
    assert sorted(listed) == sorted(written)
    assert {each.split()[0] for each in listed} == {f"/{name}" for name in COMMANDS}


def test_names_of_keys() -> None:
    listed = PAGES["keys"].partition("The names: `")[2].partition("\n\n")[0]
    names = [action.name for action in ACTIONS if action.name and action.keys]
    assert sorted(listed.replace("`", " ").replace(",", " ").rstrip(".\n ").split()) == sorted(names)


def test_settings() -> None:
    tables = [_DOCUMENT, _AGENT, *(each.options for each in TYPES.values())]
    keys = {key for table in tables for key in table.keys} | {"type"}
    written = "\n".join(blocks("toml"))
    said = {each for text in quoted(MANUAL) for each in re.findall(r"^\w+(?= = )|^\w+$", text)}
    for key in sorted(keys):
        assert re.search(rf"^(# )?{key} = |^\[{key}[\].]", written, re.MULTILINE) or key in said, key
    # What stands in a comment is a setting, too.
    commented = set(re.findall(r"^# (\w+) = ", written, re.MULTILINE))
    assert commented <= keys


@pytest.mark.parametrize("block", blocks("toml"))
def test_toml_can_be_used(block: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(block, encoding="utf-8")
    assert tomllib.loads(block)
    own_keys(load_settings(tmp_path, {"TEAMBOT_CONFIG": str(file)}))


def test_the_settings_page_shows_the_defaults(tmp_path: Path) -> None:
    block = FENCE.findall(PAGES["settings"])[0][1].partition("[backends.")[0]
    file = tmp_path / "config.toml"
    file.write_text("\n".join(line for line in block.splitlines() if "budget" not in line), encoding="utf-8")
    shown, default = load_settings(tmp_path, {"TEAMBOT_CONFIG": str(file)}), load_settings(tmp_path, {})
    assert shown.policy == default.policy
    for name in ("default_agent", "backend", "notify", "capture_limit", "keep_outputs", "permissions"):
        assert getattr(shown, name) == getattr(default, name)


def test_backends() -> None:
    assert {quoted(row[0])[0] for row in rows(PAGES["backends"], "| backend type |")} == set(TYPES)
    cells = [
        re.sub(r"\([^)]*\)", "", cell) for row in rows(PAGES["agents"], "| over ACP") for cell in row[:2]
    ]
    assert {each for cell in cells for each in quoted(cell)} == set(PRESETS)
    servers = re.search(r"^Servers at their usual address .*$", PAGES["agents"], re.MULTILINE)
    assert servers
    assert set(quoted(servers[0])) == set(SERVERS)


def commands(group: click.Group = main, prefix: str = "teambot") -> Iterator[tuple[str, click.Command]]:
    yield prefix, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def test_commands_and_options_of_the_command_line() -> None:
    shells = "\n".join(blocks("sh"))
    known = {"--help", "--version"}
    for words, command in commands():
        name = re.sub(r" (pull)$", r" \\[\1\\]", words)
        assert re.search(rf"\b{name}\b|{name}", shells), words
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                known |= set(parameter.opts)
                assert any(re.search(rf"{each}\b", MANUAL) for each in parameter.opts), parameter.opts
    ours = "\n".join(line for line in shells.splitlines() if line.startswith(("teambot", "        [")))
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", ours)) <= known


def events_in_code() -> dict[str, set[str]]:
    """Return every event with its fields, as far as they are written where it is made."""
    found: dict[str, set[str]] = {}
    tree = ast.parse(Path(events.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=keys, values=[ast.Constant(value=str(name)), *_]):
                fields = {key.value for key in keys if isinstance(key, ast.Constant)}
                if "event" in fields:
                    found.setdefault(name, set()).update(str(field) for field in fields - {"event"})
            case ast.Call(
                func=ast.Name(id="_of_task"), args=[ast.Constant(value=str(name)), *_], keywords=more
            ):
                found.setdefault(name, set()).update(
                    {"task", "agent"}, (each.arg for each in more if each.arg)
                )
    return found


def test_events_and_their_fields() -> None:
    listed = {quoted(row[0])[0]: set(quoted(row[1])) for row in rows(PAGES["json"], "| event |")}
    made = events_in_code()
    assert len(made) > 20
    assert set(listed) == set(made)
    for name, fields in made.items():
        assert fields <= listed[name], name


@pytest.mark.parametrize("block", blocks(""))
def test_statements_can_be_typed(block: str) -> None:
    assert parse(block)


@pytest.mark.parametrize("block", blocks("yaml"))
def test_workflows_can_be_run(block: str, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    for name in ("planner", "coder"):
        (tmp_path / "prompts" / f"{name}.md").write_text("Do it.", encoding="utf-8")
    file = tmp_path / "teambot.yaml"
    file.write_text(block, encoding="utf-8")
    assert load_compose(file, tmp_path, ("pm",)).tasks


@pytest.mark.parametrize("block", blocks("python"))
def test_python_is_python(block: str) -> None:
    ast.parse(textwrap.dedent(block))


@pytest.mark.parametrize("topic", manual.TOPICS)
def test_a_page_in_the_shell(topic: str) -> None:
    shown = CliRunner().invoke(main, ["help", topic])
    assert shown.exit_code == 0
    assert shown.stdout.startswith("# ")
    assert ".md)" not in shown.stdout
    assert topic in CliRunner().invoke(main, ["help"]).stdout


@pytest.mark.parametrize(
    ("topic", "hint"), [("setings", "Did you mean settings?"), ("\x1b[2Jxyz", "Topics: start, language")]
)
def test_no_such_page(topic: str, hint: str) -> None:
    shown = CliRunner().invoke(main, ["help", topic])
    assert shown.exit_code == 2
    assert hint in shown.stderr
    assert "\x1b" not in shown.stderr


def test_the_manual_is_searched_by_passage() -> None:
    found = manual.search("IDLE_AGENTS")
    assert {"settings", "backends"} <= {each.topic for each in found}
    assert "trust" not in {each.topic for each in found}
    assert any(each.text.startswith("```toml\n") for each in found)
    (row,) = manual.search("`/reset-agent`")
    assert row.topic == "commands"
    assert row.text.startswith("| command | what it does |\n|---|---|\n| `/reset-agent` |")
    assert manual.search("no such words anywhere") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_a_shell(shell: str) -> None:
    script = CliRunner().invoke(main, ["completion", shell])
    assert script.exit_code == 0
    assert f"_TEAMBOT_COMPLETE={shell}_complete" in script.stdout


def test_bash_completes_with_it() -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "teambot_tui"],
        env={"_TEAMBOT_COMPLETE": "bash_complete", "COMP_WORDS": "teambot help set", "COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.stdout == "plain,settings\n"


def test_on_windows_it_says_what_to_do() -> None:
    posix = ["fcntl", "termios", "pwd", "grp", "resource"]
    script = (
        f"import sys; sys.platform = 'win32'; sys.modules.update(dict.fromkeys({posix}));"
        "from teambot_tui.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "WSL" in done.stderr
