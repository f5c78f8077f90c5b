"""A prompt as it is gathered from marks: text with escapes resolved, and what is to be put in between.

Neighbouring pieces of text are one part, and every part knows the characters it came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.language.nodes import Code, Directive, Part, Reference, Span, Variable, Words
from teambot_tui.language.scanner import LAST_AMPERSAND, Mark, unescape

if TYPE_CHECKING:
    import re
    from collections.abc import Callable


class PromptReader:
    """The parts of the stage at hand."""

    def __init__(self, *, references: bool) -> None:
        self.references = references
        self.parts: list[Part] = []
        self.pieces: list[str] = []
        self.begin = self.end = 0

    def read(
        self,
        marks: re.Pattern[str],
        text: str,
        begin: int,
        end: int,
        fence_end: Callable[[int, int], int | None],
    ) -> None:
        """Add what stands between two positions, where nothing ends a prompt."""
        position = begin
        while mark := marks.search(text, position, end):
            self.say(text[position : mark.start()], position)
            position = mark.end()
            if mark.lastgroup != Mark.FENCE:
                self.take(mark)
            elif closed := fence_end(*mark.span()):
                position = closed
                self.take_code(text[mark.start() : position], mark.start())
            else:
                self.say(mark[0], mark.start())
        self.say(text[position:end], position)

    def take(self, mark: re.Match[str]) -> None:
        """Add the part or the text that a mark stands for."""
        text, (begin, end) = mark[0], mark.span()
        match mark.lastgroup:
            case Mark.REFERENCE if self.references:
                agent, _, part = text[1:].partition(".")
                self._add(Reference(agent, Span(begin, end), part))
            case Mark.LITERAL:
                self.say(text, begin, end)
            case Mark.VARIABLE:
                self._add(Variable(text[1:-1], Span(begin, end)))
            case Mark.DIRECTIVE:
                kind, _, argument = text[2:-2].partition(":")
                self._add(Directive(kind.strip().lower(), argument.strip(), Span(begin, end), text))
            case kind:
                self.say(unescape(kind, text), begin, end)

    def take_code(self, text: str, begin: int) -> None:
        """Add a fenced block."""
        self._add(Code(text, Span(begin, begin + len(text))))

    def say(self, text: str, begin: int, end: int | None = None) -> None:
        """Add text."""
        end = begin + len(text) if end is None else end
        if begin == end:
            return
        if not self.pieces:
            self.begin = begin
        self.pieces.append(text)
        self.end = end

    def finish(self) -> tuple[Part, ...]:
        """Return the parts, and begin again."""
        self._close_text()
        parts = tuple(part for part in self.parts if not isinstance(part, Words) or part.text)
        self.parts = []
        return parts

    def strip(self) -> None:
        """Take away the blanks around the parts."""
        self._close_text()
        parts = self.parts
        if parts and isinstance(first := parts[0], Words):
            text = first.text.lstrip()
            parts[0] = Words(text, Span(first.span.start + len(first.text) - len(text), first.span.end))
        if parts and isinstance(last := parts[-1], Words):
            text = last.text.rstrip()
            parts[-1] = Words(text, Span(last.span.start, last.span.end - len(last.text) + len(text)))

    def take_text(self) -> str:
        """Return the text without the blanks around it, and begin again."""
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

    def _add(self, part: Part) -> None:
        if self.pieces:
            self._close_text()
        self.parts.append(part)

    def _close_text(self) -> None:
        text = "".join(self.pieces)
        self.pieces = []
        if text:
            self.parts.append(Words(text, Span(self.begin, self.end)))
