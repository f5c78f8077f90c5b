"""What an agent at work may do with the team: start runs, wait for them, read what they said.

Whoever calls is an agent; what it starts belongs to the task it is at. The first run that an agent wants to
start needs the person's permission, and the answer holds for its further ones until it is another agent.
"""

from __future__ import annotations

import asyncio
import json
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.engine.context import entries
from teambot_tui.engine.cycles import stands_behind
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.orders import OrderError, find
from teambot_tui.engine.ports import Verdict
from teambot_tui.engine.roster import GENERAL
from teambot_tui.engine.spawning import Run
from teambot_tui.engine.text import last_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teambot_tui.engine.board import Task
    from teambot_tui.engine.facts import AgentDefined
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.session import Session
    from teambot_tui.engine.spawning import SpawnOptions
    from teambot_tui.engine.spending import Spending

_LONGEST_WAIT = 3600.0
_FURTHER: Final[Mapping[str, object]] = {
    "label": None,
    "depends_on": None,
    "chain_after": None,
    "include_dependency_result": False,
    "timeout": None,
    "retries": 0,
    "on_dependency_failure": "skip",
    "shared_context": None,
}
"""What can be told of a run besides who does what on which model, and what it is if nothing is told."""
Answer = dict[str, Any]


class TeamToolsError(Exception):
    """A request that cannot be fulfilled, in words a model can act on."""


