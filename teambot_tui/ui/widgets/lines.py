"""The single lines around the feed: the title, the tabs and the plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from teambot_tui.engine.text import one_line
from teambot_tui.ui.branch import branch_of
from teambot_tui.ui.glyphs import Glyphs, size, used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from textual import events

    from teambot_tui.engine.board import State
    from teambot_tui.engine.explain import Explanation
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.language.errors import StatementError

_NAMED = ("$", "{}")
"""What the plan shows of the outputs that go in: those that the text names."""


class Line(Widget):
    """One line of text that is replaced as a whole, without layout."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._content = Content("")

    def show(self, content: Content) -> None:
        """Show this and nothing else."""
        if content != self._content:
            self._content = content
            self.refresh()

    def render(self) -> Content:
        return self._content


class TitleBar(Line):
    """What session this is, how many tasks are in which state, who needs you and what was used."""

    def __init__(self, folder: Path, glyphs: Glyphs) -> None:
        super().__init__(id="title")
        self._folder = folder
        self._glyphs = glyphs
        self._ended = -1
        self._branch = ""
        self._progress = ""
        self.tell({})

    def follow(self, progress: str) -> None:
        """Show how far workflows are, besides."""
        if progress != self._progress:
            self._progress = progress
            self.refresh()

    def render(self) -> Content:
        progress = f"  {self._progress}" if self._progress else ""
        return self._content + Content(progress).stylize("$text-accent")

    def tell(
        self, counts: dict[State, int], requests: int = 0, usage: Usage | None = None, alarm: str = ""
    ) -> None:
        """Show how many tasks are in which state and requests wait, what was used, and what is wrong."""
        dot = self._glyphs["dot"]
        self._mind_branch(sum(count for state, count in counts.items() if state in _ENDED))
        content = Content(" teambot").stylize("bold") + Content(f" {dot} {one_line(self._folder.name, 60)}")
        if self._branch:
            content += Content(f" {dot} {self._branch}").stylize("$text-muted")
        content += Content("   ")
        if requests:
            content += Content(f"{self._glyphs['asking']}{requests} ").stylize("$text-warning bold")
        for state, count in counts.items():
            if count:
                content += Content(f"{self._glyphs[state]}{count} ").stylize(_COLOURS[state.value])
        if spent := used(usage, self._glyphs, " tok"):
            content += Content(f"  {spent}")
        if alarm:
            content += Content("   ") + Content(f" {alarm} ").stylize("$text-error bold reverse")
        self.show(content)

    def _mind_branch(self, ended: int) -> None:
        """Look again where the work goes whenever a task has ended: an agent may have changed it."""
        if ended != self._ended:
            self._ended = ended
            self._branch = branch_of(self._folder)


_ENDED = ("completed", "failed", "cancelled", "skipped")
_COLOURS = {
    "queued": "$text-muted",
    "waiting": "$text-warning",
    "executing": "$text-primary",
    "completed": "$text-success",
    "failed": "$text-error",
    "cancelled": "$text-muted",
    "skipped": "$text-muted",
}


class Tabs(Line):
    """All, and a tab for each agent; a click chooses."""

    class Chosen(Message):
        """The user wants to see this agent's tasks, or all."""

        def __init__(self, agent: AgentId | None) -> None:
            super().__init__()
            self.agent = agent

    def __init__(self, agents: Sequence[AgentId]) -> None:
        super().__init__(id="tabs")
        self._tabs: tuple[AgentId | None, ...] = (None, *agents)
        self._names: Mapping[AgentId, str] = {}
        self._places: list[tuple[int, int, AgentId | None]] = []
        self.choose(None)

    def hold(self, names: Mapping[AgentId, str]) -> None:
        """Have a tab for each of these agents, with a name on it."""
        self._tabs, self._names = (None, *names), names
        self.choose(self.agent if self.agent in self._tabs else None)

    def choose(self, agent: AgentId | None) -> None:
        """Mark the tab that is shown."""
        self.agent = agent
        labels = [Content(f" {self._names.get(tab, tab) if tab else 'All'} ") for tab in self._tabs]
        first = self._first_in_sight([label.cell_length for label in labels])
        content = Content(" ") if not first else Content("<").stylize("dim")
        self._places = []
        for tab, label in zip(self._tabs[first:], labels[first:], strict=True):
            begin = content.cell_length
            content += label.stylize("reverse bold") if tab == agent else label.stylize("dim")
            self._places.append((begin, content.cell_length, tab))
        self.show(content)

    def _first_in_sight(self, widths: Sequence[int]) -> int:
        """Return the tab to begin with, so that the one shown is in sight."""
        if not self.is_attached or self.agent not in self._tabs:
            return 0
        chosen = self._tabs.index(self.agent)
        first, room = 0, self.size.width - 1
        while first < chosen and sum(widths[first : chosen + 1]) > room:
            first += 1
        return first

    def on_resize(self) -> None:
        self.choose(self.agent)

    def step(self, by: int) -> AgentId | None:
        """Return the tab that many to the right of the one shown."""
        return self._tabs[(self._tabs.index(self.agent) + by) % len(self._tabs)]

    def on_click(self, event: events.Click) -> None:
        for begin, end, agent in self._places:
            if begin <= event.x < end:
                self.post_message(self.Chosen(agent))


