"""Fields of a file are checked one by one, and of all that is wrong the first by place is told.

A check that fails notes the problem and returns nothing or a default, so that the checks after it go on. What
is costly to say, such as which name may be meant, is made up only for the problem that is told.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from teambot_tui.agents.checks import unknown
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import RESERVED, is_agent_id
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.yaml_reader import Items, Node, Scalar, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

Message: TypeAlias = "str | Callable[[], str]"
Field: TypeAlias = tuple[Scalar, Node]

LONGEST_NAME: Final = 64
LONGEST_LINE: Final = 200
_MOST_DIGITS: Final = 9
_TASK_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*+")
_LENGTH_RULE: Final = f"a letter first, at most {LONGEST_NAME} characters, and not {' or '.join(RESERVED)}"
_TASK_RULE: Final = f"letters, digits, - and _, {_LENGTH_RULE}"
_AGENT_RULE: Final = f"lowercase letters and digits in groups joined by hyphens, {_LENGTH_RULE}"


def short(name: str) -> str:
    """Return a name as it can be shown, whatever is in it."""
    return one_line(name, 40)


def is_task_name(name: str) -> bool:
    """Whether a task or a pipeline can have this name."""
    return _may_be_called(name) and _TASK_NAME.fullmatch(name) is not None


def _is_agent_name(name: str) -> bool:
    return _may_be_called(name) and is_agent_id(name)


def _may_be_called(name: str) -> bool:
    return len(name) <= LONGEST_NAME and name not in RESERVED


class Problems:
    """Remembers the problem that comes first in the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: tuple[int, int, Message, str] | None = None
        self._misspelt: set[int] = set()
        """The tables with a key that is not known."""

    def note(self, node: Node, message: Message, hint: str = "") -> None:
        """Note that something is wrong with what stands at this place."""
        if self._first is None or (node.line, node.column) < self._first[:2]:
            self._first = (node.line, node.column, message, hint)

    def note_missing(self, table: Node, place: Node, message: str, hint: str) -> None:
        """Note that a table lacks something, unless a key in it may be that, misspelt."""
        if id(table) not in self._misspelt:
            self.note(place, message, hint)

    def raise_first(self) -> None:
        """Raise the first problem, if there is any.

        Raises:
            ComposeError: There is.
        """
        if self._first is not None:
            line, column, message, hint = self._first
            raise ComposeError(
                self._path, line, column, message if isinstance(message, str) else message(), hint
            )

    def fields(self, node: Node, what: str, known: Collection[str]) -> Mapping[str, Field]:
        """Return the entries of a table by key; a key that is not known is a problem."""
        entries = self.entries(node, what)
        for key, _ in entries:
            if key.text not in known:
                self.note(key, partial(unknown, "key", key.text, known))
                self._misspelt.add(id(node))
        return {key.text: (key, value) for key, value in entries if key.text in known}

    def entries(self, node: Node, what: str) -> list[Field]:
        """Return the entries of a table; nothing at all counts as an empty one."""
        if isinstance(node, Table):
            return node.entries
        if not (isinstance(node, Scalar) and node.is_nothing):
            self.note(node, f"{what} must be a table", "such as: {key: value}")
        return []

    def items(self, node: Node, what: str) -> list[Node]:
        """Return the items of a list."""
        if isinstance(node, Items):
            return node.items
        self.note(node, f"{what} must be a list", "such as: [planner, coder]")
        return []

    def text(self, found: Field | None) -> str | None:
        """Return the text of a field."""
        if found is None:
            return None
        key, node = found
        if not isinstance(node, Scalar) or node.is_nothing or not node.text.strip():
            self.note(node, f"{short(key.text)} must be a text that is not empty")
            return None
        return node.text

    def line(self, found: Field | None) -> str | None:
        """Return the text of a field that has room for one short line."""
        text = self.text(found)
        if found is None or text is None:
            return None
        line = one_line(text, LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            self.note(found[1], f"{found[0].text} must have at most {LONGEST_LINE} characters")
        return line

    def integer(self, found: Field | None, default: int, at_least: int, at_most: int) -> int:
        """Return the whole number of a field."""
        if found is None:
            return default
        key, node = found
        digits = node.text if isinstance(node, Scalar) else ""
        if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS:
            number = int(digits)
            if at_least <= number <= at_most:
                return number
        self.note(node, f"{key.text} must be a whole number from {at_least} to {at_most}")
        return default

    def task_name(self, node: Scalar, what: str) -> None:
        """Check the name of a task or a pipeline."""
        if not is_task_name(node.text):
            self.note(node, f"{short(node.text) or 'this'} is no name for {what}", _TASK_RULE)

    def agent_name(self, node: Node) -> str | None:
        """Return the name of an agent."""
        if isinstance(node, Scalar) and _is_agent_name(node.text):
            return node.text
        shown = short(node.text) if isinstance(node, Scalar) else ""
        self.note(node, f"{shown or 'this'} is no name for an agent", _AGENT_RULE)
        return None

    def known(self, node: Node, what: str, names: Collection[str]) -> str | None:
        """Return one of the names that are known."""
        if not isinstance(node, Scalar):
            self.note(node, f"expected the name of a {what}")
            return None
        if node.text in names:
            return node.text
        self.note(node, partial(unknown, what, node.text, names))
        return None

    def different(self, nodes: Iterable[tuple[str, Node]]) -> None:
        """Note a name that is given a second time."""
        seen: set[str] = set()
        for name, node in nodes:
            if name in seen:
                self.note(node, f"{short(name)} is given twice")
            seen.add(name)
