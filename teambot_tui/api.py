"""The face for Python: a session of the team that the settings describe."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.project import Project, open_project
from teambot_tui.agents.team import DEFAULT_TEAM, build
from teambot_tui.engine import session
from teambot_tui.engine.expansion import IncludeRefusedError
from teambot_tui.engine.facts import (
    SubscriberFailed,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskSkipped,
    TaskStarted,
    TextProduced,
)
from teambot_tui.engine.ids import AgentId
from teambot_tui.store.folders import StoreError
from teambot_tui.workflows.mcp_server import McpTeamTools
from teambot_tui.workflows.registry import read_registry
from teambot_tui.workflows.temporary import Keeper, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teambot_tui.engine.facts import Fact
    from teambot_tui.store.outputs import Capturing, Outputs
    from teambot_tui.store.prune import Keeping

_CAPTURED = (TaskStarted, TextProduced, TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled)


class Session(session.Session):
    """A team at work, as the settings of the user and of the directory describe it.

    Unless it is ephemeral, what its tasks say is also kept on disk, in a folder that is named by `run_id`,
    and temporary agents are files in the directory while it lives. `notes` is what the user should know.

    Raises:
        AgentsError: The settings cannot be used.
    """

    def __init__(
        self,
        *,
        directory: Path | None = None,
        backend: str | None = None,
        max_parallel: int | None = None,
        wait_timeout: float | None = None,
        environ: Mapping[str, str] = os.environ,
        attended: bool = False,
        stdin: str | Callable[[], str | None] | None = None,
        context: Mapping[str, object] | None = None,
        project: Project | None = None,
        ephemeral: bool = True,
    ) -> None:
        """Make a session of a project that is open already, or open that of a directory."""
        self.project = project or open_project(
            directory or Path.cwd(),
            environ,
            backend=backend,
            max_parallel=max_parallel,
            wait_timeout=wait_timeout,
        )
        super().__init__(
            self.project.team.members.values(),
            default_agent=self.project.team.default,
            policy=self.project.settings.policy,
            directory=self.project.directory,
            attended=attended,
            bases=self.project.bases,
            promoted=_promoted(self.project),
            recruit=self.project.recruit,
            include=self._include,
            stdin=stdin,
            context=context,
        )
        self.offer_tools(McpTeamTools(self))
        self._environ = environ
        self._ephemeral = ephemeral
        self._run_id = ""
        self._outputs: Outputs | None = None
        self._capturing: Capturing | None = None
        self._keeps_outputs = not ephemeral and self.project.settings.keep_outputs != "none"
        self._has_warned = False
        self._captures = ExitStack()
        found = load(self.project.files, self.roster)
        for agent in found.agents:
            base = self.roster.base(agent.base)
            assert base is not None, "it was loaded behind what it is made of"
            self.define(AgentId(agent.name), base, agent.prompt, agent.model)
        self.notes = found.notes
        loaded = (agent.name for agent in found.agents)
        self._keeper = Keeper(self.project.directory, environ, loaded, self._note)

    def use_backend(self, name: str) -> None:
        """Let the whole team, and whoever joins it, run on this backend from the next task on.

        Raises:
            AgentsError: There is no such backend.
            ImportError: What it needs is not installed.
        """
        settings = self.project.settings
        if settings.find_backend(name) is None:
            raise SettingsError(None, "backend", settings.unknown_backend(name))
        backend = build(settings, name)
        self.project.recruit.use(name, backend)
        for agent in self.project.team.members:
            self.set_backend(agent, backend)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        if not self._ephemeral:
            if self._keeping is not None:
                self._keeping.begin()
            if self._keeps_outputs:
                self._captures.enter_context(self.bus.subscribe(self._capture, *_CAPTURED))
            self._captures.enter_context(self.bus.subscribe(self._keeper.see, *Keeper.KINDS))
            self._loop = asyncio.get_running_loop()
            self._keeper.begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await super().__aexit__(*_)
        finally:
            self._captures.close()
            await asyncio.to_thread(self._keeper.close)
            if self._outputs is not None:
                await asyncio.to_thread(self._outputs.close)
                if self._keeping is not None:
                    await asyncio.to_thread(self._keeping.end, self.run_id)

    @property
    def run_id(self) -> str:
        """What the folder of its captured outputs is called; empty if they are not kept."""
        if not self._run_id and self._keeps_outputs:
            from datetime import UTC, datetime  # noqa: PLC0415  only who keeps something pays for it

            from teambot_tui.store.folders import run_id  # noqa: PLC0415

            self._run_id = run_id(datetime.now(UTC))
        return self._run_id

    def tell_of_outputs(self) -> str | None:
        """Return where outputs are kept and how long, if they are and nobody was ever told."""
        return self._keeping.tell_once() if self._keeping is not None else None

    @cached_property
    def _keeping(self) -> Keeping | None:
        from teambot_tui.store.folders import StoreError, teambot_home  # noqa: PLC0415
        from teambot_tui.store.prune import Keeping  # noqa: PLC0415

        if self._ephemeral:
            return None
        try:
            return Keeping(teambot_home(self._environ), self.project.settings.keep_outputs)
        except StoreError:
            return None  # told when there is something to keep

    def _capture(self, fact: Fact) -> None:
        if self._capturing is None and not self._has_warned:
            self._capturing = self._start_capturing()
        if self._capturing is not None:
            self._capturing.see(fact)

    def _start_capturing(self) -> Capturing | None:
        from teambot_tui.store.folders import teambot_home  # noqa: PLC0415
        from teambot_tui.store.outputs import Capturing, Outputs  # noqa: PLC0415

        loop = asyncio.get_running_loop()

        def tell(warning: str) -> None:
            loop.call_soon_threadsafe(
                self.bus.publish, SubscriberFailed(self.now(), "captured outputs", warning)
            )

        try:
            home = teambot_home(self._environ)
        except StoreError as error:
            self._has_warned = True
            tell(f"Outputs cannot be kept: {error}")
            return None
        self._outputs = Outputs(home, self.run_id, self.project.settings.capture_limit, tell)
        return Capturing(self.board, self._outputs)

    def _note(self, warning: str) -> None:
        """Tell of a warning with the files of temporary agents, from their own thread."""
        fact = SubscriberFailed(self.now(), "temporary agents", warning)
        self._loop.call_soon_threadsafe(self.bus.publish, fact)

    def _include(self, path: str) -> str:
        from teambot_tui.workflows.directives import include  # noqa: PLC0415
        from teambot_tui.workflows.errors import IncludeError  # noqa: PLC0415  few statements include
        from teambot_tui.workflows.files import ProjectFiles  # noqa: PLC0415

        try:
            return include(path, self.project.directory, ProjectFiles(self.project.directory))
        except IncludeError as error:
            message = str(error) if len(error.chain) > 1 else error.message
            raise IncludeRefusedError(message, error.hint) from error


def _promoted(project: Project) -> list[AgentId]:
    """Return those of the team that were temporary agents once."""
    try:
        known = read_registry(project.directory)
    except StoreError:
        return []  # whoever promotes or lists agents is told
    return [AgentId(name) for name in known if name in project.team.members and name not in DEFAULT_TEAM]
