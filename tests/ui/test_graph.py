"""The graph shows every task that matters, live, where it was, and says which one was chosen."""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Condition, Dependency, Via
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.graph.layout import Placement
from teambot_tui.ui.widgets.graph import Graph
from tests.ui.bare import Bare
from tests.ui.views import HOSTILE, task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from teambot_tui.engine.views import TaskView

_CONDITIONS = {"!": Condition.FAILURE, "?": Condition.ANY, "*": Condition.ALWAYS}


def view(name: str, state: str = "queued", *needs: str, **more: object) -> TaskView:
    """A task that needs others: `pm#1` by `$`, `>pm#1` handed on, `!pm#1` if it fails, `pm` not there yet."""
    names = [need.lstrip(">!?*") for need in needs]
    dependencies = tuple(
        Dependency(
            AgentId(name.partition("#")[0]),
            None,
            Via.REFERENCE if need == name else Via.AFTER if need[0] in _CONDITIONS else Via.HANDOFF,
            _CONDITIONS.get(need[0], Condition.SUCCESS),
        )
        for need, name in zip(needs, names, strict=True)
    )
    sources = tuple(TaskId(name) if "#" in name else None for name in names)
    return replace(task(name, state, **more), dependencies=dependencies, sources=sources)


class GraphApp(Bare):
    def __init__(self, *, ascii_only: bool = False, most: int | None = None) -> None:
        super().__init__()
        self.graph = Graph(Glyphs(ascii_only=ascii_only), most=most)
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.graph

    def on_mount(self) -> None:
        self.graph.focus()

    def on_graph_chosen(self, message: Graph.Chosen) -> None:
        self.chosen.append(message.task)


TEAM = (
    view("pm#1", "completed", words="plan the login"),
    view("ba#1", "executing", words="requirements"),
    view("builder-1#1", "waiting", "pm#1", "ba#1", waiting_for=("ba",), words="build it"),
    view("builder-1#2", words="write tests"),
    view("reviewer#1", "queued", ">builder-1#1", words="review it"),
)
CHAIN = tuple(
    view(f"a#{number}", "queued", *([f">a#{number - 1}"] if number > 1 else []), words=f"stage {number}")
    for number in range(1, 31)
)
FAN_OUT = (
    view("pm#1", "executing", words="plan"),
    *(view(f"b{number}#1", "waiting", ">pm#1", words=f"part {number}") for number in range(11)),
)
UP = (
    view("a#1", "completed", label="plan"),
    view("b#1", "completed", label="lint"),
    view("c#1", "executing", ">a#1", "?b#1", label="code"),
    view("d#1", "waiting", ">c#1", label="test"),
    view("e#1", "waiting", "!d#1", label="mend"),
    view("f#1", "waiting", ">d#1", "?e#1", label="judge"),
    view("g#1", "waiting", "*f#1", label="tidy"),
    view("h#1", "waiting", ">f#1", label="docs"),
    view("i#1", "waiting", ">f#1", label="notes"),
    view("j#1", "waiting", ">h#1", ">i#1", label="site"),
    view("k#1", "waiting", "!j#1", label="alarm"),
    view("l#1", "waiting", ">j#1", label="ship"),
    view("m#1", "waiting", "?l#1", "?k#1", label="report"),
    view("n#1", "waiting", "*m#1", label="end"),
)


async def text_of(tasks: Sequence[TaskView], width: int = 100, *, ascii_only: bool = False) -> str:
    app = GraphApp(ascii_only=ascii_only)
    async with app.run_test(size=(width, 40)) as pilot:
        app.graph.show(tasks, 172.0)
        await pilot.pause()
        return app.graph.text


def in_sight(graph: Graph, name: str) -> bool:
    """Whether a node is in the viewport as a whole."""
    box = graph.box(TaskId(name))
    assert box is not None
    x, y = graph.scroll_offset
    width, height = graph.size
    return x <= box.x and box.x + box.width <= x + width and y <= box.y and box.y + box.height <= y + height


async def test_every_state_has_its_glyph_and_its_word() -> None:
    text = await text_of(
        [view(f"pm#{number}", state, words=f"w{number}") for number, state in enumerate(State)]
    )
    for number, state in enumerate(State):
        assert f"{Glyphs()[state.value]} w{number}" in text
    for word in ("queued", "waiting", "1:12", "0:48", "failed", "skipped", "cancelled"):
        assert f"pm {word}" in text


async def test_who_needs_the_person_says_so() -> None:
    text = await text_of([view("pm#1", "executing", words="plan", requests=("x",))])
    assert "? plan" in text
    assert "pm needs you" in text


