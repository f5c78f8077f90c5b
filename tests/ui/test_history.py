"""The past is kept exactly, bounded and private, and no disk can hurt the session."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest

from teambot_tui.ui import history
from teambot_tui.ui.history import History, Recall, history_path

if TYPE_CHECKING:
    from pathlib import Path


def reopened(path: Path) -> History:
    past = History(path)
    past.load()
    return past


def remember(path: Path, *texts: str) -> History:
    past = History(path)
    for text in texts:
        past.add(text)
    past.flush()
    return past


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/teambot/history.jsonl"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/teambot/history.jsonl"),
        ({"HOME": "/h"}, "/h/.local/state/teambot/history.jsonl"),
        ({}, None),
    ],
)
def test_where_it_is(environ: dict[str, str], expected: str | None) -> None:
    found = history_path(environ)
    assert (str(found) if found else None) == expected


def test_texts_come_back_exactly_and_privately(tmp_path: Path) -> None:
    path = tmp_path / "state" / "teambot" / "history.jsonl"
    texts = ["@pm plan", "two\nlines\n", 'quotes " \\ and é日🎉', "[/x]"]
    remember(path, *texts)
    assert reopened(path).entries == texts
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_consecutive_duplicates_and_blank_texts_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert remember(path, "a", "a", " \n", "b", "a").entries == ["a", "b", "a"]
    assert reopened(path).entries == ["a", "b", "a"]


def test_bad_lines_are_skipped_and_counted_and_text_is_cleaned(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    lines = [
        '{"text": "good"}',
        "{torn",
        "[1]",
        '{"text": 3}',
        "[" * 100_000,
        '{"text": "e\\u001b]0;t\\u0007vil"}',
    ]
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n\n")
    past = reopened(path)
    assert past.entries == ["good", "evil"]
    assert past.skipped == 5


def test_a_torn_last_line_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"text": "whole"}\n{"text": "to')
    remember(path, "next")
    assert reopened(path).entries == ["whole", "next"]


def test_only_the_newest_are_kept_and_a_long_file_is_shortened(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps({"text": f"t{number}"}) + "\n" for number in range(5_000)))
    past = reopened(path)
    assert past.entries == [f"t{number}" for number in range(4_000, 5_000)]
    assert len(path.read_text().splitlines()) == history.KEPT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["history.jsonl"]


def test_what_was_added_before_loading_stays_newest(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    remember(path, "old")
    past = History(path)
    past.add("new")
    past.load()
    assert past.entries == ["old", "new"]


def test_a_huge_text_is_remembered_but_not_written(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    past = remember(path, "x" * (history.LONGEST + 1), "small")
    assert len(past.entries) == 2
    assert reopened(path).entries == ["small"]


def test_two_sessions_append_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    first, second = History(path), History(path)
    for number in range(20):
        (first if number % 2 else second).add(f"t{number}")
        first.flush()
        second.flush()
    assert reopened(path).entries == [f"t{number}" for number in range(20)]


@pytest.mark.parametrize("obstacle", ["directory", "symlink", "file as parent", "fifo"])
def test_a_disk_that_refuses_costs_nothing_but_the_past(tmp_path: Path, obstacle: str) -> None:
    path = tmp_path / "history.jsonl"
    match obstacle:
        case "directory":
            path.mkdir()
        case "symlink":
            path.symlink_to(tmp_path / "elsewhere")
            (tmp_path / "elsewhere").write_text("precious")
        case "file as parent":
            (tmp_path / "file").touch()
            path = tmp_path / "file" / "history.jsonl"
        case "fifo":
            os.mkfifo(path)
    past = reopened(path)
    past.add("kept in memory")
    past.flush()
    assert past.entries == ["kept in memory"]
    assert past.problem.startswith("Could not ")
    if obstacle == "symlink":
        assert (tmp_path / "elsewhere").read_text() == "precious"


def test_search_goes_from_new_to_old() -> None:
    past = History()
    for text in ("Plan one", "build", "plan two"):
        past.add(text)
    assert past.search("plan") == 2
    assert past.search("plan", 2) == 0
    assert past.search("plan", 0) is None
    assert past.search("Plan") == 0
    assert past.search("nothing") is None


def test_walking_keeps_the_draft_and_what_was_changed() -> None:
    past = History()
    past.add("one")
    past.add("two")
    recall = Recall(past)
    assert recall.step("draft", 1) == "two"
    assert recall.step("two, changed", 1) == "one"
    assert recall.step("one", 1) is None
    assert recall.step("one", -1) == "two, changed"
    assert recall.step("two, changed", -1) == "draft"
    assert recall.step("draft", -1) is None
    recall.restart()
    assert recall.step("", 1) == "two"
