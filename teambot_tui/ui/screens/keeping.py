"""The question at the end of a session: which of the temporary agents that did their work shall stay?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from teambot_tui.agents.persona import AgentFile
from teambot_tui.workflows.promote import specific

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult


class KeepScreen(ModalScreen[tuple[AgentFile, ...] | None]):
    """Answers with those to keep, or with nothing if the person would rather stay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "keep", "Keep the marked, quit", priority=True),
        Binding("space", "mark", "Mark", priority=True),
        Binding("a", "all", "Mark all"),
        Binding("n,ctrl+q,ctrl+c,ctrl+d", "none", "Quit", priority=True),
        Binding("escape", "stay", "Stay"),
    ]

    def __init__(self, agents: Sequence[AgentFile]) -> None:
        super().__init__(classes="-asking")
        self._agents = tuple(agents)
        self._marked: set[int] = set()

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog question") as box:
            box.border_title = Content("Keep temporary agents?")
            box.border_subtitle = Content("Space marks · a all · Enter keeps, quits · n quits · Esc stays")
            yield Static(
                Content("They did their work. Those that are kept are there in every later session."),
                markup=False,
            )
            yield OptionList(*map(self._line, range(len(self._agents))), id="keep", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self.query_one(OptionList).highlighted = 0

    def _line(self, number: int) -> Content:
        agent = self._agents[number]
        told = "  looks specific to one task" if specific(agent.prompt) else ""
        box = "x" if number in self._marked else " "
        return Content(f"[{box}] ~{agent.name}  {agent.summary}") + Content(told).stylize("$wait")

    def _mark(self, marked: set[int]) -> None:
        self._marked = marked
        for number in range(len(self._agents)):
            self.query_one(OptionList).replace_option_prompt_at_index(number, self._line(number))

    def action_keep(self) -> None:
        """Keep the marked ones."""
        self.dismiss(tuple(self._agents[number] for number in sorted(self._marked)))

    def action_mark(self) -> None:
        """Mark the one at the cursor, or take the mark away."""
        if (here := self.query_one(OptionList).highlighted) is not None:
            self._mark(self._marked ^ {here})

    def action_all(self) -> None:
        """Mark all."""
        self._mark(set(range(len(self._agents))))

    def action_none(self) -> None:
        """Keep none."""
        self.dismiss(())

    def action_stay(self) -> None:
        """Do not quit."""
        self.dismiss(None)