async def test_a_node_has_a_name_and_no_number() -> None:
    text = await text_of([*TEAM, view("x#1", label="my label", words="my words"), view("y#1")])
    assert "plan the login" in text
    assert "my label" in text
    assert "my words" not in text
    assert "○ y" in text or "◌ y" in text
    assert "#" not in text


async def test_lines_say_what_goes_along_and_nothing_else() -> None:
    text = await text_of(TEAM)
    assert text.count("▶") == 2, "two lines meet before the builder"
    assert "$" in text
    assert "after" not in text
    assert "->" not in text


async def test_a_live_workflow_names_its_conditions() -> None:
    text = await text_of(UP, 200)
    assert text.count("on failure") == 2
    assert text.count("always") == 2
    assert text.count("any") == 3, "two lines that say the same and meet say it once"
    assert "success" not in text


async def test_the_order_of_a_queue_is_not_drawn() -> None:
    assert "▶" not in await text_of([view("pm#1", "executing"), view("pm#2"), view("pm#3")])


async def test_an_agent_without_a_task_is_shown_as_what_lacks() -> None:
    text = await text_of([view("ba#1", "waiting", "legal", waiting_for=("legal",))])
    assert "@legal" in text
    assert "no output yet" in text
    assert "▶" in text


async def test_where_there_is_no_room_it_is_a_tree() -> None:
    text = await text_of(TEAM, 57)
    lines = [line.strip() for line in text.splitlines()]
    assert len(lines) == len(TEAM)
    assert any(f"╰$▶ {Glyphs()['waiting']} build it" in line and "+ plan the login" in line for line in lines)
    assert any("╰▶ ◌ review it" in line for line in lines)


async def test_ascii_only() -> None:
    assert (await text_of(TEAM, ascii_only=True)).isascii()
    assert (await text_of(TEAM, 50, ascii_only=True)).isascii()
    assert (await text_of(UP, 100, ascii_only=True)).isascii()


async def test_without_tasks_it_says_what_to_type() -> None:
    for width in (20, 50, 120):
        assert "@pm" in await text_of([], width)
    app = GraphApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        drawn = [strip.text for strip in app.graph.render_lines(app.graph.region)]
        assert any("@pm plan" in line for line in drawn)


# Folding and fitting


async def test_what_is_done_folds_and_unfolds_when_the_person_wants_it() -> None:
    app = GraphApp()
    done = [view(f"pm#{number}", "completed", words=f"step {number}") for number in range(12)]
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show([*done, view("ba#1", "executing")])
        await pilot.pause()
        assert not app.graph.folded
        await pilot.press("o")
        assert "✓ 12 done" in app.graph.text
        assert "step 3" not in app.graph.text
        await pilot.press("up", "up", "enter")
        assert not app.graph.folded
        assert "step 3" in app.graph.text
        assert app.chosen == []


@pytest.mark.parametrize("is_over", [True, False])
async def test_with_few_rows_what_is_done_folds_while_anything_goes_on(*, is_over: bool) -> None:
    app = GraphApp(most=2)
    tasks = [view(f"pm#{number}", "completed") for number in range(4)]
    async with app.run_test(size=(50, 40)) as pilot:
        app.graph.show(tasks if is_over else [*tasks, view("ba#1", "executing")])
        await pilot.pause()
        assert app.graph.folded is not is_over


async def test_the_cursor_goes_into_the_fold_with_its_task() -> None:
    app = GraphApp(most=1)
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show([view("ba#1", "executing"), view("pm#1", "completed"), view("x#1")])
        await pilot.pause()
        assert app.graph.cursor == "ba#1"
        app.graph.show([view("ba#1", "completed"), view("pm#1", "completed"), view("x#1")])
        await pilot.pause()
        assert app.graph.cursor is None
        assert app.graph.folded


@pytest.mark.parametrize("tasks", [CHAIN[:12], FAN_OUT, UP])
async def test_f_shows_all_and_shows_more_again(tasks: Sequence[TaskView]) -> None:
    app = GraphApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.graph.show(tasks)
        await pilot.pause()
        before = app.graph.virtual_size
        assert before.width > 80 or before.height > 24
        await pilot.press("f")
        assert app.graph.virtual_size.width <= app.graph.outer_size.width
        assert app.graph.virtual_size.height <= app.graph.outer_size.height
        await pilot.press("f")
        assert app.graph.virtual_size == before


# Where things are


