"""What the inspector says about an agent and its task, section by section, in glyphs and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.content import Content

from teambot_tui.engine.activity import tool_line
from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.ports import ToolState
from teambot_tui.engine.states import STATES, task_state
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import duration, size_in_words, style_of, used
from teambot_tui.ui.widgets.inspector_words import NOTHING, fold, quiet, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.ports import Step
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.inspector_view import InspectorView, NeedView

_REQUEST_LINES: Final = 12
_STEPS: Final = 20
_TOOLS: Final = 8
_THOUGHT_LINES: Final = 4
_WIDTH: Final = 200
_TOOL_GLYPHS: Final = {
    ToolState.PENDING: "queued",
    ToolState.RUNNING: "executing",
    ToolState.DONE: "completed",
    ToolState.FAILED: "failed",
}
_STEP_GLYPHS: Final = {"completed": "completed", "done": "completed", "in_progress": "executing"}


def requests(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say what the agent wants to do, and how to answer."""
    if view.task is None or not view.task.requests:
        return NOTHING
    first, *more = view.task.requests
    content = Content(f"{glyphs['asking']} {STATES['asking'].word}: {clip(first.summary, _WIDTH)}").stylize(
        f"bold {style_of('asking')}"
    )
    if first.detail.strip():
        text, hidden = fold(first.detail, _REQUEST_LINES)
        content += Content(f"\n{text}")
        content += quiet(f"\n{glyphs['ellipsis']} +{hidden} lines") if hidden else NOTHING
    also = f", and {len(more)} more" if more else ""
    return content + quiet(f"\nF8 opens it{also}: a allow once, A always, r reject once, R always")


