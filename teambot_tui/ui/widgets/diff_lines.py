"""A command or a change to look at before it is allowed: what a diff adds and takes away stands out."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from teambot_tui.ui.widgets.plain_lines import PlainLines

if TYPE_CHECKING:
    from rich.style import Style

_ROLES: Final = {"+": "diff-lines--added", "-": "diff-lines--removed", "@": "diff-lines--place"}


class DiffLines(PlainLines):
    """Shows the text, with colours if it is a diff; the signs at the beginning of its lines stay."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*PlainLines.COMPONENT_CLASSES, *_ROLES.values()}

    _is_diff = False

    def show(self, text: str) -> None:
        """Show this text."""
        self._is_diff = text.startswith("@@ ") or "\n@@ " in text
        super().show(text)

    def row_style(self, row: str) -> Style:
        """Return how a row looks."""
        role = _ROLES.get(row[:1]) if self._is_diff else None
        if role is None:
            return self.rich_style
        return self.rich_style + self.get_component_rich_style(role, partial=True)
