"""An answer as Markdown, within a budget: what is larger, or breaks the renderer, is shown as it was written.

Nothing here can be clicked, and no character comes back through an entity that the door had kept out.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from rich.console import Console
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from teambot_tui.engine.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import ConsoleOptions, JustifyMethod, RenderResult
    from rich.segment import Segment

Parts: TypeAlias = tuple[tuple[str, str | Style], ...]
"""A row's pieces of text, each with the role or the style it is drawn in."""

CHARACTERS: Final = 8 * 1024
_LINES: Final = 200
_NARROWEST: Final = 20
_ROLES: Final = {
    "markdown.h1": "feed--heading",
    "markdown.h2": "feed--heading",
    "markdown.h3": "feed--heading",
    "markdown.h4": "feed--heading",
    "markdown.h5": "feed--heading",
    "markdown.h6": "feed--heading",
    "markdown.code": "feed--code",
    "markdown.code_block": "feed--code",
    "markdown.block_quote": "feed--quote",
    "markdown.item.bullet": "feed--marker",
    "markdown.item.number": "feed--marker",
    "markdown.list": "feed--output",
    "markdown.link": "feed--link",
    "markdown.link_url": "feed--link",
    "markdown.hr": "feed--muted",
    "markdown.table.border": "feed--muted",
    "markdown.table.header": "feed--heading",
}


def render(text: str, width: int, styles: Mapping[str, Style]) -> list[Parts] | None:
    """Return a text's rows as Markdown; None where it is better shown as it is."""
    if width < _NARROWEST or len(text) > CHARACTERS or text.count("\n") >= _LINES:
        return None
    theme = Theme({name: styles[role] for name, role in _ROLES.items()}, inherit=True)
    console = Console(
        file=StringIO(), width=width, force_terminal=True, color_system="truecolor", theme=theme, markup=False
    )
    try:
        lines = console.render_lines(_Answer(text, hyperlinks=False), pad=False)
    except Exception:  # noqa: BLE001  a text that breaks the renderer is still a text
        return None
    rows: list[Parts] = [tuple(_clean(segment) for segment in line if not segment.control) for line in lines]
    return [row for row, before in zip(rows, [(), *rows], strict=False) if _words(row) or _words(before)]


def _words(row: Parts) -> str:
    return "".join(text for text, _ in row).strip()


def _clean(segment: Segment) -> tuple[str, Style]:
    text = printable(segment.text).replace("\n", " ").replace("\t", " ")
    return text, (segment.style or Style.null()).clear_meta_and_links()


class _Title(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Code(CodeBlock):
    """A block of code in one colour: no lexer is worth a pause."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Text(str(self.text).rstrip().expandtabs(4), overflow="fold", no_wrap=False)
        yield Padding(code, (0, 1), style=console.get_style("markdown.code_block"))


class _Answer(Markdown):
    """Markdown whose lines stay lines: agents do not wrap, so a break is meant as one."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Title,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, text: str, *, hyperlinks: bool) -> None:
        super().__init__(text, hyperlinks=hyperlinks)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"