def did_title(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say how much the agent did besides answering, and what that took."""
    if view.task is None:
        return NOTHING
    doing = view.task.doing
    facts = [f"{doing.tool_count:,} tools" if doing.tool_count > 1 else "1 tool"] if doing.tool_count else []
    if spent := used(doing.usage, glyphs, " tokens"):
        facts.append(spent)
    if (total := used(view.status.total, glyphs)) and total != used(doing.usage, glyphs):
        facts.append(f"in all {total}")
    if not (facts or doing.plan or doing.thoughts):
        return NOTHING
    dot = f" {glyphs['dot']} "
    return title("What it did") + quiet("".join(f"{dot}{fact}" for fact in facts))


def did(view: InspectorView, glyphs: Glyphs) -> Content:
    """List the agent's own plan, its last tools, and the end of its thoughts."""
    if view.task is None:
        return NOTHING
    doing = view.task.doing
    lines: list[Content] = list(_steps(doing.plan, glyphs))
    if hidden := doing.tool_count - len(doing.tools[-_TOOLS:]):
        lines.append(quiet(f"{glyphs['ellipsis']} {hidden:,} earlier"))
    for tool in doing.tools[-_TOOLS:]:
        name = _TOOL_GLYPHS[tool.state]
        state = f"  {tool.state}" if tool.state is not ToolState.DONE else ""
        lines.append(
            Content(f"{glyphs[name]} ").stylize(style_of(name))
            + Content(clip(tool_line(tool), _WIDTH, glyphs["ellipsis"]))
            + quiet(state)
        )
    thoughts = [line for line in doing.thoughts[-4000:].split("\n") if line.strip()][-_THOUGHT_LINES:]
    lines += [quiet(f"{glyphs['bar']} {clip(line, _WIDTH, glyphs['ellipsis'])}") for line in thoughts]
    return Content("\n").join(lines)


def _steps(plan: tuple[Step, ...], glyphs: Glyphs) -> Iterator[Content]:
    for step in plan[:_STEPS]:
        name = _STEP_GLYPHS.get(step.state, "idle")
        text = Content(clip(step.text, _WIDTH, glyphs["ellipsis"]))
        yield Content(f"{glyphs[name]} ").stylize(style_of(name)) + text
    if len(plan) > _STEPS:
        yield quiet(f"{glyphs['ellipsis']} +{len(plan) - _STEPS} steps")


_STATEMENT_LINES: Final = 4
_PERSONA_LINES: Final = 8
_EARLIER: Final = 8
_NAME: Final = 40
_VALUE: Final = 120


def head(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say who it is, what it is at, in which state and for how long."""
    dot = f" {glyphs['dot']} "
    task = view.task
    content = Content(clip(view.status.name, _NAME)).stylize("bold")
    if view.status.parent is not None:
        content += quiet(f" {glyphs['from']} {clip(view.status.parent, _NAME)}")
    if task is not None:
        content += Content(f"{dot}{clip(task.task, _NAME)}")
    if model := (task and task.model) or view.status.model:
        content += quiet(f"{dot}{clip(model, _NAME)}")
    if task is None:
        return content + Content("\n") + _state(view.status.state, glyphs)
    if task.step is not None and task.step.words:
        content += quiet(f"{dot}{task.step.words}")
    if task.background:
        content += quiet(f"{dot}background")
    content += Content("\n") + _state(task_state(task), glyphs) + Content(_since(task, view.now))
    if task.reason and task.ended is not None:
        content += Content(f"\n{clip(task.reason, 400)}").stylize(style_of(task.state))
    return content


def profile(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say what an agent is that has had nothing to do yet."""
    known = view.profile
    if view.task is not None or known is None:
        return NOTHING
    facts = {"backend": known.backend, "model": view.status.model, "permissions": known.permissions}
    told = f" {glyphs['dot']} ".join(f"{name} {clip(said, _NAME)}" for name, said in facts.items() if said)
    persona, more = fold(known.persona.strip(), _PERSONA_LINES)
    note = f"\n{glyphs['ellipsis']} +{more} lines" if more else ""
    return Content("\n").join(
        each for each in (quiet(told), Content(persona) + quiet(note)) if each.plain.strip()
    )


def statement(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say what the person typed."""
    if view.task is None or not view.task.statement:
        return NOTHING
    return quiet(f"{glyphs['prompt']} ") + Content(fold(view.task.statement, _STATEMENT_LINES)[0])


def needs(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say what the task needs and what has become of it."""
    if not view.needs:
        return NOTHING
    content = title("Needs")
    for need in view.needs:
        content += Content("\n  ") + _need(need)
        if need.task is None:
            content += Content("  no output yet").stylize(style_of("waiting"))
            continue
        content += Content(f" {glyphs['from']} {need.task.task}  ") + _state(task_state(need.task), glyphs)
        content += quiet(_age(need.task, view.now))
        if need.size:
            content += quiet(f" {glyphs['dot']} {size_in_words(need.size)}")
    return content


def unblocks(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say who needs the task."""
    if not view.unblocks:
        return NOTHING
    content = title("Unblocks")
    for task in view.unblocks:
        content += Content(f"\n  {glyphs['arrow']} {task.task}  ") + _state(task_state(task), glyphs)
    return content


def context(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say what the agent is told beside its task, by whom, and whose word that overrides."""
    if not view.context:
        return NOTHING
    content = title("Shared context")
    for entry in view.context:
        content += Content(f"\n  {clip(entry.key, _NAME)}").stylize("$reference")
        content += Content(f": {clip(entry.value, _VALUE, glyphs['ellipsis'])}")
        over = f", overrides {', '.join(entry.overridden)}" if entry.overridden else ""
        content += quiet(f"  {glyphs['from']} {entry.origin}{over}")
    return content


def queue_title(view: InspectorView) -> Content:
    """Say how long the queue is and what can be done."""
    return title(f"Queue {len(view.queue)}") + quiet("  x removes") if view.queue else NOTHING


def queue_lines(view: InspectorView) -> Iterator[tuple[TaskId, Content]]:
    """Yield a line for each task of the queue."""
    for number, name in enumerate(view.queue, 1):
        yield name, Content(f"{number}  {clip(name, _NAME)}").stylize("bold" if name == view.name else "")


def earlier_title(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say that there are earlier tasks, and how many are not listed."""
    count = len(_over(view))
    if not count:
        return NOTHING
    more = count - _EARLIER
    return title("Earlier") + (quiet(f" {glyphs['dot']} {more} more") if more > 0 else NOTHING)


def earlier_lines(view: InspectorView, glyphs: Glyphs) -> Iterator[tuple[TaskId, Content]]:
    """Yield a line for each of the last tasks that are over."""
    for task in _over(view)[:_EARLIER]:
        took = duration(task.ended - task.started) if task.ended is not None and task.started else ""
        yield (
            task.task,
            Content(f"{glyphs[task.state]} ").stylize(style_of(task.state))
            + Content(f"{task.task} ")
            + Content(f"{task.step.words} " if task.step is not None and task.step.words else "").stylize(
                "$reference"
            )
            + quiet(f"{took}  {clip(task.words, 28, glyphs['ellipsis'])}"),
        )


def _over(view: InspectorView) -> list[TaskView]:
    names = [task.task for task in view.earlier]
    before = names.index(view.name) if view.name in names else len(names)
    return [task for task in reversed(view.earlier[:before]) if task.ended is not None]


def _state(state: str, glyphs: Glyphs) -> Content:
    return Content(f"{glyphs[state]} {STATES[state].word}").stylize(style_of(state))


def _need(need: NeedView) -> Content:
    name = clip(need.agent, _NAME)
    match need.via:
        case Via.REFERENCE:
            words = f"${name}"
        case Via.VARIABLE:
            words = f"{{{clip(need.name, _NAME)}}} @{name}"
        case _:
            words = f"{need.via} @{name}"
    return Content(words).stylize("$reference")


def _since(task: TaskView, now: float) -> str:
    match task.state:
        case State.WAITING:
            lacking = ", ".join(
                f"@{agent} (no output yet)" if agent in task.no_output_yet else f"@{agent}"
                for agent in task.waiting_for
            )
            return f" for {lacking}  {duration(now - task.created)}"
        case State.QUEUED:
            return f"  {duration(now - task.created)}"
        case State.EXECUTING:
            return f"  {duration(now - task.started)}"
        case _ if task.ended is not None:
            took = f" in {duration(task.ended - task.started)}" if task.started else ""
            return f"{took}, {duration(now - task.ended)} ago"
        case _:
            return ""


def _age(task: TaskView, now: float) -> str:
    if task.ended is not None:
        return f" {duration(now - task.ended)} ago"
    begun = task.started if task.state is State.EXECUTING else task.created
    return f" {duration(now - begun)}"
