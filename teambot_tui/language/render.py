"""Statements back into text: what is rendered parses to the same statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from teambot_tui.language.nodes import Code, Command, Pipeline, Reference, Words
from teambot_tui.language.scanner import COMMAND, NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.language.nodes import Part, Stage, Statement

_MARK = r"\$|\{|->(?=\s*+@)"
_SLASHES_AND_MARK = re.compile(rf"(?P<slashes>\\++)(?P<slashed>{_MARK})?|(?P<bare>{_MARK})")
_STATEMENT_LIKE_LINE = re.compile(rf"(?<=\n)(?=@{NAME}|{COMMAND})")
_FIRST_WORD_LIKE_STATEMENT = re.compile(rf"@|{COMMAND}")
_OPTION_LIKE = re.compile(r"(?:-m|--model)(?=[=\s]|\Z)")


def render(statements: Sequence[Statement]) -> str:
    """Return a text that parses to these statements."""
    lines: list[str] = []
    for statement, following in zip(statements, [*statements[1:], None], strict=True):
        match statement:
            case Command(name, arguments):
                lines.append(f"/{name} {arguments}".rstrip())
            case Pipeline():
                lines.append(_pipeline(statement, before_agents=isinstance(following, Pipeline)))
            case _:
                assert_never(statement)
    return "\n".join(lines)


def _pipeline(pipeline: Pipeline, *, before_agents: bool) -> str:
    text = "\n-> ".join(map(_stage, pipeline.stages))
    last = pipeline.stages[-1].parts[-1:]
    if last and isinstance(last[0], Words):
        words = last[0].text
        if words.endswith("&") and (words[-2:-1].isspace() or [*last] == [*pipeline.stages[-1].parts]):
            text = re.sub(r"(?<!\S)&\Z", r"\\&", text)
        if before_agents and not pipeline.background and words.endswith("->"):
            text = re.sub(r"(\\*)->\Z", r"\1\1\\->", text)
    if pipeline.background:
        text += "\n&" if last and isinstance(last[0], Code) else " &"
    return text


def _stage(stage: Stage) -> str:
    task = "".join(_part(part, stage.parts[index + 1 :]) for index, part in enumerate(stage.parts))
    if not stage.mentions:
        return f"\\{task}" if _FIRST_WORD_LIKE_STATEMENT.match(task) else task
    head = "@" + ",".join(mention.agent for mention in stage.mentions)
    if stage.model is not None:
        head += f" --model {stage.model}"
    if not task:
        return head
    own_line = isinstance(stage.parts[0], Code) or _OPTION_LIKE.match(task)
    return head + ("\n" if own_line else " ") + task


def _part(part: Part, rest: Sequence[Part]) -> str:
    match part:
        case Reference(agent):
            return f"${agent}"
        case Code(text):
            return text
        case Words(text):
            return _escaped(text, before_reference=bool(rest) and isinstance(rest[0], Reference))
        case _:
            assert_never(part)


def _escaped(text: str, *, before_reference: bool) -> str:
    def escape(found: re.Match[str]) -> str:
        slashes = found["slashes"] or ""
        mark = found["slashed"] or found["bare"]
        if mark is None:
            return slashes * 2 if before_reference and found.end() == len(text) else slashes
        following = text[found.end() : found.end() + 1]
        would_be_syntax = mark == "->" or (
            mark == "$" and ("a" <= following <= "z" or (not following and before_reference))
        )
        return slashes * 2 + "\\" * would_be_syntax + mark

    return _STATEMENT_LIKE_LINE.sub(r"\\", _SLASHES_AND_MARK.sub(escape, text))