async def test_nothing_moves_while_a_run_goes_on() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        for count in range(1, len(UP) + 1):
            tasks = [replace(each, state=State.EXECUTING) for each in UP[:count]]
            before = {each.task: app.graph.box(each.task) for each in tasks[:-1]}
            app.graph.show(tasks, 100.0 + count)
            await pilot.pause()
            for name, box in before.items():
                now = app.graph.box(name)
                assert box is not None
                assert now is not None
                assert (box.x, box.y) == (now.x, now.y)
        app.graph.show([replace(each, state=State.CANCELLED) for each in UP])
        await pilot.pause()
        assert "cancelled" in app.graph.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_it_follows_what_executes_until_one_moves(size: tuple[int, int]) -> None:
    app = GraphApp()
    async with app.run_test(size=size) as pilot:
        for at in (1, 9, 21, 30):
            states = ["completed"] * (at - 1) + ["executing"] + ["waiting"] * (30 - at)
            app.graph.show([replace(each, state=State(one)) for each, one in zip(CHAIN, states, strict=True)])
            await pilot.pause()
            assert app.graph.cursor == f"a#{at}"
            assert in_sight(app.graph, f"a#{at}")
        await pilot.press("left")
        tasks = [
            replace(each, state=State.EXECUTING if each is CHAIN[2] else State.WAITING) for each in CHAIN
        ]
        app.graph.show(tasks)
        await pilot.pause()
        assert app.graph.cursor == "a#29"
        await pilot.press("c")
        assert app.graph.cursor == "a#3"
        assert in_sight(app.graph, "a#3")


async def test_the_critical_path_is_bright() -> None:
    app = GraphApp()
    tasks = (
        view("a#1", "completed", words="short", started=100.0, ended=101.0),
        view("b#1", "completed", words="long", started=100.0, ended=150.0),
        view("c#1", "executing", ">a#1", ">b#1", words="both", started=150.0),
    )
    async with app.run_test(size=(100, 20)) as pilot:
        app.graph.show(tasks, 160.0)
        await pilot.pause()
        assert str(app.graph.border_title) == "2/3 · ━ critical path 1:00"
        assert "┗━" in app.graph.text or "━┛" in app.graph.text
        assert {text for text, style in app.graph._row(app.graph.box(TaskId("b#1")).y) if style == "critical"}  # type: ignore[union-attr]


async def test_its_clock_goes_on_without_a_new_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    app = GraphApp()
    laid_out = 0
    lay_out = Placement.lay_out

    def counted(*arguments: object, **more: object) -> object:
        nonlocal laid_out
        laid_out += 1
        return lay_out(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Placement, "lay_out", counted)
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show(TEAM, 172.0)
        await pilot.pause()
        app.graph.show(TEAM, 173.0)
        app.graph.show([replace(each, state=State.FAILED) for each in TEAM], 174.0)
        await pilot.press("left", "down", "right", "c")
        await pilot.pause()
        assert laid_out == 1
        app.graph.show([*TEAM, view("new#1")], 175.0)
        await pilot.pause()
        assert laid_out == 2


async def test_a_frame_of_500_tasks_costs_little() -> None:
    app = GraphApp()
    tasks = [
        view(f"a#{number}", "completed" if number < 480 else "executing", *needs)
        for number in range(500)
        for needs in [[f">a#{number - 10}"] if number >= 10 else []]
    ]
    async with app.run_test(size=(120, 40)) as pilot:
        app.graph.show(tasks, 200.0)
        await pilot.pause()
        times = []
        for second in range(5):
            start = process_time()
            app.graph.show(tasks, 201.0 + second)
            app.graph.render_lines(app.graph.region)
            times.append(process_time() - start)
        assert min(times) < 0.1, f"{min(times) * 1000:.0f} ms"


async def test_what_nobody_sees_is_not_drawn() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.display = False
        await pilot.pause()
        app.graph.show(TEAM, 172.0)
        await pilot.pause()
        assert "plan the login" not in app.graph.text
        app.graph.display = True
        await pilot.pause()
        assert "plan the login" in app.graph.text


# Moving about


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


async def test_a_new_size_changes_the_kind_of_picture() -> None:
    app = GraphApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.graph.show(TEAM)
        await pilot.pause()
        assert app.graph.drawn
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert not app.graph.drawn
        assert "requirements" in app.graph.text


@pytest.mark.parametrize("width", [1, 40, 100])
async def test_hostile_text_is_only_text(width: int) -> None:
    app = GraphApp()
    async with app.run_test(size=(width, 30)) as pilot:
        for text in HOSTILE:
            name = f"{text}#1"
            hostile = view(name, "waiting", f"{text}b", waiting_for=(text,), reason=text, words=text)
            app.graph.show([hostile, view("pm#1", "queued", name, label=text)])
            await pilot.pause()
            app.graph.action_go("down")
            await pilot.pause()
            assert app.is_running
            if width == 100:
                rows = app.graph.text.splitlines()
                assert all(cell_len(row) <= app.graph.virtual_size.width for row in rows)
                if 0 < len(text) < 20:
                    assert text in app.graph.text
        await pilot.press("enter", "f", "o", "c")
        assert app.is_running
