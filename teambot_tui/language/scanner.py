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
    REFERENCE = "reference"
    ESCAPED = "escaped"
    UNARROWED = "unarrowed"
    HALVED = "halved"
    LITERAL = "literal"


NAME: Final = rf"(?:{'|'.join(ALIASES)}|{ID})(?![A-Za-z0-9_])"
_AGENTS = rf"@{NAME}(?:,[ \t]*+@?{NAME})*+"
COMMAND: Final = r"/[A-Za-z][A-Za-z-]*+(?=\s|\Z)"
_AFTER_ARROW = rf"\s*+@{NAME}"

MARKS: Final = re.compile(
    rf"""
    ^(?: (?P<fence>      ```[^\n]*+ (?:\n(?!```)[^\n]*+)*+ (?:\n```[^\n]*+)? )
       | (?P<agents>     {_AGENTS} )
       | (?P<command>    {COMMAND} )
       | (?P<definition> \${ID}[ \t]*+:= | \$?{ID}:" )
       | (?P<escaped>    \\(?=@{NAME}|{COMMAND}) ) )
    | (?=[$\\-])(?:
         (?P<reference>  \${ID} )
       | (?P<arrow>      ->\s*+{_AGENTS} )
       | (?P<halved>     (?:\\\\)*+\\(?:[${{]|->(?={_AFTER_ARROW})) | (?:\\\\)++(?=[${{]|->{_AFTER_ARROW}) )
       | (?P<unarrowed>  ->\s*+\\(?=@{NAME}) )
       | (?P<literal>    \\++ | \$\$++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)

MENTION: Final = re.compile(NAME)
MODEL: Final = re.compile(
    r"[ \t]++(?:--model|-m)(?=[=\s]|\Z)(?:[ \t]*+=?[ \t]*+(?P<model>[A-Za-z0-9](?:[\w.:/@+]|-(?!>))*+))?"
)
JUNK_IN_LIST: Final = re.compile(r",@?[A-Za-z_][\w-]*+|,@")


def unescape(kind: str | None, mark: str) -> str:
    """Return the text that a mark of this kind stands for in a prompt."""
    if kind in (Mark.ESCAPED, Mark.UNARROWED):
        return mark[:-1]
    if kind == Mark.HALVED:
        text = mark.lstrip("\\")
        return "\\" * ((len(mark) - len(text)) // 2) + text
    return mark
