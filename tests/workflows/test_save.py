"""A session as a compose file: it loads, runs, and has the same graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teambot_tui.agents.backends.echo import Echo
from teambot_tui.engine.board import Board
from teambot_tui.engine.roster import Roster
from teambot_tui.language.nodes import Code, Directive, Reference, Words
from teambot_tui.language.parser import parse_prompt
from teambot_tui.workflows.compose import load_compose
from teambot_tui.workflows.errors import WorkflowError
from teambot_tui.workflows.save import save_text
from teambot_tui.workflows.selection import select
from teambot_tui.workflows.up import Up
from tests.team import Gate, settle
from tests.workflows.stage import session_on, states

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.engine.session import Session
    from teambot_tui.workflows.schema import ComposeFile

SCANNER = """\
$security-scanner := {
  base: "general-purpose",
  prompt: "You are a security expert. Use \\"{{braces}}\\".",
  model: "opus"
}
$fixer := {base: "plan", prompt: "Fix security issues."}

$security-scanner:"Scan":issues ->
$fixer:"Fix the following issues: {issues}":fixes ->
general-purpose:"Verify"
@security-scanner Again: {fixes} $fixer
"""
SESSIONS = [
    "@pm Plan",
    "@pm,ba Analyse -> @builder-1 Build $pm -> @reviewer",
    "@pm Plan\n@ba Check $pm, \\$pm, $pm and {x}, C:\\\\$pm\n@pm improve $pm\n@writer {$pm} \\{{output:pm}}",
    "@pm --model opus Write\n```\n$ba {{output:x}}\n```\nand $HOME -> @ba Read\n```\nnever closed",
    "@pm See {{output:pm}} {{output:nobody}} {{iteration}} {{{output:pm}}}",
    '@pm - "quoted": [yes]  # no comment\n  \u3042\U0001f600\ufeff  \n\n : |',
    SCANNER,
]


def graph(session: Session) -> set[tuple[int, int]]:
    order = {task: number for number, task in enumerate(session.board.tasks)}
    return {
        (order[task.id], order[source.id])
        for task in session.board.tasks.values()
        for source in task.sources
        if source is not None
    }


async def saved(session: Session, folder: Path) -> ComposeFile:
    path = folder / "saved.yaml"
    path.write_text(save_text(session.board, session.roster), encoding="utf-8")
    return load_compose(path, folder, session.roster.team)


@pytest.mark.parametrize("text", SESSIONS)
async def test_what_is_saved_runs_and_has_the_same_graph(tmp_path: Path, text: str) -> None:
    async with session_on(Echo()) as session:
        session.set_context("goal", {"say": ["it"], "über": "\u2028"})
        session.submit(text)
        await session.idle()
        file = await saved(session, tmp_path)
    names = list(file.tasks)
    again = {
        (names.index(task.name), names.index(need.task))
        for task in file.tasks.values()
        for need in task.needs
    }
    assert again == graph(session)
    assert [task.agent for task in file.tasks.values()] == [
        None if task.agent in session.roster.temporary else task.agent
        for task in session.board.tasks.values()
    ]
    async with session_on(Echo()) as other:
        up = Up(other, file, select(file))
        up.begin()
        await up.wait()
        assert set(states(other).values()) == {"completed"}
        assert len(graph(other)) == len(again)


async def test_where_outputs_go_in(tmp_path: Path) -> None:
    async with session_on(Echo()) as session:
        session.submit("@pm,ba Analyse -> @builder-1 Build $pm -> @reviewer")
        session.submit('pm:"Plan":plan\n@writer Use {plan}, not {plans}')
        await session.idle()
        file = await saved(session, tmp_path)
    assert {name: task.prompt for name, task in file.tasks.items()} == {
        "pm-1": "Analyse",
        "ba-1": "Analyse",
        "builder-1-1": "{{output:ba-1}}\n\nBuild {{output:pm-1}}",
        "reviewer-1": "{{output:builder-1-1}}",
        "pm-2": "Plan",
        "writer-1": "Use {{output:pm-2}}, not {plans}",
    }


async def test_what_a_temporary_agent_was_told_goes_along(tmp_path: Path) -> None:
    async with session_on(Echo()) as session:
        session.submit(SCANNER)
        await session.idle()
        file = await saved(session, tmp_path)
    for name in ("security-scanner-1", "security-scanner-2"):
        task = file.tasks[name]
        assert (task.prefix, task.model) == ('You are a security expert. Use "\\{{braces}}".', "opus")


async def test_labels_and_conditions_are_kept_and_what_agents_started_is_not(tmp_path: Path) -> None:
    gate = Gate()
    async with session_on(gate) as session:
        await session.spawn("Look", agent="pm", label="research")
        await session.spawn("Look again", agent="pm", label="research")
        await session.spawn("Go on", agent="ba", chain_after="research", on_dependency_failure="proceed")
        await settle()
        parent = session.board.tasks[next(iter(session.board.tasks))]
        await session.spawn("Help", parent=parent.id)
        text = save_text(session.board, session.roster)
    assert "Help" not in text
    (tmp_path / "saved.yaml").write_text(text)
    tasks = load_compose(tmp_path / "saved.yaml").tasks
    assert list(tasks) == ["research", "pm-2", "ba-1"]
    assert [(need.task, need.condition) for need in tasks["ba-1"].needs] == [("pm-2", "always")]


def test_an_empty_session_has_nothing_to_save() -> None:
    with pytest.raises(WorkflowError, match="nothing to save yet"):
        save_text(Board(1), Roster((), None))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*"\\{}$ \n'#:X-", "{{", "{{output:pm}}", "$pm", "$ba", "```", "\n```\n", " ```x\n", "\u3042"]
        ),
        min_size=1,
        max_size=12,
    ).map("".join)
)
async def test_whatever_was_said_is_said_again(tmp_path: Path, text: str) -> None:
    async with session_on(Echo()) as session:
        session.submit("@pm x\n@ba y")
        session.submit(f"@writer {text}.")
        await session.idle()
        file = await saved(session, tmp_path)
    task = next(reversed(session.board.tasks.values()))
    parts = parse_prompt(file.tasks["writer-1"].prompt, references=False)
    words = "".join(part.text for part in parts if isinstance(part, Words | Code))
    finished = "".join(
        part.text if isinstance(part, Words | Code) else getattr(part, "literal", "") * (part_is_text(part))
        for part in task.plan.parts
    )
    assert re.sub(r"\s", "", words) == re.sub(r"\s", "", finished)


def part_is_text(part: object) -> bool:
    return not isinstance(part, Reference) and not (isinstance(part, Directive) and part.argument == "pm")
