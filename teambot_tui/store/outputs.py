"""What every task said, kept in files while it says it, at no cost to whoever tells us.

`begin`, `append` and `end` only put text into a bounded place in memory and may be called on an event loop.
A thread of our own writes, many times a second; what comes faster than the disk takes it is merged, and only
the end of it is kept. A disk that fails costs the files, never the session: it is reported once.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.facts import TaskStarted, TextProduced
from teambot_tui.engine.files import UnreadableError, read_at
from teambot_tui.engine.text import Tail
from teambot_tui.store.captures import SMALLEST_LIMIT, OutputFile
from teambot_tui.store.folders import StoreError, file_name, is_run_id, opened, reason
from teambot_tui.store.live import mark_patiently

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.facts import Fact
    from teambot_tui.engine.ids import TaskId

FOLDER: Final = "outputs"
LIMIT: Final = 100 * 1024
_BEAT: Final = 0.04  # seconds: a program that is killed loses little more than this
_PATIENCE: Final = 10.0
_LARGEST_READ: Final = 1024**3  # as large as `capture_limit` may be
logger = logging.getLogger(__name__)


class _Growing:
    """A task's output between two writes. `news` and `ended` belong to the lock, `capture` to the thread."""

    __slots__ = ("capture", "ended", "news")

    def __init__(self, capture: OutputFile, limit: int) -> None:
        self.capture = capture
        self.news = Tail(limit)
        self.ended = False


