"""One submission from its acceptance to the end of its last task, and the exit status that tells."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from teambot_tui.engine.board import State
from teambot_tui.engine.facts import BudgetReached, SubscriberFailed, TaskCreated
from teambot_tui.headless.interrupts import INTERRUPTED, interrupts
from teambot_tui.language.errors import StatementError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.session import Session
    from teambot_tui.headless.output import OutputStream

COMPLETED = 0
NOT_ALL_COMPLETED = 1
_ENDS = (State.COMPLETED, State.FAILED, State.SKIPPED, State.CANCELLED)


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
