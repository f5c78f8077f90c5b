"""One submission from its acceptance to the end of its last task, and the exit status that tells."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from teambot_tui.agents.process import kill_all
from teambot_tui.engine.board import State
from teambot_tui.engine.facts import BudgetReached, SubscriberFailed, TaskCreated
from teambot_tui.language.errors import StatementError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from types import FrameType

    from teambot_tui.engine.explain import Explanation, PlannedStep
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.session import Session
    from teambot_tui.headless.output import OutputStream

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
COMPLETED = 0
NOT_ALL_COMPLETED = 1
_ENDS = (State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED)


class Interrupts:
    """How often the user has asked to stop."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def interrupts(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Iterator[Interrupts]:
    """Call `stop` in the loop at the first signal; at the second, kill every child and leave.

    The handlers are Python's own, not the loop's: they run even while a write to a full pipe blocks the loop.
    """
    seen = Interrupts()

    def interrupted(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  a handler's signature
        seen.count += 1
        if seen.count > 1:
            kill_all()
            os._exit(INTERRUPTED)
        loop.call_soon_threadsafe(stop)

    before = {number: signal.signal(number, interrupted) for number in _SIGNALS}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Printer(Protocol):
    """Writes facts for whoever reads them."""

    def see(self, fact: Fact) -> None:
        """Write a fact."""
        ...

    def finish(self, time: float, counts: Mapping[str, int]) -> None:
        """Write how many tasks ended how."""
        ...


async def run(
    session: Session, text: str, printer: Printer, output: OutputStream, complain: Callable[[str], None]
) -> int:
    """Run a submission to its end; return the exit status."""

    async def work() -> bool:
        slips = session.explain(text).slips
        try:
            session.submit(text)
        except StatementError as error:
            complain(describe(error))
            return False
        for slip in slips:
            complain(f"note: {slip.message}")
        session.end_input()
        return True

    return await follow(session, work, session.cancel, printer, output, complain)


async def follow(
    session: Session,
    work: Callable[[], Awaitable[bool]],
    cancel: Callable[[], object],
    printer: Printer,
    output: OutputStream,
    complain: Callable[[str], None],
) -> int:
    """Let something be done and follow it to its end; return the exit status.

    `work` tells whether it went as it was wanted, `cancel` whether there was anything to cancel.
    """

    def stop() -> None:
        if cancel():
            complain("Cancelling. Press Ctrl+C again to stop at once.")

    def note(fact: Fact) -> None:
        assert isinstance(fact, SubscriberFailed)
        complain(f"{fact.subscriber}: {fact.reason}")

    def give_up() -> None:
        loop.call_soon(cancel)

    budget_is_reached = False

    def stop_spending(fact: Fact) -> None:
        nonlocal budget_is_reached
        budget_is_reached = budget_is_reached or isinstance(fact, BudgetReached)
        if budget_is_reached:  # so what is created later would wait for ever, too
            loop.call_soon(cancel_unstarted, session)

    loop = asyncio.get_running_loop()
    output.on_gone = give_up
    with (
        interrupts(loop, stop) as interrupted,
        session.bus.subscribe(printer.see),
        session.bus.subscribe(note, SubscriberFailed),
        session.bus.subscribe(stop_spending, BudgetReached, TaskCreated),
    ):
        async with session:
            refused = not await work()
            await session.idle()
        states = Counter(task.state for task in session.board.tasks.values())
        printer.finish(session.now(), {state.value: states[state] for state in _ENDS})
    if interrupted.count:
        return INTERRUPTED
    if refused or output.gone or states[State.COMPLETED] < len(session.board.tasks):
        return NOT_ALL_COMPLETED
    return COMPLETED


def cancel_unstarted(session: Session) -> None:
    """Cancel what would wait for ever, since nobody is there to allow more; what runs may end."""
    # From the last one on, so that none is skipped because of one that is cancelled before it.
    for task in reversed(session.board.tasks.values()):
        if task.ended is None and task.state is not State.EXECUTING:
            session.cancel(task.id)


def describe(error: StatementError) -> str:
    """Say what is wrong, show where, and what to type instead."""
    lines = [f"line {error.line}, column {error.column}: {error.message}"]
    lines += [f"  {line}" for line in error.pointer().split("\n")]
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines)


def print_plan(
    explanation: Explanation, output: OutputStream, complain: Callable[[str], None], *, as_json: bool
) -> int:
    """Print what would happen; return the exit status."""
    if explanation.error is not None:
        complain(describe(explanation.error))
        return NOT_ALL_COMPLETED
    width = max((len(step.task) for step in explanation.steps), default=0)
    for agent in explanation.defined:
        if as_json:
            replaces = agent in explanation.replaced
            output.write(json.dumps({"event": "define", "agent": agent, "replaces": replaces}) + "\n")
        elif agent in explanation.replaced:
            output.write(f"defines ${agent} for this session, in place of the promoted @{agent}\n")
        else:
            output.write(f"defines ${agent}\n")
    for slip in explanation.slips:
        complain(f"note: {slip.message}")
    for step in explanation.steps:
        if as_json:
            output.write(json.dumps({"event": "step", **asdict(step), "starts": step.starts}) + "\n")
        else:
            output.write(f"{step.task:{width}}  {_plan_line(step)}\n")
    return COMPLETED


def _plan_line(step: PlannedStep) -> str:
    clauses = [step.outlook]
    if step.model:
        clauses.append(f"model {step.model}")
    if step.inputs:
        clauses.append("gets " + ", ".join(map(str, step.inputs)))
    if step.background:
        clauses.append("in the background")
    return "; ".join(clauses)
