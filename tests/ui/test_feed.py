"""The feed shows everything, in order, literally, and however much there is of it."""

from __future__ import annotations

import gc
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import psutil
import pytest
from rich.cells import cell_len
from rich.style import Style
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Offset
from textual.selection import Selection

from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Dependency, Via
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.views import TaskView
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.feed_markdown import _ROLES, render
from teambot_tui.ui.widgets.feed_text import KEPT_CHARACTERS, Output, expand, wrap
from tests.ui.bare import Bare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult


STYLES = Path(__file__).parents[2] / "styles" / "feed.tcss"
PM, BA, WRITER = TaskId("pm#1"), TaskId("ba#1"), TaskId("writer#1")
FAMILY = "👨\u200d👩\u200d👧"
HOSTILE = (
    "[/x]",
    "[/]",
    "list[str]",
    "[@click=app.quit]x[/]",
    "[type=int, input_value={'a': 1}]",
    "$pm @ba {x}",
    "表は幅の広い文字です",
    FAMILY * 40,
    "e" + "\u0301" * 500,
    "a\tb\tc",
    "\u200d\ufe0f",
    "word" * 25_000,
    "   ",
    "\n\n\n",
    "",
)


class FeedApp(Bare):
    """A feed and nothing else."""

    CSS_PATH: ClassVar[str] = str(STYLES)

    def __init__(self, glyphs: Glyphs | None = None) -> None:
        super().__init__()
        self.feed = Feed(glyphs or Glyphs())
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.feed

    def on_feed_chosen(self, message: Feed.Chosen) -> None:
        self.heard.append(message.task)

    def on_feed_follow_changed(self, message: Feed.FollowChanged) -> None:
        self.heard.append(message.follow)

    @property
    def rows(self) -> list[str]:
        """What is on the screen."""
        return [
            "".join(segment.text for segment in strip).rstrip()
            for strip in self.feed.render_lines(self.feed.size.region)
        ]

    @property
    def page(self) -> str:
        return "\n".join(self.rows)


def view(task: TaskId, state: State = State.EXECUTING, statement: str = "", **more: object) -> TaskView:
    over = state in (State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED)
    known: dict[str, Any] = {
        "siblings": (task,),
        "background": False,
        "created": 1_000.0,
        "started": 1_001.0 if state is not State.SKIPPED else 0.0,
        "ended": 1_049.0 if over else None,
        "waiting_for": (),
        "no_output_yet": (),
        "reason": "",
        "dependencies": (),
        "sources": (),
        "dependents": (),
        "model": None,
        **more,
    }
    return TaskView(task, agent_of(task), state, statement or f"@{agent_of(task)} go", **known)


def lines(count: int, word: str = "line") -> str:
    return "".join(f"{word} {number}\n" for number in range(count))


def index_of(rows: Iterable[str], text: str) -> int:
    return next(number for number, row in enumerate(rows) if text in row)


# Blocks


async def test_blocks_stand_in_order_of_submission_however_the_text_comes() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        siblings = (PM, BA)
        app.feed.say(PM, "early ")
        for task in siblings:
            app.feed.show_task(view(task, statement="@pm,ba plan auth v2 &", siblings=siblings))
        for task, text in ((BA, "second"), (PM, "first"), (BA, " answer\n"), (PM, " answer\n")):
            app.feed.say(task, text)
        await pilot.pause()
        rows = [row for row in app.rows if row]
    assert "› @pm,ba plan auth v2 &" in rows[0]
    assert rows[0].endswith("pm#1 ba#1")
    assert "● @pm pm#1 · executing" in rows[1]
    assert rows[2] == "  ┃ early first answer"
    assert "● @ba ba#1 · executing" in rows[3]
    assert rows[4] == "  ┃ second answer"
    assert len(rows) == 5


