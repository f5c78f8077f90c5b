"""The inspector shows one agent in full, and nothing an agent says can do more than be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from textual.widgets import OptionList, Static

from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.injection import Prompt
from teambot_tui.engine.ports import Given
from teambot_tui.engine.views import AgentView
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.setup import Profile
from teambot_tui.ui.widgets.inspector import Inspector
from teambot_tui.ui.widgets.inspector_output import TaskOutput
from teambot_tui.ui.widgets.inspector_prompt import Piece, pieces
from teambot_tui.ui.widgets.inspector_sections import earlier_lines
from teambot_tui.ui.widgets.inspector_view import InspectorView, NeedView
from teambot_tui.ui.widgets.inspector_words import fold
from teambot_tui.ui.widgets.plain_lines import PlainLines
from teambot_tui.ui.widgets.safe_markdown import within_budget
from tests.ui.bare import Bare
from tests.ui.views import HOSTILE, task

if TYPE_CHECKING:
    from textual.app import App, ComposeResult
    from textual.pilot import Pilot

    from teambot_tui.engine.views import TaskView

MARKDOWN = (
    "| [/x] | [@click=app.quit]go[/] |\n|---|---|\n| [/x] | list[str] |",
    "[go](javascript:x) ![i](file:///etc/passwd) <http://a.b/[/x]>",
    "&#x202e;evil&#x9b;",
)
PM, BA, BUILDER = AgentId("pm"), AgentId("ba"), AgentId("builder-1")


def inspected(at_hand: TaskView | None, **more: object) -> InspectorView:
    """A view of the builder at 172."""
    plain = InspectorView(BUILDER, AgentView(BUILDER, "idle", None), at_hand, now=172.0)
    return replace(plain, **more)  # type: ignore[arg-type]  # the caller knows the fields


class InspectorApp(Bare):
    def __init__(self) -> None:
        super().__init__()
        self.inspector = Inspector()
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.inspector

    def on_mount(self) -> None:
        self.inspector.focus()

    def on_inspector_closed(self) -> None:
        self.heard.append("closed")

    def on_inspector_chosen(self, message: Inspector.Chosen) -> None:
        self.heard.append(f"chosen {message.task}")

    def on_inspector_copy_requested(self, message: Inspector.CopyRequested) -> None:
        self.heard.append(f"copy {message.what}: {message.text}")

    def on_inspector_find_requested(self) -> None:
        self.heard.append("find")

    def on_inspector_remove_requested(self, message: Inspector.RemoveRequested) -> None:
        self.heard.append(f"remove {message.task}")


async def settle(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def texts_of(*views: InspectorView) -> list[str]:
    app = InspectorApp()
    texts: list[str] = []
    async with app.run_test(size=(80, 50)) as pilot:
        for view in views:
            app.inspector.show(view)
            await settle(pilot)
            texts.append(app.inspector.text)
    return texts


def screen_text(app: App[None]) -> str:
    return "\n".join(
        "".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()
    )


async def test_state_and_how_long() -> None:
    executing, completed, failed, waiting, idle = await texts_of(
        inspected(task("builder-1#1")),
        inspected(task("builder-1#1", "completed")),
        inspected(task("builder-1#1", "failed", reason="exit status 3")),
        inspected(task("builder-1#1", "waiting", waiting_for=(BA, PM), no_output_yet=(PM,))),
        inspected(None),
    )
    assert "● executing  1:12" in executing
    assert "✓ completed in 0:48, 0:24 ago" in completed
    assert "✗ failed" in failed
    assert "exit status 3" in failed
    assert "◷ waiting for @ba, @pm (no output yet)  1:22" in waiting
    assert "○ idle" in idle


async def test_what_it_needs_and_what_it_unblocks() -> None:
    view = inspected(
        task("builder-1#1", "waiting", waiting_for=(BA,)),
        needs=(
            NeedView(PM, Via.REFERENCE, task("pm#1", "completed"), 2150),
            NeedView(BA, Via.HANDOFF, task("ba#1")),
            NeedView(AgentId("legal"), Via.REFERENCE),
        ),
        unblocks=(task("reviewer#1", "queued"),),
    )
    (text,) = await texts_of(view)
    assert "$pm ← pm#1  ✓ completed 0:24 ago · 2.1 kB" in text
    assert "-> @ba ← ba#1  ● executing 1:12" in text
    assert "$legal  no output yet" in text
    assert "→ reviewer#1  ◌ queued" in text


async def test_a_prompt_that_is_not_whole_yet_says_when_it_will_be() -> None:
    missing = "… @ba's output …"
    prompt = Prompt(f"Build [Output from @ba]: {missing}", "Build @ba", (Given(BA, missing),))
    (text,) = await texts_of(
        inspected(task("builder-1#1", "waiting", waiting_for=(BA,), started=0.0), prompt=prompt)
    )
    assert "as it will be sent once @ba answered" in text
    assert missing in text


async def test_an_idle_agent_says_what_it_is() -> None:
    (text,) = await texts_of(
        inspected(None, profile=Profile("claude", "ask", "You build.\nYou test.")),
    )
    assert "backend claude · permissions ask" in text
    assert "You build." in text


async def test_earlier_tasks_are_those_before_it() -> None:
    tasks = tuple(task(f"builder-1#{number}", "completed") for number in (1, 2, 3))
    (text,) = await texts_of(inspected(tasks[1], earlier=tasks))
    assert "Earlier" in text
    assert [name for name, _ in earlier_lines(inspected(tasks[1], earlier=tasks), Glyphs())] == [
        "builder-1#1"
    ]


def test_a_prompt_is_taken_apart() -> None:
    plan, rules = "1. do\n2. it", "be kind"
    given = (Given(PM, plan), Given(BA, rules))
    inserted = Prompt(f"build [Output from @pm]: {plan} by [Output from @ba]: {rules}", "", given)
    assert pieces(inserted) == (Piece("build "), Piece(plan, PM), Piece(" by "), Piece(rules, BA))
    handed = Prompt(f"=== Output from @pm ===\n{plan}\n\n=== Your Task ===\ncheck", "", given[:1])
    assert pieces(handed) == (Piece(plan, PM), Piece("=== Your Task ===\ncheck"))
    assert pieces(Prompt(plan, "", given[:1])) == (Piece(plan, PM),)
    assert pieces(Prompt("plan it", "plan it")) == (Piece("plan it"),)
    failed = Prompt("see [@pm failed: no]", "", (Given(PM, "[@pm failed: no]"),))
    assert pieces(failed) == (Piece("see "), Piece("[@pm failed: no]", PM))
    short = Prompt("a cat and [Output from @pm]: a", "", (Given(PM, "a"),))
    assert pieces(short) == (Piece("a cat and "), Piece("a", PM)), "the person's own words are not an output"


async def test_injected_parts_are_labelled_and_folded() -> None:
    plan = "\n".join(f"step {number}" for number in range(30))
    prompt = Prompt(f"build [Output from @pm]: {plan}", "build @pm", (Given(PM, plan),))
    view = inspected(
        task("builder-1#1"),
        prompt=prompt,
        needs=(NeedView(PM, Via.REFERENCE, task("pm#1", "completed"), len(plan)),),
    )
    app = InspectorApp()
    async with app.run_test(size=(80, 60)) as pilot:
        app.inspector.show(view)
        await settle(pilot)
        text = app.inspector.text
        assert "as it was sent" in text
        assert "▏ ← @pm · pm#1 · 0:24 ago · 229" in text
        assert "▏ step 3" in text
        assert "step 4" not in text
        assert "▏ … +26 lines" in text
        await pilot.press("p")
        assert "▏ step 29" in app.inspector.text
        await pilot.press("p")
        assert "step 29" not in app.inspector.text


async def test_output_is_markdown_within_the_budget_and_lines_beyond() -> None:
    app = InspectorApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.inspector.show(inspected(task("builder-1#1"), output="# Done\n\n**all** of it"))
        await settle(pilot)
        assert "all of it" in screen_text(app), "the stars are gone"
        app.inspector.show(inspected(task("builder-1#1"), output="one line\nand another"))
        await settle(pilot)
        assert "one line" in screen_text(app)
        assert "one line and" not in screen_text(app), "lines stay lines"
        app.inspector.show(inspected(task("builder-1#1"), output="# Done\n\n**all** of it and\n\n- more"))
        await settle(pilot)
        assert "all of it and" in screen_text(app)
        assert "more" in screen_text(app)
        big = "**line**\n" * 2000
        app.inspector.show(inspected(task("builder-1#1", "completed"), output=big))
        await settle(pilot)
        assert "**line**" in screen_text(app)
        assert app.inspector.max_scroll_y > 1900, "whole and scrollable"
        app.inspector.show(inspected(task("builder-1#1", "completed"), output="*short*"))
        await settle(pilot)
        assert "*short*" not in screen_text(app)
        assert "short" in screen_text(app)


def test_the_budget() -> None:
    assert within_budget("")
    assert within_budget("# A\n\n" + "word " * 1000)
    assert not within_budget("x" * 9000)
    assert not within_budget("# h\n" * 1000)
    assert not within_budget("|a" * 60 + "|\n" + "|-" * 60 + "|\n" + ("|b" * 60 + "|\n") * 10)
    assert not within_budget("漢" * 4000)


async def test_a_large_output_is_whole_once_it_is_done() -> None:
    app = InspectorApp()
    async with app.run_test(size=(80, 40)) as pilot:
        app.inspector.show(inspected(task("builder-1#1", "completed"), output="x" * 1_000_000))
        await settle(pilot)
        assert app.inspector.max_scroll_y > 1_000_000 // 80
        app.inspector.show(inspected(task("builder-1#1"), output="a line of it\n" * 80_000))
        await settle(pilot)
        assert "its end" in app.inspector.text


async def test_the_same_again_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = InspectorApp()
    view = inspected(
        task("builder-1#1"), output="said", queue=(TaskId("builder-1#1"),), prompt=Prompt("do", "do")
    )
    async with app.run_test(size=(80, 40)) as pilot:
        app.inspector.show(view)
        await settle(pilot)
        updated: list[str | None] = []
        original = Static.update

        def update(self: Static, content: object = "", *, layout: bool = True) -> None:
            updated.append(self.id)
            original(self, content, layout=layout)  # type: ignore[arg-type]  # handed on as it came

        monkeypatch.setattr(Static, "update", update)
        app.inspector.show(replace(view))
        await settle(pilot)
        assert updated == []
        app.inspector.show(replace(view, now=173.0))
        await settle(pilot)
        assert updated == ["inspector-head"], "only the clock moved"


async def test_earlier_tasks_newest_first_and_chosen() -> None:
    app = InspectorApp()
    earlier = tuple(task(f"builder-1#{number}", "completed") for number in range(1, 4))
    async with app.run_test(size=(80, 40)) as pilot:
        app.inspector.show(inspected(task("builder-1#4"), earlier=(*earlier, task("builder-1#4"))))
        await settle(pilot)
        app.screen.query_one("#inspector-earlier", OptionList).focus()
        await pilot.press("enter")
        await pilot.press("down", "enter")
        assert app.heard == ["chosen builder-1#3", "chosen builder-1#2"]


async def test_an_entry_of_the_queue_can_be_removed() -> None:
    app = InspectorApp()
    queue = tuple(TaskId(f"builder-1#{number}") for number in range(1, 4))
    async with app.run_test(size=(80, 40)) as pilot:
        app.inspector.show(inspected(task("builder-1#1"), queue=queue))
        await settle(pilot)
        await pilot.press("x")
        assert app.heard == [], "nothing is removed unless an entry is under the cursor"
        app.screen.query_one("#inspector-queue", OptionList).focus()
        await pilot.press("down", "x", "down", "delete")
        assert app.heard == ["remove builder-1#2", "remove builder-1#3"]
        app.inspector.show(inspected(task("builder-1#1"), queue=(queue[0], queue[2])))
        await settle(pilot)
        await pilot.press("x")
        assert app.heard[-1] == "remove builder-1#3", "the cursor stays on its task"


async def test_escape_closes() -> None:
    app = InspectorApp()
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press("escape")
        assert app.heard == ["closed"]


@pytest.mark.parametrize("text", [*HOSTILE, *MARKDOWN])
async def test_hostile_text_is_only_text(text: str) -> None:
    app = InspectorApp()
    at_hand = task("builder-1#1", "failed", statement=text, reason=text, model=text)
    view = inspected(
        at_hand,
        prompt=Prompt(f"do [Output from @pm]: {text}", "do", (Given(PM, text),)),
        output=text,
        earlier=(task("builder-1#0", "completed", statement=text),),
        queue=(TaskId(text), TaskId("builder-1#2")),
        needs=(NeedView(AgentId(text), Via.REFERENCE, task("pm#1", "completed"), 9),),
        unblocks=(task("reviewer#1", "queued"),),
    )
    async with app.run_test(size=(60, 50)) as pilot:
        app.inspector.show(view)
        await settle(pilot)
        for row in (1, 20):
            await pilot.click(offset=(10, row))
        await settle(pilot)
        assert app.is_running
        assert not {"\u202e", "\x9b"} & set(screen_text(app))
        tips = [widget for widget in app.inspector.query("*") if isinstance(widget.tooltip, str)]
        assert not tips, "a tooltip made of a string is parsed as markup"


def test_folding_counts_what_is_left_out() -> None:
    assert fold("a\nb\n", 4) == ("a\nb", 0)
    assert fold("a\nb\nc\nd", 2) == ("a\nb", 2)
    assert len(fold("x" * 100_000, 4)[0]) < 3000
    assert fold("", 3) == ("", 0)


async def test_every_row_of_what_was_put_in_has_its_bar() -> None:
    plan = "a long line of the plan " * 12 + "\nwith\ttabs and 漢字" + "漢" * 60
    prompt = Prompt(f"[Output from @pm]: {plan}", f"[Output from @pm]: {plan}", (Given(PM, plan),))
    app = InspectorApp()
    async with app.run_test(size=(60, 60)) as pilot:
        for width in (60, 40):
            await pilot.resize_terminal(width, 60)
            app.inspector.show(inspected(task("builder-1#1"), prompt=prompt, output="x\n\n" * 60))
            await settle(pilot)
            part = app.query_one("#inspector-prompt", Static)
            rows = [strip.text.rstrip() for strip in part.render_lines(part.size.region)]
            assert len(rows) > 6
            assert all(row.lstrip().startswith("▏ ") for row in rows), rows
            assert max(map(cell_len, rows)) <= width


async def test_finding_in_the_output() -> None:
    app = InspectorApp()
    text = "# Title\n\n" + "".join(f"line {number} with\ta Needle[/x]\n\n" for number in range(60))
    async with app.run_test(size=(60, 20)) as pilot:
        app.inspector.show(inspected(task("builder-1#1", "completed"), output=text))
        await settle(pilot)
        output = app.query_one(TaskOutput)
        assert not output.plain
        assert app.inspector.find("needle[/X]") == 60
        await settle(pilot)
        assert output.plain
        assert app.inspector.find_next(0) == 1
        assert app.inspector.find_next(1) == 2
        assert app.inspector.find_next(-2) == 60, "around the end"
        await settle(pilot)
        assert app.inspector.scroll_y > 60
        assert app.inspector.find_next(1) == 1
        await settle(pilot)
        lines = app.query_one(PlainLines)
        row = next(y for y in range(10) if "line 0" in lines.render_line(y).text)
        styles = {segment.text: segment.style for segment in lines.render_line(row)}
        assert "Needle[/x]" in styles, styles
        assert styles["Needle[/x]"] != styles[next(iter(styles))]
        assert app.inspector.find("nowhere") == 0
        assert app.inspector.find_next(1) == 0
        assert app.inspector.find("") == 0
        assert not output.plain


async def test_copying_the_output_and_the_prompt() -> None:
    app = InspectorApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("y", "Y")
        app.inspector.show(inspected(task("builder-1#1"), output="said", prompt=Prompt("asked", "asked")))
        await settle(pilot)
        await pilot.press("y", "Y", "slash")
        assert app.heard == [
            "copy the output of builder-1#1: said",
            "copy the prompt of builder-1#1: asked",
            "find",
        ]
