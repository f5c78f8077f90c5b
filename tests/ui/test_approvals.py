"""An agent that needs the person says so everywhere and takes no key; only a key that is meant answers."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.screen import ModalScreen

from teambot_tui.engine.ids import TaskId
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import Text, Usage
from teambot_tui.engine.showing import LARGEST
from teambot_tui.engine.text import visible
from teambot_tui.ui.screens.inbox import LINGER, QUIET, Inbox
from teambot_tui.ui.widgets.plain_lines import PlainLines
from tests.team import Busy
from tests.ui.stage import LARGE, NORMAL, SMALL, Stage, on_stage
from tests.ui.test_hostile import HOSTILE, HUGE, assert_harmless, everything_drawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from teambot_tui.engine.ports import Update


@asynccontextmanager
async def asking(
    *details: str, size: tuple[int, int] = NORMAL, agent: str = "pm", policy: Policy | None = None
) -> AsyncIterator[tuple[Stage, Busy]]:
    """Open a session in which one agent asks leave for these commands."""
    busy = Busy()
    async with on_stage(size, gate=busy, policy=policy) as stage:
        await stage.paste(f"@{agent} plan", made=1)
        for number, detail in enumerate(details, 1):
            await ask(stage, busy, f"{agent}#1", detail, request=str(number))
        yield stage, busy


async def ask(stage: Stage, busy: Busy, task: str, detail: str, request: str = "1") -> None:
    """Let an agent ask, and wait until the screen knows."""
    before = len(stage.app.views.requests)
    await stage.ask(lambda _: busy.ask(task, detail, request=request))
    await stage.until(lambda: len(stage.app.views.requests) == before + 1, "the request")


async def tell(stage: Stage, busy: Busy, task: str, *updates: Update) -> None:
    """Let an agent report something."""
    await stage.ask(lambda _: busy.tell(task, *updates))


async def open_inbox(stage: Stage, *, wait: bool = True) -> Inbox:
    """Press F8, and wait out the moment in which no key counts."""
    await stage.press("f8")
    inbox = stage.app.screen
    assert isinstance(inbox, Inbox)
    if wait:
        stage.clock.now += 2 * QUIET
    return inbox


async def closed(stage: Stage) -> None:
    """Wait until the inbox, which says that nothing more waits, has closed."""
    await stage.until(lambda: not stage.app.views.requests, "the answers")
    stage.clock.now += 2 * LINGER
    await stage.until(lambda: not stage.dialog, "the inbox to close")


def wanted(stage: Stage) -> str:
    """What the inbox says the agent wants to do."""
    return stage.app.screen.query_one(PlainLines)._text


async def test_who_needs_you_is_seen_everywhere_and_takes_nothing() -> None:
    async with asking("npm test") as (stage, busy):
        assert stage.badge("pm") == "? needs you"
        assert "?1" in stage.line("title")
        assert stage.line("footer").strip().startswith("F8 approve 1")
        assert stage.notices == ["@pm needs you: execute: npm test (F8)"]
        assert "? needs you: execute: npm test" in stage.drawn("#output")
        assert stage.bar.has_focus
        stage.clock.now += 5
        await stage.type_text("aArR")
        assert stage.bar.text == "aArR"
        await stage.press("f8")
        assert "Approvals 1 of 1" in stage.dialog
        assert "@pm · pm#1 · wants to use: Run (execute)" in stage.dialog
        assert wanted(stage) == "npm test"
        assert "this exact tool and command of @pm, until this session ends" in stage.dialog
        assert not busy.verdicts


async def test_on_a_chip() -> None:
    async with asking("npm test", size=SMALL) as (stage, _):
        assert stage.drawn("#panel-pm").strip() == "1 pm        ? you 0:00"
        assert stage.line("footer").strip().startswith("F8 approve 1")


@pytest.mark.parametrize(
    ("key", "verdict", "again"),
    [("a", "allow", False), ("A", "allow", True), ("r", "reject", False), ("R", "reject", True)],
)
async def test_each_key_answers_and_only_always_answers_the_same_again(
    key: str, verdict: str, again: bool
) -> None:
    async with asking("npm test") as (stage, busy):
        await open_inbox(stage)
        await stage.press(key)
        await stage.until(lambda: not stage.app.views.requests, "the answer")
        await closed(stage)
        assert busy.verdicts == [("pm#1", "1", verdict)]
        assert stage.badge("pm") == "● executing"
        assert "F8" not in stage.line("footer")
        assert stage.bar.has_focus
        await stage.ask(lambda _: busy.ask("pm#1", "npm test", request="2"))
        await tell(stage, busy, "pm#1", Text("said after it"))
        await stage.until(lambda: "said after it" in stage.drawn("#output"))
        assert bool(stage.app.views.requests) is not again
        assert len(busy.verdicts) == 1 + again


async def test_a_request_that_comes_while_the_inbox_closes_is_told() -> None:
    async with asking("one") as (stage, _):
        inbox = await open_inbox(stage)
        (request,) = stage.app.views.requests
        stage.screen.controls.alerts.ask_for(())
        inbox.action_close()
        assert inbox.is_attached, "it closes, but is not gone yet"
        stage.screen.controls.alerts.ask_for((replace(request, request="2", detail="two"),))
        await stage.until(lambda: not stage.dialog, "the inbox to close")
        await stage.until(lambda: "@pm needs you: execute: two (F8)" in stage.notices, "the notice")


async def test_the_inbox_stays_from_one_question_to_the_next() -> None:
    async with asking("one") as (stage, busy):
        inbox = await open_inbox(stage)
        await stage.press("a")
        await stage.until(lambda: "Nothing more: nobody waits for an answer." in stage.dialog, "the calm")
        await ask(stage, busy, "pm#1", "two", request="2")
        assert stage.app.screen is inbox
        assert wanted(stage) == "two"
        assert "Approvals 2 of 2" in stage.dialog
        await stage.press("a")
        assert len(busy.verdicts) == 1, "it has just appeared"
        stage.clock.now += 2 * QUIET
        await stage.press("a")
        await closed(stage)
        assert len(busy.verdicts) == 2


async def test_the_inbox_that_has_nothing_more_is_left_at_once() -> None:
    async with asking("one") as (stage, _):
        await open_inbox(stage)
        await stage.press("a")
        await stage.until(lambda: "Nothing more" in stage.dialog, "the calm")
        await stage.press("escape")
        assert not stage.dialog


async def test_where_a_request_stands() -> None:
    async with asking("one", "two", "three") as (stage, _):
        await open_inbox(stage)
        assert "Approvals 1 of 3" in stage.dialog
        await stage.press("a")
        await stage.until(lambda: wanted(stage) == "two", "the next one")
        assert "Approvals 2 of 3" in stage.dialog
        await stage.press("down")
        assert "Approvals 3 of 3" in stage.dialog


async def test_a_rejection_with_words() -> None:
    async with asking("rm -rf build", "two") as (stage, busy):
        await open_inbox(stage)
        assert "w with words" in stage.dialog
        await stage.press("w")
        await stage.press("enter")
        assert not busy.verdicts, "there are no words yet"
        await stage.type_text("Run make clean instead")
        assert "Enter rejects, and tells the agent this" in stage.dialog
        assert not busy.verdicts, "letters are words"
        await stage.press("enter")
        await stage.until(lambda: wanted(stage) == "two", "the next one")
        assert busy.verdicts == [("pm#1", "1", "reject")]
        assert busy.words == ["Run make clean instead"]
        (decision,) = stage.app.views.task(TaskId("pm#1")).decisions
        assert (decision.summary, decision.verdict, decision.words) == (
            "execute: rm -rf build",
            "reject",
            "Run make clean instead",
        )
        stage.clock.now += 2 * QUIET
        await stage.press("w")
        await stage.type_text("no")
        await stage.press("escape")
        assert "Approvals 2 of 2" in stage.dialog, "not now, but the request is still there"
        assert "with words" in stage.dialog


async def test_words_for_a_request_that_is_withdrawn_are_not_said_to_another() -> None:
    async with asking("one") as (stage, busy):
        await stage.paste("@ba check", made=2)
        await ask(stage, busy, "ba#1", "two")
        await open_inbox(stage)
        await stage.press("w")
        await stage.type_text("a lot of A")
        await stage.ask(lambda session: session.cancel("pm"))
        await stage.until(lambda: wanted(stage) == "two", "the other one")
        await stage.type_text("and more")
        await stage.press("enter")
        assert not busy.verdicts


async def test_no_word_is_asked_for_just_after_a_request_appeared() -> None:
    async with asking("one") as (stage, _):
        inbox = await open_inbox(stage, wait=False)
        await stage.press("w")
        assert not inbox.has_class("-writing")


async def test_a_request_that_comes_while_the_inbox_is_empty_and_covered_is_shown() -> None:
    async with asking("one") as (stage, _):
        inbox = await open_inbox(stage)
        (request,) = stage.app.views.requests
        await stage.app.push_screen(ModalScreen())
        inbox.show(())
        inbox.show((replace(request, request="2", detail="two"),))
        stage.app.pop_screen()
        await stage.until(lambda: wanted(stage) == "two", "the new request")


async def test_no_key_counts_just_after_a_request_appeared() -> None:
    async with asking("one", "two") as (stage, busy):
        await open_inbox(stage, wait=False)
        stage.clock.now += QUIET - 0.01
        await stage.press("a")
        stage.clock.now += QUIET - 0.01
        await stage.press("a")
        assert not busy.verdicts, "a key that came too soon is typing, and what follows it too"
        stage.clock.now += 2 * QUIET
        await stage.press("a", "a", "A", "r")
        await stage.until(lambda: wanted(stage) == "two", "the next one")
        await stage.press("a")
        assert [request for _, request, _ in busy.verdicts] == ["1"]
        stage.clock.now += 2 * QUIET
        await stage.press("r")
        await closed(stage)
        assert [each[1:] for each in busy.verdicts] == [("1", "allow"), ("2", "reject")]


async def test_no_key_counts_while_someone_types() -> None:
    async with asking("one") as (stage, busy):
        await stage.type_text("@pm x")
        await open_inbox(stage, wait=False)
        for key in "an Answer to all":
            stage.clock.now += 0.2
            await stage.press("space" if key == " " else key)
        assert not busy.verdicts
        await stage.press("escape")
        assert stage.bar.text == "@pm x"
        assert stage.bar.has_focus


async def test_moving_between_requests() -> None:
    async with asking("one", "two", "three") as (stage, busy):
        await open_inbox(stage)
        for key, text in (("down", "two"), ("down", "three"), ("f8", "one"), ("up", "three"), ("up", "two")):
            await stage.press(key)
            assert wanted(stage) == text
        assert "▸ @pm pm#1  execute: two" in stage.dialog
        stage.clock.now += 2 * QUIET
        await stage.press("a")
        await stage.until(lambda: wanted(stage) == "three", "the next one")
        assert busy.verdicts == [("pm#1", "2", "allow")]
        await stage.press("escape")
        assert not stage.dialog
        assert len(stage.app.views.requests) == 2, "the others wait on"
        stage.app.clear_notifications()
        await ask(stage, busy, "pm#1", "four", request="4")
        await stage.until(
            lambda: stage.notices and stage.notices[-1].startswith("@pm needs you: execute: four"),
            "the notice",
        )


async def test_a_request_that_comes_while_another_is_read_changes_nothing_in_view() -> None:
    async with asking("one") as (stage, busy):
        await open_inbox(stage)
        await ask(stage, busy, "pm#1", "two", request="2")
        assert wanted(stage) == "one"
        assert "Approvals 1 of 2" in stage.dialog
        assert not stage.notices, "who looks at the inbox needs no notice, and none lies over its keys"
        await stage.press("a")
        await stage.until(lambda: wanted(stage) == "two", "the next one")


async def test_what_is_withdrawn_vanishes() -> None:
    async with asking("one") as (stage, busy):
        await stage.paste("@ba check", made=2)
        await ask(stage, busy, "ba#1", "two")
        await open_inbox(stage)
        await stage.ask(lambda session: session.cancel("pm"))
        await stage.until(lambda: wanted(stage) == "two", "the other one")
        await stage.press("a")
        assert not busy.verdicts, "what is in view has just changed"
        await stage.ask(lambda session: session.cancel("ba"))
        await closed(stage)
        await stage.press("f8")
        assert stage.notices[-1] == "No agent asks for anything."
        assert not stage.dialog


async def test_an_inbox_under_a_question_closes_when_it_is_seen_again() -> None:
    async with asking("one") as (stage, _):
        await open_inbox(stage)
        await stage.press("ctrl+q")
        await stage.until(lambda: "Quit?" in stage.dialog, "the question")
        await stage.ask(lambda session: session.cancel("pm"))
        await stage.until(lambda: not stage.app.views.requests)
        await stage.press("escape")
        await closed(stage)


async def test_the_palette_offers_the_inbox_and_not_its_keys() -> None:
    async with asking("one") as (stage, _):
        titles = [command.title for command in stage.app.get_system_commands(stage.screen)]
        assert "answer agents that need you; again: the next one" in titles
        assert "allow once" not in titles


async def test_the_inspector_shows_the_request_and_how_to_answer() -> None:
    async with asking("one\ntwo", agent="ba", size=LARGE) as (stage, busy):
        await stage.paste("@pm plan", made=2)
        await ask(stage, busy, "pm#1", "first in the team, second to ask")
        stage.panel("pm").focus()
        await stage.press("enter")
        assert "? needs you: execute: first in the team" in stage.inspector.text
        assert "F8 opens it: a allow once, A always, r reject once, R always" in stage.inspector.text
        await open_inbox(stage)
        assert wanted(stage).startswith("first in the team"), "the chosen agent's request comes first"
        await stage.press("a")
        await stage.until(lambda: "needs you" not in stage.inspector.text, "the request to go")


async def test_the_keys_say_that_an_answer_to_a_spawn_holds_for_all_of_them() -> None:
    async with asking() as (stage, busy):
        await stage.ask(lambda _: busy.ask("pm#1", "start @ba", tool="spawn", kind="spawn"))
        await stage.until(lambda: stage.app.views.requests, "the request")
        await open_inbox(stage)
        assert "a allow all its runs · A always · r reject all its runs" in stage.dialog
        assert "once" not in stage.dialog


LONG = "\n".join(f"+ line {number}" for number in range(60))


async def scroll_to_the_end(stage: Stage) -> None:
    """Press the key until nothing comes any more."""
    detail = stage.app.screen.query_one("#approvals-detail")
    while detail.scroll_y < detail.max_scroll_y:
        before = detail.scroll_y
        await stage.press("pagedown")
        # At the end there are fewer keys to name, so that there may be room for another row.
        await stage.until(
            lambda: detail.scroll_y > before or detail.scroll_y >= detail.max_scroll_y,  # noqa: B023
            "to be scrolled",
        )
    stage.clock.now += 2 * QUIET


@pytest.mark.parametrize("key", ["a", "A"])
async def test_a_long_request_is_scrolled_to_its_end_before_it_is_allowed(key: str) -> None:
    async with asking(LONG, size=SMALL) as (stage, busy):
        inbox = await open_inbox(stage)
        detail = inbox.query_one("#approvals-detail")
        await stage.until(lambda: "scroll to the end to allow · " in stage.dialog, "the reason")
        below = 60 - detail.size.height
        assert f"scroll to the end to allow · {below} more lines · r reject once · R always" in stage.dialog
        assert "allow once" not in stage.dialog
        assert "+ line 0" in everything_drawn(stage)
        await stage.press(key)
        await stage.press("pagedown")
        await stage.until(lambda: detail.scroll_y > 0, "to be scrolled")
        await stage.until(
            lambda: f"allow · {below - round(detail.scroll_y)} more" in stage.dialog, "the count"
        )
        stage.clock.now += 2 * QUIET
        await stage.press(key)
        await stage.ask(lambda _: None)
        assert not busy.verdicts
        await scroll_to_the_end(stage)
        assert "+ line 59" in everything_drawn(stage)
        assert "a allow once" in stage.dialog
        await stage.press("pageup")
        await stage.until(lambda: detail.scroll_y < detail.max_scroll_y, "to be scrolled back")
        assert "a allow once" in stage.dialog, "it has been seen"
        stage.clock.now += 2 * QUIET
        await stage.press(key)
        await stage.until(lambda: busy.verdicts, "the answer")
        assert busy.verdicts == [("pm#1", "1", "allow")]


@pytest.mark.parametrize("key", ["r", "R"])
async def test_rejecting_needs_no_scrolling(key: str) -> None:
    async with asking(LONG, size=SMALL) as (stage, busy):
        await open_inbox(stage)
        await stage.press(key)
        await stage.until(lambda: busy.verdicts, "the answer")
        assert busy.verdicts == [("pm#1", "1", "reject")]


async def test_having_scrolled_one_request_says_nothing_of_the_next() -> None:
    async with asking("short", LONG, LONG.replace("line", "row"), size=SMALL) as (stage, busy):
        await open_inbox(stage)
        await stage.press("down")
        await stage.until(lambda: "more lines" in stage.dialog, "the reason")
        await scroll_to_the_end(stage)
        await stage.press("a")
        await stage.until(lambda: "+ row 0" in wanted(stage), "the next one")
        stage.clock.now += 2 * QUIET
        await stage.press("a")
        await stage.ask(lambda _: None)
        assert [request for _, request, _ in busy.verdicts] == ["2"]
        assert "more lines" in stage.dialog
        await stage.press("up")
        stage.clock.now += 2 * QUIET
        await stage.press("a")
        await stage.until(lambda: len(busy.verdicts) == 2, "the short one")
        assert busy.verdicts[-1] == ("pm#1", "1", "allow")


@pytest.mark.parametrize(
    "text", ["x" * 3000 + "END", "word " * 600 + "END", " " * 3000 + "END", "字" * 1500 + "END"]
)
async def test_a_long_line_is_wrapped_and_never_cut(text: str) -> None:
    async with asking(text, size=SMALL) as (stage, _):
        await open_inbox(stage)
        assert "END" not in everything_drawn(stage)
        await stage.until(lambda: "more lines" in stage.dialog, "the reason")
        await scroll_to_the_end(stage)
        assert "END" in everything_drawn(stage)


async def test_a_long_name_is_shown_whole() -> None:
    busy = Busy()
    async with on_stage(SMALL, gate=busy) as stage:
        await stage.paste("@pm plan", made=1)
        await stage.ask(lambda _: busy.ask("pm#1", "ls", tool="name " * 600 + "END", kind="other"))
        await stage.until(lambda: stage.app.views.requests, "the request")
        await open_inbox(stage)
        await stage.until(lambda: "more lines" in stage.dialog, "the reason")
        await scroll_to_the_end(stage)
        assert "END" in everything_drawn(stage)
        assert wanted(stage).endswith("END\n\nls")


async def test_what_is_too_large_to_be_shown_can_only_be_rejected() -> None:
    async with asking("x" * (LARGEST + 1)) as (stage, busy):
        await open_inbox(stage)
        assert "too large to be shown: it can only be rejected · r reject once" in stage.dialog
        await scroll_to_the_end(stage)
        assert "262,155 characters in all: too much to be shown" in everything_drawn(stage)
        await stage.press("a")
        stage.clock.now += 2 * QUIET
        await stage.press("A")
        await stage.ask(lambda _: None)
        assert not busy.verdicts
        stage.clock.now += 2 * QUIET
        await stage.press("r")
        await stage.until(lambda: busy.verdicts, "the answer")
        assert busy.verdicts == [("pm#1", "1", "reject")]


async def test_hostile_requests_are_shown_and_never_obeyed() -> None:
    busy = Busy()
    async with on_stage(LARGE, gate=busy) as stage:
        await stage.paste("@pm plan", made=1)
        stage.panel("pm").focus()
        await stage.press("enter")
        texts = [*HOSTILE, HUGE]
        for number, text in enumerate(texts):
            await stage.ask(lambda _: busy.ask("pm#1", text, request=str(number), tool=text, kind=text))  # noqa: B023
        await stage.until(lambda: len(stage.app.views.requests) == len(texts), "the requests")
        assert_harmless(stage)
        await open_inbox(stage)
        for text in texts:
            seen = "wordword" if text is HUGE else visible(text, layout=False)
            await stage.until(lambda: seen in everything_drawn(stage), f"{text[:40]!r}")  # noqa: B023
            assert_harmless(stage)
            await stage.press("down")
        stage.clock.now += 2 * QUIET
        await stage.press("A")
        await stage.until(lambda: len(stage.app.views.requests) == len(texts) - 1, "the answer")
        assert busy.verdicts == [("pm#1", "0", "allow")]
        assert_harmless(stage)


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (500, 200)])
async def test_the_inbox_opens_at(size: tuple[int, int]) -> None:
    async with asking("one", "two", size=size) as (stage, busy):
        inbox = await open_inbox(stage)
        can_be_read = inbox.query_one("#approvals-detail").size.height > 0 and size[0] > 20
        await stage.press("a" if can_be_read else "r")
        await stage.until(lambda: busy.verdicts, "the answer")
        assert can_be_read == (size == (500, 200))
        await stage.press("escape")
        assert stage.app.is_running


# The budget


async def test_a_budget_that_is_used_up_is_told_and_raised() -> None:
    busy = Busy()
    async with on_stage(gate=busy, policy=Policy(budget=0.2)) as stage:
        await stage.paste("@pm plan\n@pm again", made=2)
        await tell(stage, busy, "pm#1", Usage(10_000, 2_400, 0.21))
        await stage.answer("pm#1", "done")
        await stage.until(lambda: "budget reached" in stage.line("title"), "the title")
        told = "budget reached, $0.21 of $0.20: nothing starts until /budget raises it."
        await stage.until(lambda: told in stage.notices, "the notice")
        assert "/budget raises it" in stage.plan
        assert stage.notices.count(told) == 1
        await stage.type_text("@ba check")
        assert stage.plan.strip().startswith("▸ budget reached · ")
        await stage.press("ctrl+c")
        await stage.paste("/budget")
        assert "used:    $0.21 and 12.4k tokens" in stage.dialog
        assert "allowed: $0.20" in stage.dialog
        await stage.press("escape")
        await stage.paste("/budget 0.1")
        assert "The budget is $0.10 in all." in stage.notices
        await stage.until(lambda: "of $0.10" in stage.plan, "the plan")
        await stage.paste("/budget $5 200k")
        assert stage.notices[-1] == "The budget is $5.00 and 200.0k tokens in all."
        await stage.until(lambda: stage.state("pm#2") == "executing", "pm#2 to start")
        await stage.until(lambda: "budget" not in stage.line("title") + stage.plan, "the title")
        await stage.paste("/budget none")
        assert stage.notices[-1] == "The budget is 200.0k tokens in all."
        await stage.paste("/budget none none")
        assert stage.notices[-1] == "There is no budget."


@pytest.mark.parametrize("words", ["five", "-1", "1e9", "nan", "5 many", "5 -1", "5 1.5", "1 2 3", "$", "."])
async def test_a_budget_that_cannot_be_read(words: str) -> None:
    async with on_stage(SMALL) as stage:
        await stage.paste(f"/budget {words}")
        assert ("/budget [dollars" if words == "1 2 3" else "/budget 5") in stage.complaint
        assert stage.bar.text == f"/budget {words}"


# Forgetting


async def test_forgetting_a_conversation() -> None:
    busy = Busy()
    async with on_stage(gate=busy) as stage:
        await stage.paste("/forget-context @ba")
        await stage.until(lambda: stage.notices, "the notice")
        assert stage.notices == ["@ba begins its next task without memory of the earlier ones."]
        assert busy.forgotten == ["ba"]
        await stage.paste("/forget-context")
        assert "/forget-context pm" in stage.complaint
        await stage.press("ctrl+c")
        await stage.paste("/forget-context wrter")
        assert "Did you mean writer?" in stage.complaint


class Stubborn(Busy):
    """Does not forget."""

    async def forget(self, agent: str) -> None:
        raise RuntimeError(f"[/x] {agent}")


async def test_a_backend_that_cannot_forget_hurts_nobody() -> None:
    async with on_stage(gate=Stubborn()) as stage:
        await stage.paste("/forget-context ba")
        await stage.until(lambda: stage.notices, "the notice")
        assert stage.notices == ["@ba could not forget: [/x] ba"]
