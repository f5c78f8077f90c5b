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
from teambot_tui.language.scanner import JUNK_IN_LIST, MARKS, MENTION, MODEL, Mark, unescape

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_WORD = re.compile(r"@[\w-]*")


def parse(source: str, *, references: bool = True) -> tuple[Statement, ...]:
    """Parse a submission.

    Raises:
        StatementError: the text is not of the language; nothing else is ever raised.
    """
    start = len(source) - len(source.lstrip())
    if start == len(source):
        raise StatementError("Nothing to send.", source, Span(0, 0), "try: @pm Plan the release")
    return _Parser(source, references=references).parse(start)


class _Parser:
    def __init__(self, source: str, *, references: bool) -> None:
        self.source = source
        self.references = references
        self.statements: list[Statement] = []
        self.command: tuple[str, int] | None = None
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
        if text.startswith("\\@", start):
            position += 1
        for mark in MARKS.finditer(text, position):
            if mark.start() < position:
                continue
            kind = mark.lastgroup
            if self.command is not None and kind not in (Mark.AGENTS, Mark.COMMAND, Mark.DEFINITION):
                continue
            if self.command is None:
                self.prompt.say(text[position : mark.start()], position)
            position = mark.end()
            match kind:
                case Mark.REFERENCE if self.references:
                    self.prompt.add(Reference(mark[0][1:], Span(mark.start(), position)))
                case Mark.AGENTS:
                    self._end_statement(mark.start())
                    position = self._head(mark.start(), position)
                case Mark.ARROW:
                    self._end_stage(mark.start())
                    position = self._head(text.index("@", mark.start()), position)
                case Mark.FENCE:
                    self.prompt.add(Code(mark[0], Span(mark.start(), position)))
                case Mark.COMMAND:
                    self._end_statement(mark.start())
                    self._open_command(mark[0][1:], position)
                case Mark.DEFINITION:
                    self._refuse_definition(Span(mark.start(), position))
                case _:
                    self.prompt.say(unescape(kind, mark[0]), mark.start(), position)
        if self.command is None:
            self.prompt.say(text[position:], position)
        self._end_statement(len(text))
        return tuple(self.statements)

    # Statements and stages

    def _end_statement(self, end: int) -> None:
        if self.command is not None:
            name, position = self.command
            self.statements.append(Command(name, self.source[position:end].strip(), Span(self.begin, end)))
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
            word = junk[0].lstrip(",@")[:64]
            self._fail(
                f"Expected an agent id after the comma, not {word or '@'!r}.",
                Span(junk.start() + 1, junk.end()),
                f"did you mean {word.lower()}?" if is_agent_id(word.lower()) else "try: @pm,ba Analyse",
            )
        if option := MODEL.match(self.source, end):
            self.model = option["model"]
            if self.model is None:
                self._fail(
                    "Expected the name of a model.",
                    Span(option.start() + 1, option.end()),
                    f"try: @{self.mentions[0].agent} --model opus Plan it",
                )
            return option.end()
        return end

    def _open_command(self, name: str, position: int) -> None:
        if name not in COMMANDS:
            near = did_you_mean(name, COMMANDS)
            self._fail(
                f"Unknown command: /{name}.",
                Span(position - len(name) - 1, position),
                f"did you mean /{near}?" if near else "/help lists the commands",
            )
        self.command = (name, position)

    # Errors

    def _check_first_word(self, start: int) -> None:
        word = _FIRST_WORD.match(self.source, start)
        if word is None or MENTION.match(self.source, start + 1):
            return
        name = word[0][1:].lower()
        self._fail(
            f"{word[0][:64]} is not an agent's name.",
            Span(word.start(), word.end()),
            (f"did you mean @{name}? " if is_agent_id(name) else "")
            + "ids are lowercase, like @pm; for a task that begins with @ write \\@",
        )

    def _check_stages(self) -> None:
        first = self.stages[0]
        if first.parts:
            return
        who = ",".join(mention.agent for mention in first.mentions)
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

    def _refuse_definition(self, span: Span) -> NoReturn:
        self._fail(
            "Temporary agents and exact calls are not part of this version.",
            span,
            "to send the line as text, put it between ``` lines",
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
        if not self.pieces:
            self.begin = begin
        self.pieces.append(text)
        self.end = begin + len(text) if end is None else end

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

    def take_ampersand(self) -> bool:
        """Whether the last word is `&`, which is taken away; `\\&` loses its backslash."""
        self._close_text()
        if not self.parts or not isinstance(last := self.parts[-1], Words):
            return False
        text = last.text.rstrip()
        for word, meant in (("\\&", "&"), ("&", "")):
            before = text.removesuffix(word)
            if before != text and (before[-1:].isspace() or (not before and len(self.parts) == 1)):
                end = last.span.end - (len(last.text) - len(before)) + len(word) * bool(meant)
                self.parts[-1] = Words(before + meant, Span(last.span.start, end))
                return not meant
        return False

    def _close_text(self) -> None:
        text = "".join(self.pieces)
        self.pieces = []
        if text:
            self.parts.append(Words(text, Span(self.begin, self.end)))


def _without_empty(parts: Iterable[Part]) -> Iterable[Part]:
    return (part for part in parts if not isinstance(part, Words) or part.text)
