"""One agent in full: what it does, needs and was sent, what it said, and what it will do next.

Whatever an agent said is data here: it is never markup, its links go nowhere, and as Markdown it is shown
only within a budget, because a document can be legal and still stop the screen. Showing the same again costs
a comparison; what changed is replaced where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from markdown_it import MarkdownIt
from rich.cells import chop_cells
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Markdown, OptionList, Static
from textual.widgets._markdown import MarkdownTable, MarkdownTableContent
from textual.widgets.option_list import Option

from teambot_tui.engine.board import State
from teambot_tui.engine.facts import Via
from teambot_tui.engine.text import printable, size_in_bytes
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import Glyphs, duration, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it.token import Token
    from markdown_it.utils import EnvType
    from textual.app import ComposeResult
    from textual.geometry import Size
    from textual.selection import Selection
    from textual.widgets.markdown import MarkdownBlock

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.ui.mirror import AgentView, Mirror, TaskView

_MARKDOWN_BYTES: Final = 8 * 1024
_MARKDOWN_BLOCKS: Final = 200
_GROWING_BYTES: Final = 64 * 1024
"""A text that still grows is wrapped again and again: its end has to do until it is whole."""
_GIVEN_LINES: Final = 4
_OWN_LINES: Final = 12
_WHOLE_LINES: Final = 400
_LINE: Final = 2000
_EARLIER: Final = 8
_NAME: Final = 40
_COLOURS: Final = {
    "idle": "$foreground-muted",
    "queued": "$foreground-muted",
    "waiting": "$warning",
    "executing": "$text-primary bold",
    "completed": "$success",
    "failed": "$error",
    "cancelled": "$foreground-muted",
    "skipped": "$foreground-muted",
}


# What is shown


@dataclass(frozen=True, slots=True)
class Need:
    """An output that a task needs: from which task, if there is one yet, and how large it is."""

    agent: AgentId
    via: Via
    task: TaskView | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class InspectorView:
    """An agent and its task at hand, as they are at `now`."""

    agent: AgentId
    status: AgentView
    task: TaskView | None = None
    prompt: Prompt | None = None
    output: str = ""
    earlier: tuple[TaskView, ...] = ()
    """The agent's tasks in the order of submission; those that are over are listed, newest first."""
    queue: tuple[TaskId, ...] = ()
    now: float = 0.0
    needs: tuple[Need, ...] = ()
    unblocks: tuple[TaskView, ...] = ()


