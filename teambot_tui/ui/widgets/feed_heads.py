"""The rows around a task's output: what was asked, who works on it, what it waits for, why it ended."""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len, set_cell_size

from teambot_tui.engine.activity import tool_line
from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.states import STATES, role_of, task_state
from teambot_tui.engine.text import one_line
from teambot_tui.ui.glyphs import duration, size, used
from teambot_tui.ui.widgets.feed_text import wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.feed_markdown import Parts
    from teambot_tui.ui.widgets.feed_text import Output

_ROOM_FOR_A_STATEMENT: Final = 24
_NAMED_TASKS: Final = 4
_REASON_ROWS: Final = 4
_REQUESTS: Final = 4
_WIDE: Final = 60
_MEDIUM: Final = 24


class Kind(Enum):
    """What a row is, where it matters to the mouse."""

    BLANK = auto()
    STATEMENT = auto()
    HEAD = auto()
    NOTE = auto()
    OUTPUT = auto()
    FOLD = auto()


class Row(NamedTuple):
    """What is seen in one row; the first `gutter` characters are decoration."""

    kind: Kind
    parts: Parts
    gutter: int = 0

    @property
    def text(self) -> str:
        """The row's text without its decoration."""
        return "".join(text for text, _ in self.parts)[self.gutter :]


class Page(NamedTuple):
    """The paper that blocks are set on."""

    width: int
    airy: bool
    glyphs: Glyphs
    state_of: Callable[[TaskId], State | None]
    wall_clock_ahead: float = 0.0
    """How many seconds the wall clock is ahead of the session's."""

    @property
    def bar(self) -> str:
        """What stands left of the output."""
        bar = self.glyphs["bar"]
        return f"  {bar} " if self.width >= _MEDIUM else f"{bar} " if self.width > 10 else ""

    @property
    def indent(self) -> str:
        """What stands left of a note: as much as the time takes above it."""
        return " " * (10 if self.width >= _WIDE else 4 if self.width >= _MEDIUM else 0)

    @property
    def text_width(self) -> int:
        """How many cells there are for the output."""
        return max(1, self.width - len(self.bar))


BLANK: Final = Row(Kind.BLANK, ())


def role(state: str) -> str:
    """Return the role in which a state is drawn."""
    return f"feed--{role_of(state)}"


def statement_rows(view: TaskView, page: Page) -> list[Row]:
    """Return the line that says what was asked, and which tasks came of it."""
    glyph = f"{page.glyphs['prompt']} "
    stamp = _stamp(view.created, page)
    text = one_line(view.statement)
    named = view.siblings if len(view.siblings) <= _NAMED_TASKS else (f"{len(view.siblings)} tasks",)
    names = "  " + " ".join(named)
    room = page.width - cell_len(stamp + glyph)
    if room - cell_len(names) < min(_ROOM_FOR_A_STATEMENT, cell_len(text)):
        names = ""
    room = max(0, room - cell_len(names))
    text = set_cell_size(_shorten(text, room, page), room)
    parts = (
        (stamp, "feed--time"),
        (glyph, "feed--prompt"),
        (text, "feed--statement"),
        (names, "feed--muted"),
    )
    return [Row(Kind.STATEMENT, parts)]


def task_rows(view: TaskView, page: Page) -> list[Row]:
    """Return a task's head, and under it what it waits for or why it came to nothing."""
    state, shown, dot = view.state, task_state(view), page.glyphs["dot"]
    moment = view.ended if view.ended is not None else view.created
    if state is State.EXECUTING:
        moment = view.started
    facts = [] if state is State.COMPLETED else [STATES[shown].word]
    if view.ended is not None and view.started and state is not State.SKIPPED:
        facts.append(duration(view.ended - view.started))
    if view.model:
        facts.append(one_line(view.model, 40))
    if view.ended is not None and (count := view.doing.tool_count):
        facts.append(f"{count:,} tools" if count > 1 else "1 tool")
    if spent := used(view.doing.usage, page.glyphs, " tokens"):
        facts.append(spent)
    if view.step is not None and view.step.words:
        facts.append(view.step.words)
    told = " ".join(f"{dot} {fact}" for fact in facts)
    parts: Parts = (
        (_stamp(moment, page), "feed--time"),
        (f"{page.glyphs[shown]} ", role(shown)),
        (f"@{view.agent} ", "feed--agent"),
        (f"{view.task} " if facts else view.task, "feed--muted"),
        (told, role(shown) if state is not State.COMPLETED else "feed--muted"),
    )
    rows = [Row(Kind.HEAD, parts)]
    if flow := _flow(view, page):
        rows.append(_note(flow, page))
    if view.reason and view.ended is not None:
        lines = wrap(one_line(view.reason, 4 * page.width), max(1, page.width - len(page.indent)))
        rows += [_note(((line, role(state)),), page) for line in lines[:_REASON_ROWS]]
    if state is State.EXECUTING:
        rows += _activity(view, page)
    return rows


