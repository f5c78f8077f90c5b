"""What an agent at work may do with the team: start runs, wait for them, read what they said.

Whoever calls is an agent; what it starts belongs to the task it is at. The first run that an agent wants to
start needs the person's leave, and the answer holds for its further ones.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from teambot_tui.engine.context import entries
from teambot_tui.engine.cycles import stands_behind
from teambot_tui.engine.orders import OrderError, find
from teambot_tui.engine.ports import Verdict
from teambot_tui.engine.spawning import Run
from teambot_tui.engine.text import last_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teambot_tui.engine.board import Task
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.session import Session

_LONGEST_WAIT = 3600.0
Answer = dict[str, Any]


class DoorError(Exception):
    """A wish that cannot be fulfilled, in words a model can act on."""


class Door:
    """The team, for the agents in it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._leave: dict[AgentId, asyncio.Future[Verdict | None]] = {}
        """What the person was asked about each agent, and answered."""

    async def spawn(
        self,
        caller: AgentId,
        task: str | list[str],
        *,
        agent: str = "general-purpose",
        label: str | None = None,
        chain_after: str | list[str] | None = None,
        include_dependency_result: bool = False,
        shared_context: Mapping[str, object] | None = None,
        parallel: bool = False,
        model: str | None = None,
        retries: int = 0,
    ) -> list[Answer]:
        """Start a run for each task and return at once.

        Raises:
            DoorError: it is not possible, or not allowed.
        """
        parent = self._task_of(caller)
        await self._ask_leave(caller, parent.id, agent, task)
        try:
            started = await self._session.spawn(
                task,
                agent=agent,
                label=label,
                chain_after=chain_after,
                include_dependency_result=include_dependency_result,
                shared_context=shared_context,
                parallel=parallel,
                model=model,
                retries=retries,
                parent=parent.id,
            )
        except OrderError as error:
            raise DoorError(str(error)) from error
        return [self._status(run.id) for run in ([started] if isinstance(started, Run) else started)]

    async def wait(
        self, caller: AgentId, runs: Sequence[str], *, at_least: int | None = None, seconds: float = 600.0
    ) -> list[Answer]:
        """Wait until all of the runs have ended, or so many of them, or the time is over.

        Raises:
            DoorError: There is no such run, or they wait for the caller themselves.
        """
        tasks = [self._find(name) for name in runs]
        enough = len(tasks) if at_least is None else min(at_least, len(tasks))
        own, board = self._task_of(caller), self._session.board
        stuck = [task for task in tasks if stands_behind(board.tasks[task], own)]
        if len(tasks) - len(stuck) < enough:
            raise DoorError(f"{stuck[0]} begins when you have ended: do not wait for it.")
        try:
            async with asyncio.timeout(min(seconds, _LONGEST_WAIT)):
                await self._session.ended(tasks, at_least=enough)
        except TimeoutError:
            pass  # how each stands tells that
        return [self._status(task) for task in tasks]

    def output(self, run: str) -> Answer:
        """Return what a run has said so far."""
        task = self._session.board.tasks[self._find(run)]
        limit = self._session.policy.inject_limit
        text = last_bytes(task.output.text, limit)
        missing = task.output.total - len(text.encode("utf-8", "replace"))
        return {**self._status(task.id), "output": text, "bytes_left_out": max(0, missing)}

    def status(self, runs: Sequence[str] | None = None) -> list[Answer]:
        """Return how some runs stand, or all that have not ended."""
        tasks = self._session.board.unfinished_tasks() if runs is None else map(self._find, runs)
        return [self._status(task) for task in tasks]

    def agents(self) -> list[Answer]:
        """Return who can be given work."""
        roster = self._session.roster
        names = dict.fromkeys((*roster.agents, *roster.bases))
        return [{"agent": name, "temporary": name in roster.temporary} for name in names]

    def shared_context(self, caller: AgentId) -> Answer:
        """Return what the caller is told beside its task."""
        told = entries(self._task_of(caller), self._session.board)
        return {entry.key: json.loads(entry.value) for entry in told}

    async def _ask_leave(self, caller: AgentId, task: TaskId, agent: str, work: str | list[str]) -> None:
        answered = self._leave.get(caller)
        if answered is None or (answered.done() and answered.result() is None):  # nobody has answered
            detail = f"start @{agent}: " + "\n".join([work] if isinstance(work, str) else work)
            answered = asyncio.ensure_future(self._session.ask(task, "spawn", "spawn", detail))
            self._leave[caller] = answered
        # Shielded: a client that gives up finds the same question open when it calls again.
        if await asyncio.shield(answered) is not Verdict.ALLOW:
            raise DoorError("The person did not allow you to start other agents. Do the work yourself.")

    def _task_of(self, caller: AgentId) -> Task:
        lane = self._session.board.lanes.get(caller)
        if lane is None or lane.busy is None or lane.busy.ended is not None:
            raise DoorError("You have no task at the moment.")
        return lane.busy

    def _find(self, name: str) -> TaskId:
        try:
            return find(name, self._session.board, self._session.roster)
        except OrderError as error:
            raise DoorError(str(error)) from error

    def _status(self, task: TaskId) -> Answer:
        found = self._session.board.tasks[task]
        status: Answer = {"run": task, "agent": found.agent, "status": found.state.value}
        if found.plan.label:
            status["label"] = found.plan.label
        if found.lacking and found.ended is None:
            status["waiting_for"] = list(found.lacking)
        if found.reason:
            status["reason"] = found.reason
        return status
