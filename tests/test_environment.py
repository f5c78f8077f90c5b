"""A test's outcome depends on no developer: what this machine has set is not there, and the home is empty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOSTILE = {
    "TEAMBOT_CONFIG": "/nowhere/config.toml",
    "TEAMBOT_ENABLE_AGENT_REFS": "0",
    "OPENAI_API_KEY": "a secret",
    "EDITOR": "false",
    "NO_COLOR": "1",
    "GIT_DIR": "/nowhere",
}


def test_nothing_of_the_developers_is_there() -> None:
    assert not HOSTILE.keys() & os.environ.keys()
    assert list(Path.home().iterdir()) == []


def test_not_even_where_all_of_it_is_set() -> None:
    this = f"{__file__}::{test_nothing_of_the_developers_is_there.__name__}"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", this],
        env={**os.environ, **HOSTILE, "HOME": str(Path(__file__).parent)},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout
