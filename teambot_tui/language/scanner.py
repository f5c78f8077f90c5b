"""The marks of the language, found in one pass by one pattern; whatever lies between two marks is text.

Every repetition is possessive and every run of a repeated character is taken as one mark, so no character is
read more than a few times: a megabyte of anything is linear.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from teambot_tui.language.fences import RUN
from teambot_tui.language.names import ALIASES, ID, PARTS, VARIABLE

if TYPE_CHECKING:
    from teambot_tui.language.fences import Fences


class Mark(StrEnum):
    """The kinds of marks; the values are the names of the groups in the pattern."""

    FENCE = "fence"
    AGENTS = "agents"
    COMMAND = "command"
    DEFINITION = "definition"
    CALL = "call"
    ARROW = "arrow"
    NEXT_CALL = "next_call"
    REFERENCE = "reference"
    VARIABLE = "variable"
    DIRECTIVE = "directive"
    ESCAPED = "escaped"
    UNARROWED = "unarrowed"
    HALVED = "halved"
    CHARACTERS = "characters"
    LITERAL = "literal"


INSIDE_PROMPT: Final = frozenset({Mark.REFERENCE, Mark.HALVED, Mark.LITERAL, Mark.VARIABLE, Mark.DIRECTIVE})
"""The marks that neither begin nor end anything, told apart at once: a prompt may have very many."""

_BLANK = r"[^\S\n]"
NAME: Final = rf"(?:{'|'.join(ALIASES)}|{ID})(?![A-Za-z0-9_])"
COMMAND: Final = r"/[A-Za-z][A-Za-z-]*+(?=\s|\Z)"
CALL: Final = rf'\$?{ID}:"'
BRACES: Final = rf"\{{{VARIABLE}\}}"
DIRECTIVE: Final = (
    rf"\{{\{{{_BLANK}*+(?:(?ai:output|input|include){_BLANK}*+:{_BLANK}*+[^\s{{}}\"\\][^\n{{}}\"\\]*+"
    rf"|(?ai:stdin){_BLANK}*+)\}}\}}"
)
_DEFINITION = rf"\${ID}{_BLANK}*+:="
_AGENTS = rf"@{NAME}(?:,{_BLANK}*+@?{NAME})*+"
_ARROW = rf"->(?=\s*+(?:@{NAME}|{CALL}))"
_INSERTED = rf"""
      (?P<reference>  \${ID}(?:\.(?:{"|".join(PARTS)})(?![A-Za-z0-9_-]))?+ )
    | (?P<variable>   {BRACES} )
    | (?P<directive>  {DIRECTIVE} )
"""
# A backslash before braces makes all of them literal, so that `\{{x}}` and `\${x}` do not leave a variable.
_ESCAPABLE = r"\$?\{++|\$"
_LINES = rf"""
    ^(?: (?P<agents>     {_AGENTS} )
       | (?P<command>    {COMMAND} )
       | (?P<definition> {_DEFINITION} )
       | (?P<call>       {CALL} )
       | (?P<escaped>    \\++(?=@{NAME}|{COMMAND}) ) )
