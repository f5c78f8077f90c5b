"""The first start: what is installed is offered once the screen is there, and the choice is kept."""

from __future__ import annotations

import os
import tomllib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from textual.widgets import OptionList

from teambot_tui.agents.project import open_project
from teambot_tui.ui.screens.chooser import Chooser
from teambot_tui.ui.start import app_for
from teambot_tui.ui.widgets.panel import Panel
from tests.ui.stage import press, type_text, until

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
        assert all("llm" in str(panel.border_title) for panel in app.screen.query(Panel))
        await type_text(pilot, "@pm Plan")
        await press(pilot, "enter")
        await until(pilot, lambda: "real" in app.mirror.output(app.mirror.tasks()[0]), "a real answer")
    assert not home.project().undecided


async def test_escape_rehearses_and_writes_nothing(home: Home) -> None:
    home.install("llm")
    async with opened(home.project()) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, Chooser), "the question")
        await press(pilot, "escape")
        await until(pilot, lambda: not isinstance(app.screen, Chooser), "the session")
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
