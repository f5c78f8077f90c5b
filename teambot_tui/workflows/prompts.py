"""What a task of a compose file is told, as parts of a prompt.

`$agent` is text here: a compose file names what it needs by `depends_on` and asks for outputs by directives.
What is put in, be it piped in or an output, is data and is never looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.headings import as_data
from teambot_tui.engine.text import printable
from teambot_tui.language.nodes import Directive, Span, Words
from teambot_tui.language.parser import parse_prompt
from teambot_tui.workflows.directives import Kind, find_directives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.language.nodes import Part
    from teambot_tui.workflows.schema import ComposeTask

_NOWHERE = Span(0, 0)
_GAP = Words("\n\n", _NOWHERE)


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
    return any(found.kind is Kind.STDIN for text in texts for found in find_directives(text))


def _with_iteration(text: str, said: str) -> str:
    pieces: list[str] = []
    position = 0
    for directive in find_directives(text):
        if directive.kind is Kind.ITERATION:
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
