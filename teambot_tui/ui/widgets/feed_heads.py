"""The rows around an output: what was asked, who works on it, what waits, why it ended.

A statement has one line, and one more for what has not started yet; a task has a head with its own words.
The only time of day is when a statement was submitted, so it never changes and never runs backwards.
"""

from __future__ import annotations

import re
import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len, set_cell_size

from teambot_tui.engine.activity import tool_line
from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.ids import agent_of
from teambot_tui.engine.ports import Verdict
from teambot_tui.engine.states import STATES, role_of, task_state
from teambot_tui.engine.text import one_line
from teambot_tui.ui.glyphs import duration, size, used
from teambot_tui.ui.widgets.feed_text import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.feed_markdown import Parts
    from teambot_tui.ui.widgets.feed_text import Output

_ROOM_FOR_WORDS: Final = 16
_REASON_ROWS: Final = 4
_REQUESTS: Final = 4
_ANSWERS: Final = 4
_NAMED: Final = 4
_BEFORE_THE_WORK: Final = 3
_MEDIUM: Final = 24
_SYNTAX: Final = re.compile(r"(?P<agent>@[\w.,-]+)|(?P<reference>\$[\w-]+(?:\.\w+)?|\{\w+\})|(?P<flow>->|&$)")
_ORDER: Final = (
    State.COMPLETED,
    State.FAILED,
    State.SKIPPED,
    State.CANCELLED,
    State.EXECUTING,
    State.QUEUED,
    State.WAITING,
)


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
    skipped_by: Callable[[TaskId], Iterable[TaskId]]
    wall_clock_ahead: float = 0.0
    """How many seconds the wall clock is ahead of the session's."""
    now: float | None = None
    """The session's time, if it is known."""

    @property
    def indent(self) -> str:
        """What stands left of everything but statements: as much as the time takes above it."""
        return " " * 6 if self.width >= _MEDIUM else ""

    @property
    def bar(self) -> str:
        """What stands left of the output."""
        bar = self.glyphs["bar"]
        return f"{self.indent}{bar} " if self.width > 10 else ""

    @property
    def text_width(self) -> int:
        """How many cells there are for the output."""
        return max(1, self.width - len(self.bar))


BLANK: Final = Row(Kind.BLANK, ())
_SAID: Final = ("failed", "cancelled", "asking", "delayed", "interrupted")
"""The states that a head says in a word, too."""


def role(state: str) -> str:
    """Return the role in which a state is drawn."""
    return f"feed--{role_of(state)}"


# A statement


def statement_row(view: TaskView, counts: Mapping[State, int], seconds: float | None, page: Page) -> Row:
    """Return what was asked, how many of its tasks are in which state, and for how long it has gone on."""
    stamp = _stamp(view.created, page)
    prompt = f"{page.glyphs['prompt']} "
    right: list[tuple[str, str]] = []
    if len(view.siblings) > 1:
        right += (
            (f"{page.glyphs[each.value]}{counts[each]}", role(each)) for each in _ORDER if counts.get(each)
        )
        if seconds is not None:
            right.append((f" {duration(seconds)}", "feed--muted"))
    room = page.width - cell_len(stamp + prompt)
    tail = _spaced(right)
    if room - _cells(tail) - 2 < _ROOM_FOR_WORDS:
        tail = ()
    room = max(0, room - (_cells(tail) + 2 if tail else 0))
    text = _shorten_statement(view, room, page)
    parts = ((stamp, "feed--time"), (prompt, "feed--prompt"), *_coloured(text))
    return Row(Kind.STATEMENT, _to_the_edge(parts, tail, page), len(stamp + prompt))


def _shorten_statement(view: TaskView, room: int, page: Page) -> str:
    text = one_line(view.statement)
    if cell_len(text) <= room and len(view.statement) <= 4 * len(text) + 400:
        return text
    if len(view.siblings) > 1 and " -> " in text:
        more = f"-> {page.glyphs['ellipsis']} {view.statement.count(' -> ') + 1} stages"
        cut = text.rfind(" -> ", 0, max(0, room - len(more)) + 4)
        while cut > 0 and cell_len(text[: cut + 1]) + len(more) > room:
            cut = text.rfind(" -> ", 0, cut)
        if cut > 0:
            return text[: cut + 1] + more
    return _shorten(text, room, page)


