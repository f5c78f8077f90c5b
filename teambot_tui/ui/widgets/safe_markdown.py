"""Markdown from an agent that does nothing but show: it is never markup, and its links lead nowhere.

It is shown only within a budget, because a document can be legal and still stop the screen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownTable, MarkdownTableContent

from teambot_tui.engine.text import printable, size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it.token import Token
    from markdown_it.utils import EnvType
    from textual.app import ComposeResult
    from textual.widgets.markdown import MarkdownBlock

_BYTES: Final = 8 * 1024
_BLOCKS: Final = 200


class _Harmless(MarkdownIt):
    """Parses Markdown whose links and images are words, and lets no character in by the back door."""

    def __init__(self) -> None:
        super().__init__("gfm-like")

    def parse(self, src: str, env: EnvType | None = None) -> list[Token]:
        """Return the tokens of a document."""
        tokens = super().parse(src, env)
        for token in tokens:
            # An entity such as `&#x202e;` becomes a character only here.
            token.content = printable(token.content)
            token.info = printable(token.info)
            if token.children is not None:
                token.children = list(_as_words(token.children))
        return tokens


def _as_words(children: Sequence[Token]) -> Iterable[Token]:
    href = said = ""
    for child in children:
        child.content = printable(child.content)
        match child.type:
            case "link_open":
                href, said = printable(str(child.attrs.get("href", ""))), ""
                continue
            case "link_close":
                if href and href.removeprefix("mailto:").removeprefix("http://") != said:
                    yield _word(child, f" ({href})")
                href = ""
                continue
            case "image":
                yield _word(child, f"[image: {child.content}]")
                continue
            case "softbreak":
                child.type = "hardbreak"  # agents do not wrap: a line of its own is meant to be one
            case "text" | "code_inline":
                said += child.content
        yield child


def _word(token: Token, text: str) -> Token:
    return replace(token, type="text", tag="", nesting=0, attrs={}, children=None, content=text)


class _TableContent(MarkdownTableContent):
    def compose(self) -> ComposeResult:
        for cell in super().compose():
            # The tooltip would be parsed as markup.
            cell.tooltip = None
            yield cell


class _Table(MarkdownTable):
    def compose(self) -> ComposeResult:
        self._headers, self._rows = self._get_headers_and_rows()
        yield _TableContent(self._headers, self._rows)


class SafeMarkdown(Markdown):
    """Markdown from an agent."""

    BLOCKS: dict[str, type[MarkdownBlock]] = {**Markdown.BLOCKS, "table_open": _Table}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(parser_factory=_Harmless, open_links=False)


def within_budget(text: str) -> bool:
    """Whether a text may be shown as Markdown without stopping the screen."""
    if size_in_bytes(text) > _BYTES:
        return False
    blocks = sum(token.nesting >= 0 and token.type != "inline" for token in _Harmless().parse(text))
    return blocks <= _BLOCKS
