"""Text that would hurt a terminal or an app, wherever it comes from: it is shown and never obeyed."""

from __future__ import annotations

from pathlib import Path

import pytest

from teambot_tui.engine.text import printable
from tests.ui.stage import LARGE, Stage, on_stage

pytestmark = pytest.mark.thorough

FAMILY = "👨\u200d👩\u200d👧"
OBEYED = "\x1b\x9b\x9d\x90\x07\x00\x08\x0d\u202e\u2066\u202a\u2028\ud800"
HOSTILE = {
    "[/x]": "[/x]",
    "[/": "[/",
    "x[/]": "x[/]",
    "list[str]": "list[str]",
    "[@click=app.quit]x[/]": "[@click=app.quit]x[/]",
    "[bold red]loud[/bold red]": "[bold red]loud[/bold red]",
    "[type=int, input_value={'a': 1}]": "[type=int, input_value={'a': 1}]",
    "$x ${y} $primary": "$x ${y} $primary",
    "before\x1b[2J\x1b]52;c;aGk=\x07\x1bcafter": "beforeafter",
    "before\x9b2J\x9d0;t\x9cafter": "beforeafter",
    "be\u202efore\u2066 after": "before after",
    "a\x00b\x08c\x7fd": "abcd",
    f"{FAMILY} family": FAMILY,
    "表は幅の広い文字です": "表は幅の広い文字です",
    "\ud800 alone": "\ufffd alone",
    "&#x202e;[link](javascript:x)": "link",
    "tab\tand\rreturn": "tab",
}
"""What comes, and what of it is seen in one row."""

HUGE = "word" * 25_000


def everything_drawn(stage: Stage) -> str:
    """What is on the screen now, cell by cell."""
    width, height = stage.app.size
    lines = stage.app.screen._compositor.render_strips(stage.app.size)
    assert len(lines) == height
    return "\n".join("".join(segment.text for segment in strip)[: 4 * width] for strip in lines)


def assert_harmless(stage: Stage) -> None:
    shown = everything_drawn(stage)
    assert not set(shown.replace("\n", "")) & set(OBEYED)
    assert stage.app.is_running
    assert stage.app.return_code is None


async def saw(stage: Stage, text: str, *places: str) -> None:
    for place in places:
        await stage.until(lambda: text in stage.drawn(place), f"{text!r} in {place}")  # noqa: B023


async def test_as_an_answer() -> None:
    async with on_stage(LARGE) as stage:
        stage.panel("pm").focus()
        await stage.press("enter")
        for number, (text, seen) in enumerate(HOSTILE.items(), start=1):
            await stage.ask(lambda session: session.submit("@pm go &"))
            await stage.answer(f"pm#{number}", text)
            await saw(stage, seen, "#output")  # the line of an idle agent says how its task ended, no more
            await stage.until(lambda: inspected(stage) == printable(text), f"{text!r} in the inspector")  # noqa: B023
            assert_harmless(stage)


def inspected(stage: Stage) -> str:
    view = stage.inspector.view
    return view.output if view else ""


async def test_as_a_reason() -> None:
    async with on_stage(LARGE) as stage:
        stage.panel("pm").focus()
        await stage.press("enter")
        for number, (text, seen) in enumerate(HOSTILE.items(), start=1):
            await stage.ask(lambda session: session.submit("@pm go &"))
            await stage.fail(f"pm#{number}", text)
            await saw(stage, seen, "#output", "#panel-pm")
            await stage.until(lambda: stage.notices[-1:] == [f"pm#{number} failed"], "the notice")  # noqa: B023
            assert_harmless(stage)
        await stage.press("escape")
        await stage.paste("@ba check $pm")
        assert "Agent @pm failed: tab and return" in stage.complaint
        assert_harmless(stage)


async def test_as_a_statement() -> None:
    async with on_stage(LARGE) as stage:
        for number, (text, seen) in enumerate(HOSTILE.items(), start=1):
            clean = text.replace("$", "")
            await stage.ask(lambda session: session.submit(f"@ba go {clean}"))  # noqa: B023
            await stage.until(lambda: stage.state(f"ba#{number}"), f"ba#{number}")  # noqa: B023
            await saw(stage, seen.replace("$", ""), "#output")
        await stage.press("ctrl+t")
        assert "[@click=app.quit]x[/]" in stage.dialog
        assert_harmless(stage)
        await stage.press("escape")
        stage.panel("ba").focus()
        await stage.press("enter", "f3")
        assert_harmless(stage)
        await stage.press("escape")
        await stage.paste("/cancel ba")
        await stage.until(lambda: stage.dialog)
        assert_harmless(stage)
        await stage.press("enter")
        await stage.until(lambda: stage.state("ba#1") == "cancelled")
        assert_harmless(stage)


async def test_as_a_notice_and_as_a_complaint() -> None:
    async with on_stage() as stage:
        for text, seen in HOSTILE.items():
            if "\ud800" in text:
                continue  # no key and no paste is one
            stage.screen.controls.person.tell(printable(text), alarm=True)
            stage.bar.text = f"@nobody {text}"
            await stage.press("enter")
            assert "There is no agent" in stage.complaint or "nobody" in stage.complaint, text
            stage.bar.text = f"/task {''.join(text.split())}"  # it takes one word
            await stage.press("enter")
            first = "".join(seen.split())
            assert f"There is no task, agent or label {first}" in stage.complaint or "&#x202e;" in text, text
            assert_harmless(stage)
        await stage.until(lambda: printable(text) in stage.notices, "the notice")


async def test_a_word_of_100_kb_and_nothing_at_all() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm,ba go\n@writer go", made=3)
        await stage.answer("pm#1", HUGE)
        await stage.answer("ba#1", "")
        await stage.fail("writer#1", HUGE)
        assert "wordword" in stage.drawn("#output")
        assert stage.badge("ba") == "○ idle ✓ completed"
        await stage.ask(lambda session: session.submit(f"@pm {HUGE}\n@reviewer $pm $ba"))
        await stage.until(lambda: stage.state("reviewer#1"))
        stage.panel("pm").focus()
        await stage.press("enter")
        await stage.pilot.pause()
        await stage.press("escape", "ctrl+t")
        assert_harmless(stage)
        await stage.press("escape")
        stage.bar.text = f"@{HUGE}"
        await stage.press("enter")
        assert stage.complaint
        assert_harmless(stage)


async def test_as_the_name_of_the_folder() -> None:
    async with on_stage(folder=Path("/nowhere/a\x1b]0;t\x07[x]\u202eb[@click=app.quit]c")) as stage:
        assert "a[x]b[@click=app.quit]c" in stage.line("title")
        assert_harmless(stage)
