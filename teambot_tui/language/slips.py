"""What is text by the rules but looks like a slip: it is told, never guessed.

Only what the parser took for words is looked at, as it was typed, so that whatever is escaped or stands in a
fence is meant as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from teambot_tui.language.fences import Fences
from teambot_tui.language.names import ALIASES, EVERYONE, did_you_mean
from teambot_tui.language.nodes import Code, Pipeline, Variable, Words
from teambot_tui.language.options import OPTIONS
from teambot_tui.language.span import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from teambot_tui.language.nodes import Stage, Statement

_MOST: Final = 8
_LOOKED_AT: Final = 20_000
_LONGEST: Final = 40
_DIRECTIVES: Final = ("output", "input", "include", "STDIN")

_SLIPS = re.compile(
    r"""
      ^(?P<definition> \$[A-Za-z_][\w-]*+ [^\S\n]*+ := )
    | ^(?P<call> \$?[A-Za-z_][\w-]*+ (?: ,[^\S\n]*+ [@$]?[\w-]++ )*+ :["\u201c\u201d\u201e\u00ab] )
    | (?<![\\\w$]) \$ (?P<reference> [A-Za-z][\w-]*+ )
    | (?P<arrow> -> | => | \u2192 | [\u2013\u2014]> ) [^\S\n]*+ (?P<stage> @?[A-Za-z][\w-]*+ )
    | (?<!\\) \{\{ [^\S\n]*+ (?P<directive> [A-Za-z]++ ) [^{}\n]*+ \}\}
    | (?<!\S) @ (?P<file> [\w.-]*+ / [\w./-]++ | [\w-]++ \. \w++ (?!\S) )
    | (?<!\S) @ (?P<mention> [A-Za-z][\w-]*+ )
    """,
    re.MULTILINE | re.VERBOSE,
)
_OPTION = re.compile(r"(?P<dashes>--|[\u2013\u2014]|-(?=m\b))(?P<name>[A-Za-z][A-Za-z-]*+)(?=[=\s]|\Z)")
_SHELL = re.compile(r"!\w[^\n]*+")
_LAST_ARROW = re.compile(r"(?<!\\)->\Z")
_LAST_AMPERSAND = re.compile(r"[^\s&\\]++&\Z")


@dataclass(frozen=True, slots=True)
class Slip:
    """Something that is sent as text though it may have been meant otherwise: why, and what to type."""

    message: str
    span: Span


def find_slips(
    source: str, statements: Sequence[Statement], *, agents: Collection[str], variables: Collection[str]
) -> tuple[Slip, ...]:
    """Return what a person may have meant otherwise, in order; `variables` are those that are known."""
    return tuple(islice(_Finder(source, agents, variables).all(statements), _MOST))


class _Finder:
    def __init__(self, source: str, agents: Collection[str], variables: Collection[str]) -> None:
        self.source = source
        self.agents = agents
        self.variables = variables
        self.fences = Fences(source)

    def all(self, statements: Sequence[Statement]) -> Iterator[Slip]:
        for statement in statements:
            if isinstance(statement, Pipeline) and statement.span.start < _LOOKED_AT:
                for stage in statement.stages:
                    if not stage.exact:
                        yield from self._beginning(stage)
                    yield from self._parts(stage)
                if not statement.stages[-1].exact:
                    yield from self._end(statement.stages[-1])

    def _beginning(self, stage: Stage) -> Iterator[Slip]:
        if not stage.parts or not isinstance(first := stage.parts[0], Words):
            return
        start = first.span.start
        if (option := _OPTION.match(self.source, start)) and option["name"].lower() in (*OPTIONS, "m"):
            written = f"--{option['name'].lower()}" if len(option["name"]) > 1 else "-m"
            if not stage.mentions:
                yield self._slip(option.span(), f"an option stands right after @agent: @pm {written} …")
            elif option[0] != written:
                yield self._slip(option.span(), f"write {written}")
        elif not stage.mentions and (command := _SHELL.match(self.source, start, first.span.end)):
            yield self._slip(command.span(), "nothing is run in a shell here")

    def _parts(self, stage: Stage) -> Iterator[Slip]:
        for part in stage.parts:
            match part:
                case Words(_, span):
                    for found in _SLIPS.finditer(self.source, span.start, min(span.end, _LOOKED_AT)):
                        if slip := self._meant(found, is_exact=stage.exact):
                            yield slip
                case Variable(name, span) if self.variables and name not in self.variables:
                    known = ", ".join(f"{{{each}}}" for each in self.variables)
                    yield Slip(f"{part.literal} is sent as text; known: {known}", span)
                case Code(text, span) if not self._is_closed(text, span):
                    line = self.source.count("\n", 0, span.start) + 1
                    yield Slip(f"the fence in line {line} is never closed: all behind it is text", span)

    def _end(self, stage: Stage) -> Iterator[Slip]:
        if not stage.parts or not isinstance(last := stage.parts[-1], Words):
            return
        words = self.source[last.span.start : last.span.end]
        if arrow := _LAST_ARROW.search(words):
            start = last.span.start + arrow.start()
            yield self._slip((start, start + 2), "nothing follows it")
        elif word := _LAST_AMPERSAND.search(words):
            start = last.span.start + word.start()
            yield self._slip((start, last.span.end), "& stands alone, behind a blank")

    def _meant(self, found: re.Match[str], *, is_exact: bool) -> Slip | None:
        """Return what a match is told about, if it is a slip."""
        match found.lastgroup:
            case "definition" if not is_exact:
                return self._slip(found.span(), "a name is lowercase, as in $scanner := {…}")
            case "call" if not is_exact:
                return self._slip(found.span(), 'an exact call is one lowercase name and ": pm:"Plan it"')
            case "reference":
                if agent := self._agent(found["reference"]):
                    return self._slip(found.span(), f"write ${agent}")
            case "stage" if not is_exact:
                if agent := self._agent(found["stage"].removeprefix("@")):
                    return self._slip(found.span(), f"write -> @{agent}")
            case "directive":
                word = found["directive"]
                if near := did_you_mean(word, map(str.lower, _DIRECTIVES)):
                    return self._slip(found.span(), f"did you mean {_example(near)}?")
            case "file":
                return self._slip(found.span(), f"{{{{include: {found['file']}}}}} puts a file in")
            case "mention" if not is_exact:
                if self._agent(found["mention"]):
                    return self._slip(found.span(), "only where a statement or a stage begins it is an agent")
            case _:
                pass
        return None

    def _agent(self, name: str) -> str | None:
        """Return the agent that is meant by a name in any case, or by an alias."""
        lower = name.lower().rstrip("-")
        agent = ALIASES.get(lower, lower)
        return agent if agent in self.agents or agent == EVERYONE else None

    def _is_closed(self, text: str, span: Span) -> bool:
        run = len(text) - len(text.lstrip("`"))
        return self.fences.is_closed(span.start, span.start + run)

    def _slip(self, span: tuple[int, int], advice: str) -> Slip:
        written = " ".join(self.source[slice(*span)].split())
        short = written if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"
        return Slip(f"{short} is sent as text: {advice}", Span(*span))


def _example(directive: str) -> str:
    return "{{STDIN}}" if directive == "stdin" else f"{{{{{directive}: …}}}}"
