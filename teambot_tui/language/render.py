"""Statements back into text: what is rendered parses to the same statements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, assert_never

from teambot_tui.language.fences import RUN, TICKS, Fences
from teambot_tui.language.names import ID
from teambot_tui.language.nodes import Code, Command, Definition, Pipeline, Words
from teambot_tui.language.options import LOOKS_LIKE_OPTION, written_value
from teambot_tui.language.scanner import BRACES, CALL, COMMAND, DIRECTIVE, LAST_AMPERSAND, NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teambot_tui.language.nodes import Option, Part, Stage, Statement

# A run of backslashes is taken as a whole, also where it is text, so that it is read only once.
_LINE = rf"^\\*+(?=@{NAME}|{COMMAND})"
_FIRST = r"(?<=\A\n)\\*+(?=@)"
_STAGE = rf"->\s*+\\*+(?=@{NAME})"
_CALL = rf"->(?=\s*+(?P<call>{CALL}))"
_IN_PROMPT = re.compile(
    rf"(?P<run>{_LINE}|{_FIRST}|{_STAGE})(?P<sign>[@/])|(?P<slashes>\\*+)(?P<mark>\$|\{{++|{RUN}|{_CALL})|\\++",
    re.MULTILINE,
)
_IN_STRING = re.compile(rf"""(?P<mark>\n|{RUN}|["\\$]|\{{++)""")
_IN_VALUE = re.compile(r"""["\\]""")
_IN_BRACES = re.compile(rf"{BRACES}|{DIRECTIVE}")
_IN_COMMAND = re.compile(
    rf"""(?P<fence>{RUN})|^(?P<call>{ID}:")|(?P<run>{_LINE})(?P<sign>[@/])"""
    r"""|(?P<slashes>\\*+)(?P<mark>[${])|\\++""",
    re.MULTILINE,
)
_LAST_ARROW = re.compile(r"(?<!\\)(?P<slashes>\\*+)->\Z")
_DEFINITION_LIKE = re.compile(r"\n\$[a-z]")


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

    # Arguments do not tell whether their first ``` began a line. None should be left open that would swallow
    # the next statement, but a call without $ in column 1 has no escape: it was in a fence that is open.
    written = [_without_statements(blank + text, escape) for blank in " \n"[: 1 + text.startswith(TICKS)]]
    return min(written, key=lambda each: (each.is_exposed, each.is_open)).text


@dataclass(frozen=True, slots=True)
class _Arguments:
    text: str
    is_exposed: bool
    """Whether a call stands in column 1 outside of every fence."""
    is_open: bool
    """Whether the last fence is never closed."""


def _without_statements(text: str, escape: Callable[[re.Match[str]], str]) -> _Arguments:
    fences = Fences(text)
    pieces: list[str] = []
    position = 0
    is_exposed = is_open = False
    while found := _IN_COMMAND.search(text, position):
        pieces.append(text[position : found.start()])
        position = found.end()
        if found["fence"]:
            if end := fences.end(*found.span()):
                is_open = not fences.is_closed(*found.span())
                position = end
            pieces.append(text[found.start() : position])
        else:
            is_exposed = is_exposed or bool(found["call"])
            pieces.append(escape(found))
    pieces.append(text[position:])
    return _Arguments("".join(pieces), is_exposed, is_open)


def _pipeline(pipeline: Pipeline, *, before_agents: bool) -> str:
    in_one_line = any(map(_has_ticks, pipeline.stages))
    text = _stage(pipeline.stages[0], in_one_line=in_one_line)
    for before, stage in pairwise(pipeline.stages):
        arrow = _arrow(before, stage) if in_one_line else "\n-> "
        text += arrow + _stage(stage, in_one_line=in_one_line)
    last = () if pipeline.stages[-1].exact else pipeline.stages[-1].parts[-1:]
    if pipeline.background:
        return text + ("\n&" if last and isinstance(last[0], Code) else " &")
    if last and isinstance(last[0], Words):
        text = LAST_AMPERSAND.sub(r"\g<slashes>\g<slashes>\\&", text)
        if before_agents:
            text = _LAST_ARROW.sub(r"\g<slashes>\g<slashes>\\->", text)
    return text


def _arrow(before: Stage, stage: Stage) -> str:
    """Return the arrow between two stages of which some have backticks in their words.

    In one line with others they open no fence. What is a fence begins its own line.
    """
    if not before.exact and before.parts and isinstance(before.parts[-1], Code):
        return "\n-> "
    ticks = (part for part in stage.parts if isinstance(part, Words | Code) and TICKS in part.text)
    return " ->\n" if isinstance(next(ticks, None), Code) else " -> "


def _has_ticks(stage: Stage) -> bool:
    """Whether words have backticks, which open no fence where they stand."""
    return any(isinstance(part, Words) and TICKS in part.text for part in stage.parts)


def _stage(stage: Stage, *, in_one_line: bool) -> str:
    options = "".join(map(_option, stage.options))
    if stage.exact:
        capture = f":{stage.capture.name}" if stage.capture else ""
        return f'${stage.mentions[0].agent}:"{_instruction(stage)}"{capture}{options}'
    head = "@" + ",".join(mention.agent for mention in stage.mentions) + options if stage.mentions else ""
    if not stage.parts:
        return head
    blank = " " if head else "\n"
    match stage.parts[0]:
        case Words() if LOOKS_LIKE_OPTION.match(_joined("", stage.parts)[0]):
            blank = "\n"
        case Words(text) if text.startswith(TICKS) and not options:
            blank = ""
        case Code():
            blank = "\n"
    escape = partial(_escape_in_prompt, in_one_line=in_one_line)
    task = _escaped(_IN_PROMPT, *_joined(blank, stage.parts), escape)
    return head + task if head else task[1:]


def _option(option: Option) -> str:
    if option.value is None:
        return f" --no-{option.name}"
    return f" --{option.name} {written_value(option.value)}"


def _instruction(stage: Stage) -> str:
    text, live = _joined("", stage.parts)
    # Words with backticks shall open no fence. No word does that has a backslash: so every mark is escaped,
    # and lines end only before what is a fence.
    has_ticks = _has_ticks(stage)
    lines = {text.rfind("\n", 0, begin) for begin in live if text.startswith(TICKS, begin)}

    def escape(found: re.Match[str], live: Mapping[int, int]) -> str:
        match found["mark"]:
            case "\n":
                return "\\n" if has_ticks and found.start() not in lines else "\n"
            case '"' | "\\" as character:
                return f"\\{character}"
            case mark if mark.startswith(TICKS):
                return mark
            case mark if has_ticks and not found.string.startswith("{", found.end()):
                return f"\\{mark}"
            case _:
                return _escape_mark(found, live)

    return _escaped(_IN_STRING, text, live, escape)


def _joined(blank: str, parts: Sequence[Part]) -> tuple[str, dict[int, int]]:
    """Return the text of the parts, and where in it those begin and end that are more than words."""
    pieces = [blank]
    live: dict[int, int] = {}
    position = len(blank)
    for part in parts:
        match part:
            case Words(text) | Code(text):
                pieces.append(text)
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


def _escape_in_prompt(found: re.Match[str], live: Mapping[int, int], *, in_one_line: bool) -> str:
    if found["sign"]:
        return _escape_sign(found)
    if not found["mark"]:
        return found[0]
    if found["mark"].startswith(TICKS):
        return found[0]
    if found["mark"] == "->":
        call = found.start("call")
        if found.string[call] == "$" and call not in live:
            return found[0]
        return f"{found['slashes'] * 2}\\->"
    if in_one_line and found["mark"].startswith("{"):  # another stage may close the braces
        return f"{found['slashes'] * 2}\\{found['mark']}"
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
    value = _IN_VALUE.sub(lambda found: f"\\{found[0]}", text)
    return value.replace("\n", "\\n") if TICKS in text else value