def inspect(mirror: Mirror, agent: AgentId, now: float, task: TaskId | None = None) -> InspectorView:
    """Return what there is to see of an agent: of the given task, or of the one at hand."""
    status = mirror.agent(agent)
    name = task or status.task
    queue = mirror.queue(agent)
    if name is None:
        return InspectorView(agent, status, queue=queue, now=now)
    view = mirror.task(name)
    needs = tuple(
        Need(
            dependency.agent,
            dependency.via,
            mirror.task(source) if source is not None else None,
            size_in_bytes(mirror.output(source)) if source is not None else 0,
        )
        for dependency, source in zip(view.dependencies, view.sources, strict=True)
    )
    return InspectorView(
        agent,
        status,
        view,
        mirror.prompt(name),
        mirror.output(name),
        tuple(mirror.task(each) for each in mirror.tasks(agent)),
        queue,
        now,
        needs,
        tuple(mirror.task(each) for each in view.dependents),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt: the person's words, or an output and whose it is."""

    text: str
    source: AgentId | None = None


def pieces(prompt: Prompt) -> tuple[Piece, ...]:
    """Take a prompt apart into the person's words and the outputs that were put in."""
    if len(prompt.given) == 1 and prompt.text == prompt.given[0].text:
        return (Piece(prompt.text, prompt.given[0].agent),)
    patterns: list[tuple[str, Piece]] = []
    for given in prompt.given:
        piece = Piece(given.text, given.agent)
        patterns.append((f"=== Output from @{given.agent} ===\n{given.text}", piece))
        patterns.append((f"[Output from @{given.agent}]: {given.text}", piece))
        if given.text.startswith(f"[@{given.agent} "):
            patterns.append((given.text, piece))
    found: list[Piece] = []
    text, position = prompt.text, 0
    places = {pattern: text.find(pattern) for pattern, _ in patterns}
    while True:
        ahead = [
            (places[pattern], -len(pattern), pattern, piece)
            for pattern, piece in patterns
            if places[pattern] >= 0
        ]
        if not ahead:
            break
        start, _, pattern, piece = min(ahead, key=lambda each: each[:2])
        if text[position:start].strip():
            found.append(Piece(text[position:start].strip("\n")))
        found.append(piece)
        position = start + len(pattern)
        for other, place in places.items():
            if 0 <= place < position:
                places[other] = text.find(other, position)
    if text[position:].strip():
        found.append(Piece(text[position:].strip("\n")))
    return tuple(found)


# Markdown that does nothing but show


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


class _Document(Markdown):
    """Markdown from an agent."""

    BLOCKS: dict[str, type[MarkdownBlock]] = {**Markdown.BLOCKS, "table_open": _Table}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(parser_factory=_Harmless, open_links=False)


def within_budget(text: str) -> bool:
    """Whether a text may be shown as Markdown without stopping the screen."""
    if size_in_bytes(text) > _MARKDOWN_BYTES:
        return False
    blocks = sum(token.nesting >= 0 and token.type != "inline" for token in _Harmless().parse(text))
    return blocks <= _MARKDOWN_BLOCKS


class _PlainLines(Widget):
    """A text of any size, line by line: rows are cut once for a width, and painted when in sight."""

    DEFAULT_CSS = """
    _PlainLines { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._rows: list[str] = []
        self._rows_width = 0

    def show(self, text: str) -> None:
        """Show this text."""
        if text != self._text:
            self._text = text
            self._rows_width = 0
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return how many rows the text has."""
        return len(self._cut(width))

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        width = self.size.width
        rows = self._cut(width)
        text = rows[y] if y < len(rows) else ""
        style = self.rich_style
        segments = [Segment(text, style)]
        if (selection := self.text_selection) is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            end = len(text) if end == -1 else end
            chosen = style + self.screen.get_component_rich_style("screen--selection")
            segments = [
                Segment(text[:start], style),
                Segment(text[start:end], chosen),
                Segment(text[end:], style),
            ]
        return Strip(segments).adjust_cell_length(width, style).apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected."""
        return selection.extract("\n".join(self._rows)), "\n"

    def _cut(self, width: int) -> list[str]:
        if width != self._rows_width and width > 0:
            self._rows_width = width
            self._rows = [row for line in self._text.split("\n") for row in cut(line, width)]
        return self._rows


def cut(line: str, width: int) -> list[str]:
    """Cut a line into rows of a width, between words where it is easy to tell."""
    line = line.expandtabs(4)
    if not line.isascii():
        return chop_cells(line, max(2, width)) or [""]
    if len(line) <= width:
        return [line]
    rows: list[str] = []
    position = 0
    while len(line) - position > width:
        space = line.rfind(" ", position + width // 2, position + width + 1)
        end = space + 1 if space >= 0 else position + width
        rows.append(line[position:end].rstrip(" ") if space >= 0 else line[position:end])
        position = end
    rows.append(line[position:])
    return rows


class _Output(Widget):
    """What a task said: as Markdown where that is affordable, as plain lines where it is not."""

    DEFAULT_CSS = """
    _Output { height: auto; width: 1fr; }
    _Output > _PlainLines { display: none; }
    _Output.-plain > _PlainLines { display: block; }
    _Output.-plain > _Document { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._wanted = ""
        self._shown = ""
        self._busy = False

    def compose(self) -> ComposeResult:
        yield _Document()
        yield _PlainLines()

    def show(self, text: str) -> None:
        """Show this text; while one is being set, only the latest one waits."""
        self._wanted = text
        if not self._busy and text != self._shown:
            self._busy = True
            self.run_worker(self._catch_up(), group="inspector-output", exit_on_error=False)

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
        was_plain = self.plain
        plain = not within_budget(text)
        self.set_class(plain, "-plain")
        if plain:
            self.query_one(_PlainLines).show(text)
            return
        document = self.query_one(_Document)
        if before and not was_plain and text.startswith(before):
            await document.append(text[len(before) :])
        else:
            await document.update(text)


# The inspector


class _Tasks(OptionList):
    """A few tasks, one per line."""

    DEFAULT_CSS = """
    _Tasks, _Tasks:focus { height: auto; max-height: 12; border: none; padding: 0; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002  as every widget calls it
        super().__init__(id=id, markup=False)
        self._shown: tuple[tuple[TaskId, Content], ...] = ()
        self.names: tuple[TaskId, ...] = ()

    def show(self, lines: Iterable[tuple[TaskId, Content]]) -> None:
        """Show these tasks; the cursor stays on its task."""
        wanted = tuple(lines)
        if wanted == self._shown:
            return
        self._shown = wanted
        names = tuple(name for name, _ in wanted)
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


class Inspector(VerticalScroll):
    """One agent, in full."""

    DEFAULT_CSS = """
    Inspector { height: 1fr; width: 1fr; }
    Inspector Static { height: auto; }
    Inspector .-gone { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("p", "unfold", "Whole prompt", show=False),
        Binding("x,delete", "remove", "Remove", show=False),
    ]

    class Closed(Message):
        """The person has seen enough."""

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

    def compose(self) -> ComposeResult:
        for name in ("head", "statement", "needs", "unblocks"):
            yield Static(id=f"inspector-{name}", classes="inspector-part", markup=False)
        yield Static(id="inspector-queue-title", classes="inspector-title", markup=False)
        yield _Tasks(id="inspector-queue")
        yield Static(id="inspector-prompt-title", classes="inspector-title", markup=False)
        yield Static(id="inspector-prompt", classes="inspector-part", markup=False)
        yield Static(id="inspector-output-title", classes="inspector-title", markup=False)
        yield _Output()
        yield Static(id="inspector-earlier-title", classes="inspector-title", markup=False)
        yield _Tasks(id="inspector-earlier")

    def on_mount(self) -> None:
        self._show_all()

    # Showing

    def show(self, view: InspectorView) -> None:
        """Show this; what is the same stays as it is."""
        before = self._view
        if before == view:
            return
        self._view = view
        if before is None or before.agent != view.agent or _name(before) != _name(view):
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
        view = self._view
        if view is None:
            self._set("head", Content("Choose an agent or a task to look at.").stylize("$foreground-muted"))
            return
        self._set("head", self._head(view))
        self._set("statement", self._statement(view))
        self._set("needs", self._needs(view))
        self._set("unblocks", self._unblocks(view))
        self._show_queue(view)
        self._show_prompt(view)
        self._show_output(view)
        self._show_earlier(view)

    def _set(self, name: str, content: Content) -> None:
        before = self._shown.get(name)
        if content == before:
            return
        self._shown[name] = content
        part = self.query_one(f"#inspector-{name}", Static)
        part.set_class(not content.plain, "-gone")
        part.update(content, layout=before is None or before.plain != content.plain)

    def _head(self, view: InspectorView) -> Content:
        dot = f" {self._glyphs['dot']} "
        task = view.task
        content = Content(clip(f"@{view.agent}", _NAME)).stylize("bold")
        if task is not None:
            content += Content(f"{dot}{clip(task.task, _NAME)}")
        model = (task and task.model) or view.status.model
        if model:
            content += Content(f"{dot}{clip(model, _NAME)}").stylize("$foreground-muted")
        if task is not None and task.background:
            content += Content(f"{dot}background").stylize("$foreground-muted")
        content += Content("\n")
        state = task.state.value if task is not None else view.status.state
        content += self._state(state)
        if task is not None:
            content += self._since(task, view.now)
            if task.reason and task.ended is not None:
                content += Content(f"\n{_one_line(task.reason)}").stylize(_COLOURS[state])
        return content

    def _since(self, task: TaskView, now: float) -> Content:
        match task.state:
            case State.WAITING:
                lacking = ", ".join(
                    f"@{agent} (no output yet)" if agent in task.no_output_yet else f"@{agent}"
                    for agent in task.waiting_for
                )
                return Content(f" for {lacking}  {duration(now - task.created)}")
            case State.QUEUED:
                return Content(f"  {duration(now - task.created)}")
            case State.EXECUTING:
                return Content(f"  {duration(now - task.started)}")
            case _ if task.ended is not None:
                took = f" in {duration(task.ended - task.started)}" if task.started else ""
                return Content(f"{took}, {duration(now - task.ended)} ago")
            case _:
                return Content("")

    def _state(self, state: str) -> Content:
        return Content(f"{self._glyphs[state]} {state}").stylize(_COLOURS[state])

    def _statement(self, view: InspectorView) -> Content:
        if view.task is None or not view.task.statement:
            return Content("")
        return Content(f"{self._glyphs['prompt']} ").stylize("$foreground-muted") + Content(
            fold(view.task.statement, _GIVEN_LINES)[0]
        )

    def _needs(self, view: InspectorView) -> Content:
        if not view.needs:
            return self._sources(view)
        content = _title("Needs")
        for need in view.needs:
            content += Content("\n  ") + _need(need.agent, need.via)
            if need.task is None:
                content += Content("  no output yet").stylize(_COLOURS["waiting"])
                continue
            content += Content(f" {self._glyphs['from']} {need.task.task}  ") + self._state(
                need.task.state.value
            )
            content += self._since_short(need.task, view.now)
            if need.size:
                content += Content(f" {self._glyphs['dot']} {size(need.size)}").stylize("$foreground-muted")
        return content

    def _sources(self, view: InspectorView) -> Content:
        """Return what a task needs as far as the task itself can tell."""
        if view.task is None or not view.task.dependencies:
            return Content("")
        sizes = {given.agent: size_in_bytes(given.text) for given in view.prompt.given} if view.prompt else {}
        content = _title("Needs")
        for dependency, source in zip(view.task.dependencies, view.task.sources, strict=True):
            content += Content("\n  ") + _need(dependency.agent, dependency.via)
            if source is not None:
                content += Content(f" {self._glyphs['from']} {source}")
            if dependency.agent in view.task.waiting_for:
                lacking = "no output yet" if source is None else "waiting"
                content += Content(f"  {self._glyphs['waiting']} {lacking}").stylize(_COLOURS["waiting"])
            elif dependency.agent in sizes:
                content += _quiet(f" {self._glyphs['dot']} {size(sizes[dependency.agent])}")
        return content

    def _since_short(self, task: TaskView, now: float) -> Content:
        if task.ended is not None:
            return Content(f" {duration(now - task.ended)} ago").stylize("$foreground-muted")
        begun = task.started if task.state is State.EXECUTING else task.created
        return Content(f" {duration(now - begun)}").stylize("$foreground-muted")

    def _unblocks(self, view: InspectorView) -> Content:
        known = {task.task: task for task in view.unblocks}
        names = tuple(known) or (view.task.dependents if view.task is not None else ())
        if not names:
            return Content("")
        content = _title("Unblocks")
        for name in names:
            content += Content(f"\n  {self._glyphs['arrow']} {name}  ")
            if name in known:
                content += self._state(known[name].state.value)
        return content

    def _show_queue(self, view: InspectorView) -> None:
        at_hand = view.task.task if view.task is not None else None
        queue = view.queue
        tasks = self.query_one("#inspector-queue", _Tasks)
        tasks.set_class(not queue, "-gone")
        hint = Content("  x removes").stylize("$foreground-muted") if queue else Content("")
        self._set("queue-title", _title(f"Queue {len(queue)}") + hint if queue else Content(""))
        tasks.show(
            (name, Content(f"{number}  {clip(name, _NAME)}").stylize("bold" if name == at_hand else ""))
            for number, name in enumerate(queue, 1)
        )

    def _show_prompt(self, view: InspectorView) -> None:
        dot = self._glyphs["dot"]
        if view.task is None:
            self._set("prompt-title", Content(""))
            self._set("prompt", Content(""))
            return
        if view.prompt is None:
            lacking = ", ".join(f"@{agent}" for agent in view.task.waiting_for)
            when = f"once {lacking} answered" if lacking else "once it is its turn"
            self._set("prompt-title", _title("Prompt") + _quiet(f" {dot} {when}"))
            self._set("prompt", Content(""))
            return
        sent = "as it was sent" if view.task.started else "as it will be sent"
        hint = "" if self._whole_prompt else f" {dot} p shows all"
        note = f" {dot} {sent} {dot} {size(size_in_bytes(view.prompt.text))}{hint}"
        self._set("prompt-title", _title("Prompt") + _quiet(note))
        if self._split is None or self._split[0] != view.prompt:
            self._split = (view.prompt, pieces(view.prompt))
        self._set("prompt", self._prompt(self._split[1], view))

    def _prompt(self, parts: Sequence[Piece], view: InspectorView) -> Content:
        sources = {need.agent: need.task for need in view.needs if need.task is not None}
        content: list[Content] = []
        for part in parts:
            if part.source is None:
                lines, more = fold(part.text, _WHOLE_LINES if self._whole_prompt else _OWN_LINES)
                content.append(Content(lines) + self._more(more))
                continue
            label = f"{self._glyphs['from']} @{part.source}"
            if (task := sources.get(part.source)) is not None:
                label += f" {self._glyphs['dot']} {task.task}"
                if task.ended is not None:
                    label += f" {self._glyphs['dot']} {duration(view.now - task.ended)} ago"
            label += f" {self._glyphs['dot']} {size(size_in_bytes(part.text))}"
            lines, more = fold(part.text or "(empty)", _WHOLE_LINES if self._whole_prompt else _GIVEN_LINES)
            bar = Content(f"{self._glyphs['bar']} ").stylize("$accent")
            block = [Content(label).stylize("$text-accent bold")]
            block += [Content(line).stylize("$foreground-muted") for line in lines.split("\n")]
            if more:
                block.append(self._more(more, newline=False))
            content.append(Content("\n").join(bar + line for line in block))
        return Content("\n").join(content)

    def _more(self, lines: int, *, newline: bool = True) -> Content:
        if not lines:
            return Content("")
        word = "line" if lines == 1 else "lines"
        return _quiet(f"{chr(10) if newline else ''}{self._glyphs['ellipsis']} +{lines} {word}")

    def _show_output(self, view: InspectorView) -> None:
        text = view.output
        dot = self._glyphs["dot"]
        title = Content("")
        if text:
            title = _title("Output") + _quiet(f" {dot} {size(size_in_bytes(text))}")
            growing = view.task is not None and view.task.ended is None
            if growing and len(text) > _GROWING_BYTES:
                title += _quiet(f" {dot} its end; the whole when it is done")
                text = text[-_GROWING_BYTES:].partition("\n")[2] or text[-_GROWING_BYTES:]
        self._set("output-title", title)
        output = self.query_one(_Output)
        output.set_class(not text, "-gone")
        output.show(text)

    def _show_earlier(self, view: InspectorView) -> None:
        at_hand = view.task.task if view.task is not None else None
        over = [task for task in reversed(view.earlier) if task.ended is not None and task.task != at_hand]
        some = over[:_EARLIER]
        tasks = self.query_one("#inspector-earlier", _Tasks)
        tasks.set_class(not some, "-gone")
        more = len(over) - len(some)
        note = _quiet(f" {self._glyphs['dot']} {more} more") if more else Content("")
        self._set("earlier-title", _title("Earlier") + note if some else Content(""))
        tasks.show((task.task, self._earlier_line(task)) for task in some)

    def _earlier_line(self, task: TaskView) -> Content:
        took = duration(task.ended - task.started) if task.ended is not None and task.started else ""
        return (
            Content(f"{self._glyphs[task.state.value]} ").stylize(_COLOURS[task.state.value])
            + Content(f"{task.task} ")
            + _quiet(f"{took}  {clip(task.statement, 60, self._glyphs['ellipsis'])}")
        )

    # Doing

    def action_close(self) -> None:
        """Tell that the inspector may go."""
        self.post_message(self.Closed())

    def action_unfold(self) -> None:
        """Show the whole prompt, or its beginning."""
        self._whole_prompt = not self._whole_prompt
        self._show_all()

    def action_remove(self) -> None:
        """Ask for the queue's entry under the cursor to be removed."""
        tasks = self.query_one("#inspector-queue", _Tasks)
        if tasks.has_focus and (task := tasks.chosen) is not None:
            self.post_message(self.RemoveRequested(task))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Tell which task was chosen."""
        event.stop()
        if isinstance(event.option_list, _Tasks) and (task := event.option_list.chosen) is not None:
            self.post_message(self.Chosen(task))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Links of agents lead nowhere."""
        event.stop()


def fold(text: str, limit: int) -> tuple[str, int]:
    """Return the first lines of a text, none of them endless, and how many lines are left out."""
    lines = text.rstrip("\n").split("\n", limit)
    kept = "\n".join(line if len(line) <= _LINE else line[:_LINE] + "…" for line in lines[:limit])
    return kept, lines[limit].count("\n") + 1 if len(lines) > limit else 0


def _title(text: str) -> Content:
    return Content(text).stylize("bold $text-secondary")


def _quiet(text: str) -> Content:
    return Content(text).stylize("$foreground-muted")


def _need(agent: AgentId, via: Via) -> Content:
    name = clip(agent, _NAME)
    return Content(f"${name}" if via is Via.REFERENCE else f"{via} @{name}").stylize("$text-accent")


def _one_line(text: str) -> str:
    return clip(text, 400)


def _name(view: InspectorView) -> TaskId | None:
    return view.task.task if view.task is not None else None