class KeyBar(Line):
    """The keys that matter where the focus is."""

    def __init__(self) -> None:
        super().__init__(id="footer")

    def tell(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show these keys and what they do."""
        self.show(
            Content(" ")
            + Content("  ").join(
                Content(key).stylize("bold $text") + Content(f" {words}") for key, words in keys
            )
        )


class PlanLine(Line):
    """What Enter would do."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="plan")
        self._glyphs = glyphs
        self._warning: Content | None = None
        self._warnings = 0

    def render(self) -> Content:
        return self._warning or self._content

    def warn(self, text: str, seconds: float) -> None:
        """Show what another press of a key would do, as long as it would; what stands below it goes on."""
        self._warnings += 1
        self._warning = Content(f" {self._glyphs['plan']} {text}").stylize("$text-warning bold")
        self.set_timer(seconds, partial(self._end_warning, self._warnings))
        self.refresh()

    def _end_warning(self, number: int) -> None:
        if number == self._warnings:
            self._warning = None
            self.refresh()

    def ask_for(self, error: StatementError) -> None:
        """Show, quietly, what could be typed on where a word is not finished."""
        self.hint(error.hint or error.message)

    def hint(self, text: str) -> None:
        """Show a line of help while there is nothing to explain."""
        self._set_error(error=False)
        self.show(Content(f" {self._glyphs['plan']} {text}").stylize("dim"))

    def explain(self, explanation: Explanation, obstacle: str = "", *, unfinished: bool = False) -> None:
        """Show the plan and what holds it up, or what is wrong and what to type.

        Nothing is called wrong while the word that it is about is still being typed.
        """
        if explanation.error is not None:
            (self.ask_for if unfinished else self.refuse)(explanation.error)
            return
        self._set_error(error=False)
        held_up = Content(f"{obstacle} {self._glyphs['dot']} ").stylize("$text-error")
        plan = self._plan(explanation)
        self.show(Content(f" {self._glyphs['plan']} ") + (held_up + plan if obstacle else plan))

    def refuse(self, error: StatementError) -> None:
        """Show what is wrong, where, and what to type instead."""
        hint = f" {self._glyphs['dot']} {error.hint}" if error.hint else ""
        self.complain(f"{error.line}:{error.column} {error.message}{hint}")

    def complain(self, text: str) -> None:
        """Show what is wrong."""
        self._set_error(error=True)
        self.show(Content(f" {self._glyphs['failed']} {text}"))

    def _plan(self, explanation: Explanation) -> Content:
        steps = explanation.steps
        starting = [f"@{step.agent}" for step in steps if step.starts]
        clauses = [Content(slip.message).stylize("$text-warning") for slip in explanation.slips[:1]]
        if len(explanation.slips) > 1:
            clauses.append(Content(f"{len(explanation.slips) - 1} more like it").stylize("$text-warning"))
        if explanation.defined:
            names = ", ".join(f"${agent}" for agent in explanation.defined)
            clauses.append(Content(f"defines {names}").stylize("$text-accent"))
        if explanation.replaced:
            names = ", ".join(f"@{agent}" for agent in explanation.replaced)
            clauses.append(Content(f"for this session, in place of the promoted {names}"))
        if starting:
            verb = "starts" if len(starting) == 1 else "start"
            clauses.append(Content(f"{', '.join(starting)} {verb}").stylize("$text-primary"))
        for step in steps:
            if step.starts:
                continue
            words = step.outlook
            clauses.append(Content(words).stylize("$text-warning" if step.waiting_for else "$text-muted"))
        seen = dict.fromkeys(each for step in steps for each in step.inputs if each.via in _NAMED)
        for each in seen:
            name = f"{{{each.name}}}" if each.via == "{}" else f"${each.agent}"
            known = each.size is not None
            mark = f"{self._glyphs['completed']} {size(each.size or 0)}" if known else self._glyphs["waiting"]
            clauses.append(Content(f"{name} {mark}").stylize("$text-success" if known else "$text-warning"))
        if steps and steps[-1].background:
            clauses.append(Content("in the background").stylize("dim"))
        return Content(f" {self._glyphs['dot']} ").join(clauses)

    def _set_error(self, *, error: bool) -> None:
        if error or self.has_class("-error"):
            self.refresh(layout=True)  # an error takes the lines it needs
        self.set_class(error, "-error")
