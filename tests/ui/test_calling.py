"""How the person is called when something ends that they may not be looking at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ui.stage import on_stage
from tests.ui.views import HOSTILE

if TYPE_CHECKING:
    from tests.ui.stage import Stage


def listen(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is written to the terminal besides the frames, from now on."""
    heard: list[str] = []
    monkeypatch.setattr(
        stage.app._driver, "write", lambda data: heard.append(data) if "\x07" in data else None
    )
    return heard


@pytest.mark.parametrize(
    ("ways", "notices", "written"),
    [
        (("toast",), ["pm#1 completed", "ba#1 failed"], []),
        (("bell",), [], ["\a", "\a"]),
        (("osc9",), [], ["\x1b]9;teambot: pm#1 completed\a", "\x1b]9;teambot: ba#1 failed\a"]),
        (
            ("toast", "bell", "osc9"),
            ["pm#1 completed", "ba#1 failed"],
            ["\a\x1b]9;teambot: pm#1 completed\a", "\a\x1b]9;teambot: ba#1 failed\a"],
        ),
        ((), [], []),
    ],
)
async def test_the_end_of_a_background_task(
    monkeypatch: pytest.MonkeyPatch, ways: tuple[str, ...], notices: list[str], written: list[str]
) -> None:
    async with on_stage(notify=ways) as stage:
        heard = listen(stage, monkeypatch)
        await stage.paste("@pm plan &\n@ba check &\n@writer write", made=3)
        await stage.answer("pm#1")
        await stage.fail("ba#1")
        await stage.answer("writer#1")
        assert stage.notices == notices
        assert heard == written, "and nothing about the foreground"


@pytest.mark.parametrize("text", HOSTILE)
async def test_nothing_in_a_call_commands_the_terminal(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    async with on_stage(notify=("osc9",)) as stage:
        heard = listen(stage, monkeypatch)
        stage.screen.controls.person.call(text)
        (call,) = heard
        assert call.startswith("\x1b]9;teambot: ")
        assert call.endswith("\a")
        inside = call[len("\x1b]9;teambot: ") : -1]
        assert not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in inside)
        assert len(inside) <= 200
