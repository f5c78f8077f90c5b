"""Where things are kept and how runs are called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from teambot_tui.store.folders import is_run_id, run_id, teambot_home


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HOME": "/home/ann"}, "/home/ann/.teambot"),
        ({"HOME": "/home/ann", "TEAMBOT_HOME": "/data/bot"}, "/data/bot"),
        ({"HOME": "/home/ann", "TEAMBOT_HOME": ""}, "/home/ann/.teambot"),
        ({"TEAMBOT_HOME": "here"}, str(Path.cwd() / "here")),
    ],
)
def test_home(environ: dict[str, str], expected: str) -> None:
    assert teambot_home(environ) == Path(expected)


def test_without_a_variable_it_is_the_users_own() -> None:
    assert teambot_home({}) == Path.home() / ".teambot"


def test_run_ids_tell_the_second_and_are_all_different() -> None:
    now = datetime(2026, 11, 18, 10, 55, 1, tzinfo=UTC)
    ids = {run_id(now) for _ in range(1000)}
    assert len(ids) == 1000
    assert all(name.startswith("20261118-105501-") and is_run_id(name) for name in ids)
    assert max(ids) < run_id(now + timedelta(seconds=1))
    assert run_id(now.astimezone(timezone(timedelta(hours=5)))).startswith("20261118-105501-")
