"""What is put into a prompt cannot pass for one of the lines by which we mark what we put in.

An agent believes the lines that say whose words follow. So a line of a foreign text that reads like one of
them is indented by one space, however it is disguised: full-width or look-alike characters, invisible ones,
other kinds of blanks and line ends.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_HEADING: Final = re.compile(
    r"={2,} ?(?:output from|your task)"
    r"|={3,}[^=].*={3,}"
    r"|-{2,} ?(?:output from task|end output)"
    r"|\[ ?(?:output from|changes by|files changed by|previous step result|current task|shared context)"
)
"""Our own lines, in the shape in which `_seen` returns a line."""
_LINE: Final = re.compile("[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]++")
_FIRST: Final = "[=-"
_BY_CATEGORY: Final = {"Pd": "-", "Ps": "[", "Pe": "]", "Zs": " ", "Cf": "", "Cc": "", "Mn": "", "Me": ""}
_LOOK_ALIKES: Final = str.maketrans(
    "═꞊᐀⹀゠\u115f\u1160\u2800аеорсухіѕктмнвгԁոսյαεορτυκιν",
    "=====   aeopcyxisktmhbrdnujaeoptukiv",
)
"""Letters of other alphabets, and signs, that look like those of our lines; blanks that are no blanks."""


def as_data(text: str) -> str:
    """Return a foreign text with every line indented that reads like one of ours."""
    return _LINE.sub(lambda line: f" {line[0]}" if _is_heading(line[0]) else line[0], text)


def _is_heading(line: str) -> bool:
    first = line[0]
    if first.isascii() and first not in _FIRST:
        return False  # nearly every line: its first character is none of ours, or it is indented already
    return _HEADING.match(_seen(line)) is not None


def _seen(line: str) -> str:
    """Return a line as it looks to a reader, in the plainest characters there are for that."""
    plain = unicodedata.normalize("NFKD", line).casefold().translate(_LOOK_ALIKES)
    if not plain.isascii():
        plain = "".join(
            each if each.isascii() else _BY_CATEGORY.get(unicodedata.category(each), each) for each in plain
        )
    return " ".join(plain.split())
