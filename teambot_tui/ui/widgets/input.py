"""Where the person types: the language in colour, completion, history, and text that is never lost."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from rich.text import Text
from textual.actions import SkipAction
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.document._document import Selection
from textual.document._edit import Edit
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import TextArea

from teambot_tui.engine.text import printable
from teambot_tui.ui.editor import EditorError, edit_text
from teambot_tui.ui.glyphs import Glyphs, size
from teambot_tui.ui.history import History, Recall
from teambot_tui.ui.keys import bindings, bound
from teambot_tui.ui.pastes import LIMIT, Pastes, drawn
from teambot_tui.ui.widgets.colouring import colours
from teambot_tui.ui.widgets.completion import Completer, CompletionList

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.style import Style
    from textual import events
    from textual.document._document import EditResult, Location
    from textual.geometry import Size

    from teambot_tui.language.span import Span

_SEARCH_ACTIONS: Final = frozenset(
    {"send", "close", "delete_left", "previous", "next", "search", "interrupt", "complete(True)"}
)
"""What means something of its own while the history is searched; anything else ends that first."""
_DOUBTFUL: Final = frozenset({"incomplete", "reference-unknown", "agent-unknown"})


class InputBar(TextArea):
    """A text of one or more rows that Enter sends.

    Whoever composes it composes `completer.list`, too: right before what the list may not cover.
    """

    DEFAULT_CSS = """
    InputBar {
        height: auto;
        max-height: 10;
        border: round $border-blurred;
        padding: 0;
        &:focus { border: round $border; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "input--prompt",
        "input--hint",
        "input--agent",
        "input--agent-unknown",
        "input--incomplete",
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
        self._glyphs = glyphs or Glyphs()
        self._pastes = Pastes()
        self._colours: dict[int, list[tuple[int, int, str]]] | None = None
        self._whole: str | None = None
        self._error: Span | None = None
        self._offered = ""
        self._offering = False
        self._edited_is_due = False
        self._unanswered: list[str] = []
        """What was sent and neither accepted nor refused yet: it still stands before what is typed."""
        super().__init__(id="input", highlight_cursor_line=False, placeholder=Content(printable(placeholder)))
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.past = past or History()
        self._recall = Recall(self.past)
        self.completer = Completer(self, folder)

    async def on_mount(self) -> None:
        self._bindings.apply_keymap(self.app._keymap)
        self.run_worker(self.past.load, thread=True, group="history", name="load")

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self.past.flush)

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
        self.completer.forget()
        self._pastes.clear()
        self._whole = None
        super().load_text(self._pastes.fold_middle(printable(text)))
        self.move_cursor(self.document.end)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text, of a folded paste all or nothing; remember what is offered for an empty one."""
        self._offering = True
        try:
            return super().edit(self._sparing_pastes(edit))
        finally:
            self._offering = False

    def undo(self) -> None:
        """Take the last change back."""
        if self.history.undo_stack:
            self._leave_what_vanishes()
        super().undo()

    def redo(self) -> None:
        """Do it again."""
        if self.history.redo_stack:
            self._leave_what_vanishes()
        super().redo()

    def _leave_what_vanishes(self) -> None:
        # Textual scrolls to the cursor before it has moved it out of the rows that are gone.
        self.selection = Selection.cursor((0, 0))

    def update_suggestion(self) -> None:
        """Follow a change of the text: Textual calls this after each one."""
        if self._error is not None:
            self.refresh(layout=True)
        self._whole = self._colours = self._error = None
        self._offering = True
        self.suggestion = self._offered if self.is_empty else ""
        self._offering = False
        self._tell_of_pastes()
        if not self._edited_is_due:  # once for all of a frame
            self._edited_is_due = True
            self.call_after_refresh(self._tell_edited)

    def watch_suggestion(self, suggestion: str) -> None:
        """Keep what the app offers for an empty text; it is drawn only there."""
        if not self._offering:
            self._offered = printable(suggestion)
            self._offering = True
            self.suggestion = self._offered if self.is_empty else ""
            self._offering = False

    def is_unfinished(self, span: Span) -> bool:
        """Tell whether what is wrong at a place of the exact text is still being typed."""
        start, end = self._pastes.shown_span(self.shown, span)
        return start <= self._index(self.cursor_location) <= end

    def show_error(self, span: Span | None) -> None:
        """Mark a place of the text until the next change."""
        self._error = None if span is None else self._pastes.shown_span(self.shown, span)
        self._colours = None
        self._repaint()
        self.refresh(layout=True)

    def type_in(self, character: str) -> None:
        """Take a character that was typed where it meant nothing."""
        if character == "?" and self.is_empty:
            self.post_message(self.Requested("help"))
        else:
            self._replace_via_keyboard(character, *self.selection)

    def take_in(self, foreign: str) -> None:
        """Insert a text from outside in place of the selection: cleaned, and folded if it is big."""
        room = LIMIT - sum(map(len, self.document.lines[:LIMIT]))
        self._replace_via_keyboard(self._pastes.fold(printable(foreign), room=room), *self.selection)

    def action_expand(self) -> None:
        """Show the folded paste at the cursor, or else the last one, as it is."""
        marks = self._pastes.marks(self.shown)
        cursor = self._index(self.cursor_location)
        if not marks:
            return
        mark = next((mark for mark in marks if mark.start <= cursor <= mark.end), marks[-1])
        text = self._pastes.unfold(self.shown[slice(*mark)])
        if self._pastes.is_expandable(text):
            super()._replace_via_keyboard(text, *map(self._location, mark))
        else:
            self.border_subtitle = Content("too long to be shown here · ^G edits it")

    def _sparing_pastes(self, edit: Edit) -> Edit:
        """Return the edit with what it takes of a label made whole."""
        marks = self._pastes.marks(self.shown)
        start, end = sorted(map(self._index, (edit.from_location, edit.to_location)))
        for mark in marks:
            if start == end and mark.start < start < mark.end:
                start = end = mark.end
            elif mark.start < start < mark.end:
                start = mark.start
            if mark.start < end < mark.end:
                end = mark.end
        if not marks:
            return edit
        return Edit(edit.text, self._location(start), self._location(end), edit.maintain_selection_offset)

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep the cursor out of the labels of folded pastes."""
        marks = self._pastes.marks(self.shown)
        if not marks:
            return selection
        before = self._index(self.selection.end)
        start, end = (self._beside_paste(self._index(place), before, marks) for place in selection)
        return Selection(self._location(start), self._location(end))

    def _beside_paste(self, index: int, before: int, marks: Sequence[Span]) -> int:
        mark = next((mark for mark in marks if mark.start < index < mark.end), None)
        if mark is None:
            return index
        return mark.end if before <= mark.start else mark.start

    def _tell_of_pastes(self) -> None:
        told = ""
        if len(self.shown) <= 2 * LIMIT and (marks := self._pastes.marks(self.shown)):
            folded = [self._pastes.unfold(self.shown[slice(*mark)]) for mark in marks]
            key = "^O shows it" if any(map(self._pastes.is_expandable, folded)) else "^G edits it"
            told = f"{size(sum(map(len, folded)))} folded, sent whole · {key}"
        self.border_subtitle = Content(told)

    def _index(self, location: Location) -> int:
        return self.document.get_index_from_location(location)  # type: ignore[attr-defined, no-any-return]

    def _location(self, index: int) -> Location:
        return self.document.get_location_from_index(index)  # type: ignore[attr-defined, no-any-return]

    # Drawing

    @property
    def gutter_width(self) -> int:
        """Room for the prompt sign."""
        return 2

    def watch_references(self) -> None:
        """Colour the references again."""
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
        line = Text(drawn(self.document.get_line(line_index)), end="", no_wrap=True)
        if self._colours is None:
            cursor = self._index(self.cursor_location)
            self._colours = colours(
                self.shown, self.references, self._error, pastes=self._pastes, cursor=cursor
            )
        for start, end, name in self._colours.get(line_index, ()):
            line.stylize(self._style(name), start, end)
        return line

    @staticmethod
    def _is_doubtful(found: Mapping[int, list[tuple[int, int, str]]]) -> bool:
        return any(name in _DOUBTFUL for spans in found.values() for _, _, name in spans)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"input--{name}")

    # The text comes and goes

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
            self.type_in("?")
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
        elif (choice := self.completer.list.choice) is not None:
            self.completer.take(choice)
        elif self._character_before_cursor() == "\\":
            row, column = self.cursor_location
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
        # Keys that come in one burst are typed before anyone has answered what was sent.
        elif (text := self.text.removeprefix("".join(self._unanswered))).strip():
            self._unanswered.append(text)
            self.completer.forget()
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
        elif self.completer.list.is_open:
            self.completer.dismiss()
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
        elif self.completer.list.is_open:
            self.completer.list.choose(-1)
        elif self.navigator.is_first_wrapped_line(self.cursor_location):
            self._go(1)
        else:
            self.action_cursor_up()

    def action_next(self) -> None:
        """Choose below, or go a row down, or forward in the history."""
        if self._recall.is_searching:
            self._show_found(self._recall.look_newer())
        elif self.completer.list.is_open:
            self.completer.list.choose(1)
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
            self.completer.forget()
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

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        self.completer.is_typing = len(insert) == 1 and insert != "\n"
        try:
            return super()._replace_via_keyboard(insert, start, end)
        finally:
            self.completer.is_typing = False

    def watch_selection(self) -> None:
        """Let the list follow the word at the cursor."""
        if not self.is_mounted:
            return
        self.completer.follow()
        if self._colours is not None and self._is_doubtful(self._colours):
            self._colours = None  # what is incomplete at the cursor is wrong anywhere else
            self._repaint()

    def on_completion_list_taken(self, message: CompletionList.Taken) -> None:
        message.stop()
        self.completer.take(self.completer.list.candidates[message.index])

    def action_complete(self, or_leave: bool) -> None:
        """Complete the word at the cursor, or offer what it could be; with nothing to complete, move on."""
        if self._recall.is_searching:
            self._end_search()
        elif self.is_empty and self.suggestion:
            self.load_text(self.suggestion)
        elif not self.completer.complete() and or_leave:
            self.screen.focus_next()

    def on_blur(self) -> None:
        self._end_search()
        self.completer.forget()
