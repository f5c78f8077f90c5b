"""What a tool call would do, all of it: every argument, every place, every change, each told from the others.

A value of several lines is indented from its second line on, and changes come last, so that no text can pass
for an argument or a change that is not there.
"""

from __future__ import annotations

import json
import re
import shlex
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.engine.files import UnreadableError, read_whole
from teambot_tui.engine.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CONTEXT: Final = 3  # lines around a change
_WHOLE: Final = "\0whole"  # no name that an agent's JSON would have
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE: Final = "\n\\ no newline at the end"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ACTING: Final = frozenset(
    {
        *("args", "argv", "bash", "cmd", "cmds", "code", "command", "commands", "exec", "execute", "input"),
        *("program", "script", "shell", "stdin"),
        *(
            "body",
            "change",
            "changes",
            "content",
            "contents",
            "data",
            "diff",
            "edit",
            "edits",
            "new",
            "patch",
        ),
        *("replace", "replacement", "text", "write"),
    }
)
"""Words in the names of arguments that a tool which only reads has no use for."""


def described(fields: Mapping[str, Any]) -> str:
    """Say what a tool call does: its command first, then its other arguments, its places and its changes."""
    return "\n".join([*_arguments(fields), *_places(fields), *_changes(fields)])


def with_true_changes(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool call whose changes leave out, as unchanged, only what the file really holds.

    What a change replaces is the agent's word. Where the file does not have those words, both sides are shown
    whole.
    """
    content = [
        item if item.get("type") != "diff" or _is_in_file(item) else {**item, _WHOLE: True}
        for item in _items(fields.get("content"))
    ]
    return {**fields, "content": content} if content else fields


def _is_in_file(change: Mapping[str, Any]) -> bool:
    path, old = change.get("path"), change.get("oldText")
    if not isinstance(path, str) or not isinstance(old, str):
        return True  # it says nothing of what is there
    try:
        return old.encode() in read_whole(Path(path))
    except (FileNotFoundError, UnreadableError, UnicodeEncodeError):
        return False


def requested(identity: str, fields: Mapping[str, Any], consequence: str = "") -> str:
    """Say all that permission is asked for, also what the agent says of it and what else allowing it means.

    An agent that tells nothing is granted this one call, by its identity, never "the same" again.
    """
    words = (entry("text", text) for text in _texts(fields.get("content")))
    told = [*_arguments(fields), *_places(fields), *words]
    changes = list(_changes(fields))
    if not (told or changes):
        told = [visible(identity, layout=False)]
    means = [entry("allowing it means", consequence)] if consequence else []
    return "\n".join([*told, *means, *changes])


def acts(fields: Mapping[str, Any]) -> bool:
    """Whether a tool call carries a command, a change or anything else that is not for reading."""
    given = fields.get("rawInput")
    carried = (item.get("type") for item in _items(fields.get("content")))
    return (
        any(kind != "content" for kind in carried)
        or (bool(given) and not isinstance(given, dict))
        or any(_ACTING & {word.lower() for word in _WORD.findall(name)} for name in _names(given))
    )


def exact(fields: Mapping[str, Any]) -> str:
    """Tell a tool call from every other that differs in anything."""
    return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def entry(name: str, value: object, mark: str = ": ") -> str:
    """Show a value by its name, however many lines it has."""
    return f"{visible(name, layout=False)}{mark}{_indented(_as_text(value))}"


def diff(path: str, old: str | None, new: str, *, whole: bool = False) -> str:
    """Show exactly what changes in a text, in time that grows only with its length, or both sides `whole`."""
    before, after = _lines(old), _lines(new)
    head, tail = (0, 0) if whole else _unchanged(before, after)
    name = visible(path, layout=False)
    lines = [
        f"--- {name if old is not None else '/dev/null'}",
        f"+++ {name}",
        f"@@ -{head + 1} +{head + 1} @@",
        *(f" {_shown(line)}" for line in before[max(0, head - _CONTEXT) : head]),
        *(f"-{_shown(line)}" for line in before[head : len(before) - tail]),
        *(f"+{_shown(line)}" for line in after[head : len(after) - tail]),
        *(f" {_shown(line)}" for line in before[len(before) - tail :][:_CONTEXT]),
    ]
    return "\n".join(lines)


def _shown(line: str) -> str:
    return line[:-1] if line.endswith("\n") else line + _NO_NEWLINE


def _lines(text: str | None) -> list[str]:
    return _LINE.findall(text or "")


def _unchanged(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning and at the end."""
    head = _common(before, after)
    return head, _common(before[head:][::-1], after[head:][::-1])


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _arguments(fields: Mapping[str, Any]) -> Iterator[str]:
    given = fields.get("rawInput")
    if not isinstance(given, dict):
        if given:
            yield _indented(_as_text(given))
        return
    others = dict(given)
    match others.get("command"):
        case str(command):
            yield _indented(command)
            del others["command"]
        case list(words) if words and all(isinstance(word, str) for word in words):
            yield _indented(shlex.join(words))
            del others["command"]
    sides = {
        side
        for _, old, new, whole in _diffs(fields.get("content"))
        if whole or _is_shown_whole(old, new)
        for side in (old, new)
    }
    for name, value in others.items():
        is_repeated = isinstance(value, str) and "\n" in value and value in sides
        yield entry(name, "(in the change below)" if is_repeated else value)


def _places(fields: Mapping[str, Any]) -> Iterator[str]:
    given = fields.get("rawInput")
    known = set(map(str, given.values())) if isinstance(given, dict) else set()
    known.update(path for path, *_ in _diffs(fields.get("content")))
    for place in _items(fields.get("locations")):
        match place:
            case {"path": str(path), "line": int(line)}:
                yield entry("at", visible(f"{path}:{line}", layout=False))
            case {"path": str(path)} if path not in known:
                yield entry("at", visible(path, layout=False))


def _changes(fields: Mapping[str, Any]) -> Iterator[str]:
    for path, old, new, whole in _diffs(fields.get("content")):
        yield diff(path, old, new, whole=whole)


def _is_shown_whole(old: str | None, new: str) -> bool:
    """Whether the change shows every line of both sides."""
    return max(_unchanged(_lines(old), _lines(new))) <= _CONTEXT


def _diffs(content: object) -> Iterator[tuple[str, str | None, str, bool]]:
    for item in _items(content):
        match item:
            case {"type": "diff", "path": str(path), "newText": str(new)}:
                old = item.get("oldText")
                yield path, old if isinstance(old, str) else None, new, bool(item.get(_WHOLE))


def _texts(content: object) -> Iterator[str]:
    for item in _items(content):
        match item:
            case {"type": "content", "content": {"type": "text", "text": str(text)}}:
                yield text
            case {"type": "diff"}:
                pass
            case _:
                yield _as_text(item)


def _items(given: object) -> Iterator[Mapping[str, Any]]:
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict):
            yield item


def _names(given: object) -> Iterator[str]:
    """The names of all arguments, those inside of others too."""
    if isinstance(given, dict):
        yield from given
    for inner in given.values() if isinstance(given, dict) else given if isinstance(given, list) else ():
        yield from _names(inner)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
