"""When what backends keep is ended: a table of who works, comes and goes, and what is due after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.ports import Member
from teambot_tui.engine.upkeep import CloseBackend, ForgetAgent, SuspendAgent, Upkeep
from tests.team import Gate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.ports import Backend, Request, Update


class Conversations:
    """Keeps something, but nothing that costs."""

    def run(self, request: Request) -> AsyncGenerator[Update, None]:
        raise NotImplementedError

    async def forget(self, agent: AgentId) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError


class Processes(Conversations):
    """Keeps a process for each agent."""

    async def suspend(self, agent: AgentId) -> None:
        raise NotImplementedError


class Scene:
    """A team of three, on two backends: `pm`, `ba` on p, `writer` on q; `c` keeps only conversations."""

    def __init__(self, most_idle: int) -> None:
        self.backends: dict[str, Backend] = {
            "p": Processes(),
            "q": Processes(),
            "c": Conversations(),
            "n": Gate(),
        }
        team = {"pm": "p", "ba": "p", "writer": "q"}
        self.members = {agent: self.member(agent, on) for agent, on in team.items()}
        self.upkeep = Upkeep(self.members.values(), most_idle)

    def member(self, agent: str, on: str) -> Member:
        return Member(AgentId(agent), "", None, self.backends[on])

    def play(self, line: str) -> str:
        """Do what a line says, such as `move pm q`, and return what is due."""
        verb, agent, *on = line.split()
        match verb:
            case "begin":
                self.upkeep.begin(self.members[agent])
            case "end":
                self.upkeep.end(AgentId(agent))
            case "leave":
                self.upkeep.leave(AgentId(agent))
            case "move" | "join":
                self.members[agent] = self.member(agent, *on)
                self.upkeep.place(self.members[agent])
            case _:
                raise AssertionError(line)
        names = {id(backend): name for name, backend in self.backends.items()}
        told = []
        for due in self.upkeep.due():
            match due:
                case ForgetAgent(backend, who):
                    told.append(f"forget {who} on {names[id(backend)]}")
                case SuspendAgent(backend, who):
                    told.append(f"suspend {who} on {names[id(backend)]}")
                case CloseBackend(backend):
                    told.append(f"close {names[id(backend)]}")
        return ", ".join(told)


SCENES = {
    "what was never used need not be ended": (8, ["move writer p", "join x q", "leave x"]),
    "the longest idle is suspended": (
        1,
        [
            "begin pm",
            "begin ba",
            "end ba",
            "end pm => suspend ba on p",
            "begin ba",
            "end ba => suspend pm on p",
        ],
    ),
    "whoever works again is not idle": (1, ["begin pm", "end pm", "begin pm", "begin ba", "end ba"]),
    "the limit counts over all backends": (
        1,
        ["begin pm", "end pm", "begin writer", "end writer => suspend pm on p"],
    ),
    "conversations cost nothing": (
        0,
        ["join x c", "begin x", "end x", "begin pm", "end pm => suspend pm on p"],
    ),
    "whoever joined goes before the team": (
        1,
        [
            "begin pm",
            "end pm",
            "join x p",
            "begin x",
            "end x => suspend x on p",
            "begin x",
            "end x => suspend x on p",
        ],
    ),
    "an agent that leaves takes its process with it": (
        8,
        ["join x p", "begin x", "end x", "leave x => forget x on p"],
    ),
    "though it was suspended": (
        0,
        ["join x p", "begin x", "end x => suspend x on p", "leave x => forget x on p", "leave x"],
    ),
    "after its task, if it works": (8, ["join x p", "begin x", "leave x", "end x => forget x on p"]),
    "also when its task is done once more": (
        8,
        ["join x p", "begin x", "end x", "leave x => forget x on p", "begin x", "end x => forget x on p"],
    ),
    "the last one closes the backend": (8, ["begin writer", "end writer", "move writer p => close q"]),
    "after all have ended their tasks on it": (
        8,
        ["begin pm", "begin ba", "move pm q", "move ba q", "end pm => forget pm on p", "end ba => close p"],
    ),
    "what was closed may be used again": (
        8,
        [
            "join x c",
            "begin x",
            "end x",
            "leave x => close c",
            "join y c",
            "begin y",
            "end y",
            "leave y => close c",
        ],
    ),
    "a name that comes back is another agent": (
        8,
        [
            "join x p",
            "begin x",
            "end x",
            "leave x => forget x on p",
            "join x q",
            "begin x",
            "end x",
            "leave x => forget x on q",
        ],
    ),
    "taking its own place changes nothing": (8, ["begin pm", "end pm", "move pm p"]),
    "what keeps nothing need not be ended": (8, ["join x n", "begin x", "end x", "leave x"]),
}


@pytest.mark.parametrize(("most_idle", "lines"), SCENES.values(), ids=SCENES.keys())
def test_scene(most_idle: int, lines: list[str]) -> None:
    scene = Scene(most_idle)
    for line in lines:
        step, _, due = line.partition(" => ")
        assert scene.play(step) == due, step


def test_every_backend_is_closed_in_the_end() -> None:
    scene = Scene(8)
    scene.play("move writer c")
    assert list(map(id, scene.upkeep.backends)) == [id(scene.backends[name]) for name in "pqc"]
