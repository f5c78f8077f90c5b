"""The graph shows every task that matters, live, and says which one was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Dependency, Via
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.widgets.graph import Graph
from tests.ui.bare import Bare
from tests.ui.views import HOSTILE, task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from teambot_tui.engine.views import TaskView


def view(name: str, state: str = "queued", *needs: str, **more: object) -> TaskView:
    """A task that needs the outputs of others: `pm#1` by `$`, `>pm#1` handed on, `pm` not there yet."""
    names = [need.lstrip(">") for need in needs]
    dependencies = tuple(
        Dependency(AgentId(name.partition("#")[0]), None, Via.HANDOFF if need[0] == ">" else Via.REFERENCE)
        for need, name in zip(needs, names, strict=True)
    )
    sources = tuple(TaskId(name) if "#" in name else None for name in names)
    return replace(task(name, state, **more), dependencies=dependencies, sources=sources)


class GraphApp(Bare):
    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.graph = Graph(Glyphs(ascii_only=ascii_only), most=1)
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.graph

    def on_mount(self) -> None:
        self.graph.focus()

    def on_graph_chosen(self, message: Graph.Chosen) -> None:
        self.chosen.append(message.task)


TEAM = (
    view("pm#1", "completed"),
    view("ba#1", "executing"),
    view("builder-1#1", "waiting", "pm#1", "ba#1", waiting_for=("ba",)),
    view("builder-1#2"),
    view("reviewer#1", "queued", ">builder-1#1"),
)


async def text_of(tasks: Sequence[TaskView], width: int = 100, *, ascii_only: bool = False) -> str:
    app = GraphApp(ascii_only=ascii_only)
    async with app.run_test(size=(width, 40)) as pilot:
        app.graph.show(tasks, 172.0)
        await pilot.pause()
        return app.graph.text


async def test_every_state_has_its_glyph_and_its_word() -> None:
    text = await text_of([view(f"pm#{number}", state) for number, state in enumerate(State)])
    for state in State:
        assert f"{Glyphs()[state.value]} pm#" in text
        assert state.value in text


async def test_lines_say_why() -> None:
    text = await text_of(TEAM)
    assert "$" in text
    assert "->" in text
    assert "after" in text
    assert text.count("▼") == 4
    assert "waits @ba" in text
    assert "executing 1:12" in text
    assert "completed 0:48" in text


async def test_an_agent_without_a_task_is_shown_as_what_lacks() -> None:
    text = await text_of([view("ba#1", "waiting", "legal", waiting_for=("legal",))])
    assert "@legal" in text
    assert "no output yet" in text
    assert "▼" in text


async def test_where_there_is_no_room_it_is_a_tree() -> None:
    text = await text_of(TEAM, 57)
    assert "▼" not in text
    lines = [line.strip() for line in text.splitlines()]
    assert len(lines) == len(TEAM)
    assert any("├─$ ◷ builder-1#1" in line or "╰─$ ◷ builder-1#1" in line for line in lines)
    assert any("+$ pm#1" in line for line in lines), "the other source is named"


async def test_ascii_only() -> None:
    assert (await text_of(TEAM, ascii_only=True)).isascii()
    assert (await text_of(TEAM, 50, ascii_only=True)).isascii()


async def test_without_tasks_it_says_what_to_type() -> None:
    for width in (20, 50, 120):
        assert "@pm" in await text_of([], width)


async def test_what_is_finished_folds_and_unfolds() -> None:
    app = GraphApp()
    done = [view(f"pm#{number}", "completed") for number in range(12)]
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show([*done, view("ba#1", "executing")])
        await pilot.pause()
        assert "✓ 12 done" in app.graph.text
        assert "pm#3" not in app.graph.text
        await pilot.press("up", "left", "up", "left", "enter")
        assert not app.graph.folded
        assert "pm#3" in app.graph.text
        assert app.chosen == []
        await pilot.press("space")
        assert app.graph.folded


@pytest.mark.parametrize(("tasks", "is_folded"), [(4, False), (12, False), (13, True)])
async def test_a_small_session_that_is_over_is_shown_whole(tasks: int, is_folded: bool) -> None:
    app = GraphApp()
    app.graph = Graph(Glyphs())
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show([view(f"pm#{number}", "completed") for number in range(tasks)])
        await pilot.pause()
        assert app.graph.folded == is_folded


async def test_a_completed_task_stays_while_someone_uses_it() -> None:
    text = await text_of([*TEAM, view("pm#2", "completed"), view("pm#3", "completed")])
    assert "pm#1" in text
    assert "✓ 2 done" in text


async def test_the_cursor_goes_into_the_fold_with_its_task() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show([view("ba#1", "executing"), view("pm#1", "completed")])
        await pilot.pause()
        assert app.graph.cursor == "ba#1"
        app.graph.show([view("ba#1", "completed"), view("pm#1", "completed")])
        await pilot.pause()
        assert app.graph.cursor is None
        assert app.graph.folded


@pytest.mark.parametrize("width", [50, 100])
async def test_keys_walk_from_node_to_node(width: int) -> None:
    app = GraphApp()
    async with app.run_test(size=(width, 40)) as pilot:
        app.graph.show(TEAM)
        await pilot.pause()
        seen = set()
        for key in ("down", "j", "up", "k", "right", "l", "left", "h", "down", "down", "right"):
            await pilot.press(key)
            seen.add(app.graph.cursor)
        assert len(seen) >= 4
        await pilot.press("enter")
        assert app.chosen == [app.graph.cursor]


async def test_a_click_chooses() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show(TEAM)
        await pilot.pause()
        box = app.graph.box(TaskId("reviewer#1"))
        assert box is not None
        await pilot.click(app.graph, offset=box.centre)
        await pilot.click(app.graph, offset=(99, 39))
        assert app.chosen == ["reviewer#1"]


async def test_a_big_graph_scrolls_to_the_cursor() -> None:
    app = GraphApp()
    tasks = [view("a#0", "executing"), *(view(f"a{n}#1", "queued", "a#0") for n in range(30))]
    tasks += [view(f"b#{n}", "queued", f"b#{n - 1}") for n in range(1, 30)]
    async with app.run_test(size=(80, 24)) as pilot:
        app.graph.show(tasks)
        await pilot.pause()
        assert app.graph.max_scroll_x > 0
        assert app.graph.max_scroll_y > 0
        await pilot.press("down", *["right"] * 5)
        assert app.graph.scroll_x > 0


async def test_it_follows_without_a_new_layout() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show(TEAM, 172.0)
        await pilot.pause()
        before = app.graph.box(TaskId("ba#1"))
        app.graph.show(TEAM, 173.0)
        await pilot.pause()
        assert "executing 1:13" in app.graph.text
        assert app.graph.box(TaskId("ba#1")) is before
        app.graph.show([replace(each, state=State.CANCELLED) for each in TEAM])
        await pilot.pause()
        assert "cancelled" in app.graph.text


async def test_a_new_size_changes_the_kind_of_picture() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show(TEAM)
        await pilot.pause()
        assert app.graph.drawn
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert not app.graph.drawn
        assert "▼" not in app.graph.text
        assert "ba#1" in app.graph.text


@pytest.mark.parametrize("width", [1, 40, 100])
async def test_hostile_text_is_only_text(width: int) -> None:
    app = GraphApp()
    async with app.run_test(size=(width, 30)) as pilot:
        for text in HOSTILE:
            name = f"{text}#1"
            hostile = view(name, "waiting", f"{text}b", waiting_for=(text,), reason=text, statement=text)
            app.graph.show([hostile, view("pm#1", "queued", name)])
            await pilot.pause()
            app.graph.action_go("down")
            await pilot.pause()
            assert app.is_running
            if width == 100:
                rows = app.graph.text.splitlines()
                assert all(cell_len(row) <= app.graph.virtual_size.width for row in rows)
                if 0 < len(text) < 24:
                    assert text in app.graph.text
        await pilot.press("enter")
        assert app.is_running