async def test_a_head_tells_the_state_and_what_it_came_to() -> None:
    app = FeedApp()
    async with app.run_test(size=(100, 30)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.show_task(view(BA))
        needs = (
            Dependency(AgentId("pm"), PM, Via.REFERENCE),
            Dependency(AgentId("ba"), BA, Via.REFERENCE),
            Dependency(AgentId("cto"), None, Via.REFERENCE),
        )
        waiting = (AgentId("ba"), AgentId("cto"))
        app.feed.show_task(
            view(
                TaskId("builder#1"),
                State.WAITING,
                waiting_for=waiting,
                dependencies=needs,
                sources=(PM, BA, None),
            )
        )
        app.feed.show_task(view(WRITER, State.FAILED, reason="exit status 1"))
        app.feed.show_task(view(TaskId("writer#2"), State.SKIPPED, reason="writer#1 failed"))
        await pilot.pause()
        page = app.page
        assert "✓ @pm pm#1 · 0:48" in page
        assert "no output" in page
        assert "◷ @builder builder#1 · waiting" in page
        assert "◷ waits for @ba ba#1, @cto (no output yet)   $pm ← pm#1 ✓" in page
        assert "✗ @writer writer#1 · failed · 0:48" in page
        assert "exit status 1" in page
        assert "⊗ @writer writer#2 · skipped" in page
        app.feed.show_task(view(TaskId("builder#1"), dependencies=needs, sources=(PM, BA, None)))
        await pilot.pause()
        assert "waits for" not in app.page


async def test_a_task_that_is_done_again_begins_with_an_empty_page() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM, State.FAILED, reason="broken"))
        app.feed.say(PM, "old words")
        await pilot.pause()
        assert "old words" in app.page
        app.feed.show_task(view(PM, State.QUEUED))
        app.feed.say(PM, "new words")
        await pilot.pause()
        assert "old words" not in app.page
        assert "broken" not in app.page
        assert "new words" in app.page


async def test_the_mouse_may_point_at_what_is_gone() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM, State.FAILED))
        app.feed.say(PM, lines(100))
        await pilot.pause()
        app.feed.show_task(view(PM, State.QUEUED))
        app.feed.page(-1)
        assert [app.feed.render_line(y).cell_length for y in range(24)] == [80] * 24
        await pilot.click(Feed, offset=(10, 20))
        await pilot.pause()
        assert "line" not in app.page


async def test_one_agent_can_be_chosen() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        for task in (PM, BA, TaskId("pm#2")):
            app.feed.show_task(view(task))
            app.feed.say(task, f"said by {task}")
        app.feed.choose(AgentId("pm"))
        await pilot.pause()
        assert "said by pm#1" in app.page
        assert "said by pm#2" in app.page
        assert "ba#1" not in app.page
        app.feed.show_task(view(TaskId("ba#2")))
        app.feed.choose(None)
        await pilot.pause()
        assert "said by ba#1" in app.page
        assert "ba#2" in app.page


async def test_ascii_where_the_terminal_has_no_others() -> None:
    app = FeedApp(Glyphs(ascii_only=True))
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.show_task(view(BA, State.WAITING, waiting_for=(AgentId("pm"),)))
        app.feed.say(PM, lines(20))
        await pilot.pause()
        assert app.page.isascii()


# Folding


async def test_a_finished_block_folds_unless_it_is_the_last() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 60)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, "```\n" + lines(42) + "```\n")
        app.feed.show_task(view(PM, State.COMPLETED))
        await pilot.pause()
        assert "line 41" in app.page
        app.feed.show_task(view(BA))
        await pilot.pause()
        assert "line 7" in app.page
        assert "line 8" not in app.page
        assert "  ┃ +34 lines · Enter expands" in app.rows
        app.feed.toggle_fold(PM)
        await pilot.pause()
        assert "line 41" in app.page
        assert "Enter expands" not in app.page


async def test_one_line_more_is_not_worth_folding() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 60)) as pilot:
        app.feed.show_task(view(PM, State.FAILED))
        app.feed.say(PM, "```\n" + lines(9) + "```\n")
        app.feed.show_task(view(BA))
        await pilot.pause()
        assert "line 8" in app.page


async def test_a_click_on_the_head_or_the_fold_line_toggles_and_chooses() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 60)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.say(PM, lines(300))
        app.feed.show_task(view(BA))
        await pilot.pause()
        await pilot.click(Feed, offset=(10, index_of(app.rows, "Enter expands")))
        await pilot.pause()
        assert "line 30" in app.page
        assert app.heard[-1] == PM
        app.feed.to_start()
        await pilot.pause()
        await pilot.click(Feed, offset=(20, index_of(app.rows, "@pm pm#1")))
        await pilot.pause()
        assert "+292 lines" in app.page
        app.heard.clear()
        await pilot.click(Feed, offset=(10, index_of(app.rows, "line 3")))
        assert "+292 lines" in app.page, "a click on the output only chooses"
        assert app.heard == [PM]


