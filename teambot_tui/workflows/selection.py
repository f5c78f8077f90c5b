"""Which tasks of a compose file run when somebody says `up`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.fields import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.workflows.schema import ComposeFile, ComposeTask, Pipeline


@dataclass(frozen=True, slots=True)
class Selection:
    """What to run. Without a pipeline, its name is empty."""

    pipeline: str
    tasks: tuple[ComposeTask, ...]
    iterations: int = 1
    parallelism: int = 1


def select(file: ComposeFile, names: Sequence[str] = (), iterations: int | None = None) -> Selection:
    """Return what runs: a pipeline, tasks with all they depend on, or without names the only pipeline or all.

    Raises:
        ComposeError: A name is unknown, a pipeline is not alone, or there is no iteration.
    """
    if iterations is not None and iterations < 1:
        raise ComposeError(file.path, 0, 0, "at least one iteration is needed")
    if not names and len(file.pipelines) == 1:
        names = tuple(file.pipelines)
    for name in names:
        if name not in file.tasks and name not in file.pipelines:
            known = {**dict.fromkeys(file.pipelines), **dict.fromkeys(file.tasks)}
            raise ComposeError(file.path, 0, 0, unknown("pipeline or task", name, known))
    # A name that is both means the pipeline, which says more.
    pipelines = [file.pipelines[name] for name in dict.fromkeys(names) if name in file.pipelines]
    if not pipelines:
        return Selection("", _with_needs(file, names or tuple(file.tasks)), iterations or 1)
    if len(set(names)) > 1:
        raise ComposeError(
            file.path, 0, 0, f"the pipeline {pipelines[0].name} must be the only name", "run them one by one"
        )
    return _whole(file, pipelines[0], iterations)


def _whole(file: ComposeFile, pipeline: Pipeline, iterations: int | None) -> Selection:
    return Selection(
        pipeline.name,
        tuple(file.tasks[name] for name in pipeline.tasks),
        iterations or pipeline.iterations,
        pipeline.parallelism,
    )


def _with_needs(file: ComposeFile, names: Sequence[str]) -> tuple[ComposeTask, ...]:
    chosen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in chosen:
            chosen.add(name)
            waiting += (need.task for need in file.tasks[name].needs)
    return tuple(task for name, task in file.tasks.items() if name in chosen)
