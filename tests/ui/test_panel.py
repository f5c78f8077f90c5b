"""A panel says every state with a glyph and a word, as a card and as a chip, in any terminal."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.views import AgentView
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.widgets.panel import Panel
from tests.ui.bare import Bare

if TYPE_CHECKING:
    from textual.app import ComposeResult

PM, BA, BUILDER = AgentId("pm"), AgentId("ba"), AgentId("builder-1")
IDLE = AgentView(BUILDER, "idle", None)
VIEWS = {
    "○ idle": IDLE,
    "◌ queued 2": replace(IDLE, state="queued", queued=1),
    "◷ waiting for @pm, @ba": replace(IDLE, state="waiting", waiting_for=(PM, BA)),
    "◷ waiting for @pm (no output yet)": replace(
        IDLE, state="waiting", waiting_for=(PM,), no_output_yet=(PM,)
    ),
    "● executing": replace(IDLE, state="executing", task=TaskId("builder-1#1")),
    "○ idle ✓ completed": replace(IDLE, last_end=State.COMPLETED),
    "○ idle ✗ failed": replace(IDLE, last_end=State.FAILED),
    "○ idle ⊘ cancelled": replace(IDLE, last_end=State.CANCELLED),
    "○ idle ⊗ skipped": replace(IDLE, last_end=State.SKIPPED),
}


class Wall(Bare):
    """One panel, as a card or as a chip."""

    def __init__(
        self, view: AgentView, *, height: int, width: int = 38, glyphs: Glyphs | None = None
    ) -> None:
        super().__init__()
        self.panel = Panel(view, 3, "codex", glyphs or Glyphs())
        self.panel.styles.height = height
        self.panel.styles.width = width
        self.last_activity: list[tuple[str, bool]] = []

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_panel_chosen(self, message: Panel.Chosen) -> None:
        self.last_activity.append((message.agent, message.zoom))


@pytest.mark.parametrize(("badge", "view"), VIEWS.items())
def test_the_badge(badge: str, view: AgentView) -> None:
    assert Panel(view, 3, "codex", Glyphs()).badge == badge


@pytest.mark.parametrize("view", VIEWS.values())
def test_the_badge_in_ascii(view: AgentView) -> None:
    assert Panel(view, 3, "codex", Glyphs(ascii_only=True)).badge.isascii()


def test_blocked_and_idle_never_look_alike() -> None:
    for glyphs in (Glyphs(), Glyphs(ascii_only=True)):
        marks = [glyphs[state] for state in ("idle", *State)]
        assert len(set(marks)) == len(marks)


async def test_a_card_and_a_chip() -> None:
    view = replace(
        IDLE, state="executing", since=100.0, queued=2, words="Read all", last_line="reading the code"
    )
    app = Wall(view, height=4)
    async with app.run_test() as pilot:
        app.panel.take("card")
        app.panel.show(view, 172.0)
        assert str(app.panel.render()).split("\n") == [
            "╭ 3 @builder-1 · codex ────── ● 1:12 ╮",
            "│ Read all                           │",
            "│ ▏reading the code                  │",
            "╰─ ◌2 ───────────────────────────────╯",
        ]
        app.panel.take("chip")
        app.panel.styles.height = 1
        await pilot.pause()
        assert str(app.panel.render()) == "3 builder-1 ● exec 1:12"
        app.panel.show(VIEWS["◷ waiting for @pm, @ba"], 172.0)
        assert str(app.panel.render()) == "3 builder-1 ◷ @pm,ba"
        app.panel.show(replace(IDLE, last_end=State.COMPLETED, last_seconds=48.0), 172.0)
        assert str(app.panel.render()) == "3 builder-1 ✓ done 0:48"
        app.panel.styles.width = 18
        await pilot.pause()
        assert str(app.panel.render()) == "3 builder-1 ✓ done", "the time gives way"


@pytest.mark.parametrize("width", [8, 12, 16, 20, 26])
@pytest.mark.parametrize("view", VIEWS.values())
async def test_a_chip_never_loses_its_state(view: AgentView, width: int) -> None:
    app = Wall(view, height=1, width=width)
    async with app.run_test():
        glyph = Glyphs()[app.panel.state]
        assert glyph in str(app.panel.render())[:width]


async def test_a_card_keeps_its_frame_whatever_is_in_it() -> None:
    view = replace(
        IDLE,
        state="executing",
        since=1.0,
        words="表は幅の広い文字です" * 9,
        last_line="e\u0301" * 99,
        model="m" * 99,
    )
    for width in (12, 20, 38):
        app = Wall(view, height=4, width=width)
        async with app.run_test():
            app.panel.take("card")
            assert {cell_len(row) for row in str(app.panel.render()).split("\n")} == {width}


async def test_what_was_put_off_says_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    panel = Panel(replace(IDLE, state="queued", until=50_400.0 + 300), 3, "codex", Glyphs())
    assert panel.badge == "‖ until 14:05"


async def test_enter_and_clicks_ask_to_inspect_or_to_zoom() -> None:
    app = Wall(IDLE, height=4)
    async with app.run_test() as pilot:
        app.panel.focus()
        await pilot.press("enter")
        await pilot.click(Panel)
        await pilot.click(Panel, times=2)
        assert app.last_activity[:2] == [(BUILDER, False), (BUILDER, False)]
        assert app.last_activity[-1] == (BUILDER, True)


@pytest.mark.parametrize(
    ("seconds", "badge", "chip"),
    [
        (59.9, "● executing", "3 builder-1 ● exec 1:12"),
        (60.0, "! silent 1m", "3 builder-1 ! silent 1m 1:12"),
        (239.0, "! silent 3m", "3 builder-1 ! silent 3m 1:12"),
        (99 * 60.0, "! silent 99m", "3 builder-1 ! silent 99m 1:12"),
        (7300.0, "! silent 2h", "3 builder-1 ! silent 2h 1:12"),
    ],
)
async def test_an_agent_at_work_that_says_nothing_is_silent(seconds: float, badge: str, chip: str) -> None:
    view = AgentView(
        BUILDER, "executing", TaskId("builder-1#1"), since=8000.0 - 72, last_activity=8000.0 - seconds
    )
    app = Wall(view, height=4)
    async with app.run_test():
        app.panel.show(view, 8000.0)
        assert app.panel.badge == badge
        assert app.panel.state == ("silent" if seconds >= 60 else "executing")
        assert str(app.panel.render()) == chip
        app.panel.show(replace(view, last_activity=8000.0), 8000.0)
        assert app.panel.badge == "● executing"
