"""Work that is ordered by name instead of typed: what a compose file, a script or an agent asks for.

An order says what it needs by the id, the label or the agent of other tasks. It becomes a task as a typed
statement does: bound when it is placed, refused as a whole when something in it has no meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from teambot_tui.engine.binding import Binder
from teambot_tui.engine.board import State
from teambot_tui.engine.cycles import PlannedBoard
from teambot_tui.engine.dependencies import Condition, Dependency, Via
from teambot_tui.engine.facts import TaskCreated
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.text import one_line
from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.roster import Roster
    from teambot_tui.language.nodes import Part


_MOST_SHOWN = 30


class OrderError(Exception):
    """An order that cannot be placed, and why."""


@dataclass(frozen=True, slots=True)
class Need:
    """What an order depends on, and what becomes of its output.

    The name is a task id, a label or an agent; a number means one of the orders that are placed together.
    """

    name: str | int
    via: Via = Via.AFTER
    condition: Condition = Condition.SUCCESS
    key: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """One task to be done by an agent; see `TaskCreated` for the fields.

    Where `typed` is the text that a person wrote, the `$agent` and `{variable}` in its parts are bound.
    """

    agent: AgentId
    parts: tuple[Part, ...]
    needs: tuple[Need, ...] = ()
    label: str | None = None
    scope: str = ""
    model: str | None = None
    parent: TaskId | None = None
    context: tuple[tuple[str, str], ...] = ()
    retries: int = 0
    typed: str | None = None
    condition: Condition = Condition.SUCCESS
    """How what the text itself refers to must end."""


class Newcomer(NamedTuple):
    """An agent that joins to do an order: what it is made of, who started it, and who it is besides."""

    agent: AgentId
    base: str
    parent: TaskId | None = None
    prompt: str = ""


def place(
    orders: Iterable[Order], board: Board, roster: Roster, policy: Policy, now: float
) -> list[TaskCreated]:
    """Return the tasks that these orders would be; an order may need one that stands before it.

    Raises:
        OrderError: one of them names something that does not exist, or would close a cycle.
    """
    planned_board = PlannedBoard(board)
    labels: dict[str, TaskId] = {}
    created: list[TaskCreated] = []
    agents = frozenset(roster.agents)
    for order in orders:
        if order.agent not in agents:
            raise OrderError(_unknown(order.agent, "agent", roster.agents))
        needed: dict[tuple[TaskId | AgentId, Via, str], Dependency] = {}
        bound = [_bind(need, order, created, labels, planned_board, board, roster) for need in order.needs]
        for dependency in (*_named(order, planned_board, roster, policy), *bound):
            key = dependency.task or dependency.agent, dependency.via, dependency.name
            needed.setdefault(key, dependency)
        task = TaskCreated(
            time=now,
            task=planned_board.next_task(order.agent),
            agent=order.agent,
            parts=order.parts,
            dependencies=tuple(needed.values()),
            background=True,
            model=order.model,
            label=order.label,
            definition=roster.temporary.get(order.agent),
            scope=order.scope,
            parent=order.parent,
            context=order.context,
            retries=order.retries,
        )
        if cycle := planned_board.add(task):
            raise OrderError(f"Circular dependency detected: {' → '.join(f'@{agent}' for agent in cycle)}")
        if order.label is not None:
            labels[order.scope + order.label] = task.task
        created.append(task)
    return created


def find(name: str, board: Board, roster: Roster) -> TaskId:
    """Return the task that a task id, a label or an agent stands for.

    Raises:
        OrderError: there is none.
    """
    task = _known_task(name, board)
    lane = board.lanes.get(AgentId(name))
    if task is None and lane is not None and (newest := lane.newest or lane.latest):
        task = newest.id
    if task is None:
        raise OrderError(_unknown(name, "task, label or agent", _names(board, roster)))
    return task


def _named(order: Order, planned_board: PlannedBoard, roster: Roster, policy: Policy) -> list[Dependency]:
    """Bind what the text of an order refers to, as if it had been typed to wait in the background."""
    if order.typed is None:
        return []
    binder = Binder(order.typed, planned_board, order.condition)
    try:
        references = binder.references(order.parts, roster, policy.max_references)
        return [
            *(
                binder.agent(agent, Via.REFERENCE, span, background=True, siblings=(order.agent,))
                for agent, span in references.items()
            ),
            *binder.variables(order.parts),
        ]
    except StatementError as error:
        raise OrderError(f"{error.message} ({error.hint})" if error.hint else error.message) from error


def _bind(
    need: Need,
    order: Order,
    placed: Sequence[TaskCreated],
    labels: dict[str, TaskId],
    planned_board: PlannedBoard,
    board: Board,
    roster: Roster,
) -> Dependency:
    if isinstance(need.name, int):
        source = placed[need.name]
        return Dependency(source.agent, source.task, need.via, need.condition, need.key)
    scoped = order.scope + need.name
    task = labels.get(scoped) or labels.get(need.name) or _known_task(need.name, board)
    if task is not None:
        return Dependency(agent_of(task), task, need.via, need.condition, need.key)
    agent = AgentId(need.name)
    if agent not in roster.agents:
        raise OrderError(_unknown(need.name, "task, label or agent", (*labels, *_names(board, roster))))
    if agent == order.agent and not planned_board.newest(agent) and not planned_board.latest(agent):
        raise OrderError(f"A run of @{agent} cannot wait for @{agent}, which has no output yet.")
    latest = planned_board.latest(agent)
    known = planned_board.newest(agent) or (latest.id if latest else None)
    return Dependency(agent, known, need.via, need.condition, need.key)


def _known_task(name: str, board: Board) -> TaskId | None:
    if TaskId(name) in board.tasks:
        return TaskId(name)
    labelled = board.labels.get(name, ())
    # As with an agent: a cancelled or skipped task leaves what was there before as it was.
    ended = (State.CANCELLED, State.SKIPPED)
    told = next((task for task in reversed(labelled) if task.state not in ended), None)
    newest = told or (labelled[-1] if labelled else None)
    return newest.id if newest else None


def _names(board: Board, roster: Roster) -> tuple[str, ...]:
    return (*board.labels, *roster.agents, *board.tasks)


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    names = tuple(dict.fromkeys(known))
    near = did_you_mean(name, names)
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    hint = f" Did you mean {near}?" if near else ""
    return f"There is no {what} {one_line(name, 60)}.{hint} There are: {', '.join(names[:_MOST_SHOWN])}{more}"
