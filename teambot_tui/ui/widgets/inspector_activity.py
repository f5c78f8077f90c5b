"""What the inspector says of an agent's doings besides its answer: wishes, plan, tools and thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.content import Content

from teambot_tui.engine.activity import tool_line
from teambot_tui.engine.ports import ToolState
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import used
from teambot_tui.ui.widgets.inspector_words import NOTHING, fold, quiet, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.ports import Step
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.widgets.inspector_view import InspectorView

_WISH_LINES: Final = 12
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
_COLOURS: Final = {
    "idle": "$foreground-muted",
    "queued": "$foreground-muted",
    "executing": "$text-primary",
    "completed": "$success",
    "failed": "$error",
}


def wishes(view: InspectorView, glyphs: Glyphs) -> Content:
    """Say what the agent wants to do, and how to answer."""
    if view.task is None or not view.task.wishes:
        return NOTHING
    first, *more = view.task.wishes
    content = Content(f"{glyphs['asking']} needs you: {clip(first.summary, _WIDTH)}").stylize(
        "$text-warning bold"
    )
    if first.detail.strip():
        text, hidden = fold(first.detail, _WISH_LINES)
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
            Content(f"{glyphs[name]} ").stylize(_COLOURS[name])
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
        yield Content(f"{glyphs[name]} ").stylize(_COLOURS[name]) + text
    if len(plan) > _STEPS:
        yield quiet(f"{glyphs['ellipsis']} +{len(plan) - _STEPS} steps")
