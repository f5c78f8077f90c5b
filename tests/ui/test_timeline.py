"""The timeline shows who did what when, live, and both drawings can be written as SVG that stands alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from teambot_tui.engine.activity import Doing
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Usage
from teambot_tui.engine.spans import Spent, TimeSpan
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.lanes import time_table
from teambot_tui.ui.svg import graph_svg, timeline_svg
from teambot_tui.ui.widgets.timeline import Timeline
from tests.ui.stage import on_stage
from tests.ui.test_graph import CHAIN, UP, view
from tests.ui.views import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from teambot_tui.engine.views import TaskView

PM, BA, BUILDER = AgentId("pm"), AgentId("ba"), AgentId("builder-1")


def worked(start: float, end: float | None, *, failed: bool = False) -> TimeSpan:
    return TimeSpan(Spent.WORKING, start, end, failed=failed)


def waited(start: float, end: float | None, *agents: AgentId) -> TimeSpan:
    return TimeSpan(Spent.WAITING, start, end, agents)


TEAM = (
    view(
        "pm#1",
        "completed",
        words="plan it",
        started=100.0,
        ended=160.0,
        spans=(worked(100, 160),),
        doing=Doing(usage=Usage(3000, 400, 0.12)),
    ),
    view("ba#1", "completed", words="list cases", started=100.0, ended=130.0, spans=(worked(100, 130),)),
    view(
        "builder-1#1",
        "executing",
        ">pm#1",
        ">ba#1",
        words="build it",
        started=160.0,
        ended=None,
        spans=(
            waited(100, 160, PM, BA),
            worked(160, 190, failed=True),
            waited(190, 200),
            worked(200, 220),
            TimeSpan(Spent.NEEDING_YOU, 220, 240),
            worked(240, None),
        ),
    ),
    view("reviewer#1", "waiting", ">builder-1#1", words="check it", spans=(waited(160, None, BUILDER),)),
)


class TimelineApp(App[None]):
    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.now = 280.0
        self.timeline = Timeline(Glyphs(ascii_only=ascii_only), clock=lambda: self.now)
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.timeline

    def on_mount(self) -> None:
        self.timeline.focus()

    def on_timeline_chosen(self, message: Timeline.Chosen) -> None:
        self.chosen.append(message.task)


async def rows_of(tasks: Sequence[TaskView], size: tuple[int, int], *, ascii_only: bool = False) -> list[str]:
    app = TimelineApp(ascii_only=ascii_only)
    async with app.run_test(size=size) as pilot:
        app.timeline.show(tasks)
        await pilot.pause()
        return app.timeline.text.splitlines()


def row_of(rows: list[str], agent: str) -> str:
    return next(row for row in rows if row.startswith(agent))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_each_agent_has_a_row(size: tuple[int, int]) -> None:
    rows = await rows_of(TEAM, size)
    assert rows[0].startswith("timeline   3:00 in all · critical path 3:00 · you were needed 0:20")
    assert "longest wait reviewer" in rows[0] or size[0] == 80
    assert "plan it" in row_of(rows, "pm")
    assert row_of(rows, "pm").endswith("3.4k  $0.12")
    assert "@pm, @ba" in row_of(rows, "builder-1")
    assert "▒" in row_of(rows, "builder-1")
    assert "✗" in row_of(rows, "builder-1")
    assert "@builder-1 ╌" in row_of(rows, "reviewer")
    assert all(cell_len(row) <= size[0] for row in rows)
    assert " ".join(rows[-1].split()) == "critical path working ╌ waiting ▒ needed you failed"


async def test_a_bar_begins_and_ends_when_it_did() -> None:
    rows = await rows_of(TEAM, (120, 24))
    times, reviewer = rows[2], row_of(rows, "reviewer")
    assert abs(times.index("1:00") - reviewer.index("╌")) <= 1
    assert times.split() == ["0:00", "0:30", "1:00", "1:30", "2:00", "2:30"]


async def test_it_is_live() -> None:
    app = TimelineApp()
    async with app.run_test(size=(100, 24)) as pilot:
        app.timeline.show(TEAM)
        await pilot.pause()
        app.now = 340.0
        app.timeline.tick()
        assert app.timeline.text.startswith("timeline   4:00 in all")
        over = [replace(each, state=TEAM[0].state) for each in TEAM]
        app.timeline.show(over)
        app.now = 999.0
        app.timeline.tick()
        assert app.timeline.text.startswith("timeline   4:00 in all")


async def test_times_in_which_nobody_did_anything_are_left_out() -> None:
    later = replace(TEAM[0], task=TaskId("pm#2"), spans=(worked(5000, 5060),))
    table = time_table((TEAM[0], later), 6000)
    assert table.scale.total == 120
    assert table.scale.at(5000) == 60
    assert table.scale.at(3000) == 60
    assert table.scale.at(0) == 0


def test_a_short_pause_is_no_pause() -> None:
    later = replace(TEAM[0], task=TaskId("pm#2"), spans=(worked(165, 200),))
    assert time_table((TEAM[0], later), 6000).scale.total == 100


async def test_keys_and_clicks_choose_a_task() -> None:
    app = TimelineApp()
    async with app.run_test(size=(100, 24)) as pilot:
        app.timeline.show([*TEAM, replace(TEAM[0], task=TaskId("pm#2"), spans=(worked(200, 220),))])
        await pilot.pause()
        app.timeline.text  # noqa: B018  it is made when it is looked at
        assert app.timeline.cursor == "pm#2"
        await pilot.press("left")
        assert app.timeline.cursor == "pm#1"
        await pilot.press("down", "down")
        assert app.timeline.cursor == "builder-1#1"
        assert "worked 1:30 · waited 1:10 for @pm, @ba · needed you 0:20" in app.timeline.text
        await pilot.press("enter")
        lanes = app.timeline.text.splitlines()
        row = next(number for number, line in enumerate(lanes) if line.startswith("reviewer"))
        await pilot.click(app.timeline, offset=(lanes[row].index("╌") + 2, row))
        await pilot.click(app.timeline, offset=(0, 0))
        assert app.chosen == ["builder-1#1", "reviewer#1"]


async def test_many_agents_scroll_with_the_cursor() -> None:
    app = TimelineApp()
    many = [
        view(f"agent-{number}#1", "completed", spans=(worked(number, number + 5),)) for number in range(60)
    ]
    async with app.run_test(size=(80, 24)) as pilot:
        app.timeline.show(many)
        await pilot.pause()
        assert "agent-0 " in app.timeline.text
        for _ in range(60):
            await pilot.press("up")
        assert "agent-0 " in app.timeline.text
        for _ in range(59):
            await pilot.press("down")
        assert "agent-59" in app.timeline.text
        assert "agent-0 " not in app.timeline.text


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (80, 24)])
async def test_hostile_text_is_only_text(size: tuple[int, int]) -> None:
    app = TimelineApp()
    async with app.run_test(size=size) as pilot:
        for text in HOSTILE:
            agent = AgentId(text)
            app.timeline.show(
                [view(f"{text}#1", "waiting", words=text, spans=(waited(0, 5, agent), worked(5, None)))]
            )
            await pilot.pause()
            assert {app.timeline.render_line(y).cell_length for y in range(size[1])} == {size[0]}
            assert app.is_running


async def test_ascii_only() -> None:
    assert "\n".join(await rows_of(TEAM, (100, 24), ascii_only=True)).isascii()


async def test_without_tasks_it_says_so() -> None:
    assert (await rows_of([], (80, 24)))[0] == "No tasks yet."


# On the screen


async def test_it_opens_in_place_of_the_graph_and_goes_back() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan -> @ba check", made=2)
        await stage.press("f3", "t")
        timeline = stage.screen.query_one(Timeline)
        assert timeline.has_focus
        assert "pm" in stage.drawn("#timeline")
        await stage.press("t")
        assert stage.screen.query_one("#graph").has_focus
        await stage.press("escape")
        await stage.enter("/timeline")
        assert timeline.has_focus
        await stage.press("enter")
        assert stage.screen.has_class("-inspecting")
        assert not timeline.display


async def test_exports(tmp_path: Path) -> None:
    async with on_stage(folder=tmp_path) as stage:
        await stage.enter("@pm plan <the> login -> @ba check", made=2)
        for name in ("graph.svg", "my timeline.svg"):
            await stage.paste(f"/export {name}")
            await stage.until(lambda name=name: (tmp_path / name).is_file(), name)  # type: ignore[misc]
            told = f"Exported to {tmp_path / name}."
            await stage.until(lambda told=told: told in stage.notices, "the answer")  # type: ignore[misc]
        await stage.paste("/export picture.svg")
        assert "/export timeline.svg or /export graph.svg" in stage.complaint
        assert "plan &lt;the&gt; login" in (tmp_path / "graph.svg").read_text()


# The files


@pytest.mark.parametrize("draw", [graph_svg, timeline_svg])
def test_a_file_stands_alone(draw: Callable[[Sequence[TaskView], float], str]) -> None:
    hostile = [view(f"h{number}#1", words=text, spans=(worked(0, 9),)) for number, text in enumerate(HOSTILE)]
    for tasks in (TEAM, UP, CHAIN, hostile, [view("x#1", words="\x1b[31m\x00 & <b>")], []):
        text = draw(tasks, 280.0)
        tree = ElementTree.fromstring(text)
        assert tree.get("font-family", "").endswith("monospace")
        assert not re.search(r"url\(|href|@import|<script|<style", text)


def test_a_drawn_workflow_names_its_conditions() -> None:
    text = graph_svg(UP, 280.0)
    assert text.count(">on failure<") == 2
    assert text.count(">always<") == 2
    assert "stroke-dasharray" in text
