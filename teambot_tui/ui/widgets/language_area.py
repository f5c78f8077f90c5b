"""A text area that shows the language as it is understood and holds texts of any size exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import TextArea

from teambot_tui.engine.text import printable
from teambot_tui.language.span import Span
from teambot_tui.ui.glyphs import Glyphs, size
from teambot_tui.ui.pastes import LIMIT, Pastes, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.style import Style
    from textual.document._document import EditResult, Location
    from textual.document._edit import Edit
    from textual.geometry import Size


class LanguageArea(TextArea):
    """The colours, the prompt sign, the hint for an empty text, the marked error; no keys of its own."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "input--prompt",
        "input--hint",
        "input--agent",
        "input--reference",
        "input--reference-bound",
        "input--reference-waiting",
        "input--reference-unknown",
        "input--variable",
        "input--directive",
        "input--arrow",
        "input--background",
        "input--command",
        "input--definition",
        "input--field",
        "input--string",
        "input--fence",
        "input--escape",
        "input--option",
        "input--paste",
        "input--error",
        "input--caret",
    }
    references: reactive[Mapping[str, str]] = reactive(dict, init=False)
    """Agent → `bound`, `waiting` or `unknown`: what its references in the text would be."""

    def __init__(self, glyphs: Glyphs, *, placeholder: str = "") -> None:
        self._glyphs = glyphs
        self._pastes = Pastes()
        self._colours: dict[int, list[tuple[int, int, str]]] | None = None
        self._whole: str | None = None
        self._error: Span | None = None
        self._offered = ""
        self._offering = False
        super().__init__(id="input", highlight_cursor_line=False, placeholder=Content(printable(placeholder)))
        self.cursor_blink = False
        self.match_cursor_bracket = False

    # The text

    @property
    def shown(self) -> str:
        """The text as it is drawn: a big paste is one character of it."""
        return self.document.text

    @property
    def text(self) -> str:
        """The exact text."""
        if self._whole is None:
            self._whole = self._pastes.unfold(self.shown)
        return self._whole

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(value)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is typed."""
        return self.document.line_count == 1 and not self.document[0]

    @property
    def selected_text(self) -> str:
        """The exact text that is selected."""
        return self._pastes.unfold(super().selected_text)

    def load_text(self, text: str) -> None:
        """Replace everything, and leave the cursor at the end."""
        self._pastes.clear()
        self._whole = None
        super().load_text(self._pastes.fold_middle(printable(text)))
        self.move_cursor(self.document.end)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text; what is offered for an empty one is remembered."""
        self._offering = True
        try:
            return super().edit(edit)
        finally:
            self._offering = False

    def update_suggestion(self) -> None:
        """Follow a change of the text: Textual calls this after each one."""
        if self._error is not None:
            self.refresh(layout=True)
        self._whole = self._colours = self._error = None
        self._offering = True
        self.suggestion = self._offered if self.is_empty else ""
        self._offering = False
        self._tell_of_pastes()

    def watch_suggestion(self, suggestion: str) -> None:
        """Keep what the app offers for an empty text; it is drawn only there."""
        if not self._offering:
            self._offered = printable(suggestion)
            self._offering = True
            self.suggestion = self._offered if self.is_empty else ""
            self._offering = False

    def show_error(self, span: Span | None) -> None:
        """Mark a place of the text until the next change."""
        self._error = None if span is None else self._pastes.shown_span(self.shown, span)
        self._colours = None
        self._repaint()
        self.refresh(layout=True)

    def take_in(self, foreign: str) -> None:
        """Insert a text from outside in place of the selection: cleaned, and folded if it is big."""
        room = LIMIT - sum(map(len, self.document.lines[:LIMIT]))
        self._replace_via_keyboard(self._pastes.fold(printable(foreign), room=room), *self.selection)

    def _tell_of_pastes(self) -> None:
        folded = self._pastes.folded(self.shown) if len(self.shown) <= 2 * LIMIT else []
        glyph = self._paste_glyph
        told = (f"{glyph} {size(len(text))}, {_lines(text)}" for text in folded[:3])
        self.border_subtitle = Content(" ".join(told) + (" …" if len(folded) > 3 else ""))

    def _index(self, location: Location) -> int:
        return self.document.get_index_from_location(location)  # type: ignore[attr-defined, no-any-return]

    def _location(self, index: int) -> Location:
        return self.document.get_location_from_index(index)  # type: ignore[attr-defined, no-any-return]

    # Drawing

    @property
    def gutter_width(self) -> int:
        """Room for the prompt sign."""
        return 2

    @property
    def _paste_glyph(self) -> str:
        return "#" if self._glyphs.ascii_only else "▤"

    def watch_references(self) -> None:
        """Colour the references anew."""
        self._colours = None
        self._repaint()

    def _repaint(self) -> None:
        self.notify_style_update()
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many rows there are, with one for the caret under an error in the last."""
        rows = super().get_content_height(container, viewport, width)
        return rows + (self._caret() is not None)

    def _caret(self) -> tuple[int, int] | None:
        """Where the caret begins, in cells, and how wide it is; None if no error is in the last row."""
        if self._error is None or self.is_empty:
            return None
        start, end = self._error
        begin = self.wrapped_document.location_to_offset(self._location(min(start, len(self.shown))))
        finish = self.wrapped_document.location_to_offset(self._location(min(end, len(self.shown))))
        if begin.y != self.wrapped_document.height - 1:
            return None
        return begin.x, max(1, finish.x - begin.x if finish.y == begin.y else 1)

    def render_line(self, y: int) -> Strip:
        """Draw a row, with the prompt sign before the first, and a caret under the error."""
        base = self.rich_style
        caret = self._caret()
        if caret is not None and y + self.scroll_offset.y == self.wrapped_document.height:
            blank = Segment(" " * (self.gutter_width + caret[0]), base)
            mark = Segment("^" * caret[1], base + self._style("caret"))
            return Strip([blank, mark]).adjust_cell_length(self.scrollable_content_region.width, base)
        width = max(0, self.scrollable_content_region.width - self.gutter_width)
        strip = self._render_hint(y, width) if self.is_empty else super().render_line(y)
        sign = f"{self._glyphs['prompt']} " if y + self.scroll_offset.y == 0 else "  "
        prompt = Segment(sign, self._style("prompt"))
        return Strip.join([Strip([prompt], 2), strip.adjust_cell_length(width, base)])

    def _render_hint(self, y: int, width: int) -> Strip:
        if y:
            return Strip.blank(width, self.rich_style)
        words = self.suggestion or str(self.placeholder)
        hint = Text(words.partition("\n")[0] or " ", style=self._style("hint"), no_wrap=True, end="")
        if self.suggestion:
            hint.append("  Tab")
        hint.truncate(width, overflow="ellipsis")
        if self.has_focus:
            hint.stylize(self.get_component_rich_style("text-area--cursor"), 0, 1)
        return Strip(hint.render(self.app.console)).apply_style(self.rich_style)

    def get_line(self, line_index: int) -> Text:
        """Return a row's text with its colours."""
        line = Text(drawn(self.document.get_line(line_index), self._paste_glyph), end="", no_wrap=True)
        if self._colours is None:
            self._colours = self._colour()
        for start, end, name in self._colours.get(line_index, ()):
            line.stylize(self._style(name), start, end)
        return line

    def _colour(self) -> dict[int, list[tuple[int, int, str]]]:
        shown = self.shown
        if not shown:
            return {}
        from teambot_tui.language.highlight import highlight  # noqa: PLC0415  the first picture shows no text

        spans: list[tuple[Span, str]] = []
        if not self._pastes.folded(shown):  # what is folded away decides what the rest means
            for found in highlight(shown):
                state = self.references.get(shown[found.span.start + 1 : found.span.end], "")
                known = found.kind == "reference" and state in ("bound", "waiting", "unknown")
                spans.append((found.span, f"reference-{state}" if known else found.kind))
        else:
            for index, (character, sign) in enumerate(zip(shown, drawn(shown, "\0"), strict=True)):
                if character != sign:
                    spans.append((Span(index, index + 1), "paste"))
        if self._error is not None:
            start, end = self._error
            start = min(start, max(0, len(shown) - 1))
            spans.append((Span(start, max(end, start + 1)), "error"))
        return _by_line(spans, shown)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"input--{name}")


def _lines(text: str) -> str:
    count = text.count("\n") + 1
    return "1 line" if count == 1 else f"{count:,} lines"


def _by_line(spans: Sequence[tuple[Span, str]], text: str) -> dict[int, list[tuple[int, int, str]]]:
    """Cut spans of a text into spans of its lines."""
    lines: dict[int, list[tuple[int, int, str]]] = {}
    row, begin = 0, 0
    for (start, end), name in sorted(spans, key=lambda found: found[0]):
        while (next_line := text.find("\n", begin, start)) >= 0:
            row, begin = row + 1, next_line + 1
        at, first = row, begin
        while True:
            stop = text.find("\n", max(first, start if at == row else first), end)
            lines.setdefault(at, []).append(
                (max(0, start - first), (end if stop < 0 else stop) - first, name)
            )
            if stop < 0:
                break
            at, first = at + 1, stop + 1
    return lines
