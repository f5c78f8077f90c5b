"""Modules of the current directory, which may be anybody's, are never run: neither by us nor by a child."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import teambot_tui
from tests.hostile_folder import TEAMBOT, plant_modules, what_was_run

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = Path(teambot_tui.__file__).parent
SAFE: Final = ("-P", "-I")
START_PYTHON_UNSEEN: Final = {"multiprocessing", "runpy", "ProcessPoolExecutor", "InterpreterPoolExecutor"}


def starts_of_python(code: str) -> Iterator[tuple[int, bool]]:
    """Yield the line of each place where a piece of code names Python to start it, and whether it is safe."""
    tree = ast.parse(code)
    in_sentences = {
        id(node) for text in ast.walk(tree) if isinstance(text, ast.JoinedStr) for node in ast.walk(text)
    }
    followers = {
        id(word): following
        for words in ast.walk(tree)
        if isinstance(words, ast.List | ast.Tuple)
        for word, following in pairwise(words.elts)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name.partition(".")[0] for alias in node.names}
            if names & START_PYTHON_UNSEEN or getattr(node, "module", "") in START_PYTHON_UNSEEN:
                yield node.lineno, False
        elif isinstance(node, ast.expr) and _is_python(node) and id(node) not in in_sentences:
            following = followers.get(id(node))
            yield node.lineno, isinstance(following, ast.Constant) and following.value in SAFE


def _is_python(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("executable", "_base_executable")
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Path(node.value).name.rstrip("0123456789.") == "python"
    return False


PLACES = [
    (path.relative_to(PACKAGE), line, safe)
    for path in sorted(PACKAGE.rglob("*.py"))
    for line, safe in starts_of_python(path.read_text(encoding="utf-8"))
]


def test_every_place_that_starts_python_keeps_the_current_directory_out() -> None:
    assert {str(path) for path, _, _ in PLACES} >= {
        "ui/web.py",
        "agents/guard.py",
        "agents/models.py",
        "agents/backends/local.py",
    }, "the search finds the places that are known"
    assert [f"{path}:{line}" for path, line, safe in PLACES if not safe] == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("[sys.executable, '-P', '-m', 'x']", [True]),
        ("(sys.executable, '-I', 'x.py')", [True]),
        ("[sys.executable, '-m', 'x']", [False]),
        ("[sys.executable, *options]", [False]),
        ("[sys.executable]", [False]),
        ("run(sys.executable, '-P')", [False]),
        ("python = sys.executable", [False]),
        ("['python3', '-m', 'x']", [False]),
        ("['/usr/bin/python3.12', '-P', 'x']", [True]),
        ("from concurrent.futures import ProcessPoolExecutor", [False]),
        ("import multiprocessing.pool", [False]),
        ("f'type: {sys.executable} -m ensurepip'", []),
    ],
)
def test_what_the_search_takes_for_a_start(code: str, found: list[bool]) -> None:
    assert [safe for _, safe in starts_of_python(code)] == found


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--backend", "echo", "@pm Plan"),
        ("doctor",),
        ("agents",),
        ("--help",),
    ],
)
def test_the_installed_command_runs_nothing_of_the_directory(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    plant_modules(tmp_path)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [TEAMBOT, *arguments], cwd=tmp_path, env=environ, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert what_was_run(tmp_path) == []


def test_the_modules_would_be_run(tmp_path: Path) -> None:
    plant_modules(tmp_path)
    subprocess.run([sys.executable, "-m", "teambot_tui"], cwd=tmp_path, check=False)
    assert "teambot_tui" in what_was_run(tmp_path)
