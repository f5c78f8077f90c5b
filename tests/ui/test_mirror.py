"""The screen's copy agrees with the engine's board, whatever happened and in whatever batches it was told."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.bus import Backlog
from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.facts import ActivityReported, WaitProlonged
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.orders import Need, Order
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.ports import Notice
from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse_prompt
from teambot_tui.ui.mirror import Mirror
from tests.team import TEAM, Gate, session_of, settle

if TYPE_CHECKING:
    from teambot_tui.engine.session import Session

PM, BA = AgentId("pm"), AgentId("ba")


def do_something(chance: random.Random, session: Session, gate: Gate) -> None:
    one, two, three = chance.sample(TEAM, 3)
    running = [task for task in gate.started if task not in gate.closed]
    match chance.randrange(8):
        case 0 | 1:
            session.submit(f"@{one},{two} work" + (" &" if chance.random() < 0.5 else ""))
        case 2:
            session.submit(f"@{one} work with ${two} and ${three} &")
        case 3:
            session.submit(f"@{one} begin -> @{two} go on -> @{three} end with ${one}")
        case 4 | 5 if running:
            gate.answer(chance.choice(running), chance.choice(["", "done", "# Title\nand more"]))
        case 6 if running:
            gate.fail(chance.choice(running))
        case 7:
            target = chance.choice([*TEAM, "last", "all"])
            (session.cancel if chance.random() < 0.4 else session.retry)(target)


@pytest.mark.parametrize("seed", range(12))
async def test_it_equals_the_board_after_random_activity(seed: int) -> None:
    chance, gate, backlog = random.Random(seed), Gate(), Backlog()
    async with session_of(gate) as session:
        mirror = Mirror(session.roster, session.policy)
        with session.bus.subscribe(backlog.put):
            for _ in range(60):
                with suppress(StatementError, RefusedError):
                    do_something(chance, session, gate)
                await settle()
                if chance.random() < 0.3:
                    mirror.take_in(backlog.take())
            mirror.take_in(backlog.take())
            board = session.board
            assert mirror.tasks() == tuple(board.tasks)
            for name, task in board.tasks.items():
                view = mirror.task(name)
                assert (view.state, view.reason, view.ended) == (task.state, task.reason, task.ended)
                assert view.waiting_for == (tuple(task.lacking) if task.state == "waiting" else ())
                assert mirror.output(name) == task.output.text
            for agent in session.roster.agents:
                lane = board.lanes.get(agent)
                assert mirror.queue(agent) == (tuple(lane.queue) if lane else ())
            texts = [f"@{one} go ${two}" for one in TEAM for two in TEAM]
            assert [mirror.explain(text, 0.0).steps for text in texts] == [
                session.explain(text).steps for text in texts
            ]


async def test_what_a_panel_is_told() -> None:
    gate, backlog = Gate(), Backlog()
    async with session_of(gate) as session:
        mirror = Mirror(session.roster, session.policy)
        with session.bus.subscribe(backlog.put):

            async def told() -> None:
                await settle()
                mirror.take_in(backlog.take())

            assert mirror.agent(PM).state == "idle"
            session.submit("@pm plan\n@pm again\n@pm once more")
            await told()
            assert (mirror.agent(PM).state, mirror.agent(PM).queued) == ("executing", 2)
            gate.answer("pm#1", "\n# The plan\nstep 1")
            await told()
            assert (mirror.agent(PM).task, mirror.agent(PM).queued) == ("pm#2", 1)
            session.cancel("pm")
            await told()
            view = mirror.agent(PM)
            assert (view.state, view.last_end, view.queued) == ("idle", "cancelled", 0)
            session.submit("@ba check $pm")
            await told()
            gate.fail("ba#1", "no money")
            await told()
            assert (mirror.agent(BA).last_end, mirror.agent(BA).last_line) == ("failed", "no money")
            session.retry("ba")
            await told()
            gate.answer("ba#1", "\n## Fine\nit is")
            await told()
            assert (mirror.agent(BA).last_end, mirror.agent(BA).last_line) == ("completed", "Fine")


async def test_what_falls_with_a_task() -> None:
    backlog = Backlog()
    async with session_of(Gate()) as session:
        mirror = Mirror(session.roster, session.policy)
        with session.bus.subscribe(backlog.put):
            session.submit("@pm plan -> @ba check -> @reviewer review\n@writer write $ba &")
            mirror.take_in(backlog.take())
            assert set(mirror.falls_with([TaskId("pm#1")])) == {"ba#1", "reviewer#1", "writer#1"}
            assert mirror.falls_with([TaskId("reviewer#1")]) == ()


async def test_children_fall_with_a_task_and_what_goes_on_after_anything_does_not() -> None:
    backlog = Backlog()
    async with session_of(Gate()) as session:
        mirror = Mirror(session.roster, session.policy)

        def order(agent: str, *needs: Need, parent: str = "") -> Order:
            return Order(AgentId(agent), parse_prompt("Go"), needs, parent=TaskId(parent) if parent else None)

        with session.bus.subscribe(backlog.put):
            session.place([order("pm")])
            session.place([order("ba", parent="pm#1"), order("writer", Need("pm"))])
            session.place([order("reviewer", Need("writer", condition=Condition.ANY))])
            mirror.take_in(backlog.take())
            assert set(mirror.falls_with([TaskId("pm#1")])) == {"ba#1", "writer#1"}
            assert set(mirror.falls_with([TaskId("writer#1")])) == {"reviewer#1"}


async def test_the_prompt_of_a_task_is_what_it_was_sent() -> None:
    backlog, gate = Backlog(), Gate()
    async with session_of(gate) as session:
        mirror = Mirror(session.roster, session.policy)
        with session.bus.subscribe(backlog.put):
            session.submit("@pm See {{output:ba}}")
            await settle()
            session.submit("@ba Say it")
            await settle()
            gate.answer("ba#1", "news")
            await settle()
            mirror.take_in(backlog.take())
            sent = mirror.prompt(TaskId("pm#1"))
            assert sent is not None
            assert sent.text == gate.prompt("pm#1") == 'See (No output available from task "ba")'


def test_a_command_is_one_only_when_it_is_alone() -> None:
    mirror = Mirror(session_of().roster, session_of().policy)
    command = mirror.command("/cancel pm")
    assert command is not None
    assert (command.name, command.arguments.strip()) == ("cancel", "pm")
    assert mirror.command("/status\n@pm plan") is None
    assert mirror.command("@pm plan") is None
    assert mirror.command("/nonsense") is None
    assert mirror.command("") is None


async def test_a_long_wait_is_told() -> None:
    backlog = Backlog()
    async with session_of(Gate()) as session:
        mirror = Mirror(session.roster, session.policy)
        with session.bus.subscribe(backlog.put):
            session.submit("@pm Plan -> @ba Check")
        mirror.take_in(backlog.take())
        changes = mirror.take_in([WaitProlonged(session.now(), TaskId("ba#1"), (PM,), 300.0)])
    assert changes.warnings == ("@ba (ba#1) still waits for @pm after 300 s.",)


async def test_what_the_person_should_know_of_an_agent_is_told() -> None:
    backlog = Backlog()
    async with session_of(Gate()) as session:
        mirror = Mirror(session.roster, session.policy)
        with session.bus.subscribe(backlog.put):
            session.submit("@pm Plan")
        mirror.take_in(backlog.take())
        notice = ActivityReported(session.now(), TaskId("pm#1"), Notice("has lost its memory"))
        assert mirror.take_in([notice]).warnings == ("@pm has lost its memory",)
