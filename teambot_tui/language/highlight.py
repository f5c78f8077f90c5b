"""Which characters of a text are syntax, told by the parser's own marks: colour and meaning cannot differ.

Any text has an answer, also one that does not parse: what the parser would refuse is simply not coloured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from teambot_tui.language.names import COMMANDS
from teambot_tui.language.nodes import Span
from teambot_tui.language.scanner import (
    FIRST_ESCAPE,
    LAST_AMPERSAND,
    LEADING_BLANKS,
    MARKS,
    MARKS_IN_COMMAND,
    MENTION,
    MODEL,
    Mark,
    unescape,
)

if TYPE_CHECKING:
    import re

Kind: TypeAlias = Literal["agent", "reference", "arrow", "background", "command", "fence", "escape", "option"]


@dataclass(frozen=True, slots=True)
class Highlight:
    """Characters that mean something to the language."""

    kind: Kind
    span: Span


def highlight(source: str, *, references: bool = True) -> tuple[Highlight, ...]:
    """Return what is syntax in a text, in order and without overlap."""
    return tuple(_Highlighter(source, references=references).walk())


class _Highlighter:
    """Goes from mark to mark as the parser does, and refuses nothing."""

    def __init__(self, source: str, *, references: bool) -> None:
        self.source = source
        self.references = references
        self.found: list[Highlight] = []
        self.in_command = False
        self.words = 0
        """Where the text behind the last mark that is no text begins."""
        self.begins_stage = True
        """Whether that text is the first of its stage."""

    def walk(self) -> list[Highlight]:
        blanks = LEADING_BLANKS.match(self.source)
        start = blanks.end() if blanks else 0
        text = "\n" * start + self.source[start:]
        self.words = position = start
        if escape := FIRST_ESCAPE.match(text, start):
            position = escape.end()
            self._add("escape", start, position)
        while mark := (MARKS_IN_COMMAND if self.in_command else MARKS).search(text, position):
            position = self._take(mark)
        self._end_statement(len(text))
        return self.found

    def _take(self, mark: re.Match[str]) -> int:
        start, end = mark.span()
        match mark.lastgroup:
            case Mark.REFERENCE if self.references:
                self._add("reference", start, end)
                self._begin_words(end, begins_stage=False)
            case Mark.FENCE if not self.in_command:
                self._add("fence", start, end)
                self._begin_words(end, begins_stage=False)
            case Mark.AGENTS:
                self._end_statement(start)
                return self._head(start, end)
            case Mark.ARROW:
                self._add("arrow", start, start + 2)
                return self._head(start + 2, end)
            case Mark.COMMAND:
                self._end_statement(start)
                self.in_command = True
                if mark[0][1:] in COMMANDS:
                    self._add("command", start, end)
            case Mark.ESCAPED | Mark.UNARROWED as kind:
                self._add("escape", start + len(mark[0].rstrip("\\")), end)
            case Mark.HALVED as kind if unescape(kind, mark[0]) != mark[0]:
                self._add("escape", start, end)
            case _:
                pass
        return end

    def _head(self, begin: int, end: int) -> int:
        for name in MENTION.finditer(self.source, begin, end):
            self._add("agent", name.start() - (self.source[name.start() - 1] == "@"), name.end())
        if (option := MODEL.match(self.source, end)) and option["model"] is not None:
            end = option.end()
            self._add("option", option.start("option"), end)
        self._begin_words(end, begins_stage=True)
        return end

    def _begin_words(self, position: int, *, begins_stage: bool) -> None:
        self.words = position
        self.begins_stage = begins_stage

    def _end_statement(self, end: int) -> None:
        if not self.in_command:
            self._ampersand(self.source[self.words : end])
        self.in_command = False
        self._begin_words(end, begins_stage=True)

    def _ampersand(self, words: str) -> None:
        word = LAST_AMPERSAND.search(words) if words.rstrip().endswith("&") else None
        if word is not None and (word.start() > 0 or self.begins_stage):
            end = self.words + word.end()
            self._add("escape" if word["slashes"] else "background", self.words + word.start(), end)

    def _add(self, kind: Kind, start: int, end: int) -> None:
        if start < end:
            self.found.append(Highlight(kind, Span(start, end)))
