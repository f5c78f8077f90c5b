"""Tasks as the projection shows them, made up; and texts that a widget must survive."""

from __future__ import annotations

from dataclasses import replace

from teambot_tui.engine.board import State
from teambot_tui.engine.ids import TaskId, agent_of
from teambot_tui.engine.views import TaskView

HOSTILE = (
    "[/x]",
    "list[str]",
    "[@click=app.quit]go[/]",
    "漢字かな交じり文" * 8,
    "👩‍💻👨‍👩‍👧‍👦",
    "",
    "x" * 100_000,
)


def task(name: str, state: str = "executing", **more: object) -> TaskView:
    """A task that needs nothing."""
    plain = TaskView(
        task=TaskId(name),
        agent=agent_of(TaskId(name)),
        state=State(state),
        statement=f"@{agent_of(TaskId(name))} do it",
        siblings=(TaskId(name),),
        background=False,
        created=90.0,
        started=100.0,
        ended=148.0 if State(state) in (State.COMPLETED, State.FAILED) else None,
        waiting_for=(),
        no_output_yet=(),
        reason="",
        dependencies=(),
        sources=(),
        dependents=(),
        model=None,
    )
    return replace(plain, **more)  # type: ignore[arg-type]  # the caller knows the fields