async def test_keys_move_between_blocks_and_enter_unfolds() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 60)) as pilot:
        for task in (PM, BA, WRITER):
            app.feed.show_task(view(task, State.COMPLETED))
            app.feed.say(task, lines(300, str(agent_of(task))))
        app.feed.focus()
        assert app.feed.cursor == WRITER
        await pilot.press("up", "k")
        assert app.feed.cursor == PM
        assert "▸" in app.rows[index_of(app.rows, "@pm pm#1")]
        await pilot.press("enter")
        assert app.heard[-1] == PM
        assert "pm 40" in app.page
        await pilot.press("enter", "down", "j")
        assert app.feed.cursor == WRITER
        await pilot.press("j")
        assert app.feed.follow
        assert "writer 299" in app.page


# Scrolling


async def test_it_follows_until_the_user_scrolls_up_and_again_at_the_end() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, lines(100))
        await pilot.pause()
        assert "line 99" in app.rows[-1]
        app.feed.page(-1)
        await pilot.pause()
        seen = app.rows
        assert not app.feed.follow
        assert "line 99" not in app.page
        app.feed.say(PM, lines(50, "more"))
        app.feed.show_task(view(BA))
        app.feed.say(BA, lines(50, "other"))
        app.feed.show_task(view(PM, State.COMPLETED))
        await pilot.pause()
        assert app.rows[:-1] == seen[:-1], "what is read stays where it is"
        assert seen[-1].endswith("▼ more · End follows")
        assert app.rows[-1].endswith("▼ 1 more · End follows")
        app.feed.to_end()
        await pilot.pause()
        assert "other 49" in app.rows[-1]
        assert "End follows" not in app.page
        assert app.feed.follow
        assert app.heard == [False, True]


async def test_pages_the_wheel_and_the_ends() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, lines(60))
        app.feed.focus()
        await pilot.press("pageup")
        assert "line 40" in app.rows[-1]
        await pilot.press("pagedown")
        assert app.feed.follow
        await pilot.press("home")
        assert "@pm go" in app.rows[0]
        await pilot.press("pageup")
        assert "@pm go" in app.rows[0]
        await pilot.press("end")
        assert "line 59" in app.rows[-1]
        app.feed.post_message(MouseScrollUp(app.feed, 1, 1, 0, -1, 0, False, False, False))
        await pilot.pause()
        assert "line 56" in app.rows[-1]
        app.feed.post_message(MouseScrollDown(app.feed, 1, 1, 0, 1, 0, False, False, False))
        await pilot.pause()
        assert app.feed.follow


async def test_what_fits_cannot_be_scrolled() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.feed.page(-1)
        app.feed.to_start()
        app.feed.show_task(view(PM))
        app.feed.page(-1)
        await pilot.pause()
        assert app.feed.follow


async def test_follow_can_be_set() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, lines(60))
        await pilot.pause()
        app.feed.follow = False
        app.feed.say(PM, lines(60))
        await pilot.pause()
        assert "line 59" in app.rows[-1]
        app.feed.say(PM, "the end")
        app.feed.follow = True
        await pilot.pause()
        assert "the end" in app.rows[-1]


async def test_what_is_read_is_still_read_at_another_width() -> None:
    app = FeedApp()
    async with app.run_test(size=(100, 20)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, "".join(f"{number} " + "many words " * 20 + "\n" for number in range(100)))
        await pilot.pause()
        app.feed.scroll_rows(-60)
        await pilot.pause()
        first = next(row for row in app.rows if row[4:6].strip().isdigit())[4:6]
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert any(row[4:].startswith(first) for row in app.rows)
        assert not app.feed.follow


# Finding


async def test_find_counts_jumps_unfolds_and_goes_around() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.say(PM, lines(100) + "A [Needle] here\n" + lines(100))
        app.feed.show_task(view(BA, State.COMPLETED))
        app.feed.say(BA, "**a [needle] there**\n" + lines(100))
        app.feed.show_task(view(WRITER))
        app.feed.say(WRITER, lines(100))
        await pilot.pause()
        assert app.feed.find("[needle]") == 2
        for expected in ("[Needle] here", "[needle] there", "[Needle] here"):
            app.feed.find_next(1)
            await pilot.pause()
            assert expected in app.page
        app.feed.find_next(-1)
        await pilot.pause()
        assert "[needle] there" in app.page
        assert app.feed.cursor == BA
        y = index_of(app.rows, "[needle]")
        here = app.feed.get_component_rich_style("feed--found-here").bgcolor
        drawn = [part.text for part in app.feed.render_line(y) if part.style and part.style.bgcolor == here]
        assert drawn == ["[needle]"]
        assert app.feed.find("nowhere") == 0
        app.feed.find_next(1)
        app.feed.stop_find()
        assert app.feed.find("") == 0
        await pilot.pause()


