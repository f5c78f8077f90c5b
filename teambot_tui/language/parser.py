"""Text in, statements out, or the one error: nothing else can happen, on any input.

The parser knows the shape of the language and no team: whether an agent exists is for the engine to say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from teambot_tui.language.definition import read_fields
from teambot_tui.language.errors import StatementError
from teambot_tui.language.fences import Fences
from teambot_tui.language.names import ALIASES, COMMANDS, did_you_mean, is_agent_id, is_variable
from teambot_tui.language.nodes import (
    Capture,
    Command,
    Definition,
    Mention,
    Option,
    Part,
    Pipeline,
    Span,
    Stage,
    Statement,
)
from teambot_tui.language.options import OPTIONS, escaped_option, read_options
from teambot_tui.language.prompt import PromptReader
from teambot_tui.language.scanner import (
    AFTER_CALL,
    BEGINS_STAGE,
    BEGINS_STATEMENT,
    BLANK_OR_END,
    BLANKS,
    CAPTURE,
    FIRST_ESCAPE,
    INSIDE_PROMPT,
    JUNK_IN_LIST,
    LEADING_BLANKS,
    MARKS,
    MARKS_IN_COMMAND,
    MARKS_IN_FILE,
    MARKS_IN_STRING,
    MENTION,
    WORD,
    Mark,
    end_of_string,
    unescape,
    unquote,
)

if TYPE_CHECKING:
    from teambot_tui.language.options import WrittenOption

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
    return _Parser(source, start, references=references).parse(start)


def parse_prompt(text: str, *, references: bool = True) -> tuple[Part, ...]:
    """Return the parts of a prompt that is a file: nothing in it is a statement, and no blank is dropped."""
    prompt = PromptReader(references=references)
    prompt.read(MARKS_IN_FILE, text, 0, len(text), Fences(text).end)
    return prompt.finish()


class _Parser:
    def __init__(self, source: str, start: int, *, references: bool) -> None:
        self.source = source
        # A submission may be indented as a whole: its first word counts as being in column 1.
        self.text = "\n" * start + source[start:]
        self.fences = Fences(self.text)
        self.statements: list[Statement] = []
        self.command: str | None = None
        self.begin = 0
        self.stages: list[Stage] = []
        self.prompt = PromptReader(references=references)
        self.mentions: tuple[Mention, ...] = ()
        self.options: tuple[Option, ...] = ()
        self.exact = False
        self.capture: Capture | None = None
        self.background = False
        """Whether `&` stands behind the exact call at hand."""
        self.stage_begin = 0

    def parse(self, start: int) -> tuple[Statement, ...]:
        text = self.text
        self._check_first_word(start)
        self.begin = self.stage_begin = position = start
        if escape := FIRST_ESCAPE.match(text, start):
            position = escape.end()
            self.prompt.say(unescape(Mark.ESCAPED, escape[0]), start, position)
        while mark := (MARKS if self.command is None else MARKS_IN_COMMAND).search(text, position):
            self.prompt.say(text[position : mark.start()], position)
            position = mark.end()
            match mark.lastgroup:
                case kind if kind in INSIDE_PROMPT:
                    self.prompt.take(mark)
                case Mark.AGENTS:
                    self._end_statement(mark.start())
                    position = self._head(mark.start(), position)
                case Mark.ARROW:
                    self._end_stage(mark.start())
                    position = self._head(text.index("@", mark.start()), position)
                case Mark.CALL:
                    self._end_statement(mark.start())
                    position = self._call(mark.start(), position)
                case Mark.NEXT_CALL:
                    self._end_stage(mark.start())
                    position = self._call(position - len(mark[0][2:].lstrip()), position)
                case Mark.COMMAND:
                    self._end_statement(mark.start())
                    self._open_command(mark[0][1:], position)
                case Mark.DEFINITION:
                    self._end_statement(mark.start())
                    position = self._definition(mark[0][1:-2].rstrip(), mark.start(), position)
                case Mark.FENCE:
                    position = self._fence(mark.start(), position)
                case _:
                    self.prompt.take(mark)
        self.prompt.say(text[position:], position)
        self._end_statement(len(text))
        return tuple(self.statements)

    # Statements and stages

    def _end_statement(self, end: int) -> None:
        if self.command is not None:
            self.statements.append(Command(self.command, self.prompt.take_text(), Span(self.begin, end)))
            self.command = None
        elif end > self.begin:
            background = self.background if self.exact else self.prompt.take_ampersand()
            self._end_stage(end)
            self._check_stages()
            self.statements.append(Pipeline(tuple(self.stages), background, Span(self.begin, end)))
            self.stages = []
        self.begin = self.stage_begin = end

    def _end_stage(self, end: int) -> None:
        if not self.exact:
            self.prompt.strip()
        span = Span(self.stage_begin, end)
        parts = self.prompt.finish()
        self.stages.append(Stage(self.mentions, self.options, parts, span, self.exact, self.capture))
        self.mentions = self.options = ()
        self.capture = None
        self.exact = self.background = False
        self.stage_begin = end

    def _fence(self, begin: int, end: int) -> int:
        """Read the fence that a run of backticks opens, if it does; return where the next mark is."""
        closed = self.fences.end(begin, end)
        if closed is None or self.command is not None:
            self.prompt.say(self.text[begin : closed or end], begin)
        else:
            self.prompt.take_code(self.text[begin:closed], begin)
        return closed or end

    def _head(self, begin: int, end: int) -> int:
        """Read the agents between two positions and the options behind them; return where the task begins."""
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
        position = self._read_options(end)
        if escape := escaped_option(self.source, position, is_first=not self.options):
            begin, position = escape.span("slashes")
            self.prompt.say("\\" * ((position - begin) // 2), begin, position)
        return position

    def _read_options(self, position: int) -> int:
        """Read the options that stand here; return where they end."""
        options: dict[str, Option] = {}
        for option in read_options(self.source, position):
            name = self._check_option(option)
            if name in options:
                self._fail(f"The option --{name} is given twice.", option.word_span, "leave one of them out")
            options[name] = Option(name, option.value, option.span)
            position = option.span.end
        self.options = tuple(options.values())
        return position

    def _check_option(self, option: WrittenOption) -> str:
        """Return the name of an option that is written as it should be."""
        kind = option.kind
        if kind is None:
            near = did_you_mean(option.word.lstrip("-"), OPTIONS)
            known = ", ".join(f"--{name}" for name in OPTIONS)
            self._fail(
                f"Unknown option: {_short(option.word)}. Options: {known}",
                option.word_span,
                (f"did you mean --{near}? " if near else "")
                + f"to send it as text, write \\{_short(option.word)}",
            )
        if option.is_off:
            if self.source[option.span.end : option.span.end + 1] == "=":
                self._fail(f"{option.word} takes no value.", option.word_span, f"try: {option.word}")
            return kind.name
        example = f"try: --{kind.name} {kind.example}"
        if option.value is None:
            self._fail(f"Expected {kind.expected}.", option.word_span, example)
        if not option.is_closed:
            quote = Span(option.value_span.start, option.value_span.start + 1)
            self._fail("The quote is never closed.", quote, f"a value stands on one line; {example}")
        if kind.value.fullmatch(option.value) is None:
            value = self.source[slice(*option.value_span)]
            self._fail(f"Expected {kind.expected}, not {_short(value)}.", option.value_span, example)
        if BLANK_OR_END.match(self.source, option.span.end) is None:
            self._fail("Expected a blank after the value.", self._word(option.span.end), example)
        return kind.name

    def _call(self, begin: int, end: int) -> int:
        """Read a call from its name on; its opening quote ends the head. Return where the next mark is."""
        agent = self.source[begin : end - 2].removeprefix("$")
        closing = self._end_of_string(begin, end)
        self.mentions = (Mention(agent, Span(begin, end - 2)),)
        self.exact = True
        self.prompt.read(MARKS_IN_STRING, self.text, end, closing, self.fences.end_in_string)
        if not unquote(self.text, end, closing, self.fences).strip():
            self._fail(
                "Expected an instruction between the quotes.",
                Span(end - 1, closing + 1),
                f'try: {_short(agent)}:"Plan the release"',
            )
        position = closing + 1
        if variable := CAPTURE.match(self.source, position):
            if not is_variable(variable["name"]):
                self._fail(
                    "Expected a variable's name after the colon"
                    + (f", not {_short(variable['name'])!r}." if variable["name"] else "."),
                    Span(*variable.span("name" if variable["name"] else 0)),
                    f'lowercase letters, digits and _, like: {_short(agent)}:"Plan it":plan',
                )
            self.capture = Capture(variable["name"], Span(*variable.span("name")))
            position = variable.end()
        position = self._read_options(position)
        after = AFTER_CALL.match(self.source, position)
        assert after is not None, "the pattern matches any text"
        position = after.end()
        self.background = bool(after["background"])
        if not self._begins_statement(position) and (
            self.background or not BEGINS_STAGE.match(self.source, position)
        ):
            self._fail(
                "Expected -> or the end after the call.",
                self._word(after.start("background")),
                f'try: {_short(agent)}:"Plan it" -> @reviewer Check it; {self._escape(begin)}',
            )
        return position

    def _definition(self, name: str, begin: int, end: int) -> int:
        """Read the definition whose `:=` ends here; return where the next statement begins."""
        name_span = Span(begin, begin + 1 + len(name))
        fields, end = read_fields(self.source, _short(name), end, self.fences)
        blanks = BLANKS.match(self.source, end)
        position = blanks.end() if blanks else end
        if not self._begins_statement(position):
            self._fail(
                "Expected the end of the line after the definition.",
                self._word(position),
                "a new statement begins in column 1 with @agent, $name or /command",
            )
        self.statements.append(Definition(name, name_span, fields, Span(begin, position)))
        self.begin = self.stage_begin = position
        return position

    def _begins_statement(self, position: int) -> bool:
        return position == len(self.source) or BEGINS_STATEMENT.match(self.source, position) is not None

    def _end_of_string(self, begin: int, position: int) -> int:
        """Return where the quote is that closes the string of a call."""
        end = end_of_string(self.text, position, self.fences)
        if end == len(self.source):
            self._fail(
                "The quote is never closed.",
                Span(position - 1, position),
                f'put " behind the instruction, and \\" for a quote in it; {self._escape(begin)}',
            )
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
        if first.options:
            self._fail(
                f"An empty first stage takes @{who}'s latest output, so there is no task for an option.",
                first.options[0].span,
                f"try: @{who} -> …, or give @{who} a task",
            )

    def _escape(self, begin: int) -> str:
        """Say how to write what stands here so that it is no call."""
        if self.stages:
            return "to send it as text, write \\->"
        if self.source[begin] == "$":
            return "to send it as text, write \\$"
        return "to send it as text, put the line between ``` lines"

    def _word(self, position: int) -> Span:
        word = WORD.match(self.source, position)
        return Span(*word.span()) if word else Span(position, position)

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self.source, span, hint)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _nearest_name(name: str) -> str | None:
    """Return what may stand after `@` and was probably meant by a name that may not."""
    name = name[:_LONGEST_NAME].lower()
    as_id = name.replace("_", "-").strip("-")
    return did_you_mean(name, ALIASES) or (as_id if is_agent_id(as_id) else None)
