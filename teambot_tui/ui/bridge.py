"""The one crossing between the screen and the engine, each in its own thread and event loop.

A terminal that nobody reads stops the screen's loop; it must not stop the agents. Facts pile up on the
engine's side and cross at most once a frame, with the text of each task merged; requests cross the other way
as functions. An engine that dies leaves its reason here, and whoever asks it for something is refused.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from logging import getLogger
from typing import TYPE_CHECKING, Any, TypeVar

from teambot_tui.engine.bus import Backlog
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.session import Session

Answer = TypeVar("Answer")

logger = getLogger(__name__)


class Bridge:
    """Runs a session in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._backlog = Backlog()
        self._announced = False
        self._wake: Callable[[], object] = lambda: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._unanswered: set[Future[Any]] = set()
        self.death = ""
        """Why the engine has ended, if it has ended by itself."""

    def start(self, wake: Callable[[], object]) -> None:
        """Start the engine; `wake` is called in its thread, once for all the facts that wait."""
        self._wake = wake
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="engine", daemon=True)
        self._thread.start()
        ready.wait()

    def take(self) -> list[Fact]:
        """Return the facts that have arrived since the last time."""
        with self._lock:
            self._announced = False
            return self._backlog.take()

    def ask(self, request: Callable[[Session], Answer]) -> Future[Answer]:
        """Let the engine do something with the session; the future tells how it went.

        It fails with RefusedError if the engine has ended.
        """
        answer = self._expect(Future[Answer]())

        def carry_out() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                answer.set_result(request(self._session))
            except Exception as error:  # noqa: BLE001  it belongs to whoever asked
                answer.set_exception(error)

        try:
            self._running_loop().call_soon_threadsafe(carry_out)
        except RuntimeError:
            self._refuse(answer)
        return answer

    def run(self, request: Callable[[Session], Coroutine[None, None, Answer]]) -> Future[Answer]:
        """Let the engine do something that may take a while; the future tells how it went, as for `ask`."""
        work = request(self._session)
        try:
            return self._expect(asyncio.run_coroutine_threadsafe(work, self._running_loop()))
        except RuntimeError:
            work.close()
            ended: Future[Answer] = Future()
            self._refuse(ended)
            return ended

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
            ready.set()
            for answer in tuple(self._unanswered):
                self._refuse(answer)
            if self.death and not (self._stop and self._stop.is_set()):
                self._wake()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        with self._session.bus.subscribe(self._put):
            async with self._session:
                ready.set()
                await self._stop.wait()

    def _put(self, fact: Fact) -> None:
        with self._lock:
            self._backlog.put(fact)
            announced, self._announced = self._announced, True
        if not announced:
            self._wake()