"""

MARKS: Final = re.compile(
    rf"""
    {_LINES}
    | (?=[$\\{{`-])(?:
         {_INSERTED}
       | (?P<fence>      {RUN} )
       | (?P<arrow>      ->\s*+{_AGENTS} )
       | (?P<next_call>  ->\s*+{CALL} )
       | (?P<halved>     (?:\\\\)*+\\(?:{_ESCAPABLE}|{_ARROW}) | (?:\\\\)++(?=[${{]|{_ARROW}) )
       | (?P<unarrowed>  ->\s*+\\++(?=@{NAME}) )
       | (?P<literal>    \\++ | \$\$++ | \{{++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)
MARKS_IN_COMMAND: Final = re.compile(
    rf"""
    {_LINES}
    | (?P<fence>   {RUN} )
    | (?P<halved>  (?:\\\\)*+\\(?:{_ESCAPABLE}) | (?:\\\\)++(?=[${{]) )
    | (?P<literal> \\++ )
    """,
    re.MULTILINE | re.VERBOSE,
)
MARKS_IN_FILE: Final = re.compile(
    rf"""
    (?=[$\\{{`])(?:
         {_INSERTED}
       | (?P<fence>   {RUN} )
       | (?P<halved>  (?:\\\\)*+\\(?:{_ESCAPABLE}) | (?:\\\\)++(?=[${{]) )
       | (?P<literal> \\++ | \$\$++ | \{{++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)

_CHARACTERS = r'(?:\\["\\n])++'
MARKS_IN_STRING: Final = re.compile(
    rf"""
    (?=[$\\{{`])(?:
         {_INSERTED}
       | (?P<fence>      {RUN} )
       | (?P<characters> {_CHARACTERS} )
       | (?P<halved>     \\(?:{_ESCAPABLE}) )
       | (?P<literal>    \\ | \$\$++ | \{{++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)
_STRING = re.compile(r'(?:[^"\\`]++|\\[^\n]?+|`{1,2}+(?!`))*+')
_RUN = re.compile(RUN)
_RUN_OR_CHARACTERS = re.compile(rf"(?P<fence>{RUN})|(?P<characters>{_CHARACTERS})")
_CHARACTER = re.compile(r"\\(.)")

BEGINS_STATEMENT: Final = re.compile(rf"^(?:@{NAME}|{COMMAND}|{_DEFINITION}|{CALL})", re.MULTILINE)
BEGINS_STAGE: Final = re.compile(_ARROW)
CAPTURE: Final = re.compile(r":(?P<name>\w*+)")
AFTER_CALL: Final = re.compile(r"\s*+(?P<background>&?+)\s*+")
BLANK_OR_END: Final = re.compile(r"\s|\Z")
BLANKS: Final = re.compile(r"\s*+")
WORD: Final = re.compile(r"\S{1,64}")
OPENING: Final = re.compile(r"\s*+(?P<brace>\{?+)")
_KEY = r"[A-Za-z_][\w-]*+"
FIELD: Final = re.compile(
    rf"""
    \s*+(?: (?P<key> {_KEY} | "{_KEY}" ) (?:\s*+ (?P<colon> : ) (?:\s*+ (?P<quote> ") )?+ )?+ )?+
    """,
    re.VERBOSE,
)
"""As much of `key: "` as is there; what is missing tells what is wrong."""
AFTER_FIELD: Final = re.compile(r"\s*+(?P<end>[,}]?+)")

LEADING_BLANKS: Final = re.compile(r"[\s\ufeff]*+")
FIRST_ESCAPE: Final = re.compile(r"\\++(?=@)")
LAST_AMPERSAND: Final = re.compile(r"(?:\A|(?<=\s))(?P<slashes>\\*+)&(?=\s*+\Z)")
MENTION: Final = re.compile(NAME)
JUNK_IN_LIST: Final = re.compile(rf",(?!{_BLANK}++[^\s@,]){_BLANK}*+(?P<word>@?[\w-]*+)")


def unescape(kind: str | None, mark: str) -> str:
    """Return the text that a mark of this kind stands for in a prompt."""
    if kind == Mark.HALVED:
        text = mark.lstrip("\\")
        return "\\" * ((len(mark) - len(text)) // 2) + text
    if kind in (Mark.ESCAPED, Mark.UNARROWED):
        text = mark.rstrip("\\")
        return text + "\\" * ((len(mark) - len(text)) // 2)
    if kind == Mark.CHARACTERS:
        return _CHARACTER.sub(lambda found: "\n" if found[1] == "n" else found[1], mark)
    return mark


def end_of_string(text: str, position: int, fences: Fences) -> int:
    """Return where the quote is that closes a string, or the end of the text if none does."""
    while string := _STRING.match(text, position):
        run = _RUN.match(text, string.end())
        if run is None:
            return string.end()
        position = fences.end_in_string(*run.span()) or run.end()
    return position


def unquote(text: str, begin: int, end: int, fences: Fences) -> str:
    """Return what a string between two positions stands for, where nothing but escapes is syntax."""
    pieces: list[str] = []
    position = begin
    while mark := _RUN_OR_CHARACTERS.search(text, position, end):
        pieces.append(text[position : mark.start()])
        position = mark.end()
        if mark.lastgroup == Mark.FENCE:
            position = fences.end_in_string(*mark.span()) or position
            pieces.append(text[mark.start() : position])
        else:
            pieces.append(unescape(mark.lastgroup, mark[0]))
    pieces.append(text[position:end])
    return "".join(pieces)
