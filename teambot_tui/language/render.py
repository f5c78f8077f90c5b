"""Statements back into text: what is rendered parses to the same statements."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, assert_never

from teambot_tui.language.nodes import Code, Command, Pipeline, Reference, Words
from teambot_tui.language.scanner import CALL, COMMAND, FENCE, LAST_AMPERSAND, NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.language.nodes import Part, Stage, Statement

# A run of backslashes is taken as a whole, also where it is text, so that it is read only once.
_LINE = rf"^\\*+(?=@{NAME}|{COMMAND})"
_FIRST = r"(?<=\A\n)\\*+(?=@)"
_STAGE = rf"->\s*+\\*+(?=@{NAME})"
_CALL = rf"->(?=\s*+(?P<call>{CALL}))"
_IN_PROMPT = re.compile(
    rf"^{FENCE}|(?P<run>{_LINE}|{_FIRST}|{_STAGE})(?P<sign>[@/])|(?P<slashes>\\*+)(?P<mark>[${{]|{_CALL})|\\++",
    re.MULTILINE,
)
_IN_COMMAND = re.compile(
    rf"^{FENCE}|(?P<run>{_LINE})(?P<sign>[@/])|(?P<slashes>\\*+)(?P<mark>[${{])|\\++", re.MULTILINE
)
_FENCES_AND_CALLS = re.compile(rf"^{FENCE}|^(?P<call>{CALL})", re.MULTILINE)
_LAST_ARROW = re.compile(r"(?<!\\)(?P<slashes>\\*+)->\Z")
_DEFINITION_LIKE = re.compile(r"\n\$[a-z]")
_OPTION_LIKE = re.compile(r"(?:-m|--model)(?=[=\s]|\Z)")


def render(statements: Sequence[Statement]) -> str:
    """Return a text that parses to these statements."""
    lines: list[str] = []
    for statement, following in zip_longest(statements, statements[1:]):
        match statement:
            case Command(name, arguments):
                lines.append(f"/{name}{_arguments(arguments)}")
            case Pipeline():
                lines.append(_pipeline(statement, before_agents=isinstance(following, Pipeline)))
            case _:
                assert_never(statement)
    return "\n".join(lines)


def _arguments(text: str) -> str:
    if not text:
        return ""

    def escape(found: re.Match[str]) -> str:
        if found["sign"]:
            return _escape_sign(found)
        if not found["mark"]:
            return found[0]
        may_define = _DEFINITION_LIKE.match(found.string, found.start() - 1) is not None
        return found["slashes"] * 2 + "\\" * may_define + found["mark"]

    # Arguments do not tell whether their first ``` began a line. Pairs of fences leave none open that would
    # swallow the next statement, but a call in column 1 has no escape: it was in a fence that is open.
    begins_pair = text.startswith("```") and text.count("\n```") % 2 == 1
    blanks = ("\n", " ") if begins_pair else (" ", "\n")
    exposed = any(found["call"] for found in _FENCES_AND_CALLS.finditer(blanks[0] + text))
    return _IN_COMMAND.sub(escape, blanks[exposed] + text)


def _pipeline(pipeline: Pipeline, *, before_agents: bool) -> str:
    text = "\n-> ".join(map(_stage, pipeline.stages))
    last = pipeline.stages[-1].parts[-1:]
    if pipeline.background:
        return text + ("\n&" if last and isinstance(last[0], Code) else " &")
    if last and isinstance(last[0], Words):
        text = LAST_AMPERSAND.sub(r"\g<slashes>\g<slashes>\\&", text)
        if before_agents:
            text = _LAST_ARROW.sub(r"\g<slashes>\g<slashes>\\->", text)
    return text


def _stage(stage: Stage) -> str:
    head = "@" + ",".join(mention.agent for mention in stage.mentions) if stage.mentions else ""
    if stage.model is not None:
        head += f" --model {stage.model}"
    if not stage.parts:
        return head
    match stage.parts[0]:
        case Words(text):
            own_line = _OPTION_LIKE.match(text) is not None
        case first:
            own_line = isinstance(first, Code)
    task = _task("\n" if own_line or not head else " ", stage.parts)
    return head + task if head else task[1:]


def _task(blank: str, parts: Sequence[Part]) -> str:
    pieces = [blank]
    references: set[int] = set()
    position = len(blank)
    for part in parts:
        if isinstance(part, Reference):
            references.add(position)
        pieces.append(f"${part.agent}" if isinstance(part, Reference) else part.text)
        position += len(pieces[-1])

    def escape(found: re.Match[str]) -> str:
        if found["sign"]:
            return _escape_sign(found)
        return _escape_mark(found, references) if found["mark"] else found[0]

    return _IN_PROMPT.sub(escape, "".join(pieces))


def _escape_sign(found: re.Match[str]) -> str:
    before = found["run"].rstrip("\\")
    return before + found["run"][len(before) :] * 2 + "\\" + found["sign"]


def _escape_mark(found: re.Match[str], references: set[int]) -> str:
    slashes, mark = found["slashes"], found["mark"]
    place = found.start("mark")
    if mark == "->":
        call = found.start("call")
        if found.string[call] == "$" and call not in references:
            return found[0]
        return f"{slashes * 2}\\{mark}"
    following = found.string[place + 1 : place + 2]
    literal = mark == "$" and place not in references and ("a" <= following <= "z" or place + 1 in references)
    return slashes * 2 + "\\" * literal + mark
