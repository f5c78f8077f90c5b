"""What nobody uses is not imported: the screen must be there at once, and extras need not be installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    *("acp", "anyio", "httpcore2", "httpx2", "mcp", "pydantic"),
    *("starlette", "uvicorn", "xllamacpp", "yaml"),
)


@pytest.mark.parametrize(
    "modules",
    [
        "teambot_tui.cli",
        "teambot_tui.api, teambot_tui.headless.run, teambot_tui.headless.plain",
        "teambot_tui.ui.start, teambot_tui.ui.app, teambot_tui.ui.screens.session",
        "teambot_tui.agents.backends.openai, teambot_tui.agents.backends.local, teambot_tui.agents.models",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(modules: str) -> None:
    script = f"import sys, {modules}; print(*sorted(set({HEAVY}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_opening_a_session_on_every_type_of_backend_imports_nothing_heavy() -> None:
    script = (
        "import sys; from teambot_tui.agents.catalogue import build; "
        "build('openai', {'base_url': 'http://127.0.0.1:1/v1'}); build('local', {}); "
        "build('acp', {'command': ['agent']}); build('command', {'command': ['agent']}); "
        f"print(*sorted(set({HEAVY}) & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
