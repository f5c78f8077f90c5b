"""A workflow before it starts: its picture, and the choice to run it, to edit its file or to leave it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from teambot_tui.engine.text import one_line
from teambot_tui.ui.editor import EditorError, edit_file
from teambot_tui.ui.widgets.graph_plan import PlanGraph, headline
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.plan import WorkflowPlan

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import ComposeResult

    from teambot_tui.ui.glyphs import Glyphs


_MOST_WARNINGS = 3


class PreviewScreen(ModalScreen[WorkflowPlan | None]):
    """Answers with what to run, as the file says it now, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Before the drawing gets it, which would choose a node.
        Binding("enter", "run", "Run", priority=True),
        Binding("e", "edit", "Edit the file"),
        Binding("escape,q", "leave", "Leave"),
    ]

    def __init__(
        self, plan: WorkflowPlan, load: Callable[[], Awaitable[WorkflowPlan]], glyphs: Glyphs
    ) -> None:
        super().__init__()
        self._path = plan.path
        self._plan: WorkflowPlan | None = plan
        self._load = load
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog preview") as box:
            box.border_subtitle = Content("Enter runs · e edits the file · Esc leaves")
            yield PlanGraph(self._glyphs, id="up-plan")
            yield Static("", id="up-says", markup=False)

    def on_mount(self) -> None:
        self.query_one(PlanGraph).focus()
        self._show()

    def _show(self, complaint: str = "") -> None:
        says, graph = self.query_one("#up-says", Static), self.query_one(PlanGraph)
        warnings = self._plan.warnings if self._plan is not None else ()
        told = [*([complaint] if complaint else []), *warnings[:_MOST_WARNINGS]]
        if len(warnings) > _MOST_WARNINGS:
            told.append(f"and {len(warnings) - _MOST_WARNINGS} more like this")
        says.update(Content("\n".join(told)))
        says.display = bool(told)
        says.set_class(not complaint, "-warning")
        graph.display = self._plan is not None
        if self._plan is None:
            title = f"{one_line(self._path.name, 60)}: nothing can run"
        else:
            title = headline(self._plan, self._glyphs)
            graph.show_plan(self._plan)
        self.query_one(".preview").border_title = Content(title)

    def action_run(self) -> None:
        """Close, and let it begin."""
        if self._plan is not None:
            self.dismiss(self._plan)

    def action_leave(self) -> None:
        """Close, and start nothing."""
        self.dismiss(None)

    def action_edit(self) -> None:
        """Open the file in the user's editor, then show what became of it."""
        try:
            edit_file(self._path, os.environ, self.app.suspend)
        except (EditorError, SuspendNotSupported) as error:
            self._show(str(error))
            return
        self.app.refresh(layout=True)
        self.run_worker(self._load_again(), group="preview", exclusive=True, name="preview")

    async def _load_again(self) -> None:
        try:
            self._plan = await self._load()
        except ComposeError as error:
            self._plan = None
            self._show(str(error))
        else:
            self._show()
