"""The `{{…}}` directives of a compose file: where they stand, and what is put in their place.

In a fence nothing is a directive, and a backslash before a brace makes it a brace. Braces around anything
else are text. One pass, and no character is read more than a few times. What is put in, be it a file, piped
in or an output, is data and is never looked at again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.files import UnreadableError
from teambot_tui.engine.headings import as_data
from teambot_tui.engine.text import printable, size_in_bytes
from teambot_tui.language.fences import RUN, Fences
from teambot_tui.language.nodes import Directive, Span, Words
from teambot_tui.language.parser import parse_prompt
from teambot_tui.workflows.errors import IncludeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from teambot_tui.language.nodes import Part
    from teambot_tui.workflows.files import ProjectFiles
    from teambot_tui.workflows.schema import ComposeTask

# What is text here is text for the parser of prompts too: a run of braces is taken as a whole.
_DIRECTIVE: Final = re.compile(
    rf"""
      (?P<fence> {RUN} )
    | (?:\\\\)*+\\\$?\{{++ | \\++
    | \{{\{{[^\S\n]*+
      (?: (?P<named> (?ai: output | input | include ) ) [^\S\n]*+ : (?P<name> [^{{}}\n]*+ )
        | (?P<bare> (?ai: STDIN | iteration ) ) [^\S\n]*+ )
      \}}\}}
    | \{{++
    """,
    re.MULTILINE | re.VERBOSE,
)
DEEPEST: Final = 10
MOST: Final = 1000
LARGEST: Final = 1024 * 1024
_NOWHERE = Span(0, 0)
_GAP = Words("\n\n", _NOWHERE)


class DirectiveKind(StrEnum):
    """What a directive asks for; the value is its word."""

    OUTPUT = "output"
    INPUT = "input"
    INCLUDE = "include"
    STDIN = "STDIN"
    ITERATION = "iteration"


@dataclass(frozen=True, slots=True)
class PlacedDirective:
    """One directive; `name` is what stands behind the colon, if anything."""

    kind: DirectiveKind
    name: str
    start: int
    end: int


_KINDS: Final = {kind.lower(): kind for kind in DirectiveKind}


def find_directives(text: str) -> Iterator[PlacedDirective]:
    """Yield the directives of a text, in order."""
    if "{{" not in text:
        return
    fences = Fences(text)
    position = 0
    while found := _DIRECTIVE.search(text, position):
        position = found.end()
        if found["fence"]:
            position = fences.end(*found.span()) or position
        elif word := found["named"] or found["bare"]:
            yield PlacedDirective(
                _KINDS[word.lower()], (found["name"] or "").strip(), found.start(), found.end()
            )


def expand_includes(text: str, file: Path, files: ProjectFiles) -> str:
    """Return the text of a file with its includes done; every other directive stays as it is.

    Raises:
        IncludeError: A file is missing, binary, too large, outside the project or includes itself.
    """
    expansion = _Expansion(files)
    return expansion.expand(text, (file,), (files.shown(file),))


def include(name: str, folder: Path, files: ProjectFiles) -> str:
    """Return the text of a file that is named in no file, but typed, with its includes done.

    Raises:
        IncludeError: As above.
    """
    return _Expansion(files).included(name, (folder / "typed",), ())


@dataclass(slots=True)
class _Expansion:
    files: ProjectFiles
    count: int = 0
    size: int = 0

    def expand(self, text: str, chain: tuple[Path, ...], names: tuple[str, ...]) -> str:
        pieces: list[str] = []
        position = 0
        for directive in find_directives(text):
            if directive.kind is DirectiveKind.INCLUDE:
                pieces += (
                    self._grow(text[position : directive.start], names),
                    self.included(directive.name, chain, names),
                )
                position = directive.end
        pieces.append(self._grow(text[position:], names))
        return "".join(pieces)

    def included(self, name: str, chain: tuple[Path, ...], names: tuple[str, ...]) -> str:
        longer = (*names, name or "(no path)")
        self.count += 1
        if self.count > MOST:
            raise IncludeError(longer, f"more than {MOST:,} includes", "put some of the files together")
        if len(chain) > DEEPEST:
            raise IncludeError(
                longer,
                f"includes are nested more than {DEEPEST} deep",
                "include the last ones from a file further up",
            )
        if not name:
            raise IncludeError(longer, "a path is missing", "write: {{include: path.md}}")
        try:
            path = self.files.find(chain[-1].parent / name)
            longer = (*names, self.files.shown(path))
            if path in chain:
                raise IncludeError(
                    longer,
                    "a file includes itself",
                    f"take the include out of {longer[-2] if names else name}",
                )
            text = as_data(self.files.read(path))
        except UnreadableError as error:
            raise IncludeError(longer, str(error), error.hint) from error
        return self.expand(text, (*chain, path), longer)

    def _grow(self, text: str, names: tuple[str, ...]) -> str:
        self.size += size_in_bytes(text)
        if self.size > LARGEST:
            raise IncludeError(
                names,
                f"with its includes the text is too large: more than {LARGEST:,} bytes",
                "include the parts that matter",
            )
        return text


def prompt_of(task: ComposeTask, iteration: int, iterations: int, stdin: str | None) -> tuple[Part, ...]:
    """Return the prompt of a task in an iteration, which is counted from 1."""
    parts: list[Part] = []
    said = f"You are on iteration {iteration} of {iterations}"
    # One by one, so that a fence that is never closed ends with the text it is in.
    for text in (task.prefix, task.prompt, task.suffix):
        if trimmed := text.rstrip().lstrip("\n"):
            parts += [_GAP] if parts else []
            parts += _parts(_with_iteration(trimmed, said), task, stdin)
    return tuple(parts)


def asks_for_stdin(task: ComposeTask) -> bool:
    """Whether a task wants to be told what was piped in."""
    texts = (task.prefix, task.prompt, task.suffix)
    return any(found.kind is DirectiveKind.STDIN for text in texts for found in find_directives(text))


def _with_iteration(text: str, said: str) -> str:
    pieces: list[str] = []
    position = 0
    for directive in find_directives(text):
        if directive.kind is DirectiveKind.ITERATION:
            pieces += (text[position : directive.start], said)
            position = directive.end
    return "".join((*pieces, text[position:]))


def _parts(text: str, task: ComposeTask, stdin: str | None) -> Iterator[Part]:
    for part in parse_prompt(text, references=False):
        match part:
            case Directive("input", name, span, literal) if name in task.inputs:
                yield Directive("output", task.inputs[name], span, literal)
            case Directive("stdin", _, span) if stdin is not None:
                yield Words(as_data(printable(stdin)), span)
            case _:
                yield part
