"""What the screen keeps agrees with the engine's board, whatever happened and in whatever frames it came."""

from __future__ import annotations

import dataclasses
import random
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.facts import ActivityReported, WaitProlonged
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.orders import Need, Order
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.ports import Notice
from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse_prompt
from teambot_tui.service import Service
from teambot_tui.ui.views import Views
from tests.team import TEAM, Gate, session_of, settle

if TYPE_CHECKING:
    from teambot_tui.engine.facts import Fact
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
    chance, gate = random.Random(seed), Gate()
    async with session_of(gate) as session:
        service = Service(session)
        views = Views(service.frame())
        with service.following():
            for _ in range(60):
                with suppress(StatementError, RefusedError):
                    do_something(chance, session, gate)
                await settle()
                if chance.random() < 0.3:
                    views.take_in(service.frame())
            views.take_in(service.frame())
            board = session.board
            assert views.tasks() == tuple(board.tasks)
            for name, task in board.tasks.items():
                view = views.task(name)
                assert (view.state, view.reason, view.ended) == (task.state, task.reason, task.ended)
                assert view.waiting_for == (tuple(task.lacking) if task.state == "waiting" else ())
                assert service.output(name) == task.output.text
            for agent in session.roster.agents:
                lane = board.lanes.get(agent)
                assert views.queue(agent) == (tuple(lane.queue) if lane else ())


async def test_what_a_panel_is_told() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        service = Service(session)
        views = Views(service.frame())
        with service.following():

            async def told() -> None:
                await settle()
                views.take_in(service.frame())

            assert views.agent(PM).state == "idle"
            session.submit("@pm plan\n@pm again\n@pm once more")
            await told()
            assert (views.agent(PM).state, views.agent(PM).queued) == ("executing", 2)
            gate.answer("pm#1", "\n# The plan\nstep 1")
            await told()
            assert (views.agent(PM).task, views.agent(PM).queued) == ("pm#2", 1)
            session.cancel("pm")
            await told()
            view = views.agent(PM)
            assert (view.state, view.last_end, view.queued) == ("idle", "cancelled", 0)
            session.submit("@ba check $pm")
            await told()
            gate.fail("ba#1", "no money")
            await told()
            assert (views.agent(BA).last_end, views.agent(BA).last_line) == ("failed", "no money")
            session.retry("ba")
            await told()
            gate.answer("ba#1", "\n## Fine\nit is")
            await told()
            assert (views.agent(BA).last_end, views.agent(BA).last_line) == ("completed", "Fine")


async def test_what_falls_with_a_task() -> None:
    async with session_of(Gate()) as session:
        service = Service(session)
        views = Views(service.frame())
        with service.following():
            session.submit("@pm plan -> @ba check -> @reviewer review\n@writer write $ba &")
            views.take_in(service.frame())
            assert set(service.consequences("pm#1").skipped) == {"ba#1", "reviewer#1", "writer#1"}
            assert service.consequences("reviewer#1").skipped == ()


async def test_children_fall_with_a_task_and_what_goes_on_after_anything_does_not() -> None:
    async with session_of(Gate()) as session:
        service = Service(session)
        views = Views(service.frame())

        def order(agent: str, *needs: Need, parent: str = "") -> Order:
            return Order(AgentId(agent), parse_prompt("Go"), needs, parent=TaskId(parent) if parent else None)

        with service.following():
            session.place([order("pm")])
            session.place([order("ba", parent="pm#1"), order("writer", Need("pm"))])
            session.place([order("reviewer", Need("writer", condition=Condition.ANY))])
            views.take_in(service.frame())
            assert set(service.consequences("pm#1").skipped) == {"ba#1", "writer#1"}
            assert set(service.consequences("writer#1").skipped) == {"reviewer#1"}


async def test_the_prompt_of_a_task_is_what_it_was_sent() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        service = Service(session)
        views = Views(service.frame())
        with service.following():
            session.submit("@pm See {{output:ba}}")
            await settle()
            session.submit("@ba Say it")
            await settle()
            gate.answer("ba#1", "news")
            await settle()
            views.take_in(service.frame())
            sent = service.read(TaskId("pm#1")).prompt
            assert sent is not None
            assert sent.text == gate.prompt("pm#1") == 'See (No output available from task "ba")'


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (
            WaitProlonged(0.0, TaskId("ba#1"), (PM,), 300.0),
            "@ba (ba#1) still waits for @pm after 300 s.",
        ),
        (ActivityReported(0.0, TaskId("pm#1"), Notice("has lost its memory")), "@pm has lost its memory"),
    ],
)
async def test_what_the_person_should_know_is_told(fact: Fact, told: str) -> None:
    async with session_of(Gate()) as session:
        service = Service(session)
        with service.following():
            session.submit("@pm Plan -> @ba Check")
            session.bus.publish(fact)
        assert service.frame().warnings == (told,)


async def test_what_crosses_is_plain() -> None:
    """Nothing but values: no board, no session, no function."""
    gate = Gate()
    async with session_of(gate) as session:
        service = Service(session)
        with service.following():
            session.submit('@pm Plan -> @ba Check $pm\n$x := {base: "pm", prompt: "Look"}')
            await settle()
            gate.answer("pm#1", "done")
            await settle()
            for value in (
                service.frame(),
                service.explain("@pm Plan -> @ba Check $pm"),
                service.explain("@nobody Plan"),
                service.consequences("all"),
                service.read(TaskId("ba#1")),
                service.context_of_runs(),
            ):
                assert not strangers_in(value)


def strangers_in(value: object) -> list[object]:
    """Return what is inside a value and is no plain value."""
    match value:
        case None | str() | int() | float() | Path():
            return []
        case dict():
            return [each for pair in value.items() for part in pair for each in strangers_in(part)]
        case list() | tuple() | set() | frozenset():
            return [each for part in value for each in strangers_in(part)]
        case StatementError():
            return []
        case _ if dataclasses.is_dataclass(value):
            return [
                each
                for field in dataclasses.fields(value)
                for each in strangers_in(getattr(value, field.name))
            ]
    return [value]


async def test_the_prompt_of_a_waiting_task_has_words_for_what_is_not_there_yet() -> None:
    async with session_of(Gate()) as session:
        service = Service(session)
        session.submit("@pm Plan -> @ba Check it against $writer &\n@reviewer Review {plan}\n")
        prompt = service.read(TaskId("ba#1")).prompt
        assert prompt.text == (
            "=== Output from @pm ===\n… @pm's output …\n\n"
            "=== Your Task ===\nCheck it against [Output from @writer]: … @writer's output …"
        )
        assert [given.agent for given in prompt.given] == ["pm", "writer"]
