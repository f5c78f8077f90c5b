"""The feed shows everything, in order, literally, and however much there is of it."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import psutil
import pytest
from rich.cells import cell_len
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Offset
from textual.selection import Selection

from teambot_tui.engine.activity import Decision, PermissionRequest
from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Dependency, Via
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.ports import Verdict
from teambot_tui.engine.views import TaskView
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.widgets.feed import Feed
from teambot_tui.ui.widgets.feed_text import KEPT_CHARACTERS, Output, expand, wrap
from tests.cost import cheap, is_linear
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

    def on_feed_draft_requested(self, message: Feed.DraftRequested) -> None:
        self.heard.append(message.text)

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
            app.feed.show_task(view(task, statement="@pm,ba plan auth v2 &", siblings=siblings, words="plan"))
        for task, text in ((BA, "second"), (PM, "first"), (BA, " answer\n"), (PM, " answer\n")):
            app.feed.say(task, text)
        await pilot.pause()
        rows = [row for row in app.rows if row]
    assert "› @pm,ba plan auth v2 &" in rows[0]
    assert rows[0].endswith("●2")
    assert rows[1].startswith("      ● @pm  plan ")
    assert rows[1].endswith(" pm#1")
    assert rows[2] == "      ▏ early first answer"
    assert rows[3].startswith("▸     ● @ba  plan ")
    assert rows[4] == "      ▏ second answer"
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
        why = "writer#1 failed: exit status 1"
        app.feed.show_task(view(TaskId("writer#2"), State.SKIPPED, reason=why, cause=WRITER))
        await pilot.pause()
        page = app.page
        assert "✓ @pm " in page
        assert "pm#1 · 0:48" in page
        assert "no output" in page
        waits = app.rows[index_of(app.rows, "@builder  ")]
        assert "@builder  waits for @ba ba#1, @cto (no output yet)   $pm ← pm#1 ✓" in waits
        assert waits.endswith("builder#1")
        assert "✗ @writer  failed" in page
        assert page.count("exit status 1") == 1, "who was skipped says whom to look at"
        assert "r runs it again and brings back writer#2" in page
        assert "@writer  skipped · see @writer writer#1" in page
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
        await pilot.pause()
        assert "old words" not in app.page
        app.feed.show_task(view(PM, started=1_100.0))
        app.feed.say(PM, "new words")
        await pilot.pause()
        assert "old words" not in app.page
        assert "broken" not in app.page
        assert "new words" in app.page


# Following the work


async def chain(app: FeedApp, at: int, count: int = 30, spoken: int = 200) -> tuple[TaskId, ...]:
    """A chain whose task at a number executes: those before are done, those behind wait."""
    agents = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")
    names = tuple(TaskId(f"{agents[each % 6]}#{each // 6 + 1}") for each in range(count))
    statement = " -> ".join(f"@{agent_of(task)} step {each + 1}" for each, task in enumerate(names))
    for number, task in enumerate(names):
        state = State.COMPLETED if number < at else State.EXECUTING if number == at else State.WAITING
        started = 1_000.0 + number if number <= at else 0.0
        app.feed.show_task(
            view(
                task,
                state,
                statement,
                siblings=names,
                words=f"step {number + 1}",
                started=started,
                ended=started + 1 if number < at else None,
            )
        )
        if number <= at:
            app.feed.say(task, lines(spoken, f"said by {task}"))
    return names


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 8)], ids=str)
@pytest.mark.parametrize("at", [0, 5, 17, 29])
async def test_in_a_chain_what_executes_is_in_sight(at: int, size: tuple[int, int]) -> None:
    app = FeedApp()
    async with app.run_test(size=size) as pilot:
        names = await chain(app, at)
        await pilot.pause()
        rows = app.rows
        head = index_of(rows, f"● @{agent_of(names[at])}  step {at + 1}")
        assert rows[head].endswith(names[at])
        assert f"said by {names[at]} 199" in rows[-1]
        assert sum("◷" in row for row in rows) <= 2, "one line for all that waits"
        if size[0] >= 80:
            asked = index_of(rows, "30 stages")
            assert "@pm step 1 -> @ba step 2 -> " in rows[asked]
            waits = f" {Glyphs()['waiting']}{29 - at}" if at < 29 else ""
            assert rows[asked].endswith(f"✓{at} ●1{waits}" if at else f"●1{waits}")
        if at in (5, 17) and size[0] >= 80:
            strip = rows[index_of(rows, "● writer  ")]
            assert "✓ " in strip
            assert strip.endswith(" more")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_each_of_those_in_parallel_has_a_share(size: tuple[int, int]) -> None:
    app = FeedApp()
    async with app.run_test(size=size) as pilot:
        names = tuple(TaskId(f"a{number}#1") for number in range(6))
        for task in names:
            app.feed.show_task(view(task, statement="@a0,a1,a2,a3,a4,a5 go", siblings=names, words="go"))
            app.feed.say(task, lines(200, task))
        app.feed.show_task(view(PM, State.WAITING, waiting_for=(AgentId("a0"),)))
        await pilot.pause()
        for task in names:
            assert f"{task} 199" in app.page
            assert f"● @{agent_of(task)}  go" in app.page
        assert "@pm  waits for @a0" in app.page
        app.feed.show_task(view(names[2], State.COMPLETED, siblings=names))
        await pilot.pause()
        for task in names[:2] + names[3:]:
            assert f"{task} 199" in app.page


async def test_more_at_work_than_rows_is_no_trouble() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 10)) as pilot:
        for number in range(40):
            app.feed.show_task(view(TaskId(f"a{number}#1")))
            app.feed.say(TaskId(f"a{number}#1"), "word")
        await pilot.pause()
        assert sum("●" in row for row in app.rows) == 10


async def test_reading_stops_following_and_end_follows_again() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        names = await chain(app, 5)
        await pilot.pause()
        app.feed.page(-1)
        await pilot.pause()
        assert not app.feed.follow
        seen = [row[:79] for row in app.rows[:-1]]
        app.feed.say(names[5], lines(50, "more"))
        app.feed.show_task(view(names[5], State.COMPLETED, siblings=names))
        app.feed.show_task(view(names[6], siblings=names))
        app.feed.say(names[6], "next")
        await pilot.pause()
        assert [row[:79] for row in app.rows[:-1]] == seen
        app.feed.to_end()
        await pilot.pause()
        assert "▏ next" in app.page


async def test_the_only_times_are_of_statements_and_they_never_change() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        for number, task in enumerate((PM, BA)):
            app.feed.show_task(view(task, State.WAITING, created=1_000.0 + 60 * number, started=0.0))
        await pilot.pause()
        before = [row[:5] for row in app.rows if row[:2].isdigit()]
        assert before == sorted(before)
        for task, begin in ((BA, 5_000.0), (PM, 6_000.0)):
            created = 1_000.0 + 60 * (task == BA)
            app.feed.show_task(view(task, State.COMPLETED, created=created, started=begin, ended=begin + 5))
        app.feed.show_task(view(WRITER, State.CANCELLED, started=0.0, ended=7_000.0))
        await pilot.pause()
        assert [row[:5] for row in app.rows if row[:2].isdigit()][:2] == before
        assert "@writer  cancelled" in app.page
        assert "0:00" not in app.page


async def test_what_was_allowed_stays_in_the_block() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        asked = [PermissionRequest(PM, str(each), "Run", "execute", f"make {each}[/x]") for each in range(3)]
        decisions = (
            Decision(asked[0].summary, Verdict.ALLOW, ""),
            Decision(asked[1].summary, Verdict.REJECT, "policy"),
        )
        app.feed.show_task(view(PM, requests=(asked[2],), decisions=decisions))
        await pilot.pause()
        assert "✓ allowed: execute: make 0[/x]" in app.page
        assert "✗ rejected: execute: make 1[/x] · policy" in app.page
        assert "? @pm  needs you" in app.page
        assert "? needs you: execute: make 2[/x]" in app.page
        app.feed.show_task(view(PM, State.COMPLETED, decisions=decisions))
        await pilot.pause()
        assert "✓ allowed: execute: make 0" in app.page


async def test_keys_ask_for_drafts() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED, statement="@pm plan it"))
        app.feed.focus()
        await pilot.press("@", ">", "E")
        assert app.heard == ["@pm ", "$pm ", "@pm plan it"]


def test_a_frame_costs_the_same_however_many_tasks_there_are() -> None:
    async def measure(count: int) -> float:
        app = FeedApp()
        async with app.run_test(size=(120, 40)) as pilot:
            for number in range(count):
                app.feed.show_task(view(TaskId(f"pm#{number}"), State.COMPLETED))
                app.feed.say(TaskId(f"pm#{number}"), "done\n")
            await pilot.pause()
            times = []
            for number in range(40):
                began = time.perf_counter()
                app.feed.say(TaskId(f"pm#{count - 1}"), f"{number}\n")
                app.feed.show_task(view(TaskId(f"pm#{count - 1}")))
                app.feed.render_lines(app.feed.size.region)
                times.append(time.perf_counter() - began)
            return min(times)

    few, many = (asyncio.run(measure(count)) for count in (10, 5_000))
    assert many < 2 * few + 0.001


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
        app.feed.say(PM, "```\n" + lines(38) + "```\n")
        app.feed.show_task(view(PM, State.COMPLETED))
        await pilot.pause()
        assert "line 37" in app.page
        app.feed.show_task(view(BA, State.COMPLETED))
        await pilot.pause()
        assert "line 3" in app.page
        assert "line 4" not in app.page
        assert "      ▏ +34 lines · Enter expands" in app.rows
        app.feed.toggle_fold(PM)
        await pilot.pause()
        assert "line 37" in app.page
        assert "Enter expands" not in app.page


async def test_one_line_more_is_not_worth_folding() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 60)) as pilot:
        app.feed.show_task(view(PM, State.FAILED))
        app.feed.say(PM, "```\n" + lines(5) + "```\n")
        app.feed.show_task(view(BA, State.COMPLETED))
        await pilot.pause()
        assert "line 4" in app.page


async def test_a_click_on_the_head_or_the_fold_line_toggles_and_chooses() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 60)) as pilot:
        app.feed.show_task(view(PM, State.COMPLETED))
        app.feed.say(PM, lines(300))
        app.feed.show_task(view(BA, State.COMPLETED))
        await pilot.pause()
        await pilot.click(Feed, offset=(10, index_of(app.rows, "Enter expands")))
        await pilot.pause()
        assert "line 30" in app.page
        assert app.heard[-1] == PM
        app.feed.to_start()
        await pilot.pause()
        await pilot.click(Feed, offset=(20, index_of(app.rows, "✓ @pm")))
        await pilot.pause()
        assert "+296 lines" in app.page
        app.heard.clear()
        await pilot.click(Feed, offset=(10, index_of(app.rows, "line 3")))
        assert "+296 lines" in app.page, "a click on the output only chooses"
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
        assert "▸" in app.rows[index_of(app.rows, "✓ @pm")]
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
        assert [row[:79] for row in app.rows[:-1]] == [row[:79] for row in seen[:-1]], "what is read stays"
        assert seen[-1].endswith("▼ more · End follows")
        assert app.rows[-1].endswith("▼ 2 more · End follows")
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
        first = next(row for row in app.rows if row[8:10].strip().isdigit())[8:10]
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert any(row[8:].startswith(first) for row in app.rows)
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
        app.feed.say(PM, "x" * 29 + "needle" + "x" * 30 + "\n\tneedle")
        assert app.feed.find("needle") == 2
        await pilot.pause()
        found = app.feed.get_component_rich_style("feed--found").bgcolor
        drawn = [
            part.text
            for y in range(24)
            for part in app.feed.render_line(y)
            if part.style and part.style.bgcolor == found
        ]
        assert drawn == ["ne", "edle", "needle"]


# Markdown


async def test_an_answer_looks_the_same_while_it_is_said_and_when_it_is_done() -> None:
    app = FeedApp()
    text = "# Plan\n\n- **one** [home](https://example.org)\n- two\n\n```py\nx = 1\n```\n\nand `more`"
    async with app.run_test(size=(80, 40)) as pilot:
        app.feed.show_task(view(PM))
        for character in text:
            app.feed.say(PM, character)
            await pilot.pause()
        before = app.rows[2:]
        assert "• one home (https://example.org)" in app.page
        assert "**" not in app.page
        assert "```" not in app.page
        app.feed.show_task(view(PM, State.COMPLETED))
        await pilot.pause()
        assert app.rows[2:] == before
        assert app.feed.text_of(PM) == text
        assert app.feed.find("one** [home") == 1
        assert app.feed.find("home") == 1
        await pilot.pause()
        assert app.rows[2:] == before, "what is looked for does not turn it back into source"
        style = app.feed.get_component_rich_style("feed--found").bgcolor
        drawn = [
            part.text
            for y in range(40)
            for part in app.feed.render_line(y)
            if part.style and part.style.bgcolor == style
        ]
        assert drawn == ["home"]


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
        with cheap(160):
            await pilot.pause()
        assert app.is_running


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
            if "](" not in text:
                assert f"▏ {text}" in app.page
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
        memory = process.memory_info().rss
        with cheap(540):
            for number in range(1600):
                app.feed.say(PM, piece)
                if number % 16 == 0:
                    await pilot.pause()
        assert process.memory_info().rss - memory < 50_000_000
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
            with cheap(80):
                app.feed.say(PM, text)
                await pilot.pause()
                app.feed.say(PM, "and a bit")
                await pilot.pause()
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
        with cheap(80):
            for number in range(24_000):
                app.feed.say(TaskId(f"pm#{number % 24}"), "a few words ")


# Selecting


async def test_a_selection_is_the_text_without_its_decoration() -> None:
    app = FeedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed.show_task(view(PM))
        app.feed.say(PM, "one line\nanother line\nthird")
        await pilot.pause()
        y = index_of(app.rows, "one line")
        await pilot.mouse_down(Feed, offset=(12, y))
        await pilot.hover(Feed, offset=(15, y + 1))
        await pilot.mouse_up(Feed, offset=(15, y + 1))
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


def shown(text: str, width: int = 80) -> list[str]:
    output = Output()
    output.append(text)
    output.lay_out(width)
    return ["".join(part for part, _ in output.parts(number)) for number in range(output.rows)]


def test_lines_of_an_answer_stay_lines() -> None:
    text = "From @pm: one\nFrom @ba: two\n\n- a\n  b\n1. *c*\n> d\n| e | f |\nsnake_case_name \\*\n**open"
    assert shown(text) == [
        "From @pm: one",
        "From @ba: two",
        "",
        "• a",
        "  b",
        "1. c",
        "│ d",
        "│ e │ f │",
        "snake_case_name *",
        "open",
    ]
    assert shown("**open\n") == ["**open"]
    assert shown("- some words that go on", 14) == ["• some words ", "  that go on"]


def test_only_so_much_is_markdown() -> None:
    rows = shown("**bold**\n" * 10_000)
    assert rows[0] == "bold"
    assert rows[-1] == "**bold**"


@pytest.mark.parametrize(
    "text", ["*a *a " * 3_000, "`" * 9_000, "[" * 9_000, "**a" * 3_000, "_a " * 3_000, "\\" * 9_000]
)
def test_hostile_markdown_in_many_lines_is_quick(text: str) -> None:
    def lay_out(size: int) -> None:
        output = Output()
        for start in range(0, size, 1_500):
            output.append(text[start : min(size, start + 1_500)] + "\n")
            output.lay_out(80)

    assert is_linear(lay_out, len(text))


def test_pieces_of_markdown_make_the_same_rows() -> None:
    chance = random.Random(3)
    letters = [
        "a",
        "**",
        "`",
        "```\n",
        "\n",
        "- ",
        " ",
        "word ",
        "表",
        "> ",
        "# ",
        "\t",
        "[x](y)",
        "e\u0301",
        "|",
    ]
    for _ in range(400):
        text = "".join(chance.choices(letters, k=chance.randint(0, 60)))
        pieces, start = Output(), 0
        while start < len(text):
            end = start + chance.randint(1, 9)
            pieces.append(text[start:end])
            pieces.lay_out(10)
            start = end
        found = ["".join(part for part, _ in pieces.parts(number)) for number in range(pieces.rows)]
        assert found == shown(text, 10)
        assert pieces.text == text
