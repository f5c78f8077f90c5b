"""Facts as lines for people: who does what, as it happens, each agent's words behind its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.facts import (
    ActivityReported,
    AgentDefined,
    BudgetReached,
    IterationStarted,
    PermissionAsked,
    PermissionSettled,
    TaskCancelled,
    TaskCompleted,
    TaskDelayed,
    TaskFailed,
    TaskSkipped,
    TextProduced,
    UpStarted,
    WaitProlonged,
)
from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.ports import Notice, Verdict
from teambot_tui.engine.states import STATES
from teambot_tui.engine.status import Status, Statuses, waiting_clause
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teambot_tui.engine.facts import Fact

_COLOURS = ("36", "33", "35", "32", "34", "31")
_WIDEST_NAME = 20
_LONGEST_LINE = 16 * 1024
_LONGEST_REQUEST = 200


class PlainPrinter:
    """Writes whole lines only, so that agents who speak at once do not cut into each other's."""

    def __init__(
        self, write: Callable[[str], None], agents: Sequence[AgentId], *, colour: bool, bar: str
    ) -> None:
        self._write = write
        self._width = max(map(len, agents), default=0)
        self._colours = {
            agent: _COLOURS[index % len(_COLOURS)] if colour else "" for index, agent in enumerate(agents)
        }
        self._bar = bar
        self._begun: dict[TaskId, list[str]] = {}
        self._statuses = Statuses()
        self._workflow: UpStarted | None = None
        self._requests: dict[tuple[TaskId, str], PermissionAsked] = {}

    def see(self, fact: Fact) -> None:
        """Write what a fact says to someone who watches."""
        changed = self._statuses.update(fact)
        match fact:
            case TextProduced(_, task, text):
                self._speak(task, text)
            case AgentDefined(agent=agent):
                self._width = max(self._width, min(len(agent), _WIDEST_NAME))
            case ActivityReported(_, task, Notice(text)):
                self._end(task, text)
            case PermissionAsked(task=task, request=request):
                self._requests[task, request] = fact
            case PermissionSettled():
                self._settle(fact)
            case BudgetReached(_, cost, tokens):
                self._write(
                    f"Budget reached: ${cost:,.2f} and {tokens:,} tokens used. What has not started is"
                    " cancelled; a larger budget in your settings lets it run.\n"
                )
            case WaitProlonged(_, task, agents, seconds):
                self._end(task, f"still waiting{waiting_clause(agents, ())} after {seconds:g} s")
            case TaskCompleted(_, task, _, seconds):
                self._end(task, f"{STATES['completed'].word} {task} in {seconds:.1f} s")
            case TaskDelayed(time, task, reason, until):
                self._end(
                    task, f"{STATES['failed'].word} {task}: {reason}; tries again in {until - time:.0f} s"
                )
            case TaskFailed(_, task, reason):
                self._end(task, f"{STATES['failed'].word} {task}: {reason}")
            case TaskSkipped(_, task, reason):
                self._end(task, f"{STATES['skipped'].word} {task}: {reason}")
            case TaskCancelled(_, task):
                self._end(task, f"{STATES['cancelled'].word} {task}")
            case UpStarted():
                self._workflow = fact
            case IterationStarted(_, _, scope, iteration):
                self._begin_iteration(scope, iteration)
            case _:
                pass
        if changed is not None and changed.status is not Status.IDLE:
            self._write(self._paint(changed.agent, str(changed)) + "\n")

    def finish(self, time: float, counts: Mapping[str, int]) -> None:  # noqa: ARG002  the same face as JSON's
        """Write how the run ended, if there was one."""
        if any(counts.values()):
            self._write(", ".join(f"{number} {state}" for state, number in counts.items() if number) + "\n")

    def _begin_iteration(self, scope: str, iteration: int) -> None:
        workflow = self._workflow
        if workflow is not None and (workflow.iterations > 1 or len(workflow.scopes) > 1):
            name = scope.removesuffix("/") or workflow.pipeline or "up"
            self._write(f"{name}: iteration {iteration} of {workflow.iterations}\n")

    def _settle(self, settled: PermissionSettled) -> None:
        request = self._requests.pop((settled.task, settled.request), None)
        if request is None or settled.verdict is not Verdict.REJECT:
            return
        agent = agent_of(request.task)
        what = f"{request.kind or 'use'} `{one_line(request.detail or request.tool, _LONGEST_REQUEST)}`"
        line = f"@{agent}: wanted to {what}: rejected, {settled.why}; set permissions in your settings"
        self._write(self._paint(agent, line) + "\n")

    def _speak(self, task: TaskId, text: str) -> None:
        begun = self._begun.setdefault(task, [])
        *lines, rest = text.split("\n")
        for line in lines:
            self._say(task, "".join(begun) + line)
            begun.clear()
        if rest:
            begun.append(rest)
        if sum(map(len, begun)) > _LONGEST_LINE:
            self._say(task, "".join(begun))
            begun.clear()

    def _say(self, task: TaskId, line: str) -> None:
        agent = agent_of(task)
        self._write(f"{self._paint(agent, f'{agent:{self._width}} {self._bar}')} {line}".rstrip() + "\n")

    def _end(self, task: TaskId, what: str) -> None:
        if begun := self._begun.pop(task, []):
            self._say(task, "".join(begun))
        agent = agent_of(task)
        self._write(self._paint(agent, f"@{agent}: {what}") + "\n")

    def _paint(self, agent: AgentId, text: str) -> str:
        colour = self._colours.get(agent)
        return f"\x1b[{colour}m{text}\x1b[0m" if colour else text