async def test_a_match_is_marked_across_the_edge_and_after_a_tab() -> None:
    app = FeedApp()
    async with app.run_test(size=(40, 24)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, "x" * 33 + "needle" + "x" * 30 + "\n\tneedle")
        assert app.feed.find("needle") == 2
        await pilot.pause()
        found = app.feed.get_component_rich_style("feed--found").bgcolor
        drawn = [
            part.text
            for y in range(24)
            for part in app.feed.render_line(y)
            if part.style and part.style.bgcolor == found
        ]
        assert drawn == ["nee", "dle", "needle"]


# Markdown


async def test_a_finished_answer_is_rendered_within_the_budget() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, "# Plan\n\n- **one** [home](https://example.org)\n- two\n")
        await pilot.pause()
        assert "**one**" in app.page
        app.feed.show_task(view(PM, State.COMPLETED))
        await pilot.pause()
        assert "• one home (https://example.org)" in app.page
        assert "**" not in app.page
        app.feed.show_task(view(BA, State.COMPLETED))
        app.feed.say(BA, "**bold**\n" * 1000)
        await pilot.pause()
        assert "**bold**" in app.page, "too much is shown as it is"
        assert app.feed.text_of(PM).startswith("# Plan")


async def test_nothing_comes_back_through_an_entity_and_nothing_can_be_clicked() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.say(PM, "a&#x202e;b&#27;[2Jc&#x9b;d [x](javascript:1) ![y](file:///etc/passwd) <b>z</b>\n")
        await pilot.pause()
        assert "\u202e" not in app.page
        assert "\x1b" not in app.page
        assert "\x9b" not in app.page
        for strip in app.feed.render_lines(app.feed.size.region):
            for segment in strip:
                assert segment.style is None or segment.style.link is None
                assert segment.style is None or "@click" not in segment.style.meta


@pytest.mark.parametrize(
    "text",
    [
        "|" * 4000 + "\n" + "|-" * 2000,
        "".join(f"{'#' * (number % 6 + 1)} h\n" for number in range(199)),
        ">" * 8000,
        "[" * 8000,
        "*" * 4000 + "a" + "*" * 4000,
        "`" * 8000,
        "\n".join(" " * number + "- x" for number in range(100)),
        "&#0;&#xd800;&#x110000;",
        "<!--" * 2000,
    ],
    ids=lambda text: text[:6],
)
async def test_hostile_markdown_is_quick_and_harmless(text: str) -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.say(PM, text)
        began = time.process_time()
        await pilot.pause()
        assert app.is_running
        assert time.process_time() - began < 6


# Bad weather


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (80, 24), (200, 50)], ids=str)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
async def test_text_is_data(text: str, size: tuple[int, int]) -> None:
    app = FeedApp()
    async with app.run_test(size=size) as pilot:
        for state in (State.EXECUTING, State.COMPLETED, State.FAILED):
            app.feed.show_task(view(PM, state, statement=text, reason=text, model=text))
            app.feed.say(PM, text)
            await pilot.pause()
            strips = app.feed.render_lines(app.feed.size.region)
            assert [strip.cell_length for strip in strips] == [size[0]] * size[1]
        app.feed.find(text[:20])
        app.feed.find_next(1)
        app.feed.page(-1)
        await pilot.pause()
        kept = app.feed.text_of(PM)
        assert (text * 3).endswith(kept)
        assert len(kept) > min(len(text) * 3, KEPT_CHARACTERS - 200) - 1
        assert app.is_running


async def test_markup_is_shown_as_it_was_written() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        for number, text in enumerate(HOSTILE[:6]):
            app.feed.show_task(view(TaskId(f"pm#{number}"), statement=f"@pm {text}"))
            app.feed.say(TaskId(f"pm#{number}"), text)
            await pilot.pause()
            assert f"┃ {text}" in app.page
            assert f"› @pm {text}" in app.page


