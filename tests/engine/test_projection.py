"""Frames tell all that changed and nothing twice: kept together they are what the board says."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import random
import types
import typing
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

import pytest

import teambot_tui.engine.activity
import teambot_tui.engine.board
import teambot_tui.engine.context
import teambot_tui.engine.dependencies
import teambot_tui.engine.facts
import teambot_tui.engine.ids
import teambot_tui.engine.ports
import teambot_tui.engine.roster
import teambot_tui.engine.spans
import teambot_tui.engine.views
import teambot_tui.engine.workflow_progress
from teambot_tui.engine.facts import (
    ActivityReported,
    IterationStarted,
    StatementAccepted,
    TaskCreated,
    UpStarted,
    WaitProlonged,
)
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.ports import Notice, Plan, Step, Text, ToolCall, ToolState, Usage, Verdict
from teambot_tui.engine.projection import Projection
from teambot_tui.engine.views import Frame
from teambot_tui.language.errors import StatementError
from tests.team import TEAM, Busy, Gate, session_of, settle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.board import State
    from teambot_tui.engine.ports import Request, Update
    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import AgentView, TaskView, VariableView

PM, BA = AgentId("pm"), AgentId("ba")


class Store:
    """Keeps the latest of everything, as a face does."""

    def __init__(self) -> None:
        self.tasks: dict[TaskId, TaskView] = {}
        self.agents: dict[AgentId, AgentView] = {}
        self.variables: dict[str, VariableView] = {}
        self.said: dict[TaskId, str] = {}
        self.counts: dict[State, int] = {}

    def take(self, frame: Frame) -> None:
        self.tasks |= {view.task: view for view in frame.tasks}
        self.agents |= {view.agent: view for view in frame.agents}
        self.variables |= {view.name: view for view in frame.variables}
        for task, text in frame.said:
            self.said[task] = self.said.get(task, "") + text
        self.counts = frame.counts if frame.counts is not None else self.counts


def do_something(chance: random.Random, session: Session, gate: Gate) -> None:
    one, two, three = chance.sample(TEAM, 3)
    running = [task for task in gate.started if task not in gate.closed]
    match chance.randrange(9):
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
        case 8:
            session.submit(f'{one}:"Write it":text{chance.randrange(3)}')


@pytest.mark.parametrize("seed", range(16))
async def test_the_frames_together_are_what_the_board_says(seed: int) -> None:
    chance, gate, store = random.Random(seed), Gate(), Store()
    async with session_of(gate) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):
            for _ in range(80):
                with suppress(StatementError, RefusedError):
                    do_something(chance, session, gate)
                await settle()
                if chance.random() < 0.4:
                    store.take(projection.frame())
            store.take(projection.frame())
            assert not projection.has_news
            board = session.board
            assert list(store.tasks) == list(board.tasks), "in the order they were made"
            for name, task in board.tasks.items():
                assert store.tasks[name] == projection.task(task), f"{name} changed and no frame told"
            for agent in store.agents:
                assert store.agents[agent] == projection.agent(agent), f"@{agent} changed and no frame told"
            for variable in board.captures:
                assert store.variables[variable] == projection.variable(variable)
            states = [task.state for task in board.tasks.values()]
            assert store.counts == {state: states.count(state) for state in store.counts}


async def test_an_empty_frame_holds_nothing() -> None:
    async with session_of(Gate()) as session:
        projection = Projection(session)
        first = projection.frame()
        assert first.roster == session.roster
        assert first.models == session.models
        assert projection.frame() == Frame(number=2)


async def test_a_statement_may_come_a_frame_before_its_tasks() -> None:
    async with session_of(Gate()) as session:
        projection = Projection(session)
        projection.see(StatementAccepted(session.now(), "@pm plan", (TaskId("pm#1"),)))
        assert projection.frame().tasks == ()
        with session.bus.subscribe(projection.see, TaskCreated):
            session.submit("@pm plan")
        assert [view.statement for view in projection.frame().tasks] == ["@pm plan"]


class Chatter:
    """Says what it is asked to say so many times, a word at a time."""

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        for _ in range(1000):
            await asyncio.sleep(0)
            yield Text(f"{request.agent} ")


async def test_who_speaks_in_turn_is_merged_for_a_reader_that_stalls() -> None:
    async with session_of(Chatter()) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):
            session.submit("@pm,ba,writer talk")
            await session.idle()
            frame = projection.frame()
    assert frame.said == tuple((TaskId(f"{name}#1"), f"{name} " * 1000) for name in ("pm", "ba", "writer"))
    assert len(frame.tasks) == 3


async def test_what_an_agent_is_doing() -> None:
    gate, store = Gate(), Store()
    async with session_of(gate) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):

            async def look(agent: AgentId) -> AgentView:
                await settle()
                store.take(projection.frame())
                return store.agents[agent]

            session.submit("@pm plan\n@pm again\n@pm once more")
            view = await look(PM)
            assert (view.state, view.queued, view.reference) == ("executing", 2, "waiting")
            gate.answer("pm#1", "\n# The plan\nstep 1")
            view = await look(PM)
            assert (view.task, view.queued) == ("pm#2", 1)
            session.cancel("pm")
            view = await look(PM)
            assert (view.state, view.last_end, view.queued) == ("idle", "cancelled", 0)
            assert view.reference == "bound"
            session.submit("@ba check $pm")
            await look(BA)
            gate.fail("ba#1", "no money")
            view = await look(BA)
            assert (view.last_end, view.last_line) == ("failed", "no money")
            session.retry("ba")
            await look(BA)
            gate.answer("ba#1", "\n## Fine\nit is")
            view = await look(BA)
            assert (view.last_end, view.last_line) == ("completed", "Fine")


async def test_a_task_has_its_own_words_and_remembers_what_was_answered() -> None:
    busy = Busy()
    async with session_of(busy) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):
            session.submit("@pm plan -> @ba check $pm twice")
            await settle()
            busy.ask("pm#1", "make test")
            await settle()
            views = {view.task: view for view in projection.frame().tasks}
            assert views[TaskId("pm#1")].words == "plan"
            assert views[TaskId("ba#1")].words == "check $pm twice"
            (decision,) = views[TaskId("pm#1")].decisions
            assert "make test" in decision.summary
            assert decision.verdict is Verdict.REJECT, "nobody is there to be asked"
            busy.fail("pm#1")
            await settle()
            views = {view.task: view for view in projection.frame().tasks}
            assert views[TaskId("ba#1")].cause == "pm#1"


async def test_a_retry_drops_what_was_said_before_it() -> None:
    gate = Busy()
    async with session_of(gate) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):
            session.submit("@pm plan")
            await settle()
            gate.tell("pm#1", Text("half"))
            gate.fail("pm#1")
            await settle()
            session.retry("pm")
            await settle()
            assert projection.frame().said == ()


async def test_what_the_person_should_know_is_told_once() -> None:
    async with session_of(Gate()) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):
            session.submit("@pm Plan -> @ba Check")
        projection.see(WaitProlonged(session.now(), TaskId("ba#1"), (PM,), 300.0))
        projection.see(ActivityReported(session.now(), TaskId("pm#1"), Notice("has lost its memory")))
        said = ("@ba (ba#1) still waits for @pm after 300 s.", "@pm has lost its memory")
        assert projection.frame().warnings == said
        assert projection.frame().warnings == ()


async def test_choices_of_the_person_are_facts() -> None:
    async with session_of(Gate()) as session:
        projection = Projection(session)
        projection.frame()
        with session.bus.subscribe(projection.see):
            session.use_agent(BA)
            session.set_model(PM, "large")
            session.set_context("goal", "ship")
            session.set_budget(5.0)
            frame = projection.frame()
    assert frame.roster is not None and frame.roster.default == BA  # noqa: PT018
    assert frame.models is not None and frame.models[PM] == "large"  # noqa: PT018
    assert [(entry.key, entry.value) for entry in frame.context or ()] == [("goal", '"ship"')]
    assert frame.budget is not None and frame.budget.cost_limit == 5.0  # noqa: PT018


# Plain data


def plain(value: object) -> object:
    """Encode any value of plain data; whatever else is in it cannot cross a socket."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    assert dataclasses.is_dataclass(value), f"{value!r} is no plain data"
    assert not isinstance(value, type)
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


