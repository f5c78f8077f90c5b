"""One agent in full: what it does, needs and was sent, what it said, and what it will do next.

Showing the same again costs a comparison; what changed is replaced where it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static

from teambot_tui.engine.text import size_in_bytes
from teambot_tui.ui.contents import looks_like
from teambot_tui.ui.glyphs import Glyphs, size_in_words
from teambot_tui.ui.keys import bindings, bound
from teambot_tui.ui.widgets.inspector_output import TaskOutput
from teambot_tui.ui.widgets.inspector_prompt import Piece, pieces, prompt_text, prompt_title
from teambot_tui.ui.widgets.inspector_sections import (
    context,
    did,
    did_title,
    earlier_lines,
    earlier_title,
    head,
    needs,
    profile,
    queue_lines,
    queue_title,
    requests,
    statement,
    unblocks,
)
from teambot_tui.ui.widgets.inspector_words import NOTHING, quiet, title
from teambot_tui.ui.widgets.plain_lines import PlainLines
from teambot_tui.ui.widgets.task_list import TaskList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.content import Content

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.ui.widgets.inspector_view import InspectorView

_GROWING: Final = 64 * 1024
"""A text that still grows is wrapped again and again: its end has to do until it is whole."""

_USUAL_WIDTH: Final = 76


class Inspector(VerticalScroll):
    """One agent, in full."""

    DEFAULT_CSS = """
    Inspector { height: 1fr; width: 1fr; scrollbar-gutter: stable; }
    Inspector Static { height: auto; }
    Inspector .-gone { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bound("back", "close"),
        bound("filter", "find"),
        bound("copy", "copy('output')"),
        *bindings("inspector"),
        Binding("k", "scroll_up", show=False),
        Binding("j", "scroll_down", show=False),
    ]

    class Closed(Message):
        """The person has seen enough."""

    class Found(Message):
        """Another match is at hand."""

    class FindRequested(Message):
        """Someone wants to look for a text in the output."""

    class CopyRequested(Message):
        """Someone wants to have this text elsewhere."""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text = text
            self.what = what

    class RemoveRequested(Message):
        """Someone wants this task out of the queue."""

        def __init__(self, task: TaskId) -> None:
            super().__init__()
            self.task = task

    class Chosen(Message):
        """Someone wants to see this task."""

        def __init__(self, task: TaskId) -> None:
            super().__init__()
            self.task = task

    def __init__(
        self,
        glyphs: Glyphs | None = None,
        *,
        id: str | None = "inspector",  # noqa: A002  as every widget calls it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._glyphs = glyphs or Glyphs()
        self._view: InspectorView | None = None
        self._shown: dict[str, Content] = {}
        self._whole_prompt = False
        self._split: tuple[Prompt, tuple[Piece, ...]] | None = None
        self._width = _USUAL_WIDTH

    def compose(self) -> ComposeResult:
        for name in ("head", "profile", "requests", "statement", "needs", "unblocks", "context"):
            yield Static(id=f"inspector-{name}", classes="inspector-part", markup=False)
        yield Static(id="inspector-queue-title", classes="inspector-title", markup=False)
        yield TaskList(id="inspector-queue")
        yield Static(id="inspector-prompt-title", classes="inspector-title", markup=False)
        yield Static(id="inspector-prompt", classes="inspector-part", markup=False)
        yield Static(id="inspector-did-title", classes="inspector-title", markup=False)
        yield Static(id="inspector-did", classes="inspector-part", markup=False)
        yield Static(id="inspector-output-title", classes="inspector-title", markup=False)
        yield TaskOutput()
        yield Static(id="inspector-earlier-title", classes="inspector-title", markup=False)
        yield TaskList(id="inspector-earlier")

    def on_mount(self) -> None:
        self._show_all()

    def on_resize(self) -> None:
        """Wrap the prompt for the new width."""
        around = self.query_one("#inspector-prompt").gutter.width
        width = self.scrollable_content_region.width - around
        if width > 0 and width != self._width:
            self._width = width
            self._show_all()

    # Finding

    def find(self, text: str) -> int:
        """Look for a text in the output; return how often it is there."""
        count = self.query_one(TaskOutput).find(text)
        self.call_after_refresh(self.find_next, 0)
        return count

    def find_next(self, by: int = 1) -> int:
        """Go to another match; return which one it is, counted from 1."""
        lines = self.query_one(PlainLines)
        if (row := lines.go(by)) is not None:
            top = self.query_one(TaskOutput).virtual_region.y
            self.scroll_to(y=top + row - self.size.height // 3, animate=False)
        self.post_message(self.Found())
        return lines.at

    @property
    def found(self) -> tuple[int, int]:
        """Which match is at hand, counted from 1 or 0 for none, and how many there are."""
        lines = self.query_one(PlainLines)
        return lines.at, lines.count

    # Showing

    def show(self, view: InspectorView) -> None:
        """Show this; what is the same stays as it is."""
        before = self._view
        if before == view:
            return
        self._view = view
        if before is None or before.agent != view.agent or before.name != view.name:
            self._whole_prompt = False
            self.scroll_home(animate=False)
        if self.is_mounted:
            self._show_all()

    @property
    def view(self) -> InspectorView | None:
        """What is shown."""
        return self._view

    @property
    def text(self) -> str:
        """What the inspector says besides the output, as plain text."""
        return "\n".join(content.plain for content in self._shown.values() if content.plain)

    def _show_all(self) -> None:
        view, glyphs = self._view, self._glyphs
        if view is None:
            self._set("head", quiet("Choose an agent or a task to look at."))
            return
        self._set("head", head(view, glyphs))
        self._set("profile", profile(view, glyphs))
        self._set("requests", requests(view, glyphs))
        self._set("statement", statement(view, glyphs))
        self._set("needs", needs(view, glyphs))
        self._set("unblocks", unblocks(view, glyphs))
        self._set("context", context(view, glyphs))
        self._set("queue-title", queue_title(view))
        self._list("queue", queue_lines(view))
        self._set("prompt-title", prompt_title(view, glyphs, whole=self._whole_prompt))
        self._set("prompt", self._prompt(view))
        self._set("did-title", did_title(view, glyphs))
        self._set("did", did(view, glyphs))
        self._show_output(view)
        self._set("earlier-title", earlier_title(view, glyphs))
        self._list("earlier", earlier_lines(view, glyphs))

    def _set(self, name: str, content: Content) -> None:
        before = self._shown.get(name)
        if looks_like(content, before):
            return
        self._shown[name] = content
        part = self.query_one(f"#inspector-{name}", Static)
        part.set_class(not content.plain, "-gone")
        part.update(content, layout=before is None or before.plain != content.plain)

    def _list(self, name: str, lines: Iterable[tuple[TaskId, Content]]) -> None:
        tasks = self.query_one(f"#inspector-{name}", TaskList)
        tasks.show(lines)
        tasks.set_class(not tasks.names, "-gone")

    def _prompt(self, view: InspectorView) -> Content:
        if view.task is None or view.prompt is None:
            return NOTHING
        if self._split is None or self._split[0] != view.prompt:
            self._split = (view.prompt, pieces(view.prompt))
        return prompt_text(self._split[1], view, self._glyphs, self._width, whole=self._whole_prompt)

    def _show_output(self, view: InspectorView) -> None:
        text = view.output
        dot = self._glyphs["dot"]
        heading = NOTHING
        if text:
            heading = title("Output") + quiet(f" {dot} {size_in_words(size_in_bytes(text))}")
            growing = view.task is not None and view.task.ended is None
            if growing and len(text) > _GROWING:
                heading += quiet(f" {dot} its end; the whole when it is done")
                text = text[-_GROWING:].partition("\n")[2] or text[-_GROWING:]
        self._set("output-title", heading)
        output = self.query_one(TaskOutput)
        output.set_class(not text, "-gone")
        output.show(text)

    # Doing

    def action_close(self) -> None:
        """Tell that the inspector may go."""
        self.post_message(self.Closed())

    def action_unfold(self) -> None:
        """Show the whole prompt, or its beginning."""
        self._whole_prompt = not self._whole_prompt
        self._show_all()

    def action_find(self) -> None:
        """Ask for a line to type what to look for."""
        self.post_message(self.FindRequested())

    def action_copy(self, what: str) -> None:
        """Ask for the output or the prompt to be copied."""
        view = self._view
        if view is None or view.name is None:
            return
        text = view.output if what == "output" else view.prompt.text if view.prompt else ""
        if text:
            self.post_message(self.CopyRequested(text, f"the {what} of {view.name}"))

    def action_find_next(self, by: int) -> None:
        """Go to another match."""
        self.find_next(by)

    def action_remove(self) -> None:
        """Ask for the queue's entry under the cursor to be removed."""
        tasks = self.query_one("#inspector-queue", TaskList)
        if tasks.has_focus and (task := tasks.chosen) is not None:
            self.post_message(self.RemoveRequested(task))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Tell which task was chosen."""
        event.stop()
        if isinstance(event.option_list, TaskList) and (task := event.option_list.chosen) is not None:
            self.post_message(self.Chosen(task))
