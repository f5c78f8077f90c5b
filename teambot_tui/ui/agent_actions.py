"""What a person can ask about agents that come and go, and about what all of them are told."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.content import Content

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.orders import OrderError
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.service import Service
from teambot_tui.workflows.promote import ClashError, PromoteError, promote
from teambot_tui.workflows.temporary import agent_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from teambot_tui.agents.persona import AgentFile
    from teambot_tui.engine.context import Entry
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.views import Views
    from teambot_tui.workflows.spawn_command import SpawnCommand


class AgentActions:
    """A person's requests about who is here."""

    def __init__(self, person: Person, bridge: Bridge, views: Views, folder: Path) -> None:
        self._person = person
        self._bridge = bridge
        self._views = views
        self._folder = folder
        self._promoted: set[AgentFile] = set()

    def promote(self, agent: AgentId, name: str | None, *, force: bool) -> None:
        """Keep a temporary agent for later sessions."""
        found = agent_files(self._views.roster)[agent]
        self._person.in_background(self._promote(found, name, force=force))

    async def _promote(self, agent: AgentFile, name: str | None = None, *, force: bool = False) -> None:
        others = agent_files(self._views.roster)
        now = datetime.now(UTC)
        try:
            done = await asyncio.to_thread(
                promote, self._folder, agent, others, now, os.environ, name=name, force=force
            )
        except ClashError as error:
            words = (
                f"{error}\n/promote {agent.name} --as {error.name}-2 keeps both,"
                f" /promote {agent.name} --force overwrites it.\n\n{error.diff}"
            )
            self._person.report("Not promoted", Content(words))
        except PromoteError as error:
            self._person.tell(str(error), alarm=True)
        else:
            self._promoted.add(agent)
            self._bridge.ask(Service.note_promotion, AgentId(agent.name), done.name)
            told = "\n".join((f"{done.name} is in {done.path} from now on.", *done.warnings))
            self._person.tell(told, alarm=bool(done.warnings))

    def worth_keeping(self) -> tuple[AgentFile, ...]:
        """Return the agents that somebody defined, that have completed a task and are not kept yet."""
        files = agent_files(self._views.roster).values()
        return tuple(file for file in files if file not in self._promoted and self._did_its_work(file))

    def _did_its_work(self, agent: AgentFile) -> bool:
        tasks = self._views.tasks(AgentId(agent.name))
        return any(self._views.task(task).state is State.COMPLETED for task in tasks)

    async def keep(self, agents: tuple[AgentFile, ...]) -> None:
        """Promote these, one after the other."""
        for agent in agents:
            await self._promote(agent)

    @property
    def kept(self) -> frozenset[AgentFile]:
        """What was promoted."""
        return frozenset(self._promoted)

    def forget(self, agent: AgentId) -> None:
        """Let a temporary agent go."""
        self._person.in_background(self._forget(agent))

    async def _forget(self, agent: AgentId) -> None:
        await asyncio.wrap_future(self._bridge.ask(Service.dismiss, agent))
        self._person.tell(f"~{agent} has left.")

    def set_context(self, key: str, value: object) -> None:
        """Tell everyone something from their next task on; None takes it back."""
        self._bridge.ask(Service.set_context, key, value)
        self._person.tell(
            f"Nobody is told {key} any more." if value is None else f"Everyone is told {key} from now on."
        )

    def context_of_runs(self) -> Future[tuple[tuple[TaskId, Entry], ...]]:
        """Ask what single runs are told besides."""
        return self._bridge.ask(Service.context_of_runs)

    def spawn(self, command: SpawnCommand, refused: Callable[[str], None]) -> None:
        """Start a run, or say why it is refused."""
        self._person.in_background(self._spawn(command, refused))

    async def _spawn(self, command: SpawnCommand, refused: Callable[[str], None]) -> None:
        answer = self._bridge.run(Service.spawn, command)
        try:
            await asyncio.wrap_future(answer)
        except (OrderError, RefusedError) as error:
            refused(str(error))
