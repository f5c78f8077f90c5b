"""A few tasks, one per line; whatever changes, the cursor stays on its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import OptionList
from textual.widgets.option_list import Option

from teambot_tui.ui.contents import looks_like

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.content import Content

    from teambot_tui.engine.ids import TaskId


class TaskList(OptionList):
    """Shows the tasks."""

    DEFAULT_CSS = """
    TaskList, TaskList:focus { height: auto; max-height: 12; border: none; padding: 0; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002  as every widget calls it
        super().__init__(id=id, markup=False)
        self._shown: tuple[tuple[TaskId, Content], ...] = ()
        self.names: tuple[TaskId, ...] = ()

    def show(self, lines: Iterable[tuple[TaskId, Content]]) -> None:
        """Show these tasks and no others."""
        wanted = tuple(lines)
        names = tuple(name for name, _ in wanted)
        if names == self.names and all(
            looks_like(new, old) for (_, new), (_, old) in zip(wanted, self._shown, strict=True)
        ):
            return
        self._shown = wanted
        if names == self.names:
            for index, (_, content) in enumerate(wanted):
                self.replace_option_prompt_at_index(index, content)
            return
        here = self.chosen
        self.names = names
        self.set_options(Option(content) for _, content in wanted)
        if here in names:
            self.highlighted = names.index(here)
        elif names and self.has_focus:
            self.highlighted = 0

    def on_focus(self) -> None:
        """Let the cursor be seen."""
        if self.highlighted is None and self.names:
            self.highlighted = 0

    @property
    def chosen(self) -> TaskId | None:
        """The task the cursor is on."""
        index = self.highlighted
        return self.names[index] if index is not None and index < len(self.names) else None
