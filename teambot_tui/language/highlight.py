"""Which characters of a text are syntax, told by the parser's own marks: colour and meaning cannot differ.

Any text has an answer, also one that does not parse: what the parser would refuse is simply not coloured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from teambot_tui.language.names import COMMANDS, FIELDS, is_variable
from teambot_tui.language.nodes import Span
from teambot_tui.language.scanner import (
    CAPTURE,
    FIELD,
    FIRST_ESCAPE,
    LAST_AMPERSAND,
    LEADING_BLANKS,
    MARKS,
    MARKS_IN_COMMAND,
    MARKS_IN_STRING,
    MENTION,
    MODEL,
    OPENING,
    STRING,
    Mark,
    unescape,
)

if TYPE_CHECKING:
    import re

Kind: TypeAlias = Literal[
    "agent",
    "reference",
    "variable",
    "directive",
    "arrow",
    "background",
    "command",
    "definition",
    "field",
    "string",
    "fence",
    "escape",
    "option",
]


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
            case Mark.REFERENCE | Mark.VARIABLE | Mark.DIRECTIVE | Mark.FENCE as kind:
                if not self.in_command and self._add_part(kind, start, end):
                    self._begin_words(end, begins_stage=False)
            case Mark.AGENTS:
                self._end_statement(start)
                return self._head(start, end)
            case Mark.ARROW:
                self._add("arrow", start, start + 2)
                return self._head(start + 2, end)
            case Mark.CALL:
                self._end_statement(start)
                return self._call(start, end)
            case Mark.NEXT_CALL:
                self._add("arrow", start, start + 2)
                return self._call(end - len(mark[0][2:].lstrip()), end)
            case Mark.DEFINITION:
                self._end_statement(start)
                return self._definition(start, end)
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

    def _call(self, begin: int, end: int) -> int:
        self._add("agent", begin, end - 2)
        string = STRING.match(self.source, end)
        closing = string.end() if string else end
        position = end - 1
        for mark in MARKS_IN_STRING.finditer(self.source, end, closing):
            self._add("string", position, mark.start())
            position = mark.start()
            if self._add_part(mark.lastgroup, *mark.span()):
                position = mark.end()
            elif mark.lastgroup in (Mark.CHARACTERS, Mark.HALVED):
                self._add("escape", *mark.span())
                position = mark.end()
        end = min(closing + 1, len(self.source))
        self._add("string", position, end)
        if (variable := CAPTURE.match(self.source, end)) and is_variable(variable["name"]):
            self._add("variable", *variable.span("name"))
            end = variable.end()
        self._begin_words(end, begins_stage=True)
        return end

    def _definition(self, begin: int, end: int) -> int:
        self._add("agent", begin, begin + len(self.source[begin : end - 2].rstrip()))
        self._add("definition", end - 2, end)
        if (opening := OPENING.match(self.source, end)) and opening["brace"]:
            self._add("definition", *opening.span("brace"))
            end = opening.end()
            while piece := FIELD.match(self.source, end):
                end = piece.end()
                if piece["key"] is not None and piece["key"].strip('"') in FIELDS:
                    self._add("field", *piece.span("key"))
                if piece["quote"] is not None:
                    self._add("string", piece.start("quote"), piece.end("closed"))
                if piece["end"] == "}":
                    self._add("definition", end - 1, end)
                if piece["end"] != ",":
                    break
        self._begin_words(end, begins_stage=True)
        return end

    def _add_part(self, kind: str | None, start: int, end: int) -> bool:
        """Colour a mark that is a part of its own in a prompt; tell whether it is one."""
        match kind:
            case Mark.REFERENCE if self.references:
                self._add("reference", start, end)
            case Mark.VARIABLE:
                self._add("variable", start, end)
            case Mark.DIRECTIVE:
                self._add("directive", start, end)
            case Mark.FENCE:
                self._add("fence", start, end)
            case _:
                return False
        return True

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
