"""The single lines: what they say, and what a click on a tab means."""

from __future__ import annotations

from pathlib import Path

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId
from teambot_tui.language.errors import StatementError
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.keys import FooterKey
from teambot_tui.ui.widgets.lines import KeyBar, PlanLine, Tabs, TitleBar
from tests.team import TEAM, Gate, session_of
from tests.ui.stage import on_stage


def plan_of(text: str, glyphs: Glyphs | None = None) -> str:
    session = session_of(Gate())
    line = PlanLine(glyphs or Glyphs())
    line.explain(session.explain(text))
    return str(line.render())


def test_the_plan_of_a_statement() -> None:
    assert plan_of("@pm plan") == " ▸ @pm starts"
    assert plan_of("@pm,ba plan") == " ▸ @pm, @ba start"
    assert plan_of("@pm plan &") == " ▸ @pm starts · in the background"
    assert plan_of("@pm plan -> @ba check") == " ▸ @pm starts · @ba waits for @pm"
    assert plan_of("@pm plan\n@pm again") == " ▸ @pm starts · @pm is queued behind pm#1"
    assert plan_of("@pm plan\n@ba check $pm") == " ▸ @pm starts · @ba waits for @pm · $pm ◷"
    assert "(no output yet)" in plan_of("@ba check $pm &")
    assert plan_of("@pm plan", Glyphs(ascii_only=True)).isascii()


def test_what_is_unfinished_is_not_called_wrong() -> None:
    session = session_of(Gate())
    error = session.explain("@pm use $b")
    line = PlanLine(Glyphs())
    line.explain(error)
    assert line.has_class("-error")
    line.explain(error, unfinished=True)
    assert not line.has_class("-error")
    assert "did you mean $ba?" in str(line.render())
    assert "Unknown" not in str(line.render())


async def test_a_warning_stands_over_the_plan_and_goes_by_itself() -> None:
    async with on_stage() as stage:
        line = stage.screen.query_one(PlanLine)
        line.warn("first", 60)
        line.warn("Esc again leaves", 0.001)
        line.hint("something below")
        await stage.until(lambda: "something below" in stage.plan, "the warning to go")


def test_the_plan_says_that_a_promoted_agent_is_replaced() -> None:
    session = session_of(Gate(), promoted=(AgentId("writer"),))
    line = PlanLine(Glyphs())
    defining = '$writer := {base: "pm", prompt: "Write."}'
    line.explain(session.explain(defining))
    assert str(line.render()) == " ▸ defines $writer · for this session, in place of the promoted @writer"


def test_what_is_wrong_says_where_and_what_to_type() -> None:
    line = PlanLine(Glyphs())
    session = session_of(Gate())
    explanation = session.explain("@rviewer look")
    assert isinstance(explanation.error, StatementError)
    line.explain(explanation)
    assert str(line.render()).startswith(" ✗ 1:1 ") or str(line.render()).startswith(" ✗ 1:2 ")
    assert "reviewer" in str(line.render())
    assert line.has_class("-error")
    line.hint("type something")
    assert not line.has_class("-error")


def test_the_title_counts_what_there_is() -> None:
    title = TitleBar(Path("/nowhere/auth-v2"), Glyphs())
    title.tell({State.EXECUTING: 2, State.WAITING: 0, State.FAILED: 1})
    assert str(title.render()).split() == ["teambot", "·", "auth-v2", "●2", "✗1"]


def test_the_name_of_a_folder_is_foreign_text() -> None:
    title = TitleBar(Path("/nowhere") / "a\x1b]0;owned\x07b\x9b2J\u202ec[\\x]\nd", Glyphs())
    assert str(title.render()).strip().endswith("abc[\\x] d")


def test_the_tabs_go_round() -> None:
    tabs = Tabs([AgentId(name) for name in TEAM], Glyphs())
    assert tabs.step(1) == "pm"
    assert tabs.step(-1) == "writer"
    tabs.choose(AgentId("writer"))
    assert tabs.step(1) is None


def test_the_key_bar() -> None:
    bar = KeyBar()
    bar.tell([FooterKey("send", "enter", "Enter", "send"), FooterKey("newline", "ctrl+j", "^J", "newline")])
    assert str(bar.render()).rstrip() == " Enter send  ^J newline"


async def test_every_tab_can_be_clicked() -> None:
    async with on_stage() as stage:
        for name in (*TEAM, "All"):
            at = stage.line("tabs").index(f" {name} ") + 1
            await stage.pilot.click("#tabs", offset=(at, 0))
            chosen = [panel.id for panel in stage.screen.query(".-chosen")]
            assert chosen == ([] if name == "All" else [f"panel-{name}"])
        await stage.pilot.click("#tabs", offset=(79, 0))
        assert not stage.screen.query(".-chosen")