class TeamTools:
    """The team, for the agents in it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answers: dict[AgentId, tuple[AgentDefined | None, asyncio.Future[Verdict | None]]] = {}
        """What the person was asked about each agent, as it was defined then, and answered."""

    async def spawn(self, caller: AgentId, task: str | list[str], options: SpawnOptions) -> Answer:
        """Start a run for each task and return at once.

        Raises:
            TeamToolsError: it is not possible, or not allowed.
        """
        parent = self._task_of(caller)
        texts = [task] if isinstance(task, str) else task

        async def permission() -> None:
            await self._ask_permission(caller, parent.id, texts, options)

        try:
            started = await self._session.spawn(task, **options, parent=parent.id, permission=permission)
        except OrderError as error:
            raise TeamToolsError(str(error)) from error
        return self._runs(run.id for run in ([started] if isinstance(started, Run) else started))

    async def wait(
        self, caller: AgentId, runs: Sequence[str], *, at_least: int | None = None, seconds: float = 600.0
    ) -> Answer:
        """Wait until all of the runs have ended, or so many of them, or the time is over.

        Meanwhile the caller leaves its place to others: it may wait for one that waits for a place.

        Raises:
            TeamToolsError: There is no such run, or they wait for the caller themselves.
        """
        tasks = [self._find(name) for name in runs]
        enough = len(tasks) if at_least is None else min(at_least, len(tasks))
        own, board = self._task_of(caller), self._session.board
        stuck = [task for task in tasks if stands_behind(board.tasks[task], own)]
        if len(tasks) - len(stuck) < enough:
            raise TeamToolsError(f"{stuck[0]} begins when you have ended: do not wait for it.")
        try:
            async with asyncio.timeout(min(seconds, _LONGEST_WAIT)):
                await self._session.ended(tasks, at_least=enough, waiter=own.id)
        except TimeoutError:
            pass  # how each stands tells that
        return self._runs(tasks)

    def output(self, run: str) -> Answer:
        """Return what a run has said so far."""
        task = self._session.board.tasks[self._find(run)]
        limit = self._session.policy.inject_limit
        text = last_bytes(task.output.text, limit)
        missing = task.output.total - len(text.encode("utf-8", "replace"))
        return {**self._status(task.id), "output": text, "bytes_left_out": max(0, missing)}

    def status(self, runs: Sequence[str] | None = None) -> Answer:
        """Return how some runs stand, or all that have not ended."""
        tasks = self._session.board.unfinished_tasks() if runs is None else map(self._find, runs)
        return self._runs(tasks)

    def agents(self) -> Answer:
        """Return who can be given work."""
        roster = self._session.roster
        names = dict.fromkeys((*roster.agents, *roster.bases))
        return {"agents": [{"agent": name, "temporary": name in roster.temporary} for name in names]}

    def shared_context(self, caller: AgentId, run: str | None = None) -> Answer:
        """Return what the caller is told beside its task, or what another run of the same parent is told.

        Raises:
            TeamToolsError: There is no such run, or it is none of the caller's business.
        """
        own = self._task_of(caller)
        task = own if run is None else self._session.board.tasks[self._find(run)]
        if task is not own and (task.parent is None or task.parent is not own.parent):
            raise TeamToolsError(f"{task.id} was not started by whoever started you: its context is its own.")
        told = entries(task, self._session.board)
        return {entry.key: json.loads(entry.value) for entry in told}

    async def _ask_permission(
        self, caller: AgentId, task: TaskId, texts: list[str], options: SpawnOptions
    ) -> None:
        definition = self._session.roster.temporary.get(caller)
        defined, answered = self._answers.get(caller, (None, None))
        is_over = answered is not None and answered.done() and answered.result() is None  # nobody answered
        if answered is None or is_over or defined is not definition:
            detail = self._question(caller, texts, options)
            answered = asyncio.ensure_future(self._session.ask(task, "spawn", "spawn", detail))
            self._answers[caller] = definition, answered
        # Shielded: a client that gives up finds the same question open when it calls again.
        if await asyncio.shield(answered) is not Verdict.ALLOW:
            raise TeamToolsError("The person did not allow you to start other agents. Do the work yourself.")

    def _question(self, caller: AgentId, texts: list[str], options: SpawnOptions) -> str:
        """Say who would do what, on what, and what a yes costs; the agent's own words come last, indented."""
        session, policy = self._session, self._session.policy
        agent, base, prompt = options.get("agent"), options.get("base"), options.get("prompt")
        made_of = base or agent or GENERAL
        who = f"@{_line(made_of)}"
        if prompt:
            who = f"a new agent{f' @{_line(agent)}' if base and agent else ''}, made of {who}"
        model = options.get("model") or session.models.get(AgentId(made_of)) or "its own model"
        if len(texts) > 1:
            who += f", {len(texts)} runs {'at once' if options.get('parallel') else 'one after another'},"
        left = max(0, policy.spawn_runs - session.spawned)
        said = [("Who it is", prompt)] if prompt else []
        said += [(f"Task {n}" if len(texts) > 1 else "Task", text) for n, text in enumerate(texts, 1)]
        given: Mapping[str, object] = {**_FURTHER, **options}
        said += [(name, _words(given[name])) for name, usual in _FURTHER.items() if given[name] != usual]
        lines = [
            f"start {who} on {_line(model)}",
            f"A yes holds for all that @{caller} starts from now on, without asking again:",
            f"  {left} more runs in this session (spawn_runs), {policy.spawn_children} by one task,",
            f"  {policy.spawn_parallel} at work at once.",
            f"  Each costs what its agent uses; {_used(session.spending)}.",
            *(f"{heading}:\n{indent(text, '  ')}" for heading, text in said),
        ]
        return "\n".join(lines)

    def _task_of(self, caller: AgentId) -> Task:
        lane = self._session.board.lanes.get(caller)
        if lane is None or lane.busy is None or lane.busy.ended is not None:
            raise TeamToolsError("You have no task at the moment.")
        return lane.busy

    def _find(self, name: str) -> TaskId:
        try:
            return find(name, self._session.board, self._session.roster)
        except OrderError as error:
            raise TeamToolsError(str(error)) from error

    def _runs(self, tasks: Iterable[TaskId]) -> Answer:
        # An object, never an array: there are clients that take an array for a failure and call again.
        return {"runs": [self._status(task) for task in tasks]}

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


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    """Return a text on one line, so that it cannot pass for a line of ours; nothing is left out."""
    return " ".join(text.splitlines())


def _used(spending: Spending) -> str:
    """Say what was used so far, and of how much."""
    allowed = [
        *([f"${spending.cost_limit:,.2f}"] if spending.cost_limit is not None else ()),
        *([f"{spending.token_limit:,} tokens"] if spending.token_limit is not None else ()),
    ]
    budget = f"of {' and '.join(allowed)}" if allowed else "and no budget is set"
    return f"${spending.cost:,.2f} and {spending.tokens:,} tokens are used so far, {budget}"