_NAMES = {
    name: value
    for module in (
        teambot_tui.engine.activity,
        teambot_tui.engine.ids,
        teambot_tui.engine.board,
        teambot_tui.engine.context,
        teambot_tui.engine.dependencies,
        teambot_tui.engine.ports,
        teambot_tui.engine.facts,
        teambot_tui.engine.roster,
        teambot_tui.engine.spans,
        teambot_tui.engine.views,
        teambot_tui.engine.workflow_progress,
    )
    for name, value in vars(module).items()
}


def restored(kind: Any, value: Any) -> Any:  # noqa: ANN401  whatever is sent
    """Return what was encoded, by the types that the fields promise."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, typing.NewType):
        return restored(kind.__supertype__, value)
    if origin in (typing.Union, types.UnionType):
        return (
            None if value is None else restored(next(each for each in inner if each is not type(None)), value)
        )
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(restored(each, part) for each, part in zip(kinds, value, strict=True))
    if origin is not None:
        return {restored(inner[0], key): restored(inner[1], part) for key, part in value.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if dataclasses.is_dataclass(kind):
        own = vars(__import__(kind.__module__, fromlist=["_"]))
        hints = typing.get_type_hints(kind, {**typing.__dict__, **_COLLECTIONS, **_NAMES, **own})
        return kind(**{name: restored(hints[name], part) for name, part in value.items()})  # type: ignore[operator]
    return value


_COLLECTIONS = {"Mapping": __import__("collections.abc", fromlist=["_"]).Mapping}


async def test_a_frame_can_go_over_a_socket() -> None:
    gate = Gate()
    async with session_of(gate) as session:
        projection = Projection(session)
        with session.bus.subscribe(projection.see):
            session.define(AgentId("scanner"), "pm", "You scan.")
            session.submit('pm:"Plan it":plan\n@ba check $pm {plan} &\n@scanner look')
            await settle()
            now = session.now()
            session.announce(UpStarted(now, "up-1", "", "a.yaml", "", ("x",), ("",), 2))
            session.announce(IterationStarted(now, "up-1", "", 1))
            for activity in (
                ToolCall("1", "npm test", "execute", ToolState.RUNNING, "npm test"),
                Plan((Step("look", "pending"),)),
                Usage(3, 4, 0.5),
                Notice("is new"),
            ):
                projection.see(ActivityReported(now, TaskId("pm#1"), activity))
            gate.answer("pm#1", "fine")
            await settle()
            session.set_context("goal", {"a": 1})
            frame = projection.frame()
    empty = {field.name for field in dataclasses.fields(frame) if not getattr(frame, field.name)}
    assert empty <= {"left", "outcomes", "requests"}, "else the test tests less than it says"
    assert restored(Frame, json.loads(json.dumps(plain(frame)))) == frame
