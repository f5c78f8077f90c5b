"""The marks of the language, found in one pass by one pattern; whatever lies between two marks is text.

Every repetition is possessive and every run of a repeated character is taken as one mark, so no character is
read more than a few times: a megabyte of anything is linear.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from teambot_tui.language.names import ALIASES, ID, VARIABLE


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
FENCE: Final = r"```[^\n]*+(?:\n(?!```)[^\n]*+)*+(?:\n```[^\n]*+)?"
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
      (?P<reference>  \${ID} )
    | (?P<variable>   {BRACES} )
    | (?P<directive>  {DIRECTIVE} )
"""
# A backslash before braces makes all of them literal, so that `\{{x}}` and `\${x}` do not leave a variable.
_ESCAPABLE = r"\$?\{++|\$"
_LINES = rf"""
    ^(?: (?P<fence>      {FENCE} )
       | (?P<agents>     {_AGENTS} )
       | (?P<command>    {COMMAND} )
       | (?P<definition> {_DEFINITION} )
       | (?P<call>       {CALL} )
       | (?P<escaped>    \\++(?=@{NAME}|{COMMAND}) ) )
"""

MARKS: Final = re.compile(
    rf"""
    {_LINES}
    | (?=[$\\{{-])(?:
         {_INSERTED}
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
    | (?P<halved>  (?:\\\\)*+\\(?:{_ESCAPABLE}) | (?:\\\\)++(?=[${{]) )
    | (?P<literal> \\++ )
    """,
    re.MULTILINE | re.VERBOSE,
)
MARKS_IN_FILE: Final = re.compile(
    rf"""
    ^(?P<fence> {FENCE} )
    | (?=[$\\{{])(?:
         {_INSERTED}
       | (?P<halved>  (?:\\\\)*+\\(?:{_ESCAPABLE}) | (?:\\\\)++(?=[${{]) )
       | (?P<literal> \\++ | \$\$++ | \{{++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)

# A fence in a string needs an end, and its last line ends with the ticks: what closes the string may follow.
STRING_FENCE: Final = r"```[^\n]*+(?:\n(?!```)[^\n]*+)*+\n`{3,}+"
_CHARACTERS = r'(?:\\["\\n])++'
MARKS_IN_STRING: Final = re.compile(
    rf"""
    ^(?P<fence> {STRING_FENCE} )
    | (?=[$\\{{])(?:
         {_INSERTED}
       | (?P<characters> {_CHARACTERS} )
       | (?P<halved>     \\(?:{_ESCAPABLE}) )
       | (?P<literal>    \\ | \$\$++ | \{{++ ) )
    """,
    re.MULTILINE | re.VERBOSE,
)
_STRING = rf'(?:[^"\\\n]++|\\[^\n]?+|\n(?:{STRING_FENCE})?+)*+'
STRING: Final = re.compile(_STRING)
"""What stands between the quotes; if no quote follows it, the string is never closed."""
_RAW_OR_CHARACTERS = re.compile(rf"(?<=\n){STRING_FENCE}|(?P<characters>{_CHARACTERS})")
_CHARACTER = re.compile(r"\\(.)")

BEGINS_STATEMENT: Final = re.compile(rf"^(?:@{NAME}|{COMMAND}|{_DEFINITION}|{CALL})", re.MULTILINE)
BEGINS_STAGE: Final = re.compile(_ARROW)
CAPTURE: Final = re.compile(r":(?P<name>\w*+)")
AFTER_CALL: Final = re.compile(r"\s*+(?P<background>&?+)\s*+")
BLANKS: Final = re.compile(r"\s*+")
WORD: Final = re.compile(r"\S{1,64}")
OPENING: Final = re.compile(r"\s*+(?P<brace>\{?+)")
_KEY = r"[A-Za-z_][\w-]*+"
FIELD: Final = re.compile(
    rf"""
    \s*+(?: (?P<key> {_KEY} | "{_KEY}" )
    (?:\s*+ (?P<colon> : )
    (?:\s*+ (?P<quote> ") (?P<value> {_STRING} ) (?P<closed> "?+ ) )?+ )?+ )?+
    \s*+ (?P<end> [,}}]?+ )
    """,
    re.VERBOSE,
)
"""As much of `key: "value",` as is there; what is missing tells what is wrong."""

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
    if kind == Mark.HALVED:
        text = mark.lstrip("\\")
        return "\\" * ((len(mark) - len(text)) // 2) + text
    if kind in (Mark.ESCAPED, Mark.UNARROWED):
        text = mark.rstrip("\\")
        return text + "\\" * ((len(mark) - len(text)) // 2)
    if kind == Mark.CHARACTERS:
        return _CHARACTER.sub(lambda found: "\n" if found[1] == "n" else found[1], mark)
    return mark


def unquote(string: str) -> str:
    """Return the text that a string without its quotes stands for, where nothing but escapes is syntax."""
    return _RAW_OR_CHARACTERS.sub(lambda found: unescape(found.lastgroup, found[0]), string)
