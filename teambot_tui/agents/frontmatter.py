"""The few lines of YAML at the top of a persona file: what people write there is understood, nothing more.

Values are looked at only when somebody asks for them, so a key of another program may hold whatever it likes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FENCE = "---"
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*+):(?:\s+(.*))?$")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*+)"|'((?:[^']|'')*+)')\s*+(?:#.*)?""")
_ESCAPE = re.compile(r"\\(.)")
_BLOCK = re.compile(r"[|>][-+]?")
_ITEM = re.compile(r"(?:[^,(]++|\([^)]*+\)?)++")


class FrontMatterError(Exception):
    """A line that cannot be understood."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class MetadataEntry:
    """A key's value as written: what stands behind the colon, and the lines that continue it."""

    line: int
    first: str
    more: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the value as one line of text."""
        first = "" if _BLOCK.fullmatch(self.first) else self.first
        return self._plain(" ".join([first, *self.more]).strip())

    def items(self) -> tuple[str, ...]:
        """Return the value as a list: `a, b`, `[a, b]` or lines of `- a`."""
        if self.more and not self.first:
            if not all(line.startswith("-") for line in self.more):
                raise FrontMatterError(self.line, "expected a list: `a, b`, or a line `- a` for each")
            return self._filled(line[1:] for line in self.more)
        value = " ".join([self.first, *self.more])
        if value.startswith("["):
            inside, closed, _ = value[1:].rpartition("]")
            if not closed:
                raise FrontMatterError(self.line, "the list is not closed: expected `]`")
            return self._filled(_ITEM.findall(inside))
        return self._filled(_ITEM.findall(self._plain(value)))

    def _filled(self, items: Iterable[str]) -> tuple[str, ...]:
        plain = (self._plain(item.strip()) for item in items)
        return tuple(item for item in plain if item)

    def _plain(self, value: str) -> str:
        if value[:1] not in ("'", '"'):
            return "" if value.startswith("#") else value.partition(" #")[0].strip()
        quoted = _QUOTED.fullmatch(value)
        if quoted is None:
            raise FrontMatterError(self.line, "the quotation mark is not closed, or text follows it")
        if quoted[1] is None:
            return quoted[2].replace("''", "'")
        return _ESCAPE.sub(lambda found: " " if found[1] in "nrt" else found[1], quoted[1])


def split(text: str) -> tuple[Mapping[str, MetadataEntry], str]:
    """Return the entries of the front matter and the text after it.

    Raises:
        FrontMatterError: There is none, it is not closed, or a line is not `key: value`.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise FrontMatterError(1, "expected front matter: a line `---`, then `name: …`, then a line `---`")
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            return _entries(lines[1:number]), "\n".join(lines[number + 1 :])
    raise FrontMatterError(1, "the front matter is not closed: expected a second line `---`")


def _entries(lines: list[str]) -> Mapping[str, MetadataEntry]:
    entries: dict[str, MetadataEntry] = {}
    entry: MetadataEntry | None = None
    for number, line in enumerate(lines, start=2):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        if line[0] in " \t-":
            if entry is None:
                raise FrontMatterError(number, "expected `key: value` before an indented line")
            entry.more.append(content)
            continue
        found = _KEY.fullmatch(line)
        if found is None:
            raise FrontMatterError(number, "expected `key: value`")
        if found[1] in entries:
            raise FrontMatterError(number, f"`{found[1]}` is given twice")
        entry = MetadataEntry(number, (found[2] or "").strip())
        entries[found[1]] = entry
    return entries
