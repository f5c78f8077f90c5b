"""Streams of JSON lines, and what all of them have in common: foreign shapes are asked, never trusted.

A line that is no JSON object, or of a type nobody knows, is passed over. What the program says went wrong is
kept in `error`, because it may go on and succeed after all.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.engine.ports import Text, ToolCall, ToolState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.engine.ports import Update

LONGEST_LINE: Final = 16 * 1024 * 1024
_LONGEST_DETAIL: Final = 4000
_MOST_TOKENS: Final = 10**15
_KEPT_LINES: Final = 5
_LONGEST_KEPT: Final = 300
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "read": ("read", "readfile", "readmanyfiles", "view", "ls", "list", "listdirectory", "notebookread"),
    "search": ("grep", "grepsearch", "glob", "search", "searchfilecontent", "codesearch", "toolsearch", "rg"),
    "edit": (
        *("edit", "multiedit", "write", "writefile", "replace", "create", "patch", "applypatch"),
        *("strreplaceeditor", "notebookedit"),
    ),
    "execute": ("bash", "shell", "powershell", "runshellcommand", "exec", "execcommand", "shellcommand"),
    "fetch": ("webfetch", "fetch", "websearch", "googlewebsearch"),
    "think": ("task", "agent", "todowrite", "todoread", "writetodos", "skill", "reportintent"),
}
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names}
_TELLING: Final = (
    *("command", "cmd", "file_path", "filePath", "absolute_path", "path", "dir_path"),
    *("pattern", "url", "query", "description", "prompt"),
)
"""Arguments that say what a tool does, the most telling first."""


class Lines:
    """Cuts a stream of bytes into lines; one that is longer than the limit is left out as a whole."""

    def __init__(self, limit: int = LONGEST_LINE) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete now."""
        *ended, rest = data.split(b"\n")
        lines: list[str] = []
        for piece in ended:
            self._keep(piece)
            lines += self.finish()
        self._keep(rest)
        return lines

    def finish(self) -> list[str]:
        """Return what came after the last newline, if it is a line."""
        line = b"".join(self._pieces) if self._length <= self._limit else b""
        self._pieces.clear()
        self._length = 0
        return [line.decode("utf-8", "replace")] if line.strip() else []

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._limit:
            self._pieces.clear()
        else:
            self._pieces.append(piece)


class Paragraphs:
    """Parts the messages of one answer by a blank line, which agents do not send."""

    def __init__(self) -> None:
        self.has_begun = False
        """Whether anything was said."""
        self.is_new = True
        """Whether what is said next begins a paragraph."""
        self._newlines = 0

    def pause(self) -> None:
        """Let what is said next begin a paragraph."""
        self.is_new = True

    def say(self, text: str) -> str:
        """Return a piece of the answer with what must stand before it."""
        if not text:
            return ""
        if self.is_new and self.has_begun:
            leading = len(text) - len(text.lstrip("\n"))
            text = "\n" * max(0, 2 - self._newlines - leading) + text
        self.is_new, self.has_begun = False, True
        self._newlines = len(text) - len(text.rstrip("\n"))
        return text


def table(value: object, *path: str) -> dict[str, Any]:
    """Return the object at this path, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, dict) else {}


def tables(value: object, *path: str) -> list[dict[str, Any]]:
    """Return the objects of the list at this path."""
    found = at(value, *path)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def words(value: object, *path: str) -> str:
    """Return the text at this path, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def tokens(value: object, *path: str) -> int:
    """Return the count at this path, or 0."""
    return int(min(amount(value, *path) or 0, _MOST_TOKENS))


def amount(value: object, *path: str) -> float | None:
    """Return the number at this path if it is one that can be added up."""
    found = at(value, *path)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    # Compared before it is converted: an integer may be too large for a float.
    return float(found) if 0 <= found <= _MOST_TOKENS and isfinite(found) else None


def at(value: object, *path: str) -> object:
    """Return what is at this path, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def parse(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, or an empty one."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError too
        return {}
    return value if isinstance(value, dict) else {}


def complaint(message: str) -> str:
    """Return what an error says: services often answer with one wrapped in JSON."""
    answer = parse(message)
    return words(answer, "error", "message") or words(answer, "message") or message


class Stream(ABC):
    """Understands what one program prints while it works on one task."""

    def __init__(self) -> None:
        self.understood = False
        """Whether the program has said anything that was understood."""
        self.error = ""
        """What went wrong by the program's own words, as far as it has got."""
        self.other_lines: deque[str] = deque(maxlen=_KEPT_LINES)
        """The last lines that are no events: a banner, or why there is nothing else."""
        self._open: dict[str, ToolCall] = {}
        self._paragraphs = Paragraphs()

    def feed(self, line: str) -> list[Update]:
        """Return what a line reports."""
        event = parse(line)
        kind = words(event, "type")
        if not kind:
            self.other_lines.append(line[:_LONGEST_KEPT])
            return []
        updates = self._see(kind, event)
        self.understood |= updates is not None
        return updates or []

    def finish(self) -> list[Update]:
        """Return what is left to report when the program is gone: tools it never spoke of again."""
        return [update for call in list(self._open) for update in self._tool_ended(call, done=False)]

    @abstractmethod
    def _see(self, kind: str, event: dict[str, Any]) -> list[Update] | None:
        """Return what an event reports, or None if it is not known."""

    def _say(self, text: str) -> list[Update]:
        return [Text(self._paragraphs.say(text))] if text else []

    def _pause(self) -> list[Update]:
        self._paragraphs.pause()
        return []

    def _tool_began(self, call: str, name: str, arguments: object = None) -> list[Update]:
        return self._tool(call, name, kind_of(name), detail_of(arguments))

    def _tool(self, call: str, title: str, kind: str, detail: str) -> list[Update]:
        """Report a tool call, or more about one that is known."""
        self._pause()
        known = self._open.get(call)
        update = ToolCall(
            call,
            title or (known.title if known else "tool"),
            kind,
            ToolState.RUNNING,
            detail or (known.detail if known else ""),
        )
        self._open[call] = update
        return [] if update == known else [update]

    def _tool_ended(self, call: str, *, done: bool) -> list[Update]:
        self._pause()
        known = self._open.pop(call, None)
        state = ToolState.DONE if done else ToolState.FAILED
        if known is None:
            return [ToolCall(call, "tool", "other", state)]
        return [ToolCall(call, known.title, known.kind, state, known.detail)]


def kind_of(tool: str) -> str:
    """Say what sort of thing a tool of this name does."""
    return _KIND_OF.get(tool.lower().replace("_", "").replace("-", ""), "other")


def detail_of(arguments: object) -> str:
    """Return the command, the path or whatever else says best what a tool is called with."""
    if not isinstance(arguments, dict) or not arguments:
        return arguments[:_LONGEST_DETAIL] if isinstance(arguments, str) else ""
    telling = next((found for key in _TELLING if (found := words(arguments, key))), "")
    try:
        return (telling or json.dumps(arguments, ensure_ascii=False))[:_LONGEST_DETAIL]
    except RecursionError:
        return ""
