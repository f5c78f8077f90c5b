"""The single lines around the feed: the title, the tabs and the plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from teambot_tui.engine.states import STATES, Role, role_of
from teambot_tui.engine.text import one_line
from teambot_tui.ui.branch import branch_of
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.contents import looks_like
from teambot_tui.ui.glyphs import Glyphs, size, style_of, used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from textual import events

    from teambot_tui.engine.board import State
    from teambot_tui.engine.explain import Explanation
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.language.errors import StatementError
    from teambot_tui.ui.keys import FooterKey

_NAMED = ("$", "{}")
"""What the plan shows of the outputs that go in: those that the text names."""


NOTHING: Final = Content("")
_COUNTS: Final = 34
"""Where the counts begin, if there is room: they do not move when the name beside them grows."""


class Line(Widget):
    """One line of text that is replaced as a whole, without layout."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._content = Content("")

    def show(self, content: Content) -> None:
        """Show this and nothing else."""
        if not looks_like(content, self._content):
            self._content = content
            self.refresh()

    def render(self) -> Content:
        return self._content


class TitleBar(Line):
    """What session this is, how many tasks are in which state, what was used, and which branch it is on."""

    def __init__(self, folder: Path, glyphs: Glyphs) -> None:
        super().__init__(id="title")
        self._folder = folder
        self._glyphs = glyphs
        self._ended = -1
        self._branch = ""
        self._progress = ""
        self._counts = self._spent = self._alarm = NOTHING
        self.tell({})

    def follow(self, progress: str) -> None:
        """Show how far workflows are, besides."""
        if progress != self._progress:
            self._progress = progress
            self.refresh()

    def tell(
        self, counts: Mapping[State, int], asking: int = 0, usage: Usage | None = None, alarm: str = ""
    ) -> None:
        """Show how many tasks are in which state, and need the person; what was used; and what is wrong."""
        self._mind_branch(sum(count for state, count in counts.items() if STATES[state].is_final))
        shown = {state.value: count for state, count in counts.items()}
        shown["executing"] = max(0, shown.get("executing", 0) - asking)
        shown["asking"] = asking
        self._counts = Content(" ").join(
            Content(f"{self._glyphs[state]}{shown[state]}").stylize(f"bold {style_of(state)}")
            for state in STATES
            if shown.get(state)
        )
        self._spent = Content(used(usage, self._glyphs, " tok")).stylize("$quiet")
        self._alarm = Content(f" {alarm} ").stylize("bold reverse $fail") if alarm else NOTHING
        self.refresh()

    def render(self) -> Content:
        """Draw the name at the left, the counts in the middle, and numbers and branch at the right."""
        width = self.size.width
        name = Content(" teambot").stylize("bold $strong")
        folder = f"{self._glyphs['dot']} {one_line(self._folder.name, 60)}"
        counts = _spaced(self._counts, self._alarm)
        branch = Content(self._branch).stylize("$quiet")
        right = _spaced(self._spent, branch)
        progress = Content(self._progress).stylize("$reference")
        if not width:
            return _spaced(name + Content(f" {folder}"), progress, counts, right)
        taken = name.cell_length + counts.cell_length + 4
        if taken + right.cell_length > width:
            right = self._spent if taken + self._spent.cell_length <= width else NOTHING
        room = max(0, width - taken - right.cell_length)
        left = name + Content(f" {clip(folder, room - 1, '')}").stylize("$quiet") if room > 3 else name
        left = _spaced(left, progress) if progress.cell_length < room - len(folder) else left
        middle = max(left.cell_length + 2, min(_COUNTS, width - counts.cell_length - right.cell_length - 3))
        content = _padded(left, middle) + counts
        return _padded(content, width - right.cell_length - 1) + right

    def _mind_branch(self, ended: int) -> None:
        """Look again where the work goes whenever a task has ended: an agent may have changed it."""
        if ended != self._ended:
            self._ended = ended
            self._branch = branch_of(self._folder)


def _spaced(*parts: Content) -> Content:
    return Content("  ").join(part for part in parts if part.plain)


def _padded(content: Content, width: int) -> Content:
    return content + Content(" " * max(0, width - content.cell_length))


