"""What was typed, kept across sessions: one JSON object per line, only ever appended to.

A disk that cannot be read or written costs the past, never the session: nothing here raises.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

KEPT: Final = 1_000
LONGEST: Final = 64 * 1024
"""A longer text is remembered until the session ends, and not written."""
_COMPACT_ABOVE: Final = 4 * KEPT
_MOST_BYTES: Final = 16 * 1024 * 1024

logger = logging.getLogger(__name__)


def history_path(environ: Mapping[str, str]) -> Path | None:
    """Return the user's history file, whether or not it exists; nothing if there is no home."""
    configured = Path(environ.get("XDG_STATE_HOME", ""))
    if not configured.is_absolute():  # a relative one is to be ignored, says the XDG specification
        home = environ.get("HOME", "")
        if not home:
            return None
        configured = Path(home) / ".local" / "state"
    return configured / "teambot" / "history.jsonl"


class History:
    """Texts in the order they were submitted. Without a path nothing outlives the session."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.entries: list[str] = []
        self.skipped = 0
        """How many lines of the file could not be understood."""
        self.problem = ""
        """Why the last attempt to read or write failed, if it did."""
        self._unwritten: list[str] = []
        self._writing = threading.Lock()

    def add(self, text: str, *, keep: bool = True) -> None:
        """Remember a text, once if it was the last one; `keep` decides about later sessions."""
        if not text.strip() or (self.entries and self.entries[-1] == text):
            return
        self.entries.append(text)
        del self.entries[:-KEPT]
        if keep and self.path is not None and len(text) <= LONGEST:
            self._unwritten.append(text)

    def search(self, words: str, before: int | None = None) -> int | None:
        """Return the newest entry before an index that contains the words; capitals are minded if typed."""
        exact = words != words.lower()
        for index in range(len(self.entries) if before is None else before, 0, -1):
            entry = self.entries[index - 1]
            if words in (entry if exact else entry.lower()):
                return index - 1
        return None

    def load(self) -> None:
        """Read the file; what was added meanwhile stays the newest. Blocks: call it in a thread."""
        if self.path is None:
            return
        try:
            with self._writing, self._open(os.O_RDONLY) as file:
                lines = _last_lines(file)
        except FileNotFoundError:
            return
        except OSError as error:
            self._fail("read", error)
            return
        texts, self.skipped = _decode(lines)
        self.entries[:0] = texts[-KEPT:]
        del self.entries[:-KEPT]
        if len(lines) > _COMPACT_ABOVE:
            self._compact(texts[-KEPT:])

    def flush(self) -> None:
        """Write what is not written yet. Blocks: call it in a thread."""
        if self.path is None:
            return
        with self._writing:
            texts, self._unwritten = self._unwritten, []
            if not texts:
                return
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with self._open(os.O_RDWR | os.O_APPEND | os.O_CREAT) as file:
                    torn = _ends_in_mid_line(file)
                    os.write(file, (b"\n" if torn else b"") + _encode(texts))
            except OSError as error:
                self._fail("write", error)

    @contextlib.contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        """Open and lock the file; not one that another session has just replaced."""
        assert self.path is not None
        while True:
            file = os.open(self.path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(file), self.path.stat()):
                    yield file
                    return
            finally:
                os.close(file)

    def _compact(self, texts: list[str]) -> None:
        assert self.path is not None
        temporary = ""
        try:
            with self._writing, self._open(os.O_RDWR):
                number, temporary = tempfile.mkstemp(prefix=".history-", dir=self.path.parent)
                with os.fdopen(number, "wb") as file:
                    file.write(_encode(texts))
                Path(temporary).replace(self.path)
        except OSError as error:
            self._fail("shorten", error)
            with contextlib.suppress(OSError):
                if temporary:
                    Path(temporary).unlink()

    def _fail(self, what: str, error: OSError) -> None:
        self.problem = f"Could not {what} the history: {error.strerror or error}"
        logger.warning("%s (%s)", self.problem, self.path)


def _last_lines(file: int) -> list[bytes]:
    size = os.fstat(file).st_size
    begin = max(0, size - _MOST_BYTES)
    pieces = []
    position = begin
    while piece := os.pread(file, 1 << 20, position):
        pieces.append(piece)
        position += len(piece)
        if position - begin >= 2 * _MOST_BYTES:
            break
    lines = b"".join(pieces).split(b"\n")
    return [line for line in (lines[1:] if begin else lines) if line.strip()]


def _decode(lines: Iterable[bytes]) -> tuple[list[str], int]:
    texts: list[str] = []
    bad = 0
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            bad += 1
            continue
        text = record.get("text") if isinstance(record, dict) else None
        if not isinstance(text, str):
            bad += 1
        elif (clean := printable(text)).strip() and texts[-1:] != [clean]:
            texts.append(clean)
    return texts, bad


def _encode(texts: Iterable[str]) -> bytes:
    # Escaped to ASCII, so that a torn write can never leave half a character.
    return b"".join(json.dumps({"text": text}).encode("ascii") + b"\n" for text in texts)


def _ends_in_mid_line(file: int) -> bool:
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"


class Recall:
    """Where the person is in the past. Each step returns the text to show, or nothing if there is none."""

    def __init__(self, past: History) -> None:
        self.past = past
        self.words: str | None = None
        """What is searched for, while searching."""
        self._found: int | None = None
        self._back = 0
        """How many entries back; 0 is the draft. Counted from the end, as the past may still be loading."""
        self._kept: dict[int, str] = {}

    @property
    def is_searching(self) -> bool:
        """Whether what is typed is searched for."""
        return self.words is not None

    @property
    def missed(self) -> bool:
        """Whether the search finds nothing."""
        return bool(self.words) and self._found is None

    def step(self, text: str, by: int) -> str | None:
        """Go so many entries back, or forward if negative, from a text that may have been changed."""
        back = self._back + by
        if not 0 <= back <= len(self.past.entries):
            return None
        self._kept[self._back] = text
        self._back = back
        return self._kept.get(back, self.past.entries[-back] if back else "")

    def restart(self) -> None:
        """Be at the draft again, with nothing kept."""
        self._back = 0
        self._kept.clear()

    def begin_search(self, text: str) -> None:
        """Keep the text at hand and search from now on."""
        self._kept[self._back] = text
        self.words, self._found = "", None

    def look_for(self, words: str) -> str | None:
        """Search the newest entry with these words."""
        self.words = words
        self._found = self.past.search(words) if words else None
        return self._entry()

    def look_older(self) -> str | None:
        """Search on, towards the past; with nothing older, stay."""
        older = self.past.search(self.words or "", self._found)
        self._found = self._found if older is None else older
        return self._entry()

    def look_newer(self) -> str | None:
        """Search back, towards the present; with nothing newer, stay."""
        if self._found is not None:
            newer = range(self._found + 1, len(self.past.entries))
            words = self.words or ""
            self._found = next(
                (each for each in newer if self.past.search(words, each + 1) == each), self._found
            )
        return self._entry()

    def end_search(self) -> str:
        """Stop searching; return the text that was there before."""
        self.words = self._found = None
        return self._kept.get(self._back, "")

    def _entry(self) -> str | None:
        return None if self._found is None else self.past.entries[self._found]