class Outputs:
    """Captures the outputs of one run in `<home>/outputs/<run>/<task>.txt`."""

    def __init__(
        self, home: Path, run: str, limit: int = LIMIT, on_failure: Callable[[str], None] = logger.warning
    ) -> None:
        """Prepare for a run; nothing is made on disk before its first task.

        `on_failure` is called at most once, from another thread, with one line for the user.

        Raises:
            ValueError: That is no run id, or the limit is below `SMALLEST_LIMIT`.
        """
        if not is_run_id(run):
            raise ValueError(f"not a run id: {run!r}")
        if limit < SMALLEST_LIMIT:
            raise ValueError(f"the limit of an output is at least {SMALLEST_LIMIT} bytes")
        self._home = home
        self._run = run
        self._limit = limit
        self._on_failure = on_failure
        self._changed = threading.Condition()
        self._growing: dict[str, _Growing] = {}
        self._waiting: dict[str, _Growing] = {}
        self._thread: threading.Thread | None = None
        self._writing = False
        self._hurried = False
        self._closed = False
        self._has_failed = False

    @property
    def folder(self) -> Path:
        """Where the files are, or would be."""
        return self._home / FOLDER / self._run

    def begin(self, task: str) -> None:
        """Start the output of a task again."""
        with self._changed:
            self._begin(task)

    def append(self, task: str, text: str) -> None:
        """Add to the output of a task."""
        with self._changed:
            growing = self._growing.get(task) or self._begin(task)
            if growing is not None:
                growing.news.append(text)
                self._tell(task, growing)

    def end(self, task: str) -> None:
        """Let the output of a task be complete."""
        with self._changed:
            growing = self._growing.pop(task, None)
            if growing is not None:
                growing.ended = True
                self._tell(task, growing)

    def read(self, run: str, task: str) -> str | None:
        """Return what is on disk of an output; nothing if there is none."""
        return read_output(self._home, run, task)

    def flush(self, patience: float = _PATIENCE) -> bool:
        """Wait until what was given so far is written, or has failed; say whether that was in time."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._waiting and not self._writing, patience)

    def close(self, patience: float = _PATIENCE) -> None:
        """Write what is left and let go of the run. Outputs that have not ended end as they are."""
        with self._changed:
            for task in list(self._growing):
                self.end(task)
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(patience)
            if self._thread.is_alive():
                self._report("the disk does not answer")

    def _begin(self, task: str) -> _Growing | None:
        if self._closed:
            return None
        if self._thread is None:
            # A daemon, so that a disk that hangs cannot keep the program from ending.
            self._thread = threading.Thread(target=self._work, name="captured outputs", daemon=True)
            self._thread.start()
        growing = _Growing(OutputFile(file_name(task), self._limit), self._limit)
        self._growing[task] = growing
        self._tell(task, growing)
        return growing

    def _tell(self, task: str, growing: _Growing) -> None:
        first = not self._waiting
        self._waiting[task] = growing
        if first:
            self._changed.notify_all()

    def _work(self) -> None:
        with contextlib.ExitStack() as stack:
            folder: int | None = None
            try:
                folder = self._open(stack)
            except OSError as error:
                self._report(reason(error))
            except StoreError as error:
                self._report(str(error))
            while batch := self._take():
                if folder is not None:
                    for growing, news, ended in batch:
                        self._write(folder, growing.capture, news, ended)

    def _open(self, stack: contextlib.ExitStack) -> int:
        folder = stack.enter_context(opened(self._home, (FOLDER, self._run), create=True))
        stack.enter_context(mark_patiently(folder))
        return folder

    def _take(self) -> list[tuple[_Growing, Tail, bool]]:
        """Wait for something to write and gather it for a beat; nothing means that it is over."""
        with self._changed:
            self._writing = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._changed.wait_for(lambda: self._hurried or self._closed, _BEAT)
            self._hurried = False
            self._writing = bool(self._waiting)
            batch = [(growing, growing.news, growing.ended) for growing in self._waiting.values()]
            for growing in self._waiting.values():
                growing.news = Tail(self._limit)
            self._waiting.clear()
            return batch

    def _write(self, folder: int, capture: OutputFile, news: Tail, ended: bool) -> None:
        try:
            capture.write(folder, news, ended=ended)
        except OSError as error:
            self._report(reason(error))

    def _report(self, why: str) -> None:
        if self._has_failed:
            return
        self._has_failed = True
        try:
            self._on_failure(f"Outputs cannot be kept in {self.folder}: {why}")
        except Exception:
            logger.exception("The report of a failure failed")


def read_output(home: Path, run: str, task: str) -> str | None:
    """Return what is on disk of the output of a task; nothing if there is none.

    Raises:
        StoreError: The name of the run is none, a link is in the way, or it cannot be read.
    """
    if not is_run_id(run):
        raise StoreError(f"not a run id: {run!r}")
    try:
        with opened(home, (FOLDER, run)) as folder:
            return read_at(folder, file_name(task), _LARGEST_READ).decode("utf-8", "replace")
    except UnreadableError as error:
        raise StoreError(f"the output of {task!r} {error}") from error
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"the output of {task!r} cannot be read: {reason(error)}") from error


class Capturing:
    """Reads the facts of one session; only facts about a task may be shown to it."""

    def __init__(self, board: Board, outputs: Outputs) -> None:
        self._board = board
        self._outputs = outputs
        self._names: dict[TaskId, str] = {}
        self._writers: dict[str, TaskId] = {}

    def see(self, fact: Fact) -> None:
        """Keep what a fact says."""
        task: TaskId = fact.task  # type: ignore[union-attr]
        if isinstance(fact, TextProduced):
            if (name := self._names.get(task)) is not None:
                self._outputs.append(name, fact.text)
        elif isinstance(fact, TaskStarted):
            self._outputs.begin(self._begin(task))
        elif (name := self._names.pop(task, None)) is not None:
            del self._writers[name]
            self._outputs.end(name)

    def _begin(self, task: TaskId) -> str:
        if task in self._names:  # it is tried again
            return self._names[task]
        plan = self._board.tasks[task].plan
        name = str(task) if plan.label is None else plan.scope + plan.label
        if name in self._writers:  # an earlier one of the same label, brought back
            name = str(task)
        self._names[task] = name
        self._writers[name] = task
        return name
