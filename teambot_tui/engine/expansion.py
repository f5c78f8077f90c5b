"""What a prompt brings in from outside before it means anything: included files and what was piped in.

Both are data. Of an included file only its own directives count, of what was piped in nothing does, and no
line of either passes for one of ours.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.headings import as_data
from teambot_tui.engine.text import printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.nodes import Code, Directive, Pipeline, Words
from teambot_tui.language.parser import parse_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from teambot_tui.language.nodes import Part, Span, Statement

_ESCAPED: Final = re.compile(r"\\(?=\{\{\s*(?:output|input|include|stdin)\b)", re.IGNORECASE)


class IncludeRefusedError(Exception):
    """A file that cannot be included: why, and what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Expansion:
    """Knows what can be brought in.

    `include` returns a file's text, with what it includes itself, or raises IncludeRefusedError.
    `stdin` is what was piped in, or reads it when it is asked for.
    """

    def __init__(
        self,
        include: Callable[[str], str] | None = None,
        stdin: str | Callable[[], str | None] | None = None,
    ) -> None:
        self._include = include or _no_files
        self._stdin = stdin

    def statements(self, source: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Return the statements with everything brought in.

        Raises:
            StatementError: something cannot be brought in.
        """
        return tuple(
            replace(
                statement,
                stages=tuple(
                    replace(stage, parts=self.parts(source, stage.parts))
                    if any(isinstance(part, Directive) for part in stage.parts)
                    else stage
                    for stage in statement.stages
                ),
            )
            if isinstance(statement, Pipeline)
            else statement
            for statement in statements
        )

    def parts(self, source: str, parts: Sequence[Part]) -> tuple[Part, ...]:
        """Return the parts of one prompt with everything brought in.

        Raises:
            StatementError: something cannot be brought in.
        """
        return tuple(self._parts(source, parts))

    def _parts(self, source: str, parts: Sequence[Part]) -> Iterator[Part]:
        for part in parts:
            match part:
                case Directive("include", path, span):
                    for included in _as_parts(self._read(source, part, path), span):
                        # Its own includes are done; what else it asks for is still to be brought in.
                        done = isinstance(included, Directive) and included.kind == "include"
                        yield from (included,) if done else self._parts(source, (included,))
                case Directive("stdin"):
                    if callable(self._stdin):
                        self._stdin = self._stdin()
                    if self._stdin is None:
                        raise StatementError(
                            "Nothing was piped in for {{STDIN}}.",
                            source,
                            part.span,
                            "try: cat notes.txt | teambot run '@pm Sum up {{STDIN}}'",
                        )
                    yield Words(as_data(printable(self._stdin)), part.span)
                case Directive("input", name):
                    raise StatementError(
                        f"{{{{input:{name}}}}} belongs into a compose file, which says what {name} is.",
                        source,
                        part.span,
                        f"try: {{{{output:{name}}}}}",
                    )
                case _:
                    yield part

    def _read(self, source: str, directive: Directive, path: str) -> str:
        try:
            return printable(self._include(path))
        except IncludeRefusedError as error:
            message = f"{path} cannot be included: {error}"
            raise StatementError(message, source, directive.span, error.hint) from error


def _as_parts(text: str, span: Span) -> Iterator[Part]:
    """Return the parts of a text that is data: its directives, and the rest of it as it stands."""
    position = 0
    for part in parse_prompt(text.rstrip("\n"), references=False):
        if isinstance(part, Directive | Code):
            yield Words(_ESCAPED.sub("", text[position : part.span.start]), span)
            yield replace(part, span=span) if isinstance(part, Directive) else Words(part.text, span)
            position = part.span.end
    yield Words(_ESCAPED.sub("", text[position:].rstrip("\n")), span)


def _no_files(path: str) -> str:
    raise IncludeRefusedError(f"files such as {path} are not read here", "put the text in its place")
