"""`up`: a selection of a compose file at work in a session.

An iteration is placed as a whole, so that each of its tasks starts the moment its own dependencies allow; the
next one when every task of it has ended. Instances that run side by side do not wait for each other, except
for the turn that `concurrency` gives them. A task that is cancelled lets no further iteration begin.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from teambot_tui.engine.context import as_json
from teambot_tui.engine.dependencies import Condition, Via
from teambot_tui.engine.facts import (
    IterationStarted,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskRetried,
    TaskSkipped,
    UpEnded,
    UpStarted,
)
from teambot_tui.engine.ids import TaskId
from teambot_tui.engine.monitor import log_refusal
from teambot_tui.engine.orders import Need, Newcomer, Order, OrderError
from teambot_tui.workflows.directives import asks_for_stdin, prompt_of
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.selection import cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.session import Session
    from teambot_tui.workflows.schema import ComposeFile, ComposeTask
    from teambot_tui.workflows.selection import Selection

_CANCELLED = "cancelled"


class Turns:
    """The lines of one `up`; who stands in them is named by its label until it has an id."""

    def __init__(self, selection: Selection) -> None:
        self._lines: dict[str, list[list[str]]] = {
            task.name: [[] for _ in range(task.concurrency)]
            for task in selection.tasks
            if 0 < task.concurrency < selection.parallelism
        }
        self._line_of: dict[str, list[str]] = {}

    def take(self, task: str, label: str, board: Board) -> str | None:
        """Let an instance of a task stand in line; return after whom it may start, if after anybody."""
        if task not in self._lines:
            return None
        lines = self._lines[task]
        for line in lines:
            line[:] = [
                each for each in line if TaskId(each) not in board.tasks or not _has_ended(each, board)
            ]
        line = min(lines, key=len)
        before = line[-1] if line else None
        line.append(label)
        self._line_of[label] = line
        return before

    def settle(self, label: str, task: TaskId) -> None:
        """Call who stood in line under a label by its id from now on."""
        if (line := self._line_of.pop(label, None)) is not None:
            line[line.index(label)] = task


def _has_ended(name: str, board: Board) -> bool:
    task = board.tasks.get(TaskId(name))
    return task is not None and task.ended is not None


class Up:
    """One `up`. It belongs to the event loop of its session.

    `reason` says why it was over before its time; it is empty if it was not.
    """

    def __init__(
        self,
        session: Session,
        file: ComposeFile,
        selection: Selection,
        stdin: str | None = None,
        run: str = "",
    ) -> None:
        """Prepare it; nothing is started. `run` tells where its outputs are kept, if they are.

        Raises:
            ComposeError: A task is for somebody who is not on the team, or asks for what nobody piped in.
        """
        for task in selection.tasks:
            if stdin is None and asks_for_stdin(task):
                raise ComposeError(
                    file.path,
                    task.line,
                    1,
                    f"nothing was piped in for {{{{STDIN}}}} of {task.name}",
                    "try: cat notes.txt | teambot up",
                )
        self.selection = selection
        self.reason = ""
        self._session = session
        self._file = file
        self._stdin = stdin
        self._run = run
        self._context = tuple((key, as_json(value)) for key, value in file.context.items())
        self._depths = _depths(selection.tasks)
        self._tasks = sorted(selection.tasks, key=lambda task: self._depths[task.name])
        self._turns = Turns(selection)
        self._take_name()
        self._unfinished: dict[str, dict[TaskId, None]] = {}
        """What each instance still has to do, in the order in which it was placed."""
        self._scope_of: dict[TaskId, str] = {}
        self._over = asyncio.Event()
        self._reading = ExitStack()

    def _take_name(self) -> None:
        """Find a place beside the others of this session, where none sees the outputs of another."""
        session = self._session
        self.name = f"up-{session.ups + 1}"
        self.scopes = _scopes(f"{self.name}/" if session.ups else "", self.selection)
        self._cast = cast(self._file, self.selection, self.scopes, session.roster)
        self._iterations = dict.fromkeys(self.scopes, 0)

    @property
    def agents(self) -> tuple[AgentId, ...]:
        """Who works in it, newcomers included."""
        return tuple(dict.fromkeys(self._cast.agents.values()))

    @property
    def newcomers(self) -> frozenset[AgentId]:
        """Those of them that are not of the team."""
        return frozenset(self._cast.newcomers)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may not be meant in its tasks, and where it stands."""
        chosen = {task.name for task in self.selection.tasks}
        return tuple(warning.text for warning in self._file.warnings if warning.task in chosen)

    @property
    def path(self) -> Path:
        """The file it is kept in."""
        return self._file.path

    def agent_of(self, scope: str, task: str) -> AgentId:
        """Return who does a task in one of the scopes."""
        return self._cast.agents[scope, task]

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._over.is_set()

    @log_refusal("workflow", ComposeError)
    def begin(self) -> None:
        """Start the first iteration of every instance.

        Raises:
            ComposeError: Somebody has left the team since it was prepared; nothing was started.
        """
        session, selection = self._session, self.selection
        self._take_name()
        ends = (TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled)
        self._reading.enter_context(session.bus.subscribe(self._see, *ends, TaskRetried))
        session.announce(
            UpStarted(
                session.now(),
                self.name,
                self._run,
                str(self._file.path),
                selection.pipeline,
                tuple(task.name for task in selection.tasks),
                self.scopes,
                selection.iterations,
            )
        )
        if self.reason:  # cancelled before it began
            self._end()
        else:
            self._place(self.scopes)

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._over.wait()

    @property
    def was_cancelled(self) -> bool:
        """Whether somebody ended it."""
        return self.reason == _CANCELLED

    def cancel(self) -> bool:
        """End it, with every task of it that has not ended; tell whether it was still going."""
        if self.is_over:
            return False
        self.reason = self.reason or _CANCELLED
        # Whatever depends on a task goes before it, so that nothing starts on its way out.
        for task in reversed([task for tasks in self._unfinished.values() for task in tasks]):
            self._session.cancel(task)
        return True

    # How it goes on

    def _place(self, scopes: Sequence[str]) -> None:
        session = self._session
        for scope in scopes:
            self._iterations[scope] += 1
            session.announce(IterationStarted(session.now(), self.name, scope, self._iterations[scope]))
        # By depth, so that in the queue of an agent nothing stands before what it waits for.
        keys = [(scope, task) for task in self._tasks for scope in scopes]
        try:
            placed = session.place([self._order(*key) for key in keys], self._newcomers())
        except OrderError as error:  # an agent has left meanwhile
            self.reason = self.reason or str(error)
            placed = ()
        self._unfinished |= {scope: {} for scope in scopes}
        for (scope, task), made in zip(keys[: len(placed)], placed, strict=True):
            self._turns.settle(scope + task.name, made)
            self._scope_of[made] = scope
            if session.board.tasks[made].ended is None:
                self._unfinished[scope][made] = None
        for scope in scopes:
            if not self._unfinished[scope]:
                self._go_on_soon(scope)

    def _newcomers(self) -> Iterable[Newcomer]:
        there = set(self._session.roster.agents)
        return [Newcomer(agent, base) for agent, base in self._cast.newcomers.items() if agent not in there]

    def _order(self, scope: str, task: ComposeTask) -> Order:
        before = self._turns.take(task.name, scope + task.name, self._session.board)
        needs = [Need(need.task, Via.AFTER, need.condition) for need in task.needs]
        if before is not None:
            needs.append(Need(before, Via.AFTER, Condition.ALWAYS))
        return Order(
            self._cast.agents[scope, task.name],
            prompt_of(task, self._iterations[scope], self.selection.iterations, self._stdin),
            tuple(needs),
            label=task.name,
            scope=scope,
            model=task.model,
            context=self._context,
        )

    def _see(self, fact: Fact) -> None:
        task: TaskId = fact.task  # type: ignore[union-attr]  # only facts about a task come here
        scope = self._scope_of.get(task)
        unfinished = None if scope is None else self._unfinished.get(scope)
        if scope is None or unfinished is None:
            return
        if isinstance(fact, TaskRetried):
            unfinished[task] = None
            return
        if isinstance(fact, TaskCancelled):
            self.reason = self.reason or _CANCELLED
        unfinished.pop(task, None)
        if not unfinished:
            self._go_on_soon(scope)

    def _go_on_soon(self, scope: str) -> None:
        # Not at once: the fact at hand still has consequences.
        asyncio.get_running_loop().call_soon(self._go_on, scope)

    def _go_on(self, scope: str) -> None:
        if self.is_over or self._unfinished.get(scope, True):
            return  # one of its tasks was brought back meanwhile
        if self._session.is_closing:
            self.reason = self.reason or _CANCELLED
        if self._iterations[scope] < self.selection.iterations and not self.reason:
            self._place([scope])
            return
        del self._unfinished[scope]
        if not self._unfinished:
            self._end()

    def _end(self) -> None:
        self._reading.close()
        self._over.set()
        self._session.announce(UpEnded(self._session.now(), self.name, self.reason))


def _scopes(prefix: str, selection: Selection) -> tuple[str, ...]:
    if selection.parallelism == 1:
        return (prefix,)
    return tuple(f"{prefix}{selection.pipeline}.{number}/" for number in range(1, selection.parallelism + 1))


def _depths(tasks: Iterable[ComposeTask]) -> dict[str, int]:
    """Return for each task how many steps are before it."""
    needs = {task.name: [need.task for need in task.needs] for task in tasks}
    depths: dict[str, int] = {}
    for name in TopologicalSorter(needs).static_order():
        depths[name] = 1 + max((depths[need] for need in needs[name]), default=-1)
    return depths
