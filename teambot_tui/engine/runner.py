"""The only part of the engine that waits: it carries out effects and reports what comes of them as facts.

Every piece of work is an asyncio task with an owner, a name and an end. Closing stops them all and waits.
"""

from __future__ import annotations

import asyncio
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING, assert_never

from teambot_tui.engine.effects import Action, AnswerPermission, StartTask, StopTask, WakeAt
from teambot_tui.engine.facts import (
    ActivityReported,
    CancelRequested,
    PermissionAsked,
    TaskStarted,
    TextProduced,
    TimePassed,
    WorkEnded,
)
from teambot_tui.engine.ids import TaskId
from teambot_tui.engine.intake import Intake
from teambot_tui.engine.ports import Answered, BackendError, Permission, Permissions, Request, Text
from teambot_tui.engine.showing import show
from teambot_tui.engine.text import one_line
from teambot_tui.engine.upkeep import CloseBackend, Due, ForgetAgent, SuspendAgent, Upkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from teambot_tui.engine.bus import Bus
    from teambot_tui.engine.facts import AgentDefined, Input
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.ports import Member, Reply, ToolProvider, Verdict
    from teambot_tui.engine.rules import Rules

logger = getLogger(__name__)

_ACTIONS = (StartTask, StopTask, AnswerPermission, WakeAt)
_LONGEST_DELAY = 10.0  # seconds after a sleep of the machine until it is noticed


