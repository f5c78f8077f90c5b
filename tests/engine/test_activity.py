"""What agents do besides answering: kept within bounds, shown while it happens, summed up at the end."""

from __future__ import annotations

import pytest

from teambot_tui.engine.activity import Activities, tool_line
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Plan, Step, Text, Thought, ToolCall, ToolState, Usage
from teambot_tui.engine.spending import Spending
from teambot_tui.engine.text import one_line, visible
from teambot_tui.ui.glyphs import Glyphs, money, tokens, used
from tests.team import Busy
from tests.ui.stage import LARGE, SMALL, Stage, on_stage
from tests.ui.test_approvals import tell
from tests.ui.test_hostile import HOSTILE, HUGE, assert_harmless

PM, TASK = AgentId("pm"), TaskId("pm#1")
RUNNING, DONE, FAILED = ToolState.RUNNING, ToolState.DONE, ToolState.FAILED


def tool(name: str = "1", state: ToolState = RUNNING, *, kind: str = "execute", detail: str = "") -> ToolCall:
    return ToolCall(name, f"Tool {name}", kind, state, detail)


@pytest.mark.parametrize(
    ("kind", "title", "detail", "line"),
    [
        ("execute", "Run tests", "npm test", "execute: npm test"),
        ("execute", "Run tests", "\n  npm test\nnpm lint\n", "execute: npm test"),
        ("execute", "Run tests", "", "execute: Run tests"),
        ("edit", "Edit src/a.py", "--- a\n+++ b", "edit: src/a.py"),
        ("edit", "src/a.py", "", "edit: src/a.py"),
        ("read", "", "/etc/hosts\nmore", "read: /etc/hosts"),
        ("edit", "", "", "edit"),
        ("", "Something", "", "Something"),
        ("execute", "", "a\tb", "execute: a b"),
        ("", "", "", ""),
    ],
)
def test_a_tool_in_a_line(kind: str, title: str, detail: str, line: str) -> None:
    assert tool_line(ToolCall("1", title, kind, RUNNING, detail)) == line


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (None, ""),
        (Usage(), ""),
        (Usage(10_000, 2_400), "12.4k"),
        (Usage(10_000, 2_400, 0.21), "12.4k · $0.21"),
        (Usage(1, 1, 0.001), "2 · <$0.01"),
        (Usage(0, 0, 0.0), "$0.00"),
        (Usage(3_000_000, 400_000, 1234.5), "3.4M · $1,234.50"),
        (Usage(0, 0, None, 8_700), "context 8.7k"),
        (Usage(0, 0, 0.21, 8_700), "context 8.7k · $0.21"),
        (Usage(10_000, 2_400, None, 8_700), "12.4k"),
    ],
)
def test_what_was_used(usage: Usage | None, words: str) -> None:
    assert used(usage, Glyphs()) == words
    assert (tokens(999), money(2)) == ("999", "$2.00")


def test_a_tool_is_known_by_its_id_and_an_update_may_say_less() -> None:
    doings = Activities()
    doings.take_in(TASK, tool("1", detail="npm test"))
    doings.take_in(TASK, tool("2"))
    assert doings.of(TASK).current == tool("2")
    doings.take_in(TASK, ToolCall("2", "", "", DONE))
    assert doings.of(TASK).current == tool("1", detail="npm test"), "the other one still runs"
    doings.take_in(TASK, ToolCall("1", "", "", FAILED))
    seen = doings.of(TASK)
    assert (seen.current, seen.tool_count) == (None, 2)
    assert seen.tools == (tool("1", FAILED, detail="npm test"), tool("2", DONE))
    assert doings.of(TASK) is seen, "nothing changed, so nothing is made again"


def test_words_are_newer_than_the_tool_before_them() -> None:
    doings = Activities()
    doings.take_in(TASK, tool())
    doings.hear(TASK, " \n")
    assert doings.of(TASK).current is not None
    doings.hear(TASK, "so")
    assert doings.of(TASK).current is None
    doings.take_in(TASK, tool("2"))
    assert doings.of(TASK).current == tool("2")


@pytest.mark.parametrize(("well", "state"), [(True, DONE), (False, FAILED)])
def test_the_end_of_a_task_is_the_end_of_its_tools(well: bool, state: ToolState) -> None:
    doings = Activities()
    doings.take_in(TASK, tool())
    doings.end(TASK, well=well)
    assert [each.state for each in doings.of(TASK).tools] == [state]
    assert doings.of(TASK).current is None


def test_memory_is_bounded() -> None:
    doings = Activities()
    for number in range(1000):
        doings.take_in(TASK, tool(str(number), detail="x" * 64_000))
        doings.take_in(TASK, Thought("t" * 1000))
        doings.take_in(TASK, Plan((Step(f"step {number}", "pending"),)))
    seen = doings.of(TASK)
    assert (seen.tool_count, len(seen.tools), seen.tools[-1].id) == (1000, 200, "999")
    assert sum(len(each.detail) for each in seen.tools) <= 200 * 500
    assert len(seen.thoughts) <= 16 * 1024
    assert seen.plan == (Step("step 999", "pending"),)


