"""The title names the branch, wherever in the repository one is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from teambot_tui.ui.branch import branch_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"ref: refs/heads/main\n", "main"),
        (b"ref: refs/heads/feature/login\n", "feature/login"),
        (b"d3bcd7a4c1f2e3d4c5b6a79808172635445362718\n", "d3bcd7a"),
        (b"ref: refs/heads/\x1b]0;evil\x07[b]x\n", "[b]x"),
        (b"\xff\xfe", ""),
        (b"", ""),
        (b"ref: refs/heads/" + b"x" * 10_000_000, ""),
    ],
)
def test_what_is_checked_out(tmp_path: Path, head: bytes, expected: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(head)
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    assert branch_of(tmp_path) == branch_of(below) == expected


def test_a_worktree_says_where_its_head_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "HEAD").write_text("ref: refs/heads/other\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: ../real\n")
    assert branch_of(tmp_path / "tree") == "other"


def test_a_file_that_leads_nowhere_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert branch_of(tmp_path) == ""


@pytest.mark.parametrize("name", [".git", ".git/HEAD"])
def test_a_pipe_that_nobody_writes_to_is_no_repository(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    assert branch_of(tmp_path) == ""
