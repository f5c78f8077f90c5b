"""The tables are live: what is seen in them is what is so now, and keys act on the row at the cursor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.ports import Usage
from teambot_tui.ui.screens.table import TableScreen
from teambot_tui.ui.widgets.table import TableLines
from tests.team import Busy
from tests.ui.stage import LARGE, NORMAL, SMALL, Stage, drawn_rows, on_stage
from tests.ui.test_hostile import HOSTILE, assert_harmless, everything_drawn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def table(stage: Stage) -> TableScreen:
    """Return the table that is open."""
    screen = stage.app.screen
    assert isinstance(screen, TableScreen)
    return screen


def rows(stage: Stage) -> list[str]:
    """Return what the table has drawn, its head first."""
    lines = table(stage).query_one(TableLines)
    return drawn_rows(lines, lines.size.region)


def title(stage: Stage) -> str:
    """Return what is over the table."""
    return str(table(stage).query_one(".table").border_title)


def at_cursor(stage: Stage) -> str:
    """Return the row that is marked, as it is drawn."""
    (row,) = [row for row in rows(stage) if row.startswith("▸")]
    return row


def shows(stage: Stage, words: Sequence[str]) -> bool:
    """Tell whether all the words can be read in the table."""
    drawn = "\n".join(rows(stage))
    return all(word in drawn for word in words)


async def opened(stage: Stage, command: str) -> TableScreen:
    await stage.paste(command)
    return table(stage)


@pytest.mark.parametrize("size", [SMALL, NORMAL, LARGE])
async def test_each_command_opens_its_table(size: tuple[int, int]) -> None:
    async with on_stage(size, default="pm") as stage:
        await stage.paste('@pm plan\n@ba check $pm\nwriter:"Write it":note', made=3)
        for command, name, *words in (
            ("/tasks", "Tasks 1/3", "● executing", "pm#1      plan", "◷ @pm", "ba#1      check $pm"),
            ("/tasks waiting", "Tasks, waiting 1/1", "ba#1"),
            ("/tasks failed", "Tasks, failed 0", "no task is failed"),
            ("/agents", "The team 1/6", "▸ @pm         default", "@writer     of the team", "● executing"),
            ("/model ba", "Models of @ba 1/1", "@ba", "as its backend chooses"),
            ("/history", "History 1/3", "@pm plan", "@ba check $pm"),
            ("/history ba", "History of @ba 1/1", "ba#1"),
            ("/status", "Status 1/6", "● executing", "0:00  plan", "○ idle"),
            ("/theme", "Themes", "●   teambot-dark"),
            ("/vars", "Variables 1/1", "{note}", "writer#1  ● executing"),
        ):
            await opened(stage, command)
            assert title(stage).startswith(name)
            await stage.until(partial(shows, stage, words), command)
            await stage.press("escape")
            assert not stage.dialog
        assert stage.bar.has_focus


async def test_ctrl_t_opens_the_tasks_and_closes_them() -> None:
    async with on_stage() as stage:
        await stage.press("ctrl+t")
        assert "no tasks yet: type @pm and what to do" in rows(stage)[1]
        await stage.press("enter", "x", "r", "R", "y", "down", "s")
        assert title(stage) == "Tasks 0"
        await stage.press("ctrl+t")
        assert not stage.dialog


async def test_it_is_live_and_the_cursor_stays_on_its_row() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan\n@ba check", made=2)
        await stage.press("ctrl+t", "down")
        assert "pm#1" in at_cursor(stage)
        await stage.answer("pm#1", "done")
        await stage.until(lambda: "✓ completed  pm#1" in at_cursor(stage), "the new state")
        await stage.ask(lambda session: session.submit("@writer write"))
        await stage.until(lambda: title(stage) == "Tasks 3/3", "the new task")
        assert "pm#1" in at_cursor(stage), "what came before it has not moved the cursor"


async def test_the_keys_act_on_the_row_at_the_cursor() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan\n@ba check", made=2)
        await stage.press("ctrl+t", "down", "x")
        await stage.until(lambda: "⊘ cancelled" in at_cursor(stage), "it to be cancelled")
        assert stage.state("ba#1") == "executing"
        await stage.press("r")
        await stage.until(lambda: "● executing" in at_cursor(stage), "it to run again")
        await stage.press("R")
        await stage.until(lambda: stage.state("pm#2") == "queued", "another one")
        await stage.answer("pm#1", "the [b]plan[/b]")
        await stage.press("y")
        await stage.until(lambda: stage.notices[-1:] == ["Copied what pm#1 said."], "the notice")
        assert stage.app.clipboard == "the [b]plan[/b]"
        await stage.press("home", "y")
        await stage.until(lambda: stage.notices[-1] == "pm#2 has not said anything yet.", "the notice")
        await stage.press("end", "enter")
        assert not stage.dialog
        assert stage.screen.has_class("-inspecting")
        await stage.until(lambda: "pm#1" in stage.inspector.text, "the inspector")


async def test_the_filter() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan Axe\n@ba check axe\n@writer write", made=3)
        await stage.press("ctrl+t", "slash")
        await stage.type_text("AXE")
        assert title(stage) == "Tasks 1/2 of 3"
        await stage.press("down")
        assert "pm#1" in at_cursor(stage), "the arrows go on working"
        await stage.press("enter")
        assert title(stage) == "Tasks 2/2 of 3"
        await stage.press("x")
        await stage.until(lambda: stage.state("pm#1") == "cancelled", "the key to act")
        await stage.press("escape")
        assert title(stage) == "Tasks 3/3", "all again, and the cursor where it was"
        assert "pm#1" in at_cursor(stage)
        await stage.press("escape")
        assert not stage.dialog


async def test_sorting() -> None:
    busy = Busy()
    async with on_stage(gate=busy) as stage:
        await stage.paste("@pm b\n@ba c\n@writer a", made=3)
        for task, spent in (("pm#1", 10), ("ba#1", 3000), ("writer#1", 200)):
            await stage.ask(lambda _: busy.tell(task, Usage(spent, 0, spent / 100)))  # noqa: B023
        await stage.until(lambda: stage.app.views.used and stage.app.views.used.tokens == 3210, "the usage")

        def order() -> list[str]:
            return [str(row.key) for row in table(stage).rows]

        await stage.press("ctrl+t")
        assert order() == ["writer#1", "ba#1", "pm#1"], "the newest first"
        await stage.press("s", "s")
        assert "task ▼" in rows(stage)[0]
        assert order() == ["ba#1", "pm#1", "writer#1"]
        await stage.press("s")
        assert order() == ["writer#1", "pm#1", "ba#1"], "by their words"
        await stage.press("s", "s")
        assert order() == ["ba#1", "writer#1", "pm#1"], "the largest first"
        await stage.press("s", "s")
        assert order() == ["writer#1", "ba#1", "pm#1"]
        assert "▼" not in rows(stage)[0]


async def test_choosing_a_model(tmp_path: Path) -> None:
    async def models(directory: Path) -> tuple[str, ...]:
        return ("opus", "son\x1b[31mnet")

    async def none(directory: Path) -> tuple[str, ...]:
        raise OSError("no server at 127.0.0.1")

    async with on_stage() as stage:
        stage.gate.models = models  # type: ignore[attr-defined]
        await opened(stage, "/models")
        await stage.until(lambda: len(table(stage).rows) == 18, "the models")
        assert [row.split()[-1] for row in rows(stage)[2:4]] == ["opus", "sonnet"]
        await stage.press("down", "down", "enter")
        await stage.until(lambda: "▸ ●   @pm         sonnet" in rows(stage), "the mark")
        assert stage.app.views.models[stage.app.views.roster.agents[0]] == "sonnet"
        await stage.press("home", "enter")
        await stage.until(lambda: "▸ ●   @pm         as its backend chooses" in rows(stage), "the mark")
        await stage.press("escape")
        stage.gate.models = none  # type: ignore[attr-defined]
        await opened(stage, "/model pm")
        await stage.until(lambda: "no server at 127.0.0.1" in rows(stage)[2], "the reason")


async def test_choosing_a_theme() -> None:
    async with on_stage() as stage:
        await opened(stage, "/theme")
        assert "●   teambot-dark" in at_cursor(stage)
        await stage.press("down", "enter")
        assert stage.app.theme == "teambot-light"
        assert "●   teambot-light" in at_cursor(stage)


async def test_the_mouse() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan\n@ba check", made=2)
        await stage.press("ctrl+t")
        lines = table(stage).query_one(TableLines)
        await stage.pilot.click(lines, offset=(4, 2))
        assert "pm#1" in at_cursor(stage)
        await stage.pilot.click(lines, offset=(16, 0))
        assert "task ▼" in rows(stage)[0]
        await stage.pilot.click(lines, offset=(4, 1), times=2)
        await stage.until(lambda: not stage.dialog, "the inspector in its place")
        assert stage.screen.has_class("-inspecting")


async def test_five_hundred_tasks() -> None:
    async with on_stage(SMALL) as stage:
        await stage.paste("\n".join(f"@pm,ba step {number}" for number in range(250)), made=500)
        await stage.press("ctrl+t")
        assert title(stage) == "Tasks 1/500"
        lines = table(stage).query_one(TableLines)
        drawn: list[int] = []
        render = lines._draw

        def counted(cells: object, *more: object) -> object:
            drawn.append(1)
            return render(cells, *more)  # type: ignore[arg-type]

        lines._draw = counted  # type: ignore[assignment, method-assign]
        await stage.press("end")
        assert "pm#1 " in at_cursor(stage)
        assert "step 0" in at_cursor(stage)
        assert len(drawn) <= 4 * lines.size.height, "only what is in sight is drawn"
        await stage.press("pageup", "home")
        assert "ba#250" in at_cursor(stage)
        await stage.press("slash")
        await stage.type_text("step 249")
        assert title(stage) == "Tasks 1/4 of 500", "both words, wherever they are"


async def test_hostile_words_are_shown_and_never_obeyed() -> None:
    async with on_stage(LARGE) as stage:
        for number, text in enumerate((each for each in HOSTILE if "$" not in each), 1):
            await stage.paste(f"@pm x{text}", made=number)
        for command in ("/tasks", "/history", "/status"):
            await opened(stage, command)
            assert_harmless(stage)
            assert "[" in everything_drawn(stage) or command == "/status"
            await stage.press("escape")


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (500, 200)])
async def test_a_table_opens_at(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await stage.paste("@pm plan", made=1)
        await stage.press("ctrl+t", "down", "s", "slash", "a", "enter")
        await stage.press("escape", "escape")
        assert not stage.dialog