async def test_every_size_on_the_way() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.say(PM, "# Head\n\n" + lines(50, "表 wide words here"))
        app.feed.show_task(view(BA, State.WAITING, waiting_for=(AgentId("pm"),)))
        app.feed.page(-1)
        for size in ((1, 1), (3, 2), (20, 5), (200, 50), (9, 40), (11, 3), (24, 8), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            strips = app.feed.render_lines(app.feed.size.region)
            assert [strip.cell_length for strip in strips] == [size[0]] * size[1]
        assert app.feed.text_of(PM).endswith("49\n")


async def test_a_hundred_megabytes_pass_through() -> None:
    app = FeedApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.feed.show_task(view(PM))
        piece = ("x" * 79 + "\n") * 820
        app.feed.say(PM, piece)
        await pilot.pause()
        gc.collect()
        process = psutil.Process()
        memory, began = process.memory_info().rss, time.process_time()
        for number in range(1600):
            app.feed.say(PM, piece)
            if number % 16 == 0:
                await pilot.pause()
        elapsed = time.process_time() - began
        assert process.memory_info().rss - memory < 50_000_000
        assert elapsed < 20
        app.feed.to_start()
        await pilot.pause()
        assert "earlier lines not shown" in app.page
        shown = int(app.page.split("… ")[1].split(" ")[0].replace(",", ""))
        assert shown + app.feed.text_of(PM).count("\n") == 1601 * 820


async def test_ten_megabytes_in_one_line() -> None:
    app = FeedApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.feed.show_task(view(PM))
        for text in ("word " * 2_000_000, "表" * 3_000_000):
            began = time.process_time()
            app.feed.say(PM, text)
            await pilot.pause()
            app.feed.say(PM, "and a bit")
            await pilot.pause()
            assert time.process_time() - began < 3
            assert app.page.endswith("and a bit")
        app.feed.to_start()
        await pilot.pause()
        assert "of this line not shown" in app.page


async def test_a_word_more_costs_next_to_nothing() -> None:
    app = FeedApp()
    async with app.run_test(size=(120, 40)) as pilot:
        for number in range(24):
            app.feed.show_task(view(TaskId(f"pm#{number}")))
        await pilot.pause()
        began = time.process_time()
        for number in range(24_000):
            app.feed.say(TaskId(f"pm#{number % 24}"), "a few words ")
        assert time.process_time() - began < 3


# Selecting


async def test_a_selection_is_the_text_without_its_decoration() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, "one line\nanother line\nthird")
        await pilot.pause()
        y = index_of(app.rows, "one line")
        await pilot.mouse_down(Feed, offset=(8, y))
        await pilot.hover(Feed, offset=(11, y + 1))
        await pilot.mouse_up(Feed, offset=(11, y + 1))
        await pilot.pause()
        assert app.screen.get_selected_text() == "line\nanother"
        everything = app.feed.get_selection(Selection(None, None))
        assert everything is not None
        assert "another line\nthird" in everything[0]
        assert app.feed.get_selection(Selection(Offset(0, 1 << 60), None)) == ("", "\n")


# Rows


@pytest.mark.parametrize("width", [8, 9, 17, 80])
@pytest.mark.parametrize(
    "text", [*HOSTILE, lines(30), "a b " * 100, "表 a" * 90, "x\n\ny"], ids=lambda t: repr(t[:12])
)
def test_rows_put_together_are_the_text(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert "".join(rows) == text
    assert all(cell_len(expand(row).rstrip()) <= width for row in rows)


def test_text_in_pieces_makes_the_same_rows() -> None:
    chance = random.Random(7)
    letters = ["a", "b", "é", "表", " ", "  ", "\t", "\n", "👩\u200d👧", "e\u0301", "word "]
    for _ in range(400):
        text = "".join(chance.choices(letters[: chance.randint(3, len(letters))], k=chance.randint(0, 120)))
        whole, pieces, start = Output(), Output(), 0
        whole.append(text)
        whole.lay_out(10)
        while start < len(text):
            end = start + chance.randint(1, 9)
            pieces.append(text[start:end])
            pieces.lay_out(10)
            start = end
        rows = [whole.row(number) for number in range(whole.rows)]
        assert [pieces.row(number) for number in range(pieces.rows)] == rows
        assert pieces.text == whole.text == text
        assert all(cell_len(expand(row).rstrip()) <= 10 for row in rows)


def test_words_stay_whole_and_a_long_one_does_not() -> None:
    assert wrap("some words here", 10) == ["some words ", "here"]
    assert wrap("many wörds again", 10) == ["many wörds ", "again"]
    assert wrap("exactly10c next", 10) == ["exactly10c ", "next"]
    assert wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert wrap("a 表表表表表表", 10) == ["a 表表表表", "表表"]


def test_lines_of_an_answer_stay_lines() -> None:
    rows = render("From @pm: one\nFrom @ba: two\n\n- a\n  b", 80, dict.fromkeys(_ROLES.values(), Style()))
    assert rows is not None
    lines = ["".join(text for text, _ in row).strip() for row in rows]
    assert lines == ["From @pm: one", "From @ba: two", "", "• a", "b"]


def test_markdown_has_a_budget() -> None:
    assert render("x" * 10_000, 80, {}) is None
    assert render("x\n" * 201, 80, {}) is None
