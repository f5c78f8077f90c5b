"""YAML as values that know their place, and nothing that makes YAML dangerous.

A scalar is the text that was written, cleaned: `no`, `1.10` and `2026-01-01` stay what they are until a
schema asks for something else. Aliases, anchors, tags and whatever is too large or too deep are refused while
the events of the parser arrive, before any value is made of them; then duplicate keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from teambot_tui.engine.text import one_line, printable

if TYPE_CHECKING:
    from yaml.error import YAMLError

LARGEST: Final = 4 * 1024 * 1024
DEEPEST: Final = 20
MOST_NODES: Final = 50_000
"""So many are counted in well under a tenth of a second; a thousand tasks need about half of them."""
_WRITE_OUT: Final = "write it out where it is used"
_NOTHING: Final = frozenset(("", "~", "null", "Null", "NULL"))


class YamlError(Exception):
    """A text that is not the YAML we read. Line and column are counted from 1; line 0 is the whole text."""

    def __init__(self, line: int, column: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class Scalar:
    """A scalar. Without quotes it is plain, and may mean nothing at all."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def is_nothing(self) -> bool:
        """Whether there is no value: `key:`, `key: ~` or `key: null`."""
        return self.plain and self.text in _NOTHING


@dataclass(slots=True)
class Items:
    """A sequence."""

    items: list[Node]
    line: int
    column: int


@dataclass(slots=True)
class Table:
    """A mapping, in the order in which it is written."""

    entries: list[tuple[Scalar, Node]]
    line: int
    column: int


Node: TypeAlias = Scalar | Items | Table
_Child = TypeVar("_Child", Scalar, Items, Table)
Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"


def plain_value(node: Node) -> Value:
    """Return a node as lists, dictionaries and texts."""
    match node:
        case Scalar():
            return None if node.is_nothing else node.text
        case Items(items):
            return [plain_value(item) for item in items]
        case Table(entries):
            return {key.text: plain_value(value) for key, value in entries}


def read_yaml(text: str) -> Node:
    """Return the one document of a text.

    Raises:
        YamlError: It is not YAML, or uses what is not allowed.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise _not_yaml_at(text, error.start, "a character that is none") from error
    if size > LARGEST:
        raise YamlError(0, 0, f"is larger than {LARGEST // 1024**2} MiB")
    import yaml  # noqa: PLC0415

    try:
        _refuse_what_is_dangerous(text)
        return _built(text)
    except yaml.YAMLError as error:
        raise _not_yaml(error, text) from error


def _loader(text: str) -> Any:  # noqa: ANN401  one of two classes that only look alike
    """Return the fast parser, if there is one. Only its events are taken, so it never constructs anything."""
    import yaml  # noqa: PLC0415  only who reads YAML pays for it

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)


def _refuse_what_is_dangerous(text: str) -> None:
    import yaml  # noqa: PLC0415

    get_event = _loader(text).get_event
    scalar, start, end = yaml.ScalarEvent, yaml.CollectionStartEvent, yaml.CollectionEndEvent
    nodes = depth = documents = 0
    while True:
        event = get_event()
        if isinstance(event, scalar | start):
            nodes += 1
            if event.anchor is not None or event.tag is not None or nodes > MOST_NODES:
                raise _refused(event)
            if isinstance(event, start):
                depth += 1
                if depth > DEEPEST:
                    raise _at(event, f"nested more than {DEEPEST} deep")
        elif isinstance(event, end):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            raise _at(event, f"an alias is not allowed: *{one_line(str(event.anchor), 40)}", _WRITE_OUT)
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _at(event, "a second document begins here", "only one is allowed in a file")
        elif isinstance(event, yaml.StreamEndEvent):
            return


def _refused(event: Any) -> YamlError:  # noqa: ANN401  PyYAML's types do not tell
    if event.anchor is not None:
        return _at(event, f"an anchor is not allowed: &{one_line(event.anchor, 40)}", _WRITE_OUT)
    if event.tag is not None:
        return _at(event, f"a tag is not allowed: {one_line(event.tag, 40)}", "leave it out")
    return _at(event, f"more than {MOST_NODES:,} values")


def _built(text: str) -> Node:
    import yaml  # noqa: PLC0415

    get_event = _loader(text).get_event
    top = Items([], 1, 1)
    frames = [_Open(top)]
    while not isinstance(event := get_event(), yaml.StreamEndEvent):
        mark = event.start_mark
        match event:
            case yaml.ScalarEvent():
                frames[-1].add(
                    Scalar(printable(event.value), not event.style, mark.line + 1, mark.column + 1)
                )
            case yaml.SequenceStartEvent():
                frames.append(_Open(frames[-1].add(Items([], mark.line + 1, mark.column + 1))))
            case yaml.MappingStartEvent():
                frames.append(_Open(frames[-1].add(Table([], mark.line + 1, mark.column + 1))))
            case yaml.CollectionEndEvent():
                frames.pop()
    return top.items[0] if top.items else Scalar("", True, 1, 1)


class _Open:
    """A collection that is being filled; of a mapping, also the key that waits for its value."""

    __slots__ = ("_key", "_lines", "_node")

    def __init__(self, node: Items | Table) -> None:
        self._node = node
        self._key: Scalar | None = None
        self._lines: dict[str, int] = {}

    def add(self, child: _Child) -> _Child:
        """Put the next node where it belongs, and return it."""
        if isinstance(self._node, Items):
            self._node.items.append(child)
        elif self._key is None:
            self._key = self._checked(child)
        else:
            self._node.entries.append((self._key, child))
            self._key = None
        return child

    def _checked(self, key: Node) -> Scalar:
        if not isinstance(key, Scalar):
            raise YamlError(key.line, key.column, "a key must be a text", "such as: name: value")
        if (first := self._lines.get(key.text)) is not None:
            name = one_line(key.text, 40)
            raise YamlError(key.line, key.column, f"{name} is given twice", f"first in line {first}")
        self._lines[key.text] = key.line
        return key


def _at(event: Any, message: str, hint: str = "") -> YamlError:  # noqa: ANN401
    return YamlError(event.start_mark.line + 1, event.start_mark.column + 1, message, hint)


def _not_yaml(error: YAMLError, text: str) -> YamlError:
    """Say in our own form what the parser found wrong."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    position = getattr(error, "position", None)
    if mark is None and isinstance(position, int):
        return _not_yaml_at(text, position, "a control character")
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    hint = "indent with blanks, not with tabs" if "cannot start any token" in problem else ""
    return YamlError(line, column, f"not valid YAML: {one_line(problem, 200)}", hint)


def _not_yaml_at(text: str, position: int, what: str) -> YamlError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return YamlError(line, column, f"not valid YAML: {what} is not allowed")
