"""What is to be done, in the imperative: the rules ask, the runner carries out.

A fact among the effects is to be told to every reader; one that came too late to matter is not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.facts import Fact
from teambot_tui.engine.values import value

if TYPE_CHECKING:
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.injection import Prompt
    from teambot_tui.engine.ports import Verdict


@value
class StartTask:
    """Give the task to its agent's backend."""

    task: TaskId
    agent: AgentId
    prompt: Prompt
    model: str | None


@value
class StopTask:
    """Stop the work on a task and report when it has ended."""

    task: TaskId


@value
class AnswerPermission:
    """Tell a backend what became of its request."""

    task: TaskId
    request: str
    verdict: Verdict
    words: str = ""


@value
class WakeAt:
    """Report the time when it is this late."""

    time: float


Action: TypeAlias = StartTask | StopTask | AnswerPermission | WakeAt

Effect: TypeAlias = Fact | Action
