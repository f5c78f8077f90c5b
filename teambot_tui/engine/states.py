"""The one table of states: whatever shows a state takes its word, its glyphs and its colour's role from here.

A state is never told by colour alone. Glyphs are such as every common monospaced font has.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.engine.views import AgentView, TaskView

SILENT: Final = 60.0
"""Seconds without a word after which an agent at work is called silent."""


class Role(StrEnum):
    """What a colour says of a state; the theme says which colour that is."""

    QUIET = "quiet"
    WORK = "work"
    WAIT = "wait"
    DONE = "done"
    FAIL = "fail"
    YOU = "you"


class StateLook(NamedTuple):
    """How a state is shown."""

    word: str
    short: str
    """The word where there is little room."""
    glyph: str
    ascii: str
    role: Role
    is_final: bool = False


STATES: Final[Mapping[str, StateLook]] = {
    "idle": StateLook("idle", "idle", "○", "o", Role.QUIET),
    "executing": StateLook("executing", "exec", "●", "*", Role.WORK),
    "silent": StateLook("silent", "silent", "!", "!", Role.WAIT),
    "waiting": StateLook("waiting", "waits", "◷", "~", Role.WAIT),
    "delayed": StateLook("delayed", "until", "‖", "=", Role.WAIT),
    "queued": StateLook("queued", "queued", "◌", ".", Role.QUIET),
    "asking": StateLook("needs you", "you", "?", "?", Role.YOU),
    "completed": StateLook("completed", "done", "✓", "+", Role.DONE, is_final=True),
    "failed": StateLook("failed", "failed", "✗", "x", Role.FAIL, is_final=True),
    "interrupted": StateLook("interrupted", "stopped", "■", "#", Role.FAIL, is_final=True),
    "cancelled": StateLook("cancelled", "cancelled", "⊘", "/", Role.QUIET, is_final=True),
    "skipped": StateLook("skipped", "skipped", "⊗", "-", Role.QUIET, is_final=True),
}
"""In the order in which they are counted wherever they are."""


def role_of(state: str) -> Role:
    """Return what the colour of a state says."""
    return STATES[state].role


def task_state(view: TaskView) -> str:
    """Return the state in which a task is shown."""
    if view.requests:
        return "asking"
    return "delayed" if view.until is not None else view.state.value


def agent_state(view: AgentView, now: float) -> str:
    """Return the state in which an agent is shown; an idle one is shown as its last task ended."""
    if view.requests:
        return "asking"
    if view.until is not None:
        return "delayed"
    if view.state == "executing":
        is_silent = view.last_activity and now - view.last_activity >= SILENT
        return "silent" if is_silent else "executing"
    return (view.last_end or "idle") if view.state == "idle" else view.state