def test_what_was_used_is_summed_up_even_when_a_task_is_done_again() -> None:
    doings = Activities()
    for usage in (Usage(10, 5), Usage(20, 10, 0.5), Usage(20, 15, 0.75)):
        doings.take_in(TASK, usage)
    assert doings.of(TASK).usage == Usage(20, 15, 0.75)
    doings.begin_again(TASK)
    assert doings.of(TASK).usage is None
    doings.take_in(TASK, Usage(1, 1, 0.25))
    doings.take_in(TaskId("ba#1"), Usage(100, 0))
    assert doings.used_by(PM) == Usage(21, 16, 1.0)
    assert doings.used_by(AgentId("ba")) == Usage(100, 0)
    assert doings.total == Usage(121, 16, 1.0)


# On the screen


def test_a_report_that_corrects_another_leaves_title_panel_and_budget_with_one_number() -> None:
    doings, spending = Activities(), Spending(None, None)
    for usage in (Usage(100, 0, 0.5), Usage(70, 25), Usage(70, 20, 0.25, 8_000)):
        doings.take_in(TASK, usage)
        spending.add(TASK, usage)
    assert doings.of(TASK).usage == Usage(70, 20, 0.25, 8_000)
    assert doings.used_by(PM) == doings.total == Usage(70, 20, 0.25)
    assert (spending.tokens, spending.cost) == (90, 0.25)


async def test_what_an_agent_does_is_seen_while_it_does_it() -> None:
    busy = Busy()
    async with on_stage(LARGE, gate=busy) as stage:
        await stage.paste("@pm plan", made=1)
        stage.panel("pm").focus()
        await stage.press("enter")
        await tell(stage, busy, "pm#1", Thought("first I look\nthen I leap"), tool("1", detail="npm test"))
        await stage.until(lambda: "⚙ execute: npm test" in stage.drawn("#panel-pm"), "the panel")
        await stage.until(lambda: "⚙ execute: npm test · running" in stage.drawn("#output"), "the output")
        steps = Plan((Step("look", "completed"), Step("leap", "in_progress"), Step("rest", "pending")))
        await tell(
            stage, busy, "pm#1", Text("I looked.\n"), steps, tool("1", FAILED), Usage(10_000, 2_400, 0.21)
        )
        await stage.until(lambda: "I looked." in stage.drawn("#panel-pm"), "the words")
        assert "⚙" not in stage.drawn("#panel-pm"), "words are newer"
        await stage.until(lambda: "⚙ execute: npm test · failed" in stage.drawn("#output"), "its end")
        await stage.until(lambda: "12.4k · $0.21" in stage.drawn("#panel-pm"), "the usage")
        await stage.until(lambda: "12.4k tok · $0.21" in stage.line("title"), "the sum")
        await stage.until(lambda: "What it did · 1 tool · 12.4k tokens · $0.21" in stage.inspector.text, "it")
        for line in ("✓ look", "● leap", "○ rest", "✗ execute: npm test  failed", "▏ then I leap"):
            assert line in stage.inspector.text
        await stage.answer("pm#1", "done")
        head = "pm#1 · 0:00 · 12.4k · $0.21"
        await stage.until(lambda: head in stage.drawn("#output"), "the head")
        assert "⚙" not in stage.drawn("#output")
        assert "12.4k · $0.21" in stage.drawn("#panel-pm")
        await stage.ask(lambda session: session.submit("@pm again"))
        await tell(stage, busy, "pm#2", Usage(600, 0))
        await stage.until(lambda: "600 tokens · in all 13.0k · $0.21" in stage.inspector.text, "both sums")


async def test_out_of_sight_nothing_is_drawn_and_nothing_is_ever_laid_out() -> None:
    busy = Busy()
    async with on_stage(SMALL, gate=busy) as stage:
        await stage.paste("@pm plan", made=1)
        await tell(stage, busy, "pm#1", tool("0"))
        await stage.until(lambda: "⚙" in stage.drawn("#output"), "the output")
        laid_out = count_layouts(stage)
        for number in range(1, 30):
            await tell(stage, busy, "pm#1", tool(str(number)), Thought("hm "), Usage(number, 0))
        await stage.until(lambda: "Tool 29" in stage.drawn("#output"), "the last one")
        assert not laid_out


def count_layouts(stage: Stage) -> list[object]:
    """Return a list that grows whenever the session's screen is laid out again."""
    laid_out: list[object] = []
    before = stage.screen._refresh_layout

    def noted(*arguments: object, **more: object) -> None:
        laid_out.append(arguments)
        before(*arguments, **more)  # type: ignore[arg-type]

    stage.screen._refresh_layout = noted  # type: ignore[method-assign]
    return laid_out


async def test_hostile_doings_are_shown_and_never_obeyed() -> None:
    busy = Busy()
    async with on_stage(LARGE, gate=busy) as stage:
        await stage.paste("@pm plan", made=1)
        stage.panel("pm").focus()
        await stage.press("enter")
        for number, text in enumerate([*HOSTILE, HUGE]):
            call = ToolCall(text + str(number), text, "", RUNNING, text)
            await tell(stage, busy, "pm#1", Thought(f"\n{text}"), Plan((Step(text, text),)), call)
            seen = "wordword" if text is HUGE else one_line(visible(text))
            await stage.until(lambda: seen[:24] in stage.drawn("#panel-pm"), f"{text[:40]!r}")  # noqa: B023
            await stage.until(lambda: seen in stage.drawn("#output"), f"{text[:40]!r}")  # noqa: B023
            assert_harmless(stage)
