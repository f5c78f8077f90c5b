"""The tables: which rows each has, and what is done with the row at its cursor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from teambot_tui.engine.text import one_line
from teambot_tui.ui import table_rows
from teambot_tui.ui.screens.table import TableScreen, TableSetup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.chosen import ChosenAgent
    from teambot_tui.ui.controllers.comparing import Comparing
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.table_rows import TableRow


class Tables:
    """Opens a table over the session."""

    def __init__(
        self,
        screen: Screen[None],
        setup: ScreenSetup,
        actions: Actions,
        person: Person,
        chosen: ChosenAgent,
        comparing: Comparing,
        clock: Callable[[], float],
    ) -> None:
        self._screen = screen
        self._setup = setup
        self._glyphs = setup.glyphs
        self._views = actions.views
        self._actions = actions
        self._person = person
        self._chosen = chosen
        self._comparing = comparing
        self._clock = clock
        self._acts = {
            "cancel": self._cancel,
            "retry": self._retry,
            "again": self._again,
            "copy": self._copy,
            "compare": self._compare,
        }

    def tasks(self, state: str | None = None) -> None:
        """Show all tasks, or those in one state."""
        self._open(
            TableSetup(
                f"Tasks, {state}" if state else "Tasks",
                table_rows.TASKS,
                lambda: table_rows.task_rows(self._views, self._glyphs, self._clock(), state),
                f"no task is {state}" if state else "no tasks yet: type @pm and what to do",
                "inspect",
                self._inspect,
                self._acts,
            )
        )

    def history(self, agent: AgentId | None = None) -> None:
        """Show what was asked, of all or of one agent."""
        ahead = self._setup.wall_clock() - self._clock()
        self._open(
            TableSetup(
                f"History of @{agent}" if agent else "History",
                table_rows.HISTORY,
                lambda: table_rows.history_rows(self._views, self._glyphs, ahead, agent),
                "nothing was asked yet",
                "inspect",
                self._inspect,
                self._acts,
            )
        )

    def status(self) -> None:
        """Show what everyone is doing."""
        self._open(
            TableSetup(
                "Status",
                table_rows.STATUS,
                lambda: table_rows.status_rows(self._views, self._glyphs, self._clock()),
                "nobody is here",
                "inspect",
                self._inspect,
                self._acts,
            )
        )

    def agents(self) -> None:
        """Show everyone who is here."""
        setup = self._setup
        self._open(
            TableSetup(
                "The team",
                table_rows.AGENTS,
                lambda: table_rows.agent_rows(
                    self._views,
                    self._glyphs,
                    self._clock(),
                    self._views.models,
                    setup.backends,
                    setup.descriptions,
                ),
                "nobody is here",
                "inspect",
                self._inspect,
                self._acts,
            )
        )

    def variables(self) -> None:
        """Show the variables and what is in them."""
        self._open(
            TableSetup(
                "Variables",
                table_rows.VARIABLES,
                lambda: table_rows.variable_rows(self._views.variables(), self._glyphs),
                'none yet: pm:"Plan it":plan captures one',
                "inspect",
                self._inspect,
                self._acts,
            )
        )

    def models(self, agent: AgentId | None = None) -> None:
        """Show the models of the team, or of one agent, and those that are offered as they become known."""
        offered: dict[AgentId, Sequence[str] | str] = {}
        agents = self._views.roster.agents if agent is None else (agent,)

        def rows() -> list[TableRow]:
            models = {each: model for each, model in self._views.models.items() if each in agents}
            return table_rows.model_rows(models, offered, self._glyphs)

        def choose(row: TableRow) -> None:
            if row.agent is not None:
                self._actions.set_model(row.agent, row.choice)

        self._open(
            TableSetup(
                f"Models of @{agent}" if agent else "Models",
                table_rows.MODELS,
                rows,
                "nobody is here",
                "choose",
                choose,
                {},
                stays=True,
            )
        )
        for each in agents:
            self._person.in_background(self._ask_for_models(each, offered))

    async def _ask_for_models(self, agent: AgentId, offered: dict[AgentId, Sequence[str] | str]) -> None:
        try:
            offered[agent] = await self._actions.offered_models(agent)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  a backend is foreign code: report, go on
            offered[agent] = one_line(str(error)) or type(error).__name__

    def themes(self) -> None:
        """Show the themes."""
        person = self._person
        self._open(
            TableSetup(
                "Themes",
                table_rows.THEMES,
                lambda: table_rows.theme_rows(person.themes(), person.theme, self._glyphs),
                "there are none",
                "choose",
                lambda row: person.set_theme(row.choice or person.theme),
                {},
                stays=True,
                starts_at=person.theme,
            )
        )

    def _open(self, table: TableSetup) -> None:
        self._screen.app.clear_notifications()  # they would lie over its rows
        self._screen.app.push_screen(TableScreen(table, self._glyphs, self._setup.keys))

    # What the keys do

    def _inspect(self, row: TableRow) -> None:
        agent = row.agent or (self._views.task(row.task).agent if row.task is not None else None)
        if agent is not None:
            self._chosen.inspect(agent, row.task)

    def _cancel(self, row: TableRow) -> None:
        if row.task is not None:
            self._actions.cancel(row.task)

    def _retry(self, row: TableRow) -> None:
        if row.task is not None:
            self._actions.retry(row.task)

    def _again(self, row: TableRow) -> None:
        if row.task is not None:
            self._actions.again(row.task)

    def _compare(self, row: TableRow) -> None:
        if row.task is not None:
            self._comparing.compare([row.task])

    def _copy(self, row: TableRow) -> None:
        if row.task is not None:
            self._person.in_background(self._copy_output(row.task))

    async def _copy_output(self, task: TaskId) -> None:
        if text := await self._actions.output(task):
            self._person.copy(text)
            self._person.tell(f"Copied what {task} said.")
        else:
            self._person.tell(f"{task} has not said anything yet.")
