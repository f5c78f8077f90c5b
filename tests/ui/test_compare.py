"""Answers side by side: what is the same stands in one row, what differs is marked, and one is handed on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.language.nodes import Code, Words
from teambot_tui.language.parser import parse
from teambot_tui.ui.controllers.comparing import fenced
from teambot_tui.ui.screens.compare import Columns, CompareScreen, Side, compared, differences
from tests.ui.stage import LARGE, NORMAL, SMALL, Stage, drawn_rows, on_stage
from tests.ui.test_hostile import HOSTILE, assert_harmless

SAME, OTHER = False, True


def test_what_is_the_same_stands_in_one_row() -> None:
    rows = compared(["a\nb\nc", "a\nx\nc\nd"])
    assert rows == [
        (Side("a", SAME), Side("a", SAME)),
        (Side("b", OTHER), Side("x", OTHER)),
        (Side("c", SAME), Side("c", SAME)),
        (None, Side("d", OTHER)),
    ]
    assert differences(rows) == [1, 3]


def test_three_answers_are_held_against_the_first() -> None:
    rows = compared(["a\nb", "a\nb", "b"])
    assert rows == [
        (Side("a", OTHER), Side("a", SAME), None),
        (Side("b", SAME), Side("b", SAME), Side("b", SAME)),
    ]


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=8).map("\n".join), min_size=2, max_size=4))
def test_every_line_of_every_answer_is_there_in_order(texts: list[str]) -> None:
    rows = compared(texts)
    for place, text in enumerate(texts):
        assert [side.text for row in rows if (side := row[place]) is not None] == text.splitlines()
    for row in rows:
        said = {side.text if side is not None else None for side in row}
        assert any(side is None or side.differs for side in row) == (len(said) > 1)


@pytest.mark.parametrize("text", ["plain", "$pm -> @ba {x} &", "```\n$ba\n```", "````\nx"])
def test_an_answer_that_is_handed_on_commands_nothing(text: str) -> None:
    (statement,) = parse(f"@pm see\n{fenced(text)}")
    (stage,) = statement.stages  # type: ignore[union-attr]
    words = [part.text if isinstance(part, Words | Code) else "" for part in stage.parts]
    assert "".join(words).strip("`\n").removeprefix("see\n").strip("`\n") == text.strip("`\n")


async def two_answers(stage: Stage) -> None:
    await stage.paste("@builder-1,builder-2 write it", made=2)
    await stage.answer("builder-1#1", "# Plan\none\nthe same")
    await stage.answer("builder-2#1", "# Plan\nanother\nthe same\nand more")


def compare(stage: Stage) -> CompareScreen:
    screen = stage.app.screen
    assert isinstance(screen, CompareScreen)
    return screen


def rows(stage: Stage) -> list[str]:
    """Return what is drawn, the heads first."""
    lines = compare(stage).query_one(Columns)
    return drawn_rows(lines, lines.size.region)


def title(stage: Stage) -> str:
    return str(compare(stage).query_one(".compare").border_title)


@pytest.mark.parametrize("size", [SMALL, NORMAL, LARGE])
async def test_the_answers_to_one_statement(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await two_answers(stage)
        stage.panel("builder-1").focus()
        await stage.press("=")
        await stage.until(lambda: title(stage) == "Compare 2 answers · 2 differences", "the comparison")
        head, *lines = rows(stage)
        assert "▸ builder-1#1 · ✓ · 0:00" in head
        assert "builder-2#1" in head
        assert [tuple(part.strip() for part in line.split("│")) for line in lines[:4]] == [
            ("# Plan", "# Plan"),
            ("one", "another"),
            ("the same", "the same"),
            ("", "and more"),
        ]
        await stage.press("n", "n")
        assert title(stage) == "Compare 2 answers · difference 2/2"
        await stage.press("right", "y")
        assert stage.app.clipboard == "# Plan\nanother\nthe same\nand more"
        assert "▸ builder-2#1" in rows(stage)[0]
        await stage.press("enter")
        assert not stage.dialog
        assert stage.bar.text == "@ $builder-2 "
        assert stage.bar.has_focus
        await stage.type_text("reviewer")
        assert stage.bar.text == "@reviewer $builder-2 ", "what is typed next is for whom"


async def test_attempts_of_one_agent_and_an_older_one_is_handed_on_as_it_is() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan", made=1)
        await stage.answer("pm#1", "first $ba")
        await stage.paste("/compare pm#1")
        assert stage.notices[-1].startswith("Nothing to compare pm#1 with: there must be two answers")
        await stage.paste("/again pm#1", made=2)
        await stage.answer("pm#2", "second")
        await stage.press("ctrl+t", "down", "=")
        await stage.until(lambda: "1 difference" in title(stage), "the comparison")
        assert "▸ pm#1" in rows(stage)[0]
        await stage.press("greater_than_sign")
        assert stage.bar.text == "@\n```\nfirst $ba\n```\n"


async def test_tasks_that_are_named_are_compared_whatever_was_asked() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan\n@ba check", made=2)
        await stage.answer("pm#1", "x")
        await stage.answer("ba#1", "x")
        await stage.paste("/compare pm#1 ba#1")
        await stage.until(lambda: "they say the same" in title(stage), "the comparison")
        await stage.press("escape")
        assert stage.bar.text == ""
        await stage.paste("/compare")
        assert "Say which answers: /compare pm#1 pm#2" in stage.complaint


async def test_many_answers_in_a_small_terminal_come_into_sight_when_chosen() -> None:
    async with on_stage(SMALL) as stage:
        await stage.paste("@pm,ba,reviewer,writer say", made=4)
        for agent in ("pm", "ba", "reviewer", "writer"):
            await stage.answer(f"{agent}#1", f"I am {agent}. " * 20)
        await stage.paste("/compare writer")
        await stage.until(lambda: "1 difference" in title(stage), "the comparison")
        assert "▸ writer#1" in rows(stage)[0]
        assert "pm#1" not in rows(stage)[0]
        await stage.press("left", "left", "left")
        assert "▸ pm#1" in rows(stage)[0]
        assert rows(stage)[1].startswith("I am pm. I am pm.")


async def test_hostile_answers_are_shown_and_never_obeyed() -> None:
    async with on_stage(LARGE) as stage:
        await stage.paste("@pm,ba say", made=2)
        await stage.answer("pm#1", "\n".join(HOSTILE))
        await stage.answer("ba#1", "\n".join(reversed(list(HOSTILE))))
        await stage.paste("/compare pm")
        await stage.until(lambda: "differences" in title(stage), "the comparison")
        assert_harmless(stage)
        await stage.press("down", "pagedown", "end", "home", "n", "N")
        assert_harmless(stage)


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (500, 200)])
async def test_it_opens_at(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await two_answers(stage)
        await stage.paste("/compare builder-1")
        await stage.press("right", "n", "down", "end", "escape")
        assert stage.app.is_running
