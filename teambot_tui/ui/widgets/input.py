"""Where the person types: the language in colour, completion, history, and text that is never lost."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual.actions import SkipAction
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from teambot_tui.ui.editor import EditorError, edit_text
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.history import History, Recall
from teambot_tui.ui.keys import bindings, bound
from teambot_tui.ui.widgets.completing import CompletingArea

if TYPE_CHECKING:
    from pathlib import Path

    from textual import events

_SEARCH_ACTIONS: Final = frozenset(
    {"send", "close", "delete_left", "previous", "next", "search", "interrupt", "complete(True)"}
)
"""What means something of its own while the history is searched; anything else ends that first."""


class InputBar(CompletingArea):
    """A text of one or more rows that Enter sends."""

    DEFAULT_CSS = """
    InputBar {
        height: auto;
        max-height: 10;
        border: round $border-blurred;
        padding: 0;
        &:focus { border: round $border; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("input"),
        bound("interrupt", "interrupt"),
        Binding("super+c", "interrupt", show=False),
        bound("back", "close"),
        bound("scroll-up", "scroll_output(-1)"),
        bound("scroll-down", "scroll_output(1)"),
        bound("follow", "end"),
        bound("context", "pass_on"),
        Binding("ctrl+z", "pass_on", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """Enter was pressed. `accept` takes the text away; until then it stays."""

        text: str

    @dataclass
    class Edited(Message):
        """The text has changed; at most once a frame."""

        text: str

    @dataclass
    class Requested(Message):
        """A key asks for an action of the table that is not the input's."""

        action: str

    def __init__(
        self,
        glyphs: Glyphs | None = None,
        past: History | None = None,
        *,
        folder: Path | None = None,
        placeholder: str = "",
    ) -> None:
        self._edited_is_due = False
        self._unanswered: list[str] = []
        """What was sent and neither accepted nor refused yet: it still stands before what is typed."""
        super().__init__(glyphs or Glyphs(), folder, placeholder=placeholder)
        self.past = past or History()
        self._recall = Recall(self.past)

    async def on_mount(self) -> None:
        self._bindings.apply_keymap(self.app._keymap)
        self.run_worker(self.past.load, thread=True, group="history", name="load")

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self.past.flush)

    # The text comes and goes

    def update_suggestion(self) -> None:
        """Tell of a change, once for all of a frame."""
        super().update_suggestion()
        if not self._edited_is_due:
            self._edited_is_due = True
            self.call_after_refresh(self._tell_edited)

    def _tell_edited(self) -> None:
        self._edited_is_due = False
        self.post_message(self.Edited(self.text))

    def accept(self, sent: str | None = None) -> None:
        """Take the sent text away and remember it; what was typed since then stays."""
        if sent is None:
            sent = self._unanswered[0] if self._unanswered else self.text
        if sent in self._unanswered:
            self._unanswered.remove(sent)
        self._remember(sent)
        text = self.text
        self.load_text(text.removeprefix(sent) if text.startswith(sent) else text.removesuffix(sent))

    def refuse(self) -> None:
        """Keep the sent text, to be mended."""
        self._unanswered.clear()

    def clear_to_history(self) -> None:
        """Empty the input; Up brings the text back, in this session."""
        self._remember(self.text, keep=False)
        self.load_text("")

    def _remember(self, text: str, *, keep: bool = True) -> None:
        self._recall.restart()
        self.past.add(text, keep=keep)
        if keep:
            self.run_worker(self.past.flush, thread=True, group="history", name="flush")

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # a binding, not a character
        elif event.key == "shift+\r":
            event.prevent_default().stop()
            self.action_newline()
        elif self._recall.words is not None and event.is_printable and event.character:
            event.prevent_default().stop()
            self._show_found(self._recall.look_for(self._recall.words + event.character))
        elif event.character == "?" and self.is_empty:
            event.prevent_default().stop()
            self.post_message(self.Requested("help"))
        elif self._recall.is_searching and not self._bound_to(event.key) & _SEARCH_ACTIONS:
            self._end_search()
        if await self._run_binding(event.key):
            event.prevent_default().stop()

    def _bound_to(self, key: str) -> set[str]:
        return {binding.action for binding in self._bindings.key_to_bindings.get(key, ())}

    async def _run_binding(self, key: str) -> bool:
        """Run what a key is bound to here at once, and tell whether it was bound.

        Textual runs bindings only after the key has travelled up to the app; characters that came in the same
        burst, over a slow line or from a program, would overtake it.
        """
        for binding in self._bindings.key_to_bindings.get(key, ()):
            if not binding.priority and await self.app.run_action(binding.action, self):
                return True
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default().stop()
        self._end_search()
        self.take_in(event.text)

    def action_paste(self) -> None:
        """Paste what the app copied last."""
        self._end_search()
        self.take_in(self.app.clipboard)

    def action_cut(self) -> None:
        """Copy what is selected and take it away."""
        if selected := self.selected_text:
            self.app.copy_to_clipboard(selected)
            self._delete_via_keyboard(*self.selection)

    def action_send(self) -> None:
        """Take what is chosen, or send the text, or, behind a backslash, begin a new row."""
        if self._recall.is_searching:
            self._end_search()
        elif self._list.is_open:
            self.take(self._list.choice)
        elif self._character_before_cursor() == "\\":
            row, column = self.cursor_location
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
        # Keys that come in one burst are typed before anyone has answered what was sent.
        elif (text := self.text.removeprefix("".join(self._unanswered))).strip():
            self._unanswered.append(text)
            self.post_message(self.Submitted(text))

    def _character_before_cursor(self) -> str:
        row, column = self.cursor_location
        return self.document[row][column - 1 : column] if column and self.selection.is_empty else ""

    def action_newline(self) -> None:
        """Begin a new row."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_delete_left(self) -> None:
        """Delete a character, of what is searched for while searching."""
        if self._recall.words is not None:
            self._show_found(self._recall.look_for(self._recall.words[:-1]))
        else:
            super().action_delete_left()

    def action_interrupt(self) -> None:
        """Copy the selection, or clear the text, or let the app decide."""
        if self._recall.is_searching:
            self._leave_search()
        elif selected := self.selected_text:
            self.app.copy_to_clipboard(selected)
        elif self.screen.get_selected_text():
            raise SkipAction
        elif not self.is_empty:
            self.clear_to_history()
        else:
            self.post_message(self.Requested("interrupt"))

    def action_leave(self) -> None:
        """Ask to quit on an empty input, else delete to the right."""
        if self.is_empty:
            self.post_message(self.Requested("quit"))
        else:
            self.action_delete_right()

    def action_close(self) -> None:
        """Close the list or leave the search; otherwise Esc is not ours."""
        if self._recall.is_searching:
            self._leave_search()
        elif self._list.is_open:
            self._list.close()
        else:
            raise SkipAction

    def action_scroll_output(self, direction: int) -> None:
        """Ask for another page of the output."""
        self.post_message(self.Requested("scroll-up" if direction < 0 else "scroll-down"))

    def action_end(self) -> None:
        """Go to the end of the row; on an empty input, follow the output."""
        if self.is_empty:
            self.post_message(self.Requested("follow"))
        else:
            self.action_cursor_line_end()

    def action_step(self, by: int) -> None:
        """Go a word further; on an empty input, to another agent."""
        if self.is_empty:
            self.post_message(self.Requested("previous-agent" if by < 0 else "next-agent"))
        elif by < 0:
            self.action_cursor_word_left()
        else:
            self.action_cursor_word_right()

    def action_pass_on(self) -> None:
        """Leave a key of the text area to the app."""
        raise SkipAction

    def action_edit_outside(self) -> None:
        """Edit the text in the user's editor."""
        try:
            edited = edit_text(self.text, os.environ, self.app.suspend)
        except (EditorError, SuspendNotSupported) as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.app.refresh(layout=True)
        if edited != self.text:
            self.load_text(edited)

    # History

    def action_previous(self) -> None:
        """Choose above, or go a row up, or back in the history."""
        if self._recall.is_searching:
            self.action_search()
        elif self._list.is_open:
            self._list.choose(-1)
        elif self.navigator.is_first_wrapped_line(self.cursor_location):
            self._go(1)
        else:
            self.action_cursor_up()

    def action_next(self) -> None:
        """Choose below, or go a row down, or forward in the history."""
        if self._recall.is_searching:
            self._show_found(self._recall.look_newer())
        elif self._list.is_open:
            self._list.choose(1)
        elif self.navigator.is_last_wrapped_line(self.cursor_location):
            self._go(-1)
        else:
            self.action_cursor_down()

    def _go(self, back: int) -> None:
        text = self._recall.step(self.text, back)
        if text is not None:
            self.load_text(text)

    def action_search(self) -> None:
        """Search the history; again, an older one."""
        if self._recall.is_searching:
            self._show_found(self._recall.look_older())
        else:
            self._list.close()
            self._recall.begin_search(self.text)
            self._tell_of_search()

    def _show_found(self, text: str | None) -> None:
        if text is not None and text != self.text:
            self.load_text(text)
        self._tell_of_search()

    def _tell_of_search(self) -> None:
        missed = self._recall.missed
        self.border_title = Content(f"history: {self._recall.words}")
        self.border_subtitle = Content("nothing found" if missed else "Enter takes  ^R older  Esc leaves")
        self.set_class(missed, "-missed")

    def _leave_search(self) -> None:
        self.load_text(self._end_search())

    def _end_search(self) -> str:
        """Stop searching and keep what is shown; return what was shown before."""
        if not self._recall.is_searching:
            return self.text
        self.border_title = None
        self.remove_class("-missed")
        self._tell_of_pastes()
        return self._recall.end_search()

    # Completion

    def action_complete(self, or_leave: bool) -> None:
        """Complete the word at the cursor, or offer what it could be; with nothing to complete, move on."""
        if self._recall.is_searching:
            self._end_search()
        elif self._list.is_open:
            self.take(self._list.choice)
        elif self.is_empty and self.suggestion:
            self.load_text(self.suggestion)
        elif not self.offer_names(take_single=True) and not self.offer_paths(take_single=True) and or_leave:
            self.screen.focus_next()

    def on_blur(self) -> None:
        self._end_search()
        self._list.close()
