"""What a compose file says, as values: checked once when they are made, and unchanged from then on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teambot_tui.engine.dependencies import Condition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from teambot_tui.workflows.yaml_reader import Value


@dataclass(frozen=True, slots=True)
class ComposeNeed:
    """A dependency: which task, and how it must have ended."""

    task: str
    condition: Condition = Condition.SUCCESS


@dataclass(frozen=True, slots=True)
class ComposeTask:
    """A task. Its texts have their includes done; all other directives are still in them."""

    name: str
    prompt: str
    agent: str | None = None
    """An agent of the team; nothing means a panel of its own, named after the task."""
    model: str | None = None
    prefix: str = ""
    suffix: str = ""
    concurrency: int = 0
    """How many instances of the task may run at once; 0 means any number."""
    needs: tuple[ComposeNeed, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Which task `{{input:name}}` means."""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ComposePipeline:
    """Tasks to run together, how often, and how many times side by side."""

    name: str
    tasks: tuple[str, ...]
    iterations: int = 1
    parallelism: int = 1


@dataclass(frozen=True, slots=True)
class ComposeWarning:
    """What may not be meant in a task: the text says where and why."""

    task: str
    text: str


@dataclass(frozen=True, slots=True)
class ComposeFile:
    """A whole compose file, everything in the order in which it is written."""

    path: Path
    tasks: Mapping[str, ComposeTask]
    pipelines: Mapping[str, ComposePipeline]
    context: Mapping[str, Value]
    warnings: tuple[ComposeWarning, ...] = ()
