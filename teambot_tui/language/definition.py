"""The fields of a temporary agent, `{base: "plan", prompt: "…"}`: all of them, or what is wrong first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import FIELDS, REQUIRED_FIELDS, did_you_mean
from teambot_tui.language.nodes import Field, Span
from teambot_tui.language.scanner import AFTER_FIELD, FIELD, OPENING, WORD, end_of_string, unquote

if TYPE_CHECKING:
    from teambot_tui.language.fences import Fences


@dataclass(frozen=True, slots=True)
class WrittenField:
    """As much of `key: "value",` as is there; what is missing tells what is wrong."""

    key: str
    key_span: Span
    has_colon: bool
    string: Span | None
    """The value with its quotes, or with the first of them."""
    is_closed: bool
    sign: str
    """What stands behind it: `,`, `}` or nothing of both."""
    end: int


def read_field(source: str, position: int, fences: Fences) -> WrittenField:
    """Return what stands at a position where a field is expected."""
    field = FIELD.match(source, position)
    assert field is not None, "the pattern matches any text"
    position = field.end()
    string, is_closed = None, False
    if field["quote"] is not None:
        closing = end_of_string(source, position, fences)
        is_closed = closing < len(source)
        string = Span(position - 1, closing + is_closed)
        position = string.end
    after = AFTER_FIELD.match(source, position)
    assert after is not None, "the pattern matches any text"
    return WrittenField(
        key=(field["key"] or "").strip('"'),
        key_span=Span(*field.span("key")),
        has_colon=field["colon"] is not None,
        string=string,
        is_closed=is_closed,
        sign=after["end"],
        end=after.end(),
    )


def read_fields(source: str, name: str, position: int, fences: Fences) -> tuple[tuple[Field, ...], int]:
    """Return the fields behind `:=` and where they end; the name is for the examples in errors.

    Raises:
        StatementError: something is missing, unknown, given twice or never closed.
    """
    return _DefinitionReader(source, name, fences).read(position)


class _DefinitionReader:
    def __init__(self, source: str, name: str, fences: Fences) -> None:
        self.source = source
        self.fences = fences
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
            written = read_field(self.source, position, self.fences)
            position = written.end
            if written.key:
                self._add(written)
            elif written.sign != "}":
                self._fail_at(written, "Expected the name of a field", self.example)
            if written.sign == "}":
                self._check_required(Span(position - 1, position))
                return tuple(self.fields.values()), position

    def _add(self, written: WrittenField) -> None:
        key = written.key
        if key not in FIELDS:
            near = did_you_mean(key, FIELDS)
            self._fail(
                f"Unknown field: {key[:64]}. Fields: {', '.join(FIELDS)}",
                written.key_span,
                (f"did you mean {near}? " if near else "") + self.example,
            )
        if key in self.fields:
            self._fail(
                f"The field {key} is given twice.",
                written.key_span,
                f"leave one of them out; {self.example}",
            )
        if not written.has_colon:
            self._fail_at(written, f"Expected : after {key}", self.example)
        if written.string is None:
            self._fail_at(written, f"Expected a text in double quotes for {key}", self.example)
        begin, end = written.string
        if not written.is_closed:
            self._fail(
                "The quote is never closed.",
                Span(begin, begin + 1),
                'put " behind the text, and \\" for a quote in it',
            )
        value = unquote(self.source, begin + 1, end - 1, self.fences)
        if not value.strip():
            self._fail(f"The field {key} is empty.", written.string, self.example)
        if not written.sign:
            self._fail_at(written, f"Expected , or }} after {key}", self.example)
        self.fields[key] = Field(key, value, written.key_span, written.string)

    def _check_required(self, closing: Span) -> None:
        for key in REQUIRED_FIELDS:
            if key not in self.fields:
                self._fail(f"Expected the field {key}.", closing, self.example)

    def _fail_at(self, written: WrittenField, message: str, hint: str) -> NoReturn:
        """Fail behind a field; if nothing is there, what is wrong is that the brace is still open."""
        start = written.end - len(written.sign)
        if start == len(self.source):
            self._fail("The brace is never closed.", self.opening, f"put }} behind the fields; {hint}")
        word = WORD.match(self.source, start)
        self._fail(f"{message}.", Span(start, word.end() if word else start + 1), hint)

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self.source, span, hint)