def _coloured(text: str) -> Parts:
    """Return a person's words: strong, with agents, references and arrows in their colours."""
    parts: list[tuple[str, str]] = []
    at = 0
    for found in _SYNTAX.finditer(text):
        if found.start() > at:
            parts.append((text[at : found.start()], "feed--statement"))
        parts.append((found[0], f"feed--{'called' if found.lastgroup == 'agent' else found.lastgroup}"))
        at = found.end()
    if at < len(text):
        parts.append((text[at:], "feed--statement"))
    return tuple(parts)


def pending_row(view: TaskView, page: Page) -> Row:
    """Return the one line of the only task of a statement that has not started, or never will."""
    shown = task_state(view)
    left: list[tuple[str, str]] = [
        (page.indent, "feed--muted"),
        (f"{page.glyphs[shown]} ", role(shown)),
        (f"@{view.agent}  ", "feed--agent"),
    ]
    flow = _flow(view, page)
    if flow and view.ended is None:
        left += flow
    else:
        words = STATES[shown].word
        if view.state is State.SKIPPED:
            words = f"skipped {page.glyphs['dot']} {_blame(view)}"
        left.append((words, role(shown)))
    return Row(Kind.HEAD, _to_the_edge(tuple(left), ((view.task, "feed--muted"),), page), len(page.indent))


def strip_row(tasks: Iterable[TaskView | None], count: int, first: int, page: Page) -> Row:
    """Return the stages of a statement in order, those before the work and behind the edge as numbers.

    `tasks` begin at number `first` of `count`.
    """
    parts: list[tuple[str, str]] = [(page.indent, "feed--muted")]
    room = page.width - len(page.indent)
    if first:
        done = f"{page.glyphs['completed']} {first} done  "
        parts.append((done, role("completed")))
        room -= cell_len(done)
    for number, view in enumerate(tasks, start=first):
        if view is None:
            break
        shown = task_state(view)
        look = role(shown)
        sign = f"{page.glyphs[shown]} "
        name = f"{view.agent}  "
        more = f"{count - number} more"
        behind = 0 if number + 1 == count else cell_len(sign + more)
        if cell_len(sign + name) > room - behind:
            parts.append((sign + more, look))
            break
        parts += [(sign, look), (name, "feed--strip" if view.ended else "feed--output")]
        room -= cell_len(sign + name)
    return Row(Kind.NOTE, tuple(parts), len(page.indent))


def first_in_strip(first_unfinished: int, agents: int) -> int:
    """Return the stage to begin a strip with, so that the work is in it."""
    return 0 if first_unfinished <= agents else first_unfinished - _BEFORE_THE_WORK


def skipped_row(cause: TaskId | None, tasks: Iterable[TaskId], reason: str, page: Page) -> Row:
    """Return which tasks one failure took with it, and whom to look at."""
    names, more = _few(tasks)
    blame = f"see @{agent_of(cause)} {cause}" if cause else one_line(reason, 80)
    text = f"{page.glyphs['skipped']} {', '.join(names)}{more} skipped {page.glyphs['dot']} {blame}"
    text = _shorten(text, page.width - len(page.indent), page)
    return Row(Kind.NOTE, ((page.indent, "feed--muted"), (text, role("skipped"))), len(page.indent))


def _blame(view: TaskView) -> str:
    return f"see @{agent_of(view.cause)} {view.cause}" if view.cause else one_line(view.reason, 80)


def _few(tasks: Iterable[TaskId]) -> tuple[list[str], str]:
    names: list[str] = []
    count = 0
    for task in tasks:
        count += 1
        if count <= _NAMED:
            names.append(task)
    return names, f" and {count - _NAMED} more" if count > _NAMED else ""


# A task


