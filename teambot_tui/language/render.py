"""Statements back into text: what is rendered parses to the same statements."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, assert_never

from teambot_tui.language.nodes import Code, Command, Definition, Pipeline, Reference, Words
from teambot_tui.language.scanner import BRACES, CALL, COMMAND, DIRECTIVE, FENCE, LAST_AMPERSAND, NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teambot_tui.language.nodes import Part, Stage, Statement

# A run of backslashes is taken as a whole, also where it is text, so that it is read only once.
_LINE = rf"^\\*+(?=@{NAME}|{COMMAND})"
_FIRST = r"(?<=\A\n)\\*+(?=@)"
_STAGE = rf"->\s*+\\*+(?=@{NAME})"
_CALL = rf"->(?=\s*+(?P<call>{CALL}))"
_IN_PROMPT = re.compile(
    rf"^{FENCE}|(?P<run>{_LINE}|{_FIRST}|{_STAGE})(?P<sign>[@/])|(?P<slashes>\\*+)(?P<mark>\$|\{{++|{_CALL})|\\++",
    re.MULTILINE,
)
_IN_STRING = re.compile(r"""(?P<mark>\n(?=```)|```|["\\$]|\{++)""")
_IN_VALUE = re.compile(r"""\n(?=```)|["\\]""")
_IN_BRACES = re.compile(rf"{BRACES}|{DIRECTIVE}")
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
            case Definition(name, _, fields):
                said = ", ".join(f'{field.key}: "{_value(field.value)}"' for field in fields)
                lines.append(f"${name} := {{{said}}}")
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
    last = () if pipeline.stages[-1].exact else pipeline.stages[-1].parts[-1:]
    if pipeline.background:
        return text + ("\n&" if last and isinstance(last[0], Code) else " &")
    if last and isinstance(last[0], Words):
        text = LAST_AMPERSAND.sub(r"\g<slashes>\g<slashes>\\&", text)
        if before_agents:
            text = _LAST_ARROW.sub(r"\g<slashes>\g<slashes>\\->", text)
    return text


def _stage(stage: Stage) -> str:
    if stage.exact:
        instruction = _escaped(_IN_STRING, *_joined("", stage.parts), _escape_in_string)
        capture = f":{stage.capture.name}" if stage.capture else ""
        return f'${stage.mentions[0].agent}:"{instruction}"{capture}'
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
    task = _escaped(
        _IN_PROMPT, *_joined("\n" if own_line or not head else " ", stage.parts), _escape_in_prompt
    )
    return head + task if head else task[1:]


def _joined(blank: str, parts: Sequence[Part]) -> tuple[str, dict[int, int]]:
    """Return the text of the parts, and where in it those begin and end that are more than words."""
    pieces = [blank]
    live: dict[int, int] = {}
    position = len(blank)
    for part in parts:
        match part:
            case Words(text) | Code(text):
                pieces.append(text)
            case Reference(agent):
                pieces.append(f"${agent}")
            case _:
                pieces.append(part.literal)
        begin, position = position, position + len(pieces[-1])
        if not isinstance(part, Words):
            live[begin] = position
    return "".join(pieces), live


def _escaped(
    pattern: re.Pattern[str],
    text: str,
    live: Mapping[int, int],
    escape: Callable[[re.Match[str], Mapping[int, int]], str],
) -> str:
    """Return the text with every mark escaped that would be syntax and is not live."""
    pieces: list[str] = []
    position = 0
    while found := pattern.search(text, position):
        pieces.append(text[position : found.start()])
        place = found.start("mark")
        if place in live:
            position = live[place]
            pieces.append(text[found.start() : place] * 2 + text[place:position])
        else:
            position = found.end()
            pieces.append(escape(found, live))
    pieces.append(text[position:])
    return "".join(pieces)


def _escape_in_prompt(found: re.Match[str], live: Mapping[int, int]) -> str:
    if found["sign"]:
        return _escape_sign(found)
    if not found["mark"]:
        return found[0]
    if found["mark"] == "->":
        call = found.start("call")
        if found.string[call] == "$" and call not in live:
            return found[0]
        return f"{found['slashes'] * 2}\\->"
    return found["slashes"] * 2 + _escape_mark(found, live)


def _escape_sign(found: re.Match[str]) -> str:
    before = found["run"].rstrip("\\")
    return before + found["run"][len(before) :] * 2 + "\\" + found["sign"]


def _escape_mark(found: re.Match[str], live: Mapping[int, int]) -> str:
    mark, place = found["mark"], found.start("mark")
    if mark == "$":
        following = found.string[place + 1 : place + 2]
        literal = "a" <= following <= "z" or (following == "$" and place + 1 in live)
    else:
        literal = _IN_BRACES.match(found.string, place) is not None
    return "\\" * literal + mark


def _value(text: str) -> str:
    return _IN_VALUE.sub(lambda found: "\\n" if found[0] == "\n" else f"\\{found[0]}", text)


def _escape_in_string(found: re.Match[str], live: Mapping[int, int]) -> str:
    match found["mark"]:
        case "\n":
            return "\n" if found.end() in live else "\\n"
        case "```":
            return "```"
        case '"' | "\\" as character:
            return f"\\{character}"
        case _:
            return _escape_mark(found, live)
