"""Which characters of a text are syntax, told by the parser's own marks: colour and meaning cannot differ.

Any text has an answer, also one that does not parse: what the parser would refuse is simply not coloured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from teambot_tui.language.definition import read_field
from teambot_tui.language.fences import Fences
from teambot_tui.language.names import COMMANDS, FIELDS, is_variable
from teambot_tui.language.nodes import Span
from teambot_tui.language.options import escaped_option, read_options
from teambot_tui.language.scanner import (
    CAPTURE,
    FIRST_ESCAPE,
    LAST_AMPERSAND,
    LEADING_BLANKS,
    MARKS,
    MARKS_IN_COMMAND,
    MARKS_IN_STRING,
    MENTION,
    OPENING,
    Mark,
    end_of_string,
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
        blanks = LEADING_BLANKS.match(source)
        self.start = blanks.end() if blanks else 0
        self.source = source
        self.text = "\n" * self.start + source[self.start :]
        self.fences = Fences(self.text)
        self.references = references
        self.found: list[Highlight] = []
        self.in_command = False
        self.words = 0
        """Where the text behind the last mark that is no text begins."""
        self.begins_stage = True
        """Whether that text is the first of its stage."""

    def walk(self) -> list[Highlight]:
        start, text = self.start, self.text
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
            case Mark.REFERENCE | Mark.VARIABLE | Mark.DIRECTIVE as kind:
                if not self.in_command and self._add_part(kind, start, end):
                    self._begin_words(end, begins_stage=False)
            case Mark.FENCE:
                return self._fence(start, end)
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
        position = self._options(end)
        if escape := escaped_option(self.source, position, is_first=position == end):
            self._add("escape", *escape.span("slashes"))
            position = escape.end("slashes")
        self._begin_words(position, begins_stage=True)
        return position

    def _options(self, position: int) -> int:
        for option in read_options(self.source, position):
            if option.kind is None or not (option.is_off or option.value) or not option.is_closed:
                break
            position = option.span.end
            self._add("option", *option.span)
        return position

    def _fence(self, begin: int, end: int) -> int:
        closed = self.fences.end(begin, end)
        if closed is not None and not self.in_command:
            self._add("fence", begin, closed)
            self._begin_words(closed, begins_stage=False)
        return closed or end

    def _call(self, begin: int, end: int) -> int:
        self._add("agent", begin, end - 2)
        closing = end_of_string(self.text, end, self.fences)
        position, searched = end - 1, end
        while mark := MARKS_IN_STRING.search(self.text, searched, closing):
            start, searched = mark.span()
            self._add("string", position, start)
            position = start
            if mark.lastgroup == Mark.FENCE:
                if closed := self.fences.end_in_string(start, searched):
                    self._add("fence", start, closed)
                    position = searched = closed
            elif self._add_part(mark.lastgroup, start, searched):
                position = searched
            elif mark.lastgroup in (Mark.CHARACTERS, Mark.HALVED):
                self._add("escape", start, searched)
                position = searched
        end = min(closing + 1, len(self.source))
        self._add("string", position, end)
        if (variable := CAPTURE.match(self.source, end)) and is_variable(variable["name"]):
            self._add("variable", *variable.span("name"))
            end = variable.end()
        end = self._options(end)
        self._begin_words(end, begins_stage=True)
        return end

    def _definition(self, begin: int, end: int) -> int:
        self._add("agent", begin, begin + len(self.source[begin : end - 2].rstrip()))
        self._add("definition", end - 2, end)
        if (opening := OPENING.match(self.source, end)) and opening["brace"]:
            self._add("definition", *opening.span("brace"))
            end = opening.end()
            while True:
                field = read_field(self.source, end, self.fences)
                end = field.end
                if field.key in FIELDS:
                    self._add("field", *field.key_span)
                if field.string is not None:
                    self._add("string", *field.string)
                if field.sign == "}":
                    self._add("definition", end - 1, end)
                if field.sign != ",":
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
