"""The one crossing between the screen and the engine, each in its own thread and event loop.

A terminal that nobody reads stops the screen's loop; it must not stop the agents. Frames cross one way, when
the screen comes for the next; requests cross the other way, as a method of the service and its arguments:
plain values both ways. An engine that dies leaves its reason here, and every request is refused then.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from logging import getLogger
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.service import Service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from teambot_tui.engine.session import Session
    from teambot_tui.engine.views import Frame

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

logger = getLogger(__name__)


class Bridge:
    """Runs a session in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._service = Service(session)
        self.now = session.now
        """The session's clock, for any thread."""
        self.first = self._service.frame()
        """What there is before the engine starts."""
        self._last: Frame | None = None
        """What changed while a dying engine ended."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._unanswered: set[Future[Any]] = set()
        self._working: set[asyncio.Future[Any]] = set()
        self.death = ""
        """Why the engine has ended, if it has ended by itself."""

    def start(self) -> None:
        """Start the engine."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="engine", daemon=True)
        self._thread.start()
        ready.wait()

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield what changed since the last frame, whenever something has, until the engine has ended."""
        while True:
            try:
                yield await asyncio.wrap_future(self.run(Service.next_frame))
            except RefusedError:
                break
        if self._last is not None:
            yield self._last

    def ask(
        self,
        method: Callable[Concatenate[Service, Arguments], Answer],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Future[Answer]:
        """Let the engine do something; the future tells how it went.

        It fails with RefusedError if the engine has ended.
        """
        answer = self._expect(Future[Answer]())

        def carry_out() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                answer.set_result(method(self._service, *arguments, **named))
            except Exception as error:  # noqa: BLE001  it belongs to whoever asked
                answer.set_exception(error)

        return self._let(carry_out, answer)

    def run(
        self,
        method: Callable[Concatenate[Service, Arguments], Coroutine[None, None, Answer]],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Future[Answer]:
        """Let the engine do something that may take a while; the future tells how it went, as for `ask`."""
        answer = self._expect(Future[Answer]())

        def begin() -> None:
            if answer.set_running_or_notify_cancel():
                work = asyncio.ensure_future(method(self._service, *arguments, **named))
                self._working.add(work)
                work.add_done_callback(settle)

        def settle(work: asyncio.Future[Answer]) -> None:
            self._working.discard(work)
            if work.cancelled() or answer.done():
                return  # the engine ends, and refuses whatever is unanswered
            if error := work.exception():
                answer.set_exception(error)
            else:
                answer.set_result(work.result())

        return self._let(begin, answer)

    def is_behind(self, frame: int) -> bool:
        """Tell whether something has happened that is not in the frame of this number, or one before it."""
        return self._service.has_news or self._service.frames != frame

    def close(self, patience: float = 5.0) -> bool:
        """Cancel whatever runs and end the engine; tell whether it ended in time."""
        if self._thread is None or self._loop is None or self._stop is None:
            return True
        with suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise RuntimeError("the engine has not started")
        return self._loop

    def _let(self, begin: Callable[[], None], answer: Future[Answer]) -> Future[Answer]:
        try:
            self._running_loop().call_soon_threadsafe(begin)
        except RuntimeError:
            self._refuse(answer)
        return answer

    def _expect(self, answer: Future[Answer]) -> Future[Answer]:
        self._unanswered.add(answer)
        answer.add_done_callback(self._unanswered.discard)
        return answer

    def _refuse(self, answer: Future[Any]) -> None:
        with suppress(InvalidStateError):  # it was answered, or given up, in the last moment
            answer.set_exception(RefusedError(self.death or "The session has ended."))

    def _run(self, ready: threading.Event) -> None:
        try:
            asyncio.run(self._serve(ready))
        except BaseException as error:  # whatever it is, nobody else would hear of it
            logger.exception("the engine has died")
            self.death = f"The engine has died: {one_line(f'{type(error).__name__}: {error}')}"
        finally:
            if self._service.has_news:
                self._last = self._service.frame()
            ready.set()
            for answer in tuple(self._unanswered):
                self._refuse(answer)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        with self._service.following():
            async with self._session:
                ready.set()
                await self._stop.wait()
