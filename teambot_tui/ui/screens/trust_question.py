"""The question that a directory with files of its own raises: what each would change, and whether it may.

As with approvals, a key answers only after a moment of quiet, and only once everything has been in view.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from teambot_tui.ui.screens.inbox import QUIET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

    from teambot_tui.agents.changes import Change


class TrustQuestion(ModalScreen[bool]):
    """Answers whether these changes may be made."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "trust", "Trust"),
        Binding("escape,q,n", "dismiss(False)", "Not now"),
    ]

    def __init__(self, changes: Sequence[Change], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._changes = changes
        self._clock = clock
        self._stirred = clock()
        self._is_calm = False

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = Content("Trust the files of this directory?")
            box.border_subtitle = Content("t trusts them as they are · Esc not now · PgDn scrolls")
            yield Static(self._words(), markup=False)

    def _words(self) -> Content:
        lines = [Content("They would change your team. Until you trust them, nothing of them is used.")]
        for change in self._changes:
            lines += [Content(""), Content(change.path).stylize("bold")]
            lines += [Content(f"  {words}") for words in change.words]
        return Content("\n").join(lines)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:  # noqa: ARG002  any key at all
        now = self._clock()
        self._is_calm = now - self._stirred >= QUIET
        self._stirred = now

    def action_trust(self) -> None:
        """Say yes, if all of it was in view."""
        if not self._is_calm:
            return
        box = self.query_one(VerticalScroll)
        if box.scroll_offset.y < box.max_scroll_y:
            self.notify("There is more: PgDn scrolls to the end, then t trusts.", markup=False)
            return
        self.dismiss(True)
