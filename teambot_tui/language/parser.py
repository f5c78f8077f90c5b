"""Text in, statements out, or the one error: nothing else can happen, on any input.

The parser knows the shape of the language and no team: whether an agent exists is for the engine to say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import ALIASES, COMMANDS, did_you_mean, is_agent_id
from teambot_tui.language.nodes import (
    Code,
    Command,
    Mention,
    Part,
    Pipeline,
    Reference,
    Span,
    Stage,
    Statement,
    Words,
)
from teambot_tui.language.scanner import (
    FIRST_ESCAPE,
    JUNK_IN_LIST,
    LAST_AMPERSAND,
    LEADING_BLANKS,
    MARKS,
    MARKS_IN_COMMAND,
    MENTION,
    MODEL,
    Mark,
    unescape,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_WORD = re.compile(r"@[\w-]*+")
_LONGEST_NAME = 64


def parse(source: str, *, references: bool = True) -> tuple[Statement, ...]:
    """Parse a submission.

    Raises:
        StatementError: the text is not of the language; nothing else is ever raised.
    """
    blanks = LEADING_BLANKS.match(source)
    start = blanks.end() if blanks else 0
    if start == len(source):
        raise StatementError("Nothing to send.", source, Span(0, 0), "try: @pm Plan the release")
    return _Parser(source, references=references).parse(start)


class _Parser:
    def __init__(self, source: str, *, references: bool) -> None:
        self.source = source
        self.references = references
        self.statements: list[Statement] = []
        self.command: str | None = None
        self.begin = 0
        self.stages: list[Stage] = []
        self.prompt = _Prompt()
        self.mentions: tuple[Mention, ...] = ()
        self.model: str | None = None
        self.stage_begin = 0

    def parse(self, start: int) -> tuple[Statement, ...]:
        # A submission may be indented as a whole: its first word counts as being in column 1.
        text = "\n" * start + self.source[start:]
        self._check_first_word(start)
        self.begin = self.stage_begin = position = start
        if escape := FIRST_ESCAPE.match(text, start):
            position = escape.end()
            self.prompt.say(unescape(Mark.ESCAPED, escape[0]), start, position)
        while mark := (MARKS if self.command is None else MARKS_IN_COMMAND).search(text, position):
            self.prompt.say(text[position : mark.start()], position)
            position = mark.end()
            match kind := mark.lastgroup:
                case Mark.REFERENCE if self.references:
                    self.prompt.add(Reference(mark[0][1:], Span(mark.start(), position)))
                case Mark.AGENTS:
                    self._end_statement(mark.start())
                    position = self._head(mark.start(), position)
                case Mark.ARROW:
                    self._end_stage(mark.start())
                    position = self._head(text.index("@", mark.start()), position)
                case Mark.FENCE if self.command is None:
                    self.prompt.add(Code(mark[0], Span(mark.start(), position)))
                case Mark.COMMAND:
                    self._end_statement(mark.start())
                    self._open_command(mark[0][1:], position)
                case Mark.DEFINITION | Mark.CALL:
                    self._refuse_definition(mark[0], position)
                case _:
                    self.prompt.say(unescape(kind, mark[0]), mark.start(), position)
        self.prompt.say(text[position:], position)
        self._end_statement(len(text))
        return tuple(self.statements)

    # Statements and stages

    def _end_statement(self, end: int) -> None:
        if self.command is not None:
            self.statements.append(Command(self.command, self.prompt.take_text(), Span(self.begin, end)))
            self.command = None
        elif end > self.begin:
            background = self.prompt.take_ampersand()
            self._end_stage(end)
            self._check_stages()
            self.statements.append(Pipeline(tuple(self.stages), background, Span(self.begin, end)))
            self.stages = []
        self.begin = self.stage_begin = end

    def _end_stage(self, end: int) -> None:
        span = Span(self.stage_begin, end)
        self.stages.append(Stage(self.mentions, self.model, self.prompt.finish(), span))
        self.mentions = ()
        self.model = None
        self.stage_begin = end

    def _head(self, begin: int, end: int) -> int:
        """Read the agents between two positions and the model behind them; return where the task begins."""
        found: dict[str, Mention] = {}
        for name in MENTION.finditer(self.source, begin, end):
            agent = ALIASES.get(name[0], name[0])
            start = name.start() - (self.source[name.start() - 1] == "@")
            found.setdefault(agent, Mention(agent, Span(start, name.end())))
        self.mentions = tuple(found.values())
        if junk := JUNK_IN_LIST.match(self.source, end):
            word = _short(junk["word"])
            near = _nearest_name(word.lstrip("@"))
            self._fail(
                "Expected an agent id after the comma" + (f", not {word!r}." if word else "."),
                Span(*junk.span("word") if word else junk.span()),
                f"did you mean {near}?" if near else "try: @pm,ba Analyse",
            )
        if option := MODEL.match(self.source, end):
            self.model = option["model"]
            if self.model is None:
                self._fail(
                    "Expected the name of a model.",
                    Span(*option.span("option")),
                    f"try: @{self.mentions[0].agent[:_LONGEST_NAME]} --model opus Plan it",
                )
            return option.end()
        return end

    def _open_command(self, name: str, position: int) -> None:
        if name not in COMMANDS:
            near = did_you_mean(name, COMMANDS)
            self._fail(
                f"Unknown command: /{_short(name)}.",
                Span(position - len(name) - 1, position),
                (f"did you mean /{near}? " if near else "/help lists the commands; ")
                + "for a line that begins with / write \\/",
            )
        self.command = name

    # Errors

    def _check_first_word(self, start: int) -> None:
        word = _FIRST_WORD.match(self.source, start)
        if word is None or MENTION.match(self.source, start + 1):
            return
        near = _nearest_name(word[0][1:])
        self._fail(
            f"{_short(word[0])} is not an agent's name.",
            Span(*word.span()),
            (f"did you mean @{near}? " if near else "")
            + "ids are lowercase, like @pm; for a task that begins with @ write \\@",
        )

    def _check_stages(self) -> None:
        first = self.stages[0]
        if first.parts:
            return
        who = _short(",".join(mention.agent for mention in first.mentions))
        if len(self.stages) == 1:
            whom = f" for @{who}" if who else ""
            self._fail(f"Expected a task{whom}.", first.span, f"try: @{who or 'pm'} Plan the release")
        if not who:
            self._fail("Expected a task before the arrow.", first.span, "try: @pm Plan -> @builder-1 Build")
        if first.model is not None:
            self._fail(
                f"An empty first stage takes @{who}'s latest output, so there is no task for a model.",
                first.span,
                f"try: @{who} -> …, or give @{who} a task",
            )

    def _refuse_definition(self, mark: str, end: int) -> NoReturn:
        call = mark.removeprefix("->").lstrip()
        escape = {"-": "write \\->", "$": "write \\$"}.get(mark[0], "put the line between ``` lines")
        self._fail(
            "Temporary agents and exact calls are not part of this version.",
            Span(end - len(call), end),
            f"to send it as text, {escape}",
        )

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self.source, span, hint)


class _Prompt:
    """The parts of the stage at hand; neighbouring pieces of text become one."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.pieces: list[str] = []
        self.begin = self.end = 0

    def say(self, text: str, begin: int, end: int | None = None) -> None:
        end = begin + len(text) if end is None else end
        if begin == end:
            return
        if not self.pieces:
            self.begin = begin
        self.pieces.append(text)
        self.end = end

    def add(self, part: Reference | Code) -> None:
        self._close_text()
        self.parts.append(part)

    def finish(self) -> tuple[Part, ...]:
        """Return the parts without the blanks around them, and begin anew."""
        self._close_text()
        parts = self.parts
        self.parts = []
        if parts and isinstance(first := parts[0], Words):
            text = first.text.lstrip()
            parts[0] = Words(text, Span(first.span.start + len(first.text) - len(text), first.span.end))
        if parts and isinstance(last := parts[-1], Words):
            text = last.text.rstrip()
            parts[-1] = Words(text, Span(last.span.start, last.span.end - len(last.text) + len(text)))
        return tuple(_without_empty(parts))

    def take_text(self) -> str:
        """Return the text without the blanks around it, and begin anew."""
        text = "".join(self.pieces).strip()
        self.pieces = []
        return text

    def take_ampersand(self) -> bool:
        """Whether the last word is `&`, which is taken away; `\\&` loses its backslash."""
        self._close_text()
        if not self.parts or not isinstance(last := self.parts[-1], Words):
            return False
        word = LAST_AMPERSAND.search(last.text)
        if word is None or (word.start() == 0 and len(self.parts) > 1):
            return False
        slashes = len(word["slashes"])
        meant = "\\" * (slashes // 2) + "&" if slashes else ""
        kept = word.end() if slashes else word.start()
        end = last.span.end - (len(last.text) - kept)
        self.parts[-1] = Words(last.text[: word.start()] + meant, Span(last.span.start, end))
        return not slashes

    def _close_text(self) -> None:
        text = "".join(self.pieces)
        self.pieces = []
        if text:
            self.parts.append(Words(text, Span(self.begin, self.end)))


def _without_empty(parts: Iterable[Part]) -> Iterable[Part]:
    return (part for part in parts if not isinstance(part, Words) or part.text)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _nearest_name(name: str) -> str | None:
    """Return what may stand after `@` and was probably meant by a name that may not."""
    name = name[:_LONGEST_NAME].lower()
    as_id = name.replace("_", "-").strip("-")
    return did_you_mean(name, ALIASES) or (as_id if is_agent_id(as_id) else None)