class Tabs(Line):
    """All, and a tab for each agent; a click chooses."""

    class Chosen(Message):
        """The user wants to see this agent's tasks, or all."""

        def __init__(self, agent: AgentId | None) -> None:
            super().__init__()
            self.agent = agent

    def __init__(self, agents: Sequence[AgentId], glyphs: Glyphs) -> None:
        super().__init__(id="tabs")
        self.agent: AgentId | None = None
        self._tabs: tuple[AgentId | None, ...] = (None, *agents)
        self._glyphs = glyphs
        self._names: Mapping[AgentId, str] = {}
        self._states: dict[AgentId, str] = {}
        self._first = 0
        self._places: list[tuple[int, int, AgentId | None]] = []
        self.choose(None)

    def hold(self, names: Mapping[AgentId, str]) -> None:
        """Have a tab for each of these agents, with a name on it."""
        self._tabs, self._names = (None, *names), names
        self.choose(self.agent if self.agent in self._tabs else None)

    def colour(self, agent: AgentId, state: str) -> None:
        """Let the tab of an agent that needs the person, or has failed, be seen from any other."""
        self._states[agent] = state
        self.choose(self.agent)

    def choose(self, agent: AgentId | None) -> None:
        """Mark the tab that is shown."""
        self.agent = agent
        labels = [Content(f" {self._names.get(tab, tab) if tab else 'All'} ") for tab in self._tabs]
        widths = [label.cell_length for label in labels]
        first, end = self._in_sight(widths)
        before = self._glyphs["before"] if first else " "
        content = Content(before).stylize("bold $strong")
        self._places = [(0, 1, self._tabs[first - 1])] if first else []
        for tab, label in zip(self._tabs[first:end], labels[first:end], strict=True):
            begin = content.cell_length
            content += label.stylize(self._style(tab))
            self._places.append((begin, content.cell_length, tab))
        if end < len(self._tabs):
            begin = max(content.cell_length, self.size.width - 1)
            content = _padded(content, begin) + Content(self._glyphs["beyond"]).stylize("bold $strong")
            self._places.append((begin, begin + 1, self._tabs[end]))
        self.show(content)

    def _style(self, tab: AgentId | None) -> str:
        if tab == self.agent:
            return "bold $background on $strong"
        role = role_of(self._states.get(tab, "idle")) if tab else Role.QUIET
        return f"${role}" if role in (Role.YOU, Role.FAIL) else "$quiet"

    def _in_sight(self, widths: Sequence[int]) -> tuple[int, int]:
        """Return the tabs to begin and to end with, so that the one shown is in sight."""
        room = self.size.width - 2
        if room <= 0 or self.agent not in self._tabs:
            return 0, len(widths)
        chosen = self._tabs.index(self.agent)
        first = 0
        while first < chosen and sum(widths[first : chosen + 1]) > room:
            first += 1
        end = chosen + 1
        while end < len(widths) and sum(widths[first : end + 1]) <= room:
            end += 1
        return first, end

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
    """The keys that do something now; a click is as good as the key."""

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._places: list[tuple[int, int, str]] = []

    def tell(self, keys: Sequence[FooterKey]) -> None:
        """Show these keys and what they do."""
        content = Content(" ")
        self._places = []
        for key in keys:
            begin = content.cell_length
            content += Content(key.written).stylize("bold $strong") + Content(f" {key.words}")
            self._places.append((begin, content.cell_length, key.key))
            content += Content("  ")
        self.show(content)

    def on_click(self, event: events.Click) -> None:
        for begin, end, key in self._places:
            if begin <= event.x < end:
                self.app.simulate_key(key)


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
        self._warning = Content(f" {self._glyphs['plan']} {text}").stylize("$wait bold")
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
        self.show(Content(f" {self._glyphs['plan']} {text}").stylize("$quiet"))

    def explain(self, explanation: Explanation, obstacle: str = "", *, unfinished: bool = False) -> None:
        """Show the plan and what holds it up, or what is wrong and what to type.

        Nothing is called wrong while the word that it is about is still being typed.
        """
        if explanation.error is not None:
            (self.ask_for if unfinished else self.refuse)(explanation.error)
            return
        self._set_error(error=False)
        held_up = Content(f"{obstacle} {self._glyphs['dot']} ").stylize("$fail")
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
        clauses = [Content(slip.message).stylize("$wait") for slip in explanation.slips[:1]]
        if len(explanation.slips) > 1:
            clauses.append(Content(f"{len(explanation.slips) - 1} more like it").stylize("$wait"))
        if explanation.defined:
            names = ", ".join(f"${agent}" for agent in explanation.defined)
            clauses.append(Content(f"defines {names}").stylize("$reference"))
        if explanation.replaced:
            names = ", ".join(f"@{agent}" for agent in explanation.replaced)
            clauses.append(Content(f"for this session, in place of the promoted {names}"))
        if starting:
            verb = "starts" if len(starting) == 1 else "start"
            clauses.append(Content(f"{', '.join(starting)} {verb}").stylize("$work"))
        for step in steps:
            if step.starts:
                continue
            words = step.outlook
            clauses.append(Content(words).stylize("$wait" if step.waiting_for else "$quiet"))
        seen = dict.fromkeys(each for step in steps for each in step.inputs if each.via in _NAMED)
        for each in seen:
            name = f"{{{each.name}}}" if each.via == "{}" else f"${each.agent}"
            known = each.size is not None
            mark = f"{self._glyphs['completed']} {size(each.size or 0)}" if known else self._glyphs["waiting"]
            clauses.append(Content(f"{name} {mark}").stylize("$done" if known else "$wait"))
        if steps and steps[-1].background:
            clauses.append(Content("in the background").stylize("$quiet"))
        return Content(f" {self._glyphs['dot']} ").join(clauses)

    def _set_error(self, *, error: bool) -> None:
        if error or self.has_class("-error"):
            self.refresh(layout=True)  # an error takes the lines it needs
        self.set_class(error, "-error")
