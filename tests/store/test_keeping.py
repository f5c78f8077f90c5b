"""How long outputs are kept: old ones go by themselves, and a session that is going on never loses any."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from teambot_tui import Session
from teambot_tui.store.outputs import Outputs, read_output
from teambot_tui.store.prune import Keeping

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DAY = 86400.0


def leave(home: Path, run: str, age: float) -> Path:
    """Make the outputs of a run that ended some time ago."""
    outputs = Outputs(home, run)
    outputs.append("pm", "said")
    outputs.close()
    for path in (*outputs.folder.iterdir(), outputs.folder):
        os.utime(path, (time.time() - age,) * 2)
    return outputs.folder


def begin(keeping: Keeping) -> None:
    """Let it begin, and wait for what nobody else waits for."""
    keeping.begin()
    for thread in threading.enumerate():
        if thread.name == "old outputs":
            thread.join()


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        ("30d", {"young", "day", "week"}),
        ("7d", {"young", "day"}),
        ("12h", {"young"}),
        ("1m", {"young"}),
        ("session", {"young"}),
        ("none", {"young"}),
    ],
)
def test_what_is_older_goes_by_itself(tmp_path: Path, setting: str, left: set[str]) -> None:
    ages = {"young": 5, "day": DAY, "week": 8 * DAY, "month": 40 * DAY}
    for run, age in ages.items():
        leave(tmp_path, run, age)
    begin(Keeping(tmp_path, setting))
    assert {path.name for path in (tmp_path / "outputs").iterdir()} == left


@pytest.mark.parametrize("setting", ["1m", "session", "none"])
def test_what_a_session_that_is_going_on_writes_is_never_removed(tmp_path: Path, setting: str) -> None:
    live = Outputs(tmp_path, "live")
    live.append("pm", "said")
    assert live.flush()
    for path in (*live.folder.iterdir(), live.folder):
        os.utime(path, (0, 0))
    leave(tmp_path, "over", DAY)
    begin(Keeping(tmp_path, setting))
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["live"]
    assert read_output(tmp_path, "live", "pm") == "said"
    live.close()


def test_a_home_without_outputs_is_left_as_it_is(tmp_path: Path) -> None:
    begin(Keeping(tmp_path / "none", "30d"))
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("setting", "words"),
    [("30d", "for 30 days"), ("12h", "for 12 hours"), ("session", "until the session ends")],
)
def test_where_and_how_long_is_told_once(tmp_path: Path, setting: str, words: str) -> None:
    keeping = Keeping(tmp_path / "home", setting)
    told = keeping.tell_once()
    assert told
    assert f"{tmp_path / 'home' / 'outputs'} {words}" in told
    assert keeping.tell_once() is None
    assert (tmp_path / "home" / "outputs").stat().st_mode & 0o777 == 0o700


def test_nothing_is_told_where_nothing_is_kept(tmp_path: Path) -> None:
    assert Keeping(tmp_path, "none").tell_once() is None
    (tmp_path / "file").write_text("in the way")
    assert Keeping(tmp_path / "file", "30d").tell_once() is None
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(("setting", "during", "after"), [("30d", 2, 2), ("session", 2, 0), ("none", 0, 0)])
async def test_a_session_keeps_what_the_setting_says_and_its_outputs_by_name_work(
    tmp_path: Path, setting: str, during: int, after: int
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'keep_outputs = "{setting}"\nbackend = "echo"\n')
    environ: Mapping[str, str] = {"HOME": str(tmp_path), "TEAMBOT_CONFIG": str(config)}

    def kept() -> int:
        return len(list(tmp_path.glob(".teambot/outputs/*/*.txt")))

    def runs() -> int:
        return len(list(tmp_path.glob(".teambot/outputs/*")))

    async with Session(directory=tmp_path, environ=environ, ephemeral=False) as session:
        assert bool(session.run_id) is (setting != "none")
        await session.run("@pm Plan")
        result = await session.run("@ba Check {{output:pm}}")
        assert "Plan" in result.output
        if session._outputs is not None:
            assert session._outputs.flush()
        assert kept() == during
    assert (kept(), runs()) == (after, bool(after))
