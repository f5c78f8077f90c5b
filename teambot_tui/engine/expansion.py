"""What a prompt brings in from outside before it means anything: included files and what was piped in.

An included file is prompt like the one that includes it, so what it says counts; what was piped in is data
and is never looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teambot_tui.engine.headings import as_data
from teambot_tui.engine.text import printable
from teambot_tui.language.errors import StatementError
from teambot_tui.language.nodes import Directive, Pipeline, Words
from teambot_tui.language.parser import parse_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from teambot_tui.language.nodes import Part, Statement


class Expansion:
    """Knows what can be brought in.

    `include` returns a file's text, with what it includes itself, or raises ValueError with the reason.
    `stdin` is what was piped in, or reads it when it is asked for.
    """

    def __init__(
        self,
        include: Callable[[str], str] | None = None,
        stdin: str | Callable[[], str | None] | None = None,
        *,
        references: bool = True,
    ) -> None:
        self._include = include or _no_files
        self._stdin = stdin
        self._references = references

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
                    for included in parse_prompt(self._read(source, part, path), references=self._references):
                        here = replace(included, span=span)
                        # Its own includes are done; what else it asks for is still to be brought in.
                        done = isinstance(included, Directive) and included.kind == "include"
                        yield from (here,) if done else self._parts(source, (here,))
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
        except ValueError as error:
            raise StatementError(
                f"{path} cannot be included: {error}",
                source,
                directive.span,
                "write the path from the project's folder",
            ) from error


def _no_files(path: str) -> str:
    raise ValueError(f"files such as {path} are not read here")
