"""The marks of the language, found in one pass by one pattern; whatever lies between two marks is text.

Every repetition is possessive and every run of a repeated character is taken as one mark, so no character is
read more than a few times: a megabyte of anything is linear.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from teambot_tui.language.names import ALIASES, ID


class Mark(StrEnum):
    """The kinds of marks; the values are the names of the groups in the pattern."""

    FENCE = "fence"
    AGENTS = "agents"
    COMMAND = "command"
    DEFINITION = "definition"
    ARROW = "arrow"
    CALL = "call"
    REFERENCE = "reference"
    ESCAPED = "escaped"
    UNARROWED = "unarrowed"
    HALVED = "halved"
    LITERAL = "literal"


_BLANK = r"[^\S\n]"
NAME: Final = rf"(?:{'|'.join(ALIASES)}|{ID})(?![A-Za-z0-9_])"
FENCE: Final = r"```[^\n]*+(?:\n(?!```)[^\n]*+)*+(?:\n```[^\n]*+)?"
COMMAND: Final = r"/[A-Za-z][A-Za-z-]*+(?=\s|\Z)"
CALL: Final = rf'\$?{ID}:"'
_AGENTS = rf"@{NAME}(?:,{_BLANK}*+@?{NAME})*+"
_ARROW = rf"->(?=\s*+(?:@{NAME}|{CALL}))"
_LINES = rf"""
    ^(?: (?P<fence>      {FENCE} )
       | (?P<agents>     {_AGENTS} )
       | (?P<command>    {COMMAND} )
       | (?P<definition> \${ID}{_BLANK}*+:= | {CALL} )
       | (?P<escaped>    \\++(?=@{NAME}|{COMMAND}) ) )
"""

MARKS: Final = re.compile(
    rf"""
    {_LINES}
    | (?=[$\\-])(?:
         (?P<reference>  \${ID} )
       | (?P<arrow>      ->\s*+{_AGENTS} )
       | (?P<call>       ->\s*+{CALL} )
       | (?P<halved>     (?:\\\\)*+\\(?:[${{]|{_ARROW}) | (?:\\\\)++(?=[${{]|{_ARROW}) )
       | (?P<unarrowed>  ->\s*+\\++(?=@{NAME}) )
       | (?P<literal>    \\++ | \$\$++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)
MARKS_IN_COMMAND: Final = re.compile(
    rf"""
    {_LINES}
    | (?P<halved>  (?:\\\\)*+\\[${{] | (?:\\\\)++(?=[${{]) )
    | (?P<literal> \\++ )
    """,
    re.MULTILINE | re.VERBOSE,
)

LEADING_BLANKS: Final = re.compile(r"[\s\ufeff]*+")
FIRST_ESCAPE: Final = re.compile(r"\\++(?=@)")
LAST_AMPERSAND: Final = re.compile(r"(?:\A|(?<=\s))(?P<slashes>\\*+)&(?=\s*+\Z)")
MENTION: Final = re.compile(NAME)
MODEL: Final = re.compile(
    rf"{_BLANK}++(?P<option>--model|-m)(?=[=\s]|\Z)"
    rf"(?:{_BLANK}*+=?{_BLANK}*+(?P<model>[A-Za-z0-9](?:[\w.:/@+]|-(?!>))*+))?"
)
JUNK_IN_LIST: Final = re.compile(rf",(?!{_BLANK}++[^\s@,]){_BLANK}*+(?P<word>@?[\w-]*+)")


def unescape(kind: str | None, mark: str) -> str:
    """Return the text that a mark of this kind stands for in a prompt."""
    if kind in (Mark.ESCAPED, Mark.UNARROWED):
        text = mark.rstrip("\\")
        return text + "\\" * ((len(mark) - len(text)) // 2)
    if kind == Mark.HALVED:
        text = mark.lstrip("\\")
        return "\\" * ((len(mark) - len(text)) // 2) + text
    return mark
