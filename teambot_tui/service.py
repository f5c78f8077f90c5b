"""What a face of the program may ask of a session: plain values in, plain values out.

Everything crosses as the name of a method and its arguments, so a face may sit in another thread or, one day,
at the other end of a socket. Only what an answer says is known outside; the session itself never leaves.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, cast

from teambot_tui.engine.consequences import Consequences, consequences_of
from teambot_tui.engine.context import entries
from teambot_tui.engine.projection import Projection
from teambot_tui.engine.reading import TaskText, read_task
from teambot_tui.engine.targets import find_task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from teambot_tui import api
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.explain import Explanation
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Verdict
    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import Frame
    from teambot_tui.workflows.plan import WorkflowPlan
    from teambot_tui.workflows.spawn_command import SpawnCommand
    from teambot_tui.workflows.up import Up
    from teambot_tui.workflows.up_command import UpCommand

_MOST_RUNS = 200
"""Of so many tasks, the newest, it is told what they are told besides."""


class Service:
    """A session as its faces see it. It belongs to the event loop of the session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._projection = Projection(session)
        self._news = asyncio.Event()
        self._plans: dict[int, Up] = {}
        self._numbers = count(1)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow the session within the block."""
        with self._session.bus.subscribe(self._see):
            yield

    def _see(self, fact: Fact) -> None:
        self._projection.see(fact)
        self._news.set()

    # What there is to see

    @property
    def has_news(self) -> bool:
        """Whether a frame would hold anything."""
        return self._projection.has_news

    @property
    def frames(self) -> int:
        """How many frames there have been."""
        return self._projection.frames

    def frame(self) -> Frame:
        """Return what changed since the last frame."""
        self._news.clear()
        return self._projection.frame()

    async def next_frame(self) -> Frame:
        """Return what changed since the last frame, once there is anything."""
        while not self._projection.has_news:
            self._news.clear()
            await self._news.wait()
        return self.frame()

    def explain(self, text: str) -> Explanation:
        """Say what submitting this text would do."""
        return self._session.explain(text)

    def consequences(self, target: str | Sequence[TaskId]) -> Consequences:
        """Say what cancelling an agent, a task, these tasks or `all` would do.

        Raises:
            RefusedError: there is no such task or agent.
        """
        return consequences_of(self._session, self._projection.workflows, target)

    def read(self, task: TaskId) -> TaskText:
        """Return the texts of a task: its prompt, what it has said, and what it is told besides."""
        return read_task(self._session.board, task, self._session.policy.inject_limit)

    def output(self, task: TaskId) -> str:
        """Return what a task has said so far, as far as it is kept."""
        return self._session.board.tasks[task].output.text

    def outputs(self, tasks: Sequence[TaskId]) -> tuple[str, ...]:
        """Return what tasks have said so far, as far as it is kept."""
        return tuple(map(self.output, tasks))

    def last_output(self, agent: AgentId) -> str:
        """Return what an agent said last."""
        tasks = reversed(self._session.board.tasks.values())
        return next((task.output.text for task in tasks if task.agent == agent and task.output.total), "")

    def find(self, name: str) -> TaskId:
        """Return the task that is meant by a name.

        Raises:
            RefusedError: there is none.
        """
        return find_task(self._session.board, name, self._session.roster.agents).id

    def context_of_runs(self) -> tuple[tuple[TaskId, Entry], ...]:
        """Return what single runs were given, or gave, for themselves and what they start; newest first."""
        board = self._session.board
        newest = [task for _, task in zip(range(_MOST_RUNS), reversed(board.tasks.values()), strict=False)]
        return tuple(
            (task.id, entry) for task in newest for entry in entries(task, board) if entry.origin == task.id
        )

    async def offered_models(self, agent: AgentId) -> tuple[str, ...]:
        """Return the models that an agent's backend offers, as far as it tells; it may raise anything."""
        return await self._session.offered_models(agent)

    # What is done

    def submit(self, text: str) -> tuple[TaskId, ...]:
        """Accept a submission as a whole; return the tasks it made.

        Raises:
            StatementError: something in it is wrong; nothing of it was started.
        """
        return self._session.submit(text)

    def cancel(self, target: str = "all") -> tuple[TaskId, ...]:
        """Cancel a task, an agent's tasks, or all; return what had not ended.

        Raises:
            RefusedError: there is no such task or agent.
        """
        return self._session.cancel(target)

    def cancel_tasks(self, tasks: Sequence[TaskId]) -> None:
        """Cancel these."""
        for task in tasks:
            self._session.cancel(task)

    def retry(self, target: str) -> TaskId:
        """Do a failed or cancelled task again, with what was skipped because of it; return the task.

        Raises:
            RefusedError: there is nothing to retry.
        """
        return self._session.retry(target)

    def again(self, target: str) -> TaskId:
        """Make a new task with the words, options and inputs that a task had; return the new one.

        Raises:
            RefusedError: there is no such task, or its agent has left.
        """
        return self._session.again(target)

    def use_agent(self, agent: AgentId | None) -> None:
        """Let what is addressed to nobody go to this agent."""
        self._session.use_agent(agent)

    def use_backend(self, name: str) -> None:
        """Let the whole team run on this backend from the next task on.

        Raises:
            AgentsError: There is no such backend.
            ImportError: What it needs is not installed.
        """
        cast("api.Session", self._session).use_backend(name)  # no face is given any other

    def set_model(self, agent: AgentId, model: str | None) -> None:
        """Let an agent's further tasks run on this model."""
        self._session.set_model(agent, model)

    def set_budget(self, cost: float | None, tokens: int | None) -> None:
        """Allow this many US dollars and tokens in all."""
        self._session.set_budget(cost, tokens)

    def set_context(self, key: str, value: object) -> None:
        """Tell every agent something from its next task on; None takes it back."""
        self._session.set_context(key, value)

    def answer(self, task: TaskId, request: str, verdict: Verdict, always: bool, words: str) -> None:
        """Answer an agent that asks permission, and tell it these words besides, if any."""
        self._session.answer(task, request, verdict, always=always, words=words)

    async def forget(self, agent: AgentId) -> None:
        """Let the agent's next task begin without memory of the earlier ones; it may raise anything."""
        await self._session.forget(agent)

    def dismiss(self, agent: AgentId) -> None:
        """Let an agent that joined for this session leave.

        Raises:
            RefusedError: it is of the team, or still has work.
        """
        self._session.dismiss(agent)

    def note_promotion(self, agent: AgentId, name: str) -> None:
        """Note that an agent which joined for this session is kept for later ones."""
        self._session.note_promotion(agent, name)

    async def spawn(self, command: SpawnCommand) -> None:
        """Start a run.

        Raises:
            OrderError, RefusedError: it cannot be started.
        """
        await self._session.spawn(
            command.task,
            agent=command.agent,
            label=command.label,
            chain_after=command.after,
            include_dependency_result=command.include_result,
            model=command.model,
            timeout=command.timeout,
            retries=command.retries,
            on_dependency_failure=command.on_failure,
        )

    # Workflows in files

    async def load_workflow(self, folder: Path, command: UpCommand) -> WorkflowPlan:
        """Read a workflow and say what it would do; `begin_workflow` starts it by its number.

        Raises:
            ComposeError: there is no such file, or something in it is wrong.
        """
        from teambot_tui.workflows.opening import open_up  # noqa: PLC0415  most sessions read no YAML
        from teambot_tui.workflows.plan import plan_of  # noqa: PLC0415

        session = self._session
        # The engine goes on while the file is read: whatever changes meanwhile, `begin` looks at again.
        up = await asyncio.to_thread(
            open_up, session, folder, command.file, command.names, command.iterations, run=session.run_id
        )
        number = next(self._numbers)
        self._plans[number] = up
        return plan_of(up, number)

    def begin_workflow(self, number: int) -> None:
        """Start a workflow that was loaded.

        Raises:
            ComposeError: somebody has left the team since; nothing was started.
        """
        self._plans[number].begin()

    def forget_plans(self) -> None:
        """Let go of the workflows that were loaded and not begun."""
        self._plans.clear()

    def save_text(self) -> str:
        """Return what was done as a compose file.

        Raises:
            WorkflowError: it cannot be written as one.
        """
        from teambot_tui.workflows.save import save_text  # noqa: PLC0415  as above

        return save_text(self._session.board, self._session.roster)