def _activity(view: TaskView, page: Page) -> list[Row]:
    """Return what a task does, and what it wants to do; a line that is there once stays till the end."""
    rows = []
    room = max(0, page.width - len(page.indent))
    if tools := view.doing.tools:
        tool = view.doing.current or tools[-1]
        state = f" {page.glyphs['dot']} {tool.state}"
        line = _shorten(f"{page.glyphs['tool']} {tool_line(tool)}", max(0, room - len(state)), page)
        rows.append(_note(((line + state, "feed--note"),), page))
    for request in view.requests[:_REQUESTS]:
        line = _shorten(f"{page.glyphs['asking']} {STATES['asking'].word}: {request.summary}", room, page)
        rows.append(_note(((line, role("asking")),), page))
    return rows


def output_notes(view: TaskView, output: Output, page: Page) -> list[Row]:
    """Return what is to be said above an output that is not all there."""
    ellipsis = page.glyphs["ellipsis"]
    if output.missing_lines:
        note = f"{ellipsis} {output.missing_lines:,} earlier lines not shown"
    elif output.missing:
        note = f"{ellipsis} {size(output.missing)} of this line not shown"
    elif view.state is State.COMPLETED and not output.size:
        note = "no output"
    else:
        return []
    return [Row(Kind.NOTE, ((page.bar, role(task_state(view))), (note, "feed--note")), len(page.bar))]


def fold_row(view: TaskView, hidden: int, page: Page) -> Row:
    """Return the line that stands for what is folded away."""
    more = f"+{hidden:,} lines "
    told = f"{page.glyphs['dot']} Enter expands"
    parts = ((page.bar, role(task_state(view))), (more, "feed--fold"), (told, "feed--note"))
    return Row(Kind.FOLD, parts, len(page.bar))


def _flow(view: TaskView, page: Page) -> Parts:
    """Say what the task waits for, and what goes into it."""
    waits: dict[str, None] = {}
    given: dict[str, None] = {}
    for dependency, source in zip(view.dependencies, view.sources, strict=False):
        if dependency.agent in view.waiting_for and (
            source is None or page.state_of(source) is not State.COMPLETED
        ):
            waits[f"@{dependency.agent} {source}" if source else f"@{dependency.agent} (no output yet)"] = (
                None
            )
        elif source is not None:
            name = _input_name(dependency)
            state = page.state_of(source)
            mark = f" {page.glyphs[state.value]}" if state else ""
            given[f"{name} {page.glyphs['from']} {source}{mark}"] = None
    if not waits:
        waits = dict.fromkeys(f"@{agent}" for agent in view.waiting_for)
    parts: list[tuple[str, str]] = []
    if waits:
        gap = "   " if given else ""
        parts.append(
            (f"{page.glyphs['waiting']} waits for {', '.join(waits)}{gap}", f"feed--{role_of('waiting')}")
        )
    if given:
        parts.append(("   ".join(given), "feed--muted"))
    return tuple(parts)


def _input_name(dependency: Dependency) -> str:
    match dependency.via:
        case Via.REFERENCE:
            return f"${dependency.agent}"
        case Via.VARIABLE:
            return f"{{{dependency.name}}}"
        case Via.AFTER | Via.CONTEXT:
            return dependency.via.value
        case _:
            return "input"


def _note(parts: Parts, page: Page) -> Row:
    return Row(Kind.NOTE, ((page.indent, "feed--muted"), *parts), len(page.indent))


def _stamp(moment: float, page: Page) -> str:
    if page.width < _MEDIUM:
        return ""
    return time.strftime(
        " %H:%M:%S " if page.width >= _WIDE else " %H:%M ", time.localtime(moment + page.wall_clock_ahead)
    )


def _shorten(text: str, width: int, page: Page) -> str:
    if cell_len(text) <= width:
        return text
    ellipsis = page.glyphs["ellipsis"]
    return set_cell_size(text, max(0, width - len(ellipsis))) + ellipsis
