"""The fields of a temporary agent, `{base: "plan", prompt: "…"}`: all of them, or what is wrong first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import FIELDS, REQUIRED_FIELDS, did_you_mean
from teambot_tui.language.nodes import Field, Span
from teambot_tui.language.scanner import FIELD, OPENING, WORD, unquote

if TYPE_CHECKING:
    import re


def read_fields(source: str, name: str, position: int) -> tuple[tuple[Field, ...], int]:
    """Return the fields behind `:=` and where they end; the name is for the examples in errors.

    Raises:
        StatementError: something is missing, unknown, given twice or never closed.
    """
    return _Reader(source, name).read(position)


class _Reader:
    def __init__(self, source: str, name: str) -> None:
        self.source = source
        self.example = f'try: ${name} := {{base: "general-purpose", prompt: "You are…"}}'
        self.opening = Span(0, 0)
        self.fields: dict[str, Field] = {}

    def read(self, position: int) -> tuple[tuple[Field, ...], int]:
        opening = OPENING.match(self.source, position)
        assert opening is not None, "the pattern matches any text"
        if not opening["brace"]:
            escape = "to send it as text, write \\$"
            self._fail("Expected { after :=.", Span(position - 2, position), f"{self.example}; {escape}")
        self.opening = Span(*opening.span("brace"))
        position = opening.end()
        while True:
            piece = FIELD.match(self.source, position)
            assert piece is not None, "the pattern matches any text"
            position = piece.end()
            if piece["key"] is not None:
                self._add(piece)
            elif piece["end"] != "}":
                self._fail_at(piece, "Expected the name of a field", self.example)
            if piece["end"] == "}":
                self._check_required(Span(position - 1, position))
                return tuple(self.fields.values()), position

    def _add(self, piece: re.Match[str]) -> None:
        key = piece["key"].strip('"')
        key_span = Span(*piece.span("key"))
        if key not in FIELDS:
            near = did_you_mean(key, FIELDS)
            self._fail(
                f"Unknown field: {key[:64]}. Fields: {', '.join(FIELDS)}",
                key_span,
                (f"did you mean {near}? " if near else "") + self.example,
            )
        if key in self.fields:
            self._fail(f"The field {key} is given twice.", key_span, f"leave one of them out; {self.example}")
        if piece["colon"] is None:
            self._fail_at(piece, f"Expected : after {key}", self.example)
        if piece["quote"] is None:
            self._fail_at(piece, f"Expected a text in double quotes for {key}", self.example)
        if not piece["closed"]:
            self._fail(
                "The quote is never closed.",
                Span(*piece.span("quote")),
                'put " behind the text, and \\" for a quote in it',
            )
        value_span = Span(piece.start("quote"), piece.end("closed"))
        value = unquote(piece["value"])
        if not value.strip():
            self._fail(f"The field {key} is empty.", value_span, self.example)
        if not piece["end"]:
            self._fail_at(piece, f"Expected , or }} after {key}", self.example)
        self.fields[key] = Field(key, value, key_span, value_span)

    def _check_required(self, closing: Span) -> None:
        for key in REQUIRED_FIELDS:
            if key not in self.fields:
                self._fail(f"Expected the field {key}.", closing, self.example)

    def _fail_at(self, piece: re.Match[str], message: str, hint: str) -> NoReturn:
        """Fail behind a piece; if nothing is there, what is wrong is that the brace is still open."""
        start = piece.end() - len(piece["end"])
        if start == len(self.source):
            self._fail("The brace is never closed.", self.opening, f"put }} behind the fields; {hint}")
        word = WORD.match(self.source, start)
        self._fail(f"{message}.", Span(start, word.end() if word else start + 1), hint)

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self.source, span, hint)
