"""Who waits for permission to do what, and which requests were granted or refused for good.

"Always" means exactly the same request of the same agent, as it came and not as it looks, and only in this
session: another agent that takes its name asks again. What was not shown whole is never allowed by the
person, and what carries a command or a change is never taken for reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.effects import AnswerPermission, Effect
from teambot_tui.engine.facts import PermissionSettled
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.ports import Permissions, Verdict

if TYPE_CHECKING:
    from teambot_tui.engine.facts import PermissionAnswered, PermissionAsked

_READING: Final = ("read", "search", "think")


class Approvals:
    """The requests of all agents."""

    def __init__(self) -> None:
        self.open: dict[tuple[TaskId, str], PermissionAsked] = {}
        """The requests that wait for the person, in the order they came."""
        self._always: dict[tuple[AgentId, str], Verdict] = {}

    def ask(self, asked: PermissionAsked) -> list[Effect]:
        """Settle a request by an earlier answer or by the settings; else it waits for the person."""
        decision = self._decide(asked)
        if decision is None:
            self.open[asked.task, asked.request] = asked
            return [asked]
        return [asked, *_settle(asked, asked.time, *decision)]

    def answer(self, answered: PermissionAnswered) -> list[Effect]:
        """Settle a request, and with `always` all that are the same.

        Nothing happens if the answer comes too late, or allows what could not be shown.
        """
        asked = self.open.get((answered.task, answered.request))
        if asked is None or (answered.verdict is Verdict.ALLOW and not asked.is_whole):
            return []
        settled = [asked]
        if answered.always:
            self._always[_request(asked)] = answered.verdict
            settled = [each for each in self.open.values() if _request(each) == _request(asked)]
        effects: list[Effect] = [answered]
        for each in settled:
            del self.open[each.task, each.request]
            why = "by you, always" if answered.always else "by you"
            effects += _settle(each, answered.time, answered.verdict, why)
        return effects

    def withdraw(self, task: TaskId, time: float) -> list[Effect]:
        """Let go of the requests of a task that is over; nobody waits for them any more."""
        withdrawn = [asked for asked in self.open.values() if asked.task == task]
        for asked in withdrawn:
            del self.open[asked.task, asked.request]
        return [PermissionSettled(time, task, asked.request, None, "the task is over") for asked in withdrawn]

    def forget(self, agent: AgentId) -> None:
        """Let no answer count any more that was given to whoever had this name before."""
        for request in [request for request in self._always if request[0] == agent]:
            del self._always[request]

    def _decide(self, asked: PermissionAsked) -> tuple[Verdict, str] | None:
        if remembered := self._always.get(_request(asked)):
            return remembered, "as answered before"
        match asked.policy:
            case Permissions.ALLOW:
                return Verdict.ALLOW, "by the settings"
            case Permissions.DENY:
                return Verdict.REJECT, "by the settings"
            case Permissions.ALLOW_READS if asked.kind in _READING and not asked.acts:
                return Verdict.ALLOW, "reading is allowed by the settings"
            case _ if not asked.attended:
                return Verdict.REJECT, "nobody is here to ask"
            case _:
                return None


def _settle(asked: PermissionAsked, time: float, verdict: Verdict, why: str) -> list[Effect]:
    return [
        AnswerPermission(asked.task, asked.request, verdict),
        PermissionSettled(time, asked.task, asked.request, verdict, why),
    ]


def _request(asked: PermissionAsked) -> tuple[AgentId, str]:
    return agent_of(asked.task), asked.key
