"""The first start: what is installed is offered once the screen is there, and the choice is kept."""

from __future__ import annotations

import os
import tomllib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import OptionList, Static

from teambot_tui.agents.changes import Change
from teambot_tui.agents.project import open_project
from teambot_tui.ui import first_start
from teambot_tui.ui.first_start import Chooser, TrustQuestion
from teambot_tui.ui.start import app_for
from teambot_tui.ui.widgets.input import InputBar
from teambot_tui.ui.widgets.panel import Panel
from tests.ui.stage import Clock, output_of, press, type_text, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from teambot_tui.agents.project import Project
    from teambot_tui.ui.app import TeambotApp

ANSWERS = "#!/bin/sh\ncat >/dev/null\necho real\n"


class Home:
    """A user's home with programs of its own and nothing else on PATH."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.config = root / ".config" / "teambot" / "config.toml"
        self.programs = root / "bin"
        self.programs.mkdir()
        monkeypatch.setenv("HOME", str(root))
        monkeypatch.setenv("PATH", f"{self.programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
        for name in ("TEAMBOT_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            monkeypatch.delenv(name, raising=False)

    def install(self, *names: str) -> None:
        for name in names:
            (self.programs / name).write_text(ANSWERS)
            (self.programs / name).chmod(0o755)

    def project(self, backend: str | None = None) -> Project:
        return open_project(self.root, os.environ, backend=backend)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@asynccontextmanager
async def opened(project: Project) -> AsyncIterator[tuple[TeambotApp, Pilot[None]]]:
    app = app_for(project, ascii_only=False, ephemeral=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.pause()
        yield app, pilot


def offered(app: TeambotApp) -> list[str | None]:
    options = app.screen.query_one(OptionList)
    return [options.get_option_at_index(index).id for index in range(options.option_count)]


async def test_the_choice_is_used_at_once_and_remembered(home: Home) -> None:
    home.install("llm", "ollama")
    project = home.project()
    assert project.undecided
    async with opened(project) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, Chooser), "the question")
        assert offered(app) == ["llm", "ollama", "rehearsal"]
        await press(pilot, "enter")
        await until(pilot, lambda: app._notifications, "the answer")
        assert home.config.read_text() == 'backend = "llm"\n'
        assert home.config.stat().st_mode & 0o777 == 0o600
        assert all("llm" in panel.runs_on for panel in app.screen.query(Panel))
        await type_text(pilot, "@pm Plan")
        await press(pilot, "enter")
        await until(pilot, lambda: "real" in output_of(app, app.views.tasks()[0]), "a real answer")
    assert not home.project().undecided


async def test_escape_rehearses_and_writes_nothing(home: Home) -> None:
    home.install("llm")
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, Chooser), "the question")
        await press(pilot, "escape")
        await until(pilot, lambda: not isinstance(app.screen, Chooser), "the session")
    assert not home.config.exists()


async def test_it_gets_out_of_the_way_of_who_types(home: Home) -> None:
    home.install("llm")
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, Chooser), "the question")
        await type_text(pilot, "@pm plan")
        await until(pilot, lambda: not isinstance(app.screen, Chooser), "the session")
        bar = app.session_screen.query_one(InputBar)
        await until(pilot, lambda: bar.text == "@pm plan", "all that was typed")
        words = str(app.session_screen.query_one("#welcome", Static).visual)
        assert "Installed here: llm." in words
    assert not home.config.exists()


async def test_rehearsing_can_be_chosen_for_good(home: Home) -> None:
    home.install("llm")
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, Chooser), "the question")
        await press(pilot, "end")
        await press(pilot, "enter")
        await until(pilot, lambda: app._notifications, "the answer")
    assert tomllib.loads(home.config.read_text()) == {"backend": "rehearsal"}
    assert not home.project().undecided


@pytest.mark.parametrize(
    ("settings", "backend", "undecided"),
    [
        ("", None, True),
        ("max_parallel = 2\n", None, True),
        ('backend = "echo"\n', None, False),
        ('backend = "rehearsal"\n', None, False),
        ('[agents.pm]\nbackend = "echo"\n', None, False),
        ("", "rehearsal", False),
    ],
)
def test_who_has_decided_is_not_asked(
    home: Home, settings: str, backend: str | None, undecided: bool
) -> None:
    home.config.parent.mkdir(parents=True)
    home.config.write_text(settings)
    assert home.project(backend).undecided is undecided


HOSTILE = "---\nname: pm\nbackend: echo\nmodel: [b]opus\n---\nYou obey.\n"


def clone(home: Home) -> None:
    """Put files into the directory that would change the team."""
    agents = home.root / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "pm.md").write_text(HOSTILE)
    (agents / "tester.md").write_text("---\nname: tester\n---\nYou test.\n")


async def test_a_directory_that_is_trusted_on_the_first_screen_counts_at_once(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_start, "QUIET", 0.0)
    clone(home)
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, TrustQuestion), "the question")
        words = str(app.screen.query_one(Static).content)
        assert "@pm: another persona, backend echo, model [b]opus" in words
        assert "a new agent, @tester" in words
        assert "tester" not in app.views.roster.agents
        before = app.session_screen
        await press(pilot, "t")
        await until(pilot, lambda: app.session_screen is not before, "another session")
        await app.session_screen.is_complete.wait()
        assert app.screen is app.session_screen
        assert "tester" in app.views.roster.agents
        await type_text(pilot, "@pm Plan")
        await press(pilot, "enter")
        await until(pilot, app.views.tasks, "a task")
        await until(pilot, lambda: output_of(app, app.views.tasks()[0]) == "Plan", "pm on echo")
    assert not home.project().changes


@pytest.mark.parametrize("key", ["escape", "n"])
async def test_a_directory_that_is_not_trusted_changes_nothing(home: Home, key: str) -> None:
    clone(home)
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, TrustQuestion), "the question")
        await press(pilot, key)
        await until(pilot, lambda: app.screen is app.session_screen, "the session")
        assert "tester" not in app.views.roster.agents
    assert home.project().changes


async def test_what_cannot_be_trusted_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_start, "QUIET", 0.0)
    (home.root / "teambot.toml").write_text('backend = "nobody[/]"\n')
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, TrustQuestion), "the question")
        await press(pilot, "t")
        await until(pilot, lambda: app._notifications, "the answer")
        assert next(iter(app._notifications)).message.startswith("Not trusted: ")
    assert home.project().changes


class Host(App[None]):
    """Shows a question of so many changes."""

    def __init__(self, changes: int, clock: Clock) -> None:
        super().__init__()
        self.question = TrustQuestion([Change(f"{number}.md", ("@pm",)) for number in range(changes)], clock)
        self.answer: bool | None = None

    def on_mount(self) -> None:
        self.push_screen(self.question, self._answered)

    def _answered(self, answer: bool | None) -> None:
        self.answer = answer


async def test_no_key_that_was_meant_for_something_else_trusts() -> None:
    clock = Clock()
    app = Host(1, clock)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "t")
        clock.now += 0.3
        await press(pilot, "t")
        assert app.answer is None
        clock.now += 0.4
        await press(pilot, "t")
        assert app.answer is True


async def test_all_of_it_has_to_be_seen_before_it_is_trusted() -> None:
    clock = Clock()
    app = Host(40, clock)
    async with app.run_test(size=(80, 24)) as pilot:
        clock.now += 1.0
        await press(pilot, "t")
        assert app.answer is None
        app.question.query_one(VerticalScroll).scroll_end(animate=False)
        await pilot.pause()
        clock.now += 1.0
        await press(pilot, "t")
        assert app.answer is True
