"""Pruning: only what is old, nothing in use, nothing behind a link, and nothing without a yes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pexpect
import pytest

from teambot_tui.engine.ages import age_in_words, parse_age, size_in_words
from teambot_tui.store.folders import StoreError, opened
from teambot_tui.store.live import LiveMark
from teambot_tui.store.outputs import Outputs
from teambot_tui.store.prune import find, remove

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86400.0
OLD = "20260101-000000-aaaa"
NEW = "20261118-000000-bbbb"
PATIENCE = 60


def make_old(path: Path, days: float = 10) -> None:
    moment = time.time() - days * DAY
    for inside in sorted(path.rglob("*"), reverse=True):
        os.utime(inside, (moment, moment), follow_symlinks=False)
    os.utime(path, (moment, moment))


def make_run(home: Path, run: str, days: float = 10, text: str = "said") -> Path:
    outputs = Outputs(home, run)
    outputs.append("pm#1", text)
    outputs.append("ba#1", text)
    outputs.close()
    make_old(outputs.folder, days)
    return outputs.folder


def found(home: Path, days: float = 7, project: Path | None = None) -> list[str]:
    return [leftover.name for leftover in find(home, project or home, days * DAY, time.time())]


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("7d", timedelta(days=7)),
        ("12h", timedelta(hours=12)),
        ("30m", timedelta(minutes=30)),
        (" 2w ", timedelta(weeks=2)),
        ("0m", timedelta()),
        ("999999w", timedelta(weeks=999_999)),
    ],
)
def test_ages(text: str, age: timedelta) -> None:
    assert parse_age(text) == age


@pytest.mark.parametrize(
    "text", ["", "7", "d", "-1d", "1.5d", "7 d", "7D", "7y", "1d2h", "9" * 30 + "d", "٧d", "\x1b[2Jd"]
)
def test_what_is_no_age_is_told_what_an_age_is(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number and m, h, d or w") as raised:
        parse_age(text)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (3 * 1024**3, "3.0 GiB")],
)
def test_sizes(size: int, words: str) -> None:
    assert size_in_words(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "less than a minute"), (60, "1 minute"), (7200, "2 hours"), (DAY, "1 day"), (9.9 * DAY, "9 days")],
)
def test_ages_in_words(seconds: float, words: str) -> None:
    assert age_in_words(seconds) == words


def test_old_runs_are_found_with_their_size_and_removed(tmp_path: Path) -> None:
    old = make_run(tmp_path, OLD, text="x" * 1000)
    new = make_run(tmp_path, NEW, days=1)
    (leftover,) = find(tmp_path, tmp_path, 7 * DAY, time.time())
    assert (leftover.name, leftover.files, leftover.size) == (OLD, 2, 2000)
    remove(leftover, 7 * DAY)
    assert not old.exists()
    assert new.exists()


def test_the_newest_thing_in_a_run_tells_its_age(tmp_path: Path) -> None:
    os.utime(make_run(tmp_path, OLD) / "pm#1.txt")
    assert found(tmp_path) == []


def test_nowhere_to_look_is_nothing_to_remove(tmp_path: Path) -> None:
    assert found(tmp_path / "none") == []
    (tmp_path / "outputs").write_text("a file")
    assert found(tmp_path) == []


def test_a_run_that_goes_on_stays_however_old_it_looks(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, OLD)
    outputs.append("pm#1", "text")
    outputs.flush(PATIENCE)
    make_old(outputs.folder)
    assert found(tmp_path) == []
    outputs.close()
    make_old(outputs.folder)
    assert found(tmp_path) == [OLD]


def test_a_run_that_comes_into_use_after_it_was_found_stays(tmp_path: Path) -> None:
    folder = make_run(tmp_path, OLD)
    (leftover,) = find(tmp_path, tmp_path, 7 * DAY, time.time())
    with opened(folder, ()) as descriptor, LiveMark(descriptor):
        with pytest.raises(StoreError, match=f"{OLD} is left: another teambot uses it"):
            remove(leftover, 7 * DAY)
        assert found(tmp_path) == []
    os.utime(folder / "pm#1.txt")
    with pytest.raises(StoreError, match=f"{OLD} is left: it has just changed"):
        remove(leftover, 7 * DAY)
    assert (folder / "pm#1.txt").exists()


def test_a_run_without_a_mark_can_go_and_a_removed_one_is_no_error(tmp_path: Path) -> None:
    folder = make_run(tmp_path, OLD)
    (folder / ".live").unlink()
    make_old(folder)
    (leftover,) = find(tmp_path, tmp_path, 7 * DAY, time.time())
    remove(leftover, 7 * DAY)
    remove(leftover, 7 * DAY)
    assert not folder.exists()


@pytest.mark.parametrize("place", ["outputs", f"outputs/{OLD}"])
def test_a_linked_folder_is_not_followed(tmp_path: Path, place: str) -> None:
    make_run(tmp_path / "elsewhere", OLD)
    target = tmp_path / "elsewhere" / place
    link = tmp_path / "home" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    assert found(tmp_path / "home") == []
    assert target.exists()


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, OLD)
    (leftover,) = find(tmp_path, tmp_path, 7 * DAY, time.time())
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises(StoreError, match="it is a link"):
        remove(leftover, 7 * DAY)
    assert (tmp_path / "moved" / "pm#1.txt").read_text() == "said"


def test_links_inside_a_run_go_and_their_targets_stay(tmp_path: Path) -> None:
    folder = make_run(tmp_path, OLD)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    (folder / "link").symlink_to(tmp_path / "precious")
    (folder / "file").symlink_to(tmp_path / "precious" / "file")
    make_old(folder)
    for leftover in find(tmp_path, tmp_path, 7 * DAY, time.time()):
        remove(leftover, 7 * DAY)
    assert not folder.exists()
    assert (tmp_path / "precious" / "file").read_text() == "mine"


def test_what_nobody_of_us_made_is_left(tmp_path: Path) -> None:
    for name in ("Notes", ".hidden", "with blank"):
        (tmp_path / "outputs" / name).mkdir(parents=True)
        make_old(tmp_path / "outputs" / name)
    (tmp_path / "outputs" / "file").write_text("mine")
    assert found(tmp_path, days=0) == []


def test_temporary_agents_left_in_the_project(tmp_path: Path) -> None:
    folder = tmp_path / ".teambot" / "temp-agents"
    folder.mkdir(parents=True)
    (tmp_path / "persona.md").write_text("mine")
    for name in ("scanner.md", "notes.txt"):
        (folder / name).write_text("text")
    (folder / "link.md").symlink_to(tmp_path / "persona.md")
    make_old(folder)
    (folder / "fresh.md").write_text("text")
    (leftover,) = find(tmp_path, tmp_path, 7 * DAY, time.time())
    assert leftover.name == "scanner.md"
    with opened(folder, ()) as descriptor, LiveMark(descriptor):
        assert found(tmp_path) == []
    remove(leftover, 7 * DAY)
    assert {path.name for path in folder.iterdir()} == {"fresh.md", "link.md", "notes.txt", ".live"}
    assert find(tmp_path, tmp_path, 0, time.time(), ("outputs",)) == []


def environ(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "TEAMBOT_HOME": str(home / "bot"), "PYTHONUTF8": "1"}


def prune(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "teambot_tui", "prune", *arguments],
        cwd=home,
        env=environ(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_command_tells_and_asks_before_it_removes(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "bot", OLD)
    told = f"captured outputs: 1 run, 8 bytes\n  {OLD}  8 bytes, 10 days old\n"

    dry = prune(tmp_path, "--dry-run")
    assert (dry.returncode, dry.stdout) == (0, told + "Would remove 2 files, 8 bytes.\n")

    refused = prune(tmp_path)
    assert (refused.returncode, refused.stdout) == (2, told)
    assert "-y" in refused.stderr
    assert folder.exists()

    assert prune(tmp_path, "--older-than", "2w").stdout == "Nothing to remove.\n"

    done = prune(tmp_path, "--outputs", "-y")
    assert (done.returncode, done.stdout) == (0, told + "Removed 2 files, 8 bytes.\n")
    assert not folder.exists()


def test_the_command_says_what_an_age_is(tmp_path: Path) -> None:
    ran = prune(tmp_path, "--older-than", "soon")
    assert ran.returncode == 2
    assert ran.stderr.startswith("Error: --older-than: soon is not an age: expected a number")


@pytest.mark.parametrize(("answer", "stays"), [("n", True), ("", True), ("y", False)])
def test_on_a_terminal_only_a_yes_removes(tmp_path: Path, answer: str, stays: bool) -> None:
    folder = make_run(tmp_path / "bot", OLD)
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "teambot_tui", "prune"],
        cwd=str(tmp_path),
        env=environ(tmp_path),
        timeout=PATIENCE,
        encoding="utf-8",
    )
    try:
        terminal.expect_exact("Remove 2 files, 8 bytes? [y/N]")
        terminal.sendline(answer)
        terminal.expect(pexpect.EOF)
    finally:
        terminal.close()
    assert terminal.exitstatus == 0
    assert folder.exists() is stays
