"""The face for Python: a session of the team that the settings describe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.project import Project, open_project
from teambot_tui.agents.team import build
from teambot_tui.engine import session
from teambot_tui.workflows.mcp_server import McpDoor

if TYPE_CHECKING:
    from collections.abc import Mapping


class Session(session.Session):
    """A team at work, as the settings of the user and of the directory describe it.

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
        stdin: str | None = None,
        context: Mapping[str, object] | None = None,
        project: Project | None = None,
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
            recruit=self.project.recruit,
            stdin=stdin,
            context=context,
        )
        self.offer_tools(McpDoor(self))

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
