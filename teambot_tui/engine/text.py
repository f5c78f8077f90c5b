"""The one door for foreign text: nothing a terminal would obey gets past it, and no length is too much.

Terminals act on control characters, and so does whatever draws on one. Whatever an agent, a file or a paste
brings in is therefore cleaned here, once, before it becomes part of a fact.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum, auto

_UNSAFE_CHARACTERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[{_UNSAFE_CHARACTERS}]")
_COMPLETE_SEQUENCE = re.compile(
    "\x1b\\[[ -?]*+[@-~]"  # a control sequence: colours, cursor, modes
    "|\x1b[\\]PX^_][^\x07\x18\x1a\x1b\x9c\n]*+(?:\x07|\x1b\\\\|\x9c)"  # a string: title, clipboard, device
    "|\x1b[0-OQ-WYZ\\\\`-~]"  # two characters: reset, save, charset
)
_WHOLE = re.compile(rf"(?:[^{_UNSAFE_CHARACTERS}]++|{_COMPLETE_SEQUENCE.pattern}|\r(?=[^\x1b]))*+")
"""Text in which every sequence is complete, and what comes after a return is seen at once."""
_PARAMETERS = re.compile("[ -?]*+")
_END_OF_STRING = re.compile("[\x07\x18\x1a\x1b\x9c\n]")
_STRING_INTRODUCERS = "\x90\x98\x9d\x9e\x9f"
_REPLACEMENTS = {"\u2028": "\n", "\u2029": "\n"}


class _State(Enum):
    GROUND = auto()
    AFTER_RETURN = auto()
    ESCAPE = auto()
    CONTROL_SEQUENCE = auto()
    STRING = auto()


class Cleaner:
    """Cleans a stream of text; a sequence may be cut between any two pieces.

    Escape sequences disappear with their payload, other control characters, bidirectional overrides and
    lone surrogates never pass, and every kind of line end becomes one newline. A string sequence that is
    never closed ends with its line, so that it cannot swallow the rest of an answer.
    """

    def __init__(self) -> None:
        self._state = _State.GROUND

    def feed(self, text: str) -> str:
        """Return what is safe of the next piece."""
        if self._state is _State.GROUND and _UNSAFE.search(text) is None:
            return text
        clean: list[str] = []
        position = 0
        while position < len(text):
            position = self._step(text, position, clean)
        return "".join(clean)

    def _step(self, text: str, position: int, clean: list[str]) -> int:
        match self._state:
            case _State.GROUND:
                return self._ground(text, position, clean)
            case _State.AFTER_RETURN:
                self._state = _State.GROUND
                return position + (text[position] == "\n")
            case _State.ESCAPE:
                return self._escape(text, position)
            case _State.CONTROL_SEQUENCE:
                position = _PARAMETERS.match(text, position).end()  # type: ignore[union-attr]  # matches empty
                if position == len(text):
                    return position
                self._state = _State.GROUND
                return position + ("@" <= text[position] <= "~")
            case _State.STRING:
                end = _END_OF_STRING.search(text, position)
                if end is None:
                    return len(text)
                self._state = _State.ESCAPE if end[0] == "\x1b" else _State.GROUND
                return end.start() if end[0] == "\n" else end.end()

    def _ground(self, text: str, position: int, clean: list[str]) -> int:
        end = _WHOLE.match(text, position).end()  # type: ignore[union-attr]  # matches empty
        whole = _COMPLETE_SEQUENCE.sub("", text[position:end])
        clean.append(whole.replace("\r\n", "\n").replace("\r", "\n"))
        if end == len(text):
            return end
        character = text[end]
        if character == "\x1b":
            self._state = _State.ESCAPE
        elif character == "\r":
            clean.append("\n")
            self._state = _State.AFTER_RETURN
        elif character == "\x9b":
            self._state = _State.CONTROL_SEQUENCE
        elif character in _STRING_INTRODUCERS:
            self._state = _State.STRING
        elif "\ud800" <= character <= "\udfff":
            clean.append("\ufffd")
        else:
            clean.append(_REPLACEMENTS.get(character, ""))
        return end + 1

    def _escape(self, text: str, position: int) -> int:
        character = text[position]
        if " " <= character <= "/":
            return position + 1
        if character == "[":
            self._state = _State.CONTROL_SEQUENCE
        elif character in "]PX^_":
            self._state = _State.STRING
        else:
            self._state = _State.GROUND
        return position + ("0" <= character <= "~")


def printable(text: str) -> str:
    """Clean a text that is there as a whole."""
    return Cleaner().feed(text)


def one_line(text: str, limit: int = 400) -> str:
    """Clean a text for a place that has one line: an error, a title, a badge."""
    line = " ".join(printable(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_UNSEEN_OTHERS = re.compile(  # that Unicode counts as letters, marks or symbols, and that show nothing
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NAMES = {"\x00": "NUL", "\x07": "BEL", "\x08": "BS", "\t": "TAB", "\n": "LF", "\r": "CR", "\x1b": "ESC"}


class _Visible(dict[int, str]):
    """How each character is shown, by its code; worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        shows_nothing = unicodedata.category(character) in _UNSEEN_CATEGORIES and character != " "
        if shows_nothing or _UNSEEN_OTHERS.match(character):
            character = f"<{_NAMES.get(character) or f'U+{code:04X}'}>"
        self[code] = character
        return character


_IN_ONE_LINE = _Visible()
_IN_LINES = _Visible({ord("\n"): "\n", ord("\t"): "\t"})


def visible(text: str, *, layout: bool = True) -> str:
    """Make every character seen: what shows nothing, or is obeyed, is named: `<ESC>`, `<U+202E>`.

    Nothing is left out. Newlines and tabs stay as they are where there is room for a layout.
    """
    return text.translate(_IN_LINES if layout else _IN_ONE_LINE)


def size_in_bytes(text: str) -> int:
    """How long the text is in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def last_bytes(text: str, limit: int) -> str:
    """Return the end of the text that fits into `limit` bytes, never half a character."""
    if size_in_bytes(text) <= limit:
        return text
    return text.encode("utf-8", "surrogatepass")[-limit:].decode("utf-8", "ignore") if limit else ""


_PIECES_BEFORE_JOINING = 512


class Tail:
    """A growing text whose last `limit` bytes are kept, at a cost that does not depend on its length."""

    __slots__ = ("_kept", "_limit", "_pieces", "total")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[str] = []
        self._kept = 0
        self.total = 0

    def append(self, text: str) -> None:
        """Add a piece at the end."""
        size = size_in_bytes(text)
        self.total += size
        self._kept += size
        self._pieces.append(text)
        if len(self._pieces) > _PIECES_BEFORE_JOINING or self._kept > 2 * self._limit + 4096:
            self._compact()

    @property
    def text(self) -> str:
        """What is kept."""
        if len(self._pieces) > 1 or self._kept > self._limit:
            self._compact()
        return self._pieces[0] if self._pieces else ""

    @property
    def missing(self) -> int:
        """How many bytes at the beginning are no longer kept."""
        if self._kept > self._limit:
            self._compact()
        return self.total - self._kept

    def _compact(self) -> None:
        kept = last_bytes("".join(self._pieces), self._limit)
        self._pieces = [kept]
        self._kept = size_in_bytes(kept)