def task_rows(view: TaskView, page: Page, *, has_words: bool) -> list[Row]:
    """Return a task's head with its own words, and under it what is to be known about it."""
    shown = task_state(view)
    look = role(shown)
    left: Parts = (
        (page.indent, "feed--muted"),
        (f"{page.glyphs[shown]} ", look),
        (f"@{view.agent}", "feed--agent"),
    )
    if shown in _SAID:
        left = (*left, (f"  {STATES[shown].word}", look))
    right = _numbers(view, page)
    room = page.width - _cells(left) - _cells(right) - 2
    if room < 0 and len(right) > 1:
        right = right[:2]
        room = page.width - _cells(left) - _cells(right) - 2
    words = view.words if has_words else ""
    if view.step is not None and view.step.words:
        words = f"{view.step.words}  {words}".rstrip()
    if words and room > 8:
        left = (*left, (f"  {_shorten(words, room - 2, page)}", "feed--words"))
    rows = [Row(Kind.HEAD, _to_the_edge(left, right, page), len(page.indent))]
    if ((given := _flow(view, page)) and has_words) or (given and page.airy):
        rows.append(_note(given, page))
    if view.reason and view.ended is not None:
        lines = wrap(one_line(view.reason, 4 * page.width), max(1, page.width - len(page.indent)))
        rows += [_note(((line.rstrip(), look),), page) for line in lines[:_REASON_ROWS]]
    if view.state in (State.FAILED, State.CANCELLED):
        rows.append(_retry(view, page))
    rows += _answers(view, page)
    if view.state is State.EXECUTING:
        rows += _activity(view, page)
    return rows


def _numbers(view: TaskView, page: Page) -> Parts:
    """Return the id and the numbers of a task, as they stand at the right edge."""
    dot = page.glyphs["dot"]
    facts: list[str] = [view.task]
    if view.started and view.ended is not None:
        facts.append(duration(view.ended - view.started))
    elif view.started and page.now is not None and view.state is State.EXECUTING:
        facts.append(duration(page.now - view.started))
    if view.model:
        facts.append(one_line(view.model, 24))
    if spent := used(view.doing.usage, page.glyphs):
        facts.append(spent)
    return tuple((f" {dot} {fact}" if number else fact, "feed--muted") for number, fact in enumerate(facts))


def _retry(view: TaskView, page: Page) -> Row:
    names, more = _few(page.skipped_by(view.task))
    words = "r runs it again"
    if names:
        words += f" and brings back {', '.join(names)}{more}"
    return _note(((_shorten(words, page.width - len(page.indent), page), "feed--note"),), page)


def _answers(view: TaskView, page: Page) -> list[Row]:
    """Return what the task was allowed or refused."""
    rows = []
    for answer in view.decisions[-_ANSWERS:]:
        if answer.verdict is None:
            continue  # the task was over before
        allowed = answer.verdict is Verdict.ALLOW
        sign = page.glyphs["completed" if allowed else "failed"]
        said = one_line(answer.words or answer.why, 80)
        why = f" {page.glyphs['dot']} {said}" if said else ""
        line = f"{sign} {'allowed' if allowed else 'rejected'}: {answer.summary}{why}"
        line = _shorten(line, max(0, page.width - len(page.indent)), page)
        rows.append(_note(((line, "feed--note"),), page))
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
        parts.append((f"waits for {', '.join(waits)}{gap}", role("waiting")))
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
    return time.strftime("%H:%M ", time.localtime(moment + page.wall_clock_ahead))


def _spaced(parts: Iterable[tuple[str, str]]) -> Parts:
    return tuple((f" {text}" if number else text, look) for number, (text, look) in enumerate(parts))


def _to_the_edge(left: Parts, right: Parts, page: Page) -> Parts:
    """Return both, the second at the right edge if there is room for it."""
    gap = page.width - _cells(left) - _cells(right)
    return (*left, (" " * gap, "feed--muted"), *right) if right and gap > 0 else left


def _cells(parts: Parts) -> int:
    return sum(cell_len(text) for text, _ in parts)


def _shorten(text: str, width: int, page: Page) -> str:
    if cell_len(text) <= width:
        return text
    ellipsis = page.glyphs["ellipsis"]
    return set_cell_size(text, max(0, width - len(ellipsis))) + (ellipsis if width > 0 else "")
