"""Markdown line by line: what an agent says looks the same while it speaks and when it is done.

A line is read on its own, but for code blocks, so a further word costs no more than the line it belongs to.
Nothing here can be clicked, and no entity is decoded: no character comes back that the door had kept out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Parts: TypeAlias = tuple[tuple[str, str], ...]
"""A row's pieces of text, each with the role it is drawn in."""


class MarkdownPiece(NamedTuple):
    """Characters of the text from `start` to `end`, what is shown for them, and in which role."""

    start: int
    end: int
    text: str
    role: str

    @property
    def is_whole(self) -> bool:
        """Whether it cannot be cut: what is shown is not what is written."""
        return len(self.text) != self.end - self.start


LONGEST_LINE: Final = 2_000
"""A longer line is shown as it was written."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_HEADING: Final = re.compile(r" {0,3}(#{1,6}) +")
_ITEM: Final = re.compile(r"( *)([-*+]|\d{1,4}[.)]) +(\[[ xX]\] )?")
_QUOTE: Final = re.compile(r" {0,3}>[> ]*")
_RULE: Final = re.compile(r" {0,3}([-*_])( *\1){2,} *$")
_SPECIAL: Final = re.compile(r"[`*_~\[!\\|]")
_LINK: Final = re.compile(r"!?\[([^\[\]]{1,200})\]\(([^()\s]{1,500})\)")
_TICKS: Final = re.compile(r"`+")
_PAIRS: Final = (("**", "strong"), ("__", "strong"), ("~~", "muted"), ("*", "emphasis"), ("_", "emphasis"))
_DEEPEST: Final = 3
_TRIES: Final = 8


def fence_of(line: str) -> str:
    """Return the fence that a line is, or nothing."""
    found = _FENCE.match(line)
    return found[1] if found else ""


def closes(line: str, fence: str) -> bool:
    """Whether a line ends the code block that this fence began."""
    found = _FENCE.match(line)
    return bool(found and not found[2].strip() and found[1].startswith(fence))


def pieces(line: str, *, is_open: bool = False) -> tuple[list[MarkdownPiece], int]:
    """Return the pieces of a line outside of code, and how far its further rows are indented.

    In a line that is still being said, what was opened may be closed by what comes.
    """
    if _RULE.match(line):
        return [MarkdownPiece(0, len(line), "───", "feed--muted")], 0
    if found := _HEADING.match(line):
        return [
            MarkdownPiece(0, found.end(), "", ""),
            *_inline(line, found.end(), len(line), "heading", is_open),
        ], 0
    if found := _ITEM.match(line):
        start, marker = len(found[1]), found[2]
        sign = marker if marker[0].isdigit() else "•"
        shown = [MarkdownPiece(0, start, line[:start], "feed--output")] if start else []
        shown.append(MarkdownPiece(start, start + len(marker), sign, "feed--marker"))
        after = start + len(marker)
        shown.append(MarkdownPiece(after, after + 1, " ", "feed--output"))
        body = found.end() - len(found[3] or "")
        if body > after + 1:
            shown.append(MarkdownPiece(after + 1, body, "", ""))
        if found[3]:
            shown.append(MarkdownPiece(body, found.end(), line[body : found.end()], "feed--marker"))
        return [*shown, *_inline(line, found.end(), len(line), "output", is_open)], after + 1
    if found := _QUOTE.match(line):
        mark = MarkdownPiece(0, found.end(), "│ ", "feed--muted")
        return [mark, *_inline(line, found.end(), len(line), "quote", is_open)], 2
    return list(_inline(line, 0, len(line), "output", is_open)), 0


def _inline(
    line: str, start: int, end: int, role: str, is_open: bool, depth: int = 0
) -> Iterator[MarkdownPiece]:
    plain = at = start
    while at < end:
        special = _SPECIAL.search(line, at, end)
        if special is None:
            break
        at = special.start()
        found = _span(line, at, end, role, is_open, depth)
        if not found:
            at += 1
            continue
        if plain < at:
            yield MarkdownPiece(plain, at, line[plain:at], f"feed--{role}")
        yield from found
        plain = at = found[-1].end
    if plain < end:
        yield MarkdownPiece(plain, end, line[plain:end], f"feed--{role}")


def _span(line: str, at: int, end: int, role: str, is_open: bool, depth: int) -> list[MarkdownPiece]:
    """Return the pieces of what begins here, if anything does."""
    sign = line[at]
    if sign == "\\":
        if at + 1 < end and line[at + 1] in "\\`*_{}[]()#+-.!|~>":
            return [
                MarkdownPiece(at, at + 1, "", ""),
                MarkdownPiece(at + 1, at + 2, line[at + 1], f"feed--{role}"),
            ]
        return []
    if sign == "|":
        if line.lstrip().startswith("|"):
            return [MarkdownPiece(at, at + 1, "│", "feed--muted")]
        return []
    if sign == "`":
        return _code(line, at, end, is_open)
    if sign in "[!":
        found = _LINK.match(line, at, end)
        if found is None:
            return []
        begin, stop = found.span(1)
        target = "" if found[2] == found[1] else f" ({found[2]})"
        return [
            MarkdownPiece(at, begin, "", ""),
            MarkdownPiece(begin, stop, found[1], "feed--link"),
            MarkdownPiece(stop, found.end(), target, "feed--muted"),
        ]
    for pair, inner in _PAIRS:
        if not line.startswith(pair, at) or depth >= _DEEPEST:
            continue
        begin = at + len(pair)
        if begin >= end or line[begin].isspace() or (sign == "_" and at and line[at - 1].isalnum()):
            return []
        stop = line.find(pair, begin + 1, end)
        for _ in range(_TRIES):
            if stop < 0 or not (
                line[stop - 1].isspace() or (len(pair) == 1 and line[stop + 1 : stop + 2] == sign)
            ):
                break
            stop = line.find(pair, stop + len(pair), end)
        else:
            return []
        if stop < 0 or (sign == "_" and line[stop + len(pair) : stop + len(pair) + 1].isalnum()):
            if not is_open or len(pair) == 1 or stop >= 0:
                return []
            stop = end
        style = role if role == "heading" else inner
        return [
            MarkdownPiece(at, begin, "", ""),
            *_inline(line, begin, stop, style, is_open, depth + 1),
            MarkdownPiece(stop, min(end, stop + len(pair)), "", ""),
        ]
    return []


def _code(line: str, at: int, end: int, is_open: bool) -> list[MarkdownPiece]:
    ticks = _TICKS.match(line, at, end)
    assert ticks is not None, "it begins with one"
    begin = ticks.end()
    stop = line.find(ticks[0], begin, end)
    if stop < 0 and not is_open:
        return [MarkdownPiece(at, begin, ticks[0], "feed--output")]
    stop = end if stop < 0 else stop
    return [
        MarkdownPiece(at, begin, "", ""),
        MarkdownPiece(begin, stop, line[begin:stop], "feed--code"),
        MarkdownPiece(stop, min(end, stop + len(ticks[0])), "", ""),
    ]
