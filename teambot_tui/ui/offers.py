"""What is known of each candidate of a completion: who chooses need not look elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.states import STATES
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import EVERYONE
from teambot_tui.language.options import OPTIONS
from teambot_tui.ui.glyphs import Glyphs, duration, size_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from teambot_tui.engine.views import AgentView
    from teambot_tui.ui.views import Views

_LONGEST: Final = 80


class Offers:
    """Describes agents by what they do, outputs by their size and age, commands by what they are for."""

    def __init__(
        self,
        known: Views,
        commands: Mapping[str, tuple[str, str]],
        descriptions: Mapping[AgentId, str],
        glyphs: Glyphs,
        clock: Callable[[], float],
    ) -> None:
        """Take the commands with their arguments and what they do, and the team with what each is for."""
        self._known = known
        self._commands = commands
        self._descriptions = descriptions
        self._glyphs = glyphs
        self._clock = clock

    def __call__(self, candidates: Sequence[str]) -> list[tuple[str, str]]:
        """Return how to show each candidate, and what is to be known of it now."""
        tasks = frozenset(self._known.tasks())
        return [self._row(each, tasks) for each in candidates]

    def _row(self, candidate: str, tasks: Collection[str]) -> tuple[str, str]:
        sign, name = candidate[:1], candidate[1:]
        if candidate.startswith("--"):
            return _option(candidate[2:], candidate)
        match sign:
            case "@" if name == EVERYONE:
                return candidate, f"everyone of the team, {len(self._known.roster.agents)} agents"
            case "@":
                return candidate, self._agent(name)
            case "$":
                return candidate, self._output(name)
            case "{":
                return candidate, self._variable(name.removesuffix("}"))
            case "/" if name in self._commands:
                arguments, words = self._commands[name]
                return f"{candidate} {arguments}".rstrip(), words
            case _:
                return candidate, self._task(candidate) if candidate in tasks else self._agent(candidate)

    def _agent(self, name: str) -> str:
        if name not in self._known.roster.agents:
            return ""
        agent = AgentId(name)
        defined = self._known.roster.temporary.get(agent)
        what = f"~ {defined.base}" if defined else self._descriptions.get(agent, "")
        return self._joined(self._state(self._known.agent(agent)), what)

    def _state(self, view: AgentView) -> str:
        if view.requests:
            return f"{self._glyphs['asking']} {STATES['asking'].word}"
        words = f"{self._glyphs[view.state]} {view.state}"
        if view.state == "executing":
            words += f" {duration(self._clock() - view.since)}"
        elif view.state == "waiting":
            words += f" for {', '.join(f'@{agent}' for agent in view.waiting_for)}"
        elif view.last_end is not None:
            return f"{self._glyphs[view.last_end]} {view.last_end} {self._ago(view.since)}"
        return words

    def _output(self, name: str) -> str:
        if name not in self._known.roster.agents:
            return ""
        view = self._known.agent(AgentId(name))
        if view.reference == "waiting":
            return self._joined(self._state(view), "is waited for")
        if view.output is None:
            return "no output yet"
        done = f"{self._glyphs['completed']} {size_in_words(view.output.size)}"
        return self._joined(done, self._ago(view.output.ended), view.output.first_line)

    def _variable(self, name: str) -> str:
        found = next((view for view in self._known.variables() if view.name == name), None)
        if found is None:
            return ""
        state = f"{self._glyphs[found.state]} {found.state if found.size == 0 else size_in_words(found.size)}"
        return self._joined(state, found.task, found.first_line)

    def _task(self, name: str) -> str:
        view = self._known.task(TaskId(name))
        return self._joined(f"{self._glyphs[view.state]} {view.state}", view.statement)

    def _ago(self, then: float) -> str:
        seconds = max(0, int(self._clock() - then))
        for step, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
            if seconds >= step:
                return f"{seconds // step} {unit} ago"
        return f"{seconds} s ago"

    def _joined(self, *parts: str) -> str:
        return f" {self._glyphs['dot']} ".join(one_line(part, _LONGEST) for part in parts if part)


def _option(name: str, candidate: str) -> tuple[str, str]:
    if kind := OPTIONS.get(name):
        return f"{candidate} {name[0].upper()}", f"{kind.expected}, as {candidate} {kind.example}"
    kind = OPTIONS.get(name.removeprefix("no-"))
    return candidate, f"not {kind.expected}: as the agent is set" if kind else ""
