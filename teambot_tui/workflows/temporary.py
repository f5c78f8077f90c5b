"""Temporary agents as files while a session lives: what is defined is written, what is there is loaded.

What was there before is told, and stays there until somebody promotes or forgets it.

The files follow the facts from a thread of their own, so no disk holds an agent up. A disk that fails costs
the files and one note, never the session.
"""

from __future__ import annotations

import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.agents.checks import unknown
from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.persona import AgentFile, parse_agent_file, render_agent_file
from teambot_tui.agents.trust import trust_own
from teambot_tui.engine.board import State
from teambot_tui.engine.facts import AgentDefined, AgentDismissed, TaskCompleted
from teambot_tui.engine.ids import agent_of
from teambot_tui.engine.text import one_line
from teambot_tui.store.agent_files import AgentFiles, read_agent_files
from teambot_tui.store.folders import StoreError
from teambot_tui.store.prune import TEMPORARY_AGENTS
from teambot_tui.workflows.registry import count_uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from teambot_tui.agents.team_files import TeamFiles
    from teambot_tui.engine.board import Board
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.roster import Roster

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundAgents:
    """The agents of the files that were there, and lines for the user about them and what cannot be used."""

    agents: tuple[AgentFile, ...] = ()
    notes: tuple[str, ...] = ()


def is_of_a_person(defined: AgentDefined) -> bool:
    """Whether somebody wrote this agent's prompt; what joins only to be called or started has none."""
    return defined.parent is None and bool(defined.prompt)


def load(trusted: TeamFiles, roster: Roster) -> FoundAgents:
    """Return the temporary agents that a crash has left, or that the user put there and trusted."""
    project = trusted.directory
    try:
        files = read_agent_files(project)
    except (StoreError, OSError) as error:
        return FoundAgents(notes=(f"{TEMPORARY_AGENTS} is passed over: {error}",))
    agents: dict[str, AgentFile] = {}
    notes: list[str] = []
    for path, content in files:
        if trusted.content.get(TEMPORARY_AGENTS / path.name) != content:
            continue  # what is not trusted is told with the other files of its kind
        try:
            agent = _checked(path, content, roster)
        except PersonaError as error:
            notes.append(f"passed over: {error}")
        else:
            agents[agent.name] = agent
    usable, refused = _in_order(agents, roster)
    for agent in refused:
        path = project / TEMPORARY_AGENTS / f"{agent.name}.md"
        known = [*roster.bases, *roster.agents]
        notes.append(f"passed over: {PersonaError(path, 0, unknown('base', agent.base, known))}")
    if usable:
        names = ", ".join(f"~{agent.name}" for agent in usable)
        first = usable[0].name
        notes.insert(
            0,
            f"In {TEMPORARY_AGENTS} from before: {names}. To keep one: teambot agents promote {first}."
            f" To let one go: /forget {first}, or remove its file.",
        )
    return FoundAgents(tuple(usable), tuple(notes))


def _checked(path: Path, content: bytes, roster: Roster) -> AgentFile:
    agent = parse_agent_file(path, content)
    if agent.name != path.stem:
        raise PersonaError(path, 0, f"its name is {agent.name}: call the file {agent.name}.md")
    if agent.name in roster.agents:
        raise PersonaError(path, 0, f"the name {agent.name} is taken by the team")
    return agent


def _in_order(agents: dict[str, AgentFile], roster: Roster) -> tuple[list[AgentFile], list[AgentFile]]:
    """Return those that can be made, each behind what it is made of, and those that cannot."""
    left = dict(agents)
    usable: dict[str, AgentFile] = {}
    while ready := [
        agent
        for agent in left.values()
        if agent.base != agent.name and (agent.base in usable or roster.base(agent.base) is not None)
    ]:
        for agent in ready:
            usable[agent.name] = left.pop(agent.name)
    return list(usable.values()), list(left.values())


def agent_file(defined: AgentDefined) -> AgentFile:
    """Return a definition as it is written to a file."""
    return AgentFile(defined.agent, defined.base, defined.prompt, defined.model)


def agent_files(roster: Roster) -> dict[str, AgentFile]:
    """Return the agents that somebody defined in this session, by name."""
    return {
        name: agent_file(defined) for name, defined in roster.temporary.items() if is_of_a_person(defined)
    }


def used_successfully(roster: Roster, board: Board) -> tuple[AgentFile, ...]:
    """Return the agents that somebody defined and that have completed a task: they are worth keeping."""
    completed = {task.agent for task in board.tasks.values() if task.state is State.COMPLETED}
    return tuple(agent for name, agent in agent_files(roster).items() if name in completed)


class Keeper:
    """Keeps the files of one session's temporary agents; `see` is the handler to subscribe."""

    KINDS = (AgentDefined, AgentDismissed, TaskCompleted)

    def __init__(
        self,
        project: Path,
        environ: Mapping[str, str],
        loaded: Iterable[str],
        on_note: Callable[[str], None],
    ) -> None:
        """Prepare for a session in which some agents were loaded.

        `on_note` is called at most once, from another thread, with one line for the user.
        """
        self._project = project
        self._environ = environ
        self._files = AgentFiles(project)
        self._loaded = tuple(loaded)
        self._on_note = on_note
        self._kept = set(self._loaded)
        self._uses: Counter[str] = Counter()
        self._warningd = False
        self._thread: ThreadPoolExecutor | None = None

    def begin(self) -> None:
        """Mark what was loaded as in use."""
        if self._loaded:
            self._later(self._files.begin)

    def see(self, fact: Fact) -> None:
        """Follow a fact."""
        match fact:
            case AgentDefined() if is_of_a_person(fact):
                self._kept.add(fact.agent)
                agent = agent_file(fact)
                self._later(lambda: self._write(agent))
            case AgentDismissed(agent=name) if name in self._kept:
                self._kept.discard(name)
                self._later(lambda: self._remove(name))
            case TaskCompleted(task=task):
                self._uses[agent_of(task)] += 1
            case _:
                pass

    def close(self) -> None:
        """Remove this session's files and count the uses of promoted agents; call it in a thread."""
        if self._uses:
            self._later(lambda: count_uses(self._project, self._uses))
        if self._thread is not None:
            self._later(self._close)
            self._thread.shutdown()
            self._thread = None

    def _write(self, agent: AgentFile) -> None:
        text = render_agent_file(agent)
        # Before it is there, so that a crash leaves no file that the user would be asked about.
        self._follow(agent.name, text.encode("utf-8", "replace"))
        self._files.write(agent.name, text)

    def _remove(self, name: str) -> None:
        self._files.remove(name)
        self._follow(name, None)

    def _close(self) -> None:
        for name in self._files.close():
            self._follow(name, None)

    def _follow(self, name: str, content: bytes | None) -> None:
        trust_own(self._project, TEMPORARY_AGENTS / f"{name}.md", self._environ, content)

    def _later(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "temporary-agents")
        self._thread.submit(self._carefully, work)

    def _carefully(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (StoreError, OSError, ValueError) as error:
            logger.debug("temporary agents: %s", error)
            if not self._warningd:
                self._warningd = True
                self._on_note(f"not kept in {TEMPORARY_AGENTS}: {one_line(str(error))}")
