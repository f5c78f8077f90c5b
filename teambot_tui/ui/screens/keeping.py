"""The question at the end of a session: which of the temporary agents that did their work shall stay?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from teambot_tui.agents.definition_file import AgentFile
from teambot_tui.workflows.promote import specific

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult


class KeepScreen(ModalScreen[tuple[AgentFile, ...] | None]):
    """Answers with those to keep, or with nothing if the person would rather stay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "keep", "Keep the marked, quit", priority=True),
        Binding("a", "all", "Mark all"),
        Binding("n,ctrl+q,ctrl+c,ctrl+d", "none", "Quit", priority=True),
        Binding("escape", "stay", "Stay"),
    ]

    def __init__(self, agents: Sequence[AgentFile]) -> None:
        super().__init__(classes="-asking")
        self._agents = tuple(agents)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog question") as box:
            box.border_title = Content("Keep temporary agents?")
            box.border_subtitle = Content(
                "Space marks · a all · Enter keeps them, quits · n quits · Esc stays"
            )
            yield Static(Content("They did their work and go with this session."), markup=False)
            yield SelectionList(
                *(Selection(_line(agent), number) for number, agent in enumerate(self._agents)), id="keep"
            )

    def on_mount(self) -> None:
        self.query_one(SelectionList).focus()

    def action_keep(self) -> None:
        """Keep the marked ones."""
        marked = self.query_one("#keep", SelectionList).selected
        self.dismiss(tuple(self._agents[number] for number in sorted(marked)))

    def action_all(self) -> None:
        """Mark all."""
        self.query_one("#keep", SelectionList).select_all()

    def action_none(self) -> None:
        """Keep none."""
        self.dismiss(())

    def action_stay(self) -> None:
        """Do not quit."""
        self.dismiss(None)


def _line(agent: AgentFile) -> Content:
    told = "  looks specific to one task" if specific(agent.prompt) else ""
    return Content(f"~{agent.name}  {agent.summary}") + Content(told).stylize("$text-warning")
