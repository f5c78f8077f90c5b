"""What a task said: as Markdown where that is affordable, as plain lines where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from teambot_tui.ui.widgets.plain_lines import PlainLines
from teambot_tui.ui.widgets.safe_markdown import SafeMarkdown, within_budget

if TYPE_CHECKING:
    from textual.app import ComposeResult


class TaskOutput(Widget):
    """Shows the latest text it was given."""

    DEFAULT_CSS = """
    TaskOutput { height: auto; width: 1fr; }
    TaskOutput > PlainLines { display: none; }
    TaskOutput.-plain > PlainLines { display: block; }
    TaskOutput.-plain > SafeMarkdown { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._wanted = ""
        self._shown = ""
        self._busy = False
        self._searched = False

    def compose(self) -> ComposeResult:
        yield SafeMarkdown()
        yield PlainLines()

    def show(self, text: str) -> None:
        """Show this text; while one is being set, only the latest one waits."""
        self._wanted = text
        if not self._busy and text != self._shown:
            self._busy = True
            self.run_worker(self._catch_up(), group="inspector-output", exit_on_error=False)

    def find(self, needle: str) -> int:
        """Mark a text wherever it is; meanwhile everything is plain. Return how often it is there."""
        self._searched = bool(needle)
        lines = self.query_one(PlainLines)
        plain = self._searched or not within_budget(self._shown)
        self.set_class(plain, "-plain")
        if plain:
            lines.show(self._shown)
        return lines.find(needle)

    @property
    def plain(self) -> bool:
        """Whether the text is too much for Markdown."""
        return self.has_class("-plain")

    async def _catch_up(self) -> None:
        try:
            while self._wanted != self._shown:
                await self._set(self._wanted)
        finally:
            self._busy = False

    async def _set(self, text: str) -> None:
        before, self._shown = self._shown, text
        was_plain = not within_budget(before)
        plain = not within_budget(text)
        self.set_class(plain or self._searched, "-plain")
        if plain or self._searched:
            self.query_one(PlainLines).show(text)
        if plain:
            return
        document = self.query_one(SafeMarkdown)
        if before and not was_plain and text.startswith(before):
            await document.append(text[len(before) :])
        else:
            await document.update(text)