class Runner:
    """Lets the rules meet the world. It belongs to one event loop."""

    def __init__(
        self,
        rules: Rules,
        bus: Bus,
        members: Mapping[AgentId, Member],
        recruits: Mapping[AgentDefined, Member],
        directory: Path,
        clock: Callable[[], float],
        *,
        attended: bool,
    ) -> None:
        self._rules = rules
        self._bus = bus
        self._members = members
        self._recruits = recruits
        self._directory = directory
        self._clock = clock
        self._attended = attended
        self.tools: ToolProvider | None = None
        self.upkeep = Upkeep(members.values(), rules.policy.idle_agents)
        self._asking: dict[tuple[TaskId, str], Reply] = {}
        self._unanswered: dict[TaskId, str] = {}
        """Work that was stopped because its permission request could not be answered, and why."""
        self._running: dict[TaskId, asyncio.Task[None]] = {}
        self._stopped: set[TaskId] = set()
        self._chores: set[asyncio.Task[None]] = set()
        self._alarm: tuple[float, asyncio.TimerHandle] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def report(self, fact: Input) -> None:
        """Let a fact have its consequences."""
        publish = self._bus.publish
        for effect in self._rules.handle(fact):
            if isinstance(effect, _ACTIONS):
                self._carry_out(effect, fact.time)
            else:
                publish(effect)
        if self._rules.board.unfinished or self._running:
            self._idle.clear()
        else:
            self._idle.set()

    async def idle(self) -> None:
        """Wait until every task has ended and nothing runs any more."""
        await self._idle.wait()

    def tidy(self) -> None:
        """End what backends need not keep any more; nobody waits for it, except the end of the session."""
        for due in self.upkeep.due():
            chore = asyncio.create_task(_end_what_is_kept(due), name=type(due).__name__)
            self._chores.add(chore)
            chore.add_done_callback(self._chores.discard)

    async def aclose(self) -> None:
        """Cancel whatever has not ended and wait until it has."""
        self.report(CancelRequested(self._clock(), self._rules.board.unfinished_tasks()))
        while self._running:
            await asyncio.wait(self._running.values())
        await asyncio.gather(*self._chores)
        await self._close_backends()
        if self.tools is not None:
            await self.tools.aclose()
        if self._alarm is not None:
            self._alarm[1].cancel()
            self._alarm = None

    async def _close_backends(self) -> None:
        await asyncio.gather(*(_end_what_is_kept(CloseBackend(each)) for each in self.upkeep.backends))

    def _carry_out(self, action: Action, now: float) -> None:
        match action:
            case StartTask():
                self._start(action, now)
            case StopTask():
                self._stop(action.task)
            case AnswerPermission():
                self._answer(action)
            case WakeAt():
                self._set_alarm(action.time)
            case _:
                assert_never(action)

    def _start(self, effect: StartTask, now: float) -> None:
        member = self._member_of(effect.task)
        prompt = effect.prompt
        system = member.system
        if member.exact_system is not None and self._rules.board.tasks[effect.task].plan.preface:
            system = member.exact_system
        request = Request(
            task=effect.task,
            agent=effect.agent,
            prompt=prompt.text,
            system="\n\n".join(filter(None, (system, prompt.context))),
            model=member.model if effect.model is None else effect.model or None,
            directory=self._directory,
            instruction=prompt.instruction,
            given=prompt.given,
            tools=partial(self.tools.server_for, effect.agent) if self.tools else None,
            read_only=member.permissions is Permissions.DENY,
            allowed_tools=member.allowed_tools,
            max_turns=member.max_turns,
        )
        work = asyncio.create_task(self._listen(member, request), name=effect.task)
        self._running[effect.task] = work
        self.upkeep.begin(member)
        # A callback, because work that is cancelled before its first step never runs a line of its own.
        work.add_done_callback(self._end)
        if effect.task in self._stopped:
            self._stopped.discard(effect.task)
            work.cancel()
        self.report(TaskStarted(now, effect.task, prompt.text, request.system, request.model))

    def _member_of(self, task: TaskId) -> Member:
        """Return who does a task: its agent as it was defined when the task was accepted."""
        plan = self._rules.board.tasks[task].plan
        return self._recruits[plan.definition] if plan.definition else self._members[plan.agent]

    def _stop(self, task: TaskId) -> None:
        if (work := self._running.get(task)) is not None:
            work.cancel()
        else:  # whoever heard that another one started was faster than we are with this one
            self._stopped.add(task)

    async def _listen(self, member: Member, request: Request) -> None:
        intake = Intake()
        updates = member.backend.run(request)
        try:
            async for foreign in updates:
                update = intake.clean(foreign)
                if isinstance(update, Text):
                    if update.text:
                        self.report(TextProduced(self._clock(), request.task, update.text))
                elif isinstance(update, Permission):
                    self._ask(member, request.task, update)
                else:
                    self.report(ActivityReported(self._clock(), request.task, update))
        finally:
            await updates.aclose()

    async def ask(self, task: TaskId, tool: str, kind: str, detail: str) -> Answered | None:
        """Ask leave for something that an agent at work wants of us; nothing if its work ends before."""
        answer: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        member = self._member_of(task)

        def settle(verdict: Verdict, words: str = "") -> None:
            if not answer.done():  # whoever asked may have gone
                answer.set_result(Answered(verdict, words))

        work = self._running[task]
        self._ask(member, task, Permission(tool, tool, kind, detail, settle))
        await asyncio.wait((answer, work), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None

    def _ask(self, member: Member, task: TaskId, permission: Permission) -> None:
        shown = show(permission)
        request = one_line(permission.id)
        while (task, request) in self._asking:  # an agent may use an id twice, and still waits for both
            request += "'"
        self._asking[task, request] = permission.answer
        self.report(
            PermissionAsked(
                self._clock(),
                task,
                request,
                shown.tool,
                shown.kind,
                shown.detail,
                member.permissions,
                self._attended,
                shown.key,
                permission.acts,
                shown.is_whole,
            )
        )

    def _answer(self, effect: AnswerPermission) -> None:
        answer = self._asking.pop((effect.task, effect.request))
        try:
            answer(effect.verdict, effect.words)
        except Exception as error:  # it is the backend's: whoever answers must not fall with it
            logger.debug("a backend could not be answered", exc_info=error)
            # It would wait for the answer for ever.
            self._unanswered[effect.task] = one_line(f"It could not be answered: {_reason(error)}")
            self._running[effect.task].cancel()

    def _end(self, work: asyncio.Task[None]) -> None:
        task = TaskId(work.get_name())
        del self._running[task]
        for asking in [key for key in self._asking if key[0] == task]:
            self._asking.pop(asking)
        stopped = self._unanswered.pop(task, "The work was stopped.")
        error = stopped if work.cancelled() else _reason(work.exception())
        self.upkeep.end(self._rules.board.tasks[task].agent)
        self.report(WorkEnded(self._clock(), task, error))
        self.tidy()

    def _set_alarm(self, time: float) -> None:
        if self._alarm is not None:
            if self._alarm[0] <= time:
                return
            self._alarm[1].cancel()
        # A timer of the loop stands still while the machine sleeps, our clock does not: look now and then.
        delay = min(max(0.0, time - self._clock()), _LONGEST_DELAY)
        self._alarm = (time, asyncio.get_running_loop().call_later(delay, self._ring, time))

    def _ring(self, time: float) -> None:
        self._alarm = None
        now = self._clock()
        if now < time:
            self._set_alarm(time)
        else:
            self.report(TimePassed(now))


async def _end_what_is_kept(due: Due) -> None:
    try:
        match due:
            case ForgetAgent(backend, agent):
                await backend.forget(agent)
            case SuspendAgent(suspendable, agent):
                await suspendable.suspend(agent)
            case CloseBackend(backend):
                await backend.aclose()
            case _:
                assert_never(due)
    except Exception as error:  # a backend is foreign code: whoever leaves it has nothing to do about it
        logger.warning("a backend could not end what it keeps", exc_info=error)


def _reason(failure: BaseException | None) -> str | None:
    """Say in words a user can act on why a backend failed; a traceback is for the log."""
    if failure is None:
        return None
    if isinstance(failure, BackendError):
        return one_line(str(failure), limit=4000)
    logger.debug("a backend failed", exc_info=failure)
    return one_line(f"{type(failure).__name__}: {failure}")
