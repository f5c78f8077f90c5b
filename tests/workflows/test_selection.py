"""What `up` runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from teambot_tui.engine.dependencies import Condition
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.schema import ComposeFile, ComposeNeed, ComposePipeline, ComposeTask
from teambot_tui.workflows.selection import select

TASKS = {
    task.name: task
    for task in (
        ComposeTask("tester", "x", needs=(ComposeNeed("coder", Condition.ALWAYS),)),
        ComposeTask("planner", "x"),
        ComposeTask("coder", "x", needs=(ComposeNeed("planner"),)),
        ComposeTask("main", "x"),
    )
}
MAIN = ComposePipeline("main", ("planner", "coder"), 3, 2)
OTHER = ComposePipeline("other", ("planner",))


def file(*pipelines: ComposePipeline) -> ComposeFile:
    return ComposeFile(Path("teambot.yaml"), TASKS, {pipeline.name: pipeline for pipeline in pipelines}, {})


@pytest.mark.parametrize(
    ("pipelines", "names", "iterations", "expected"),
    [
        ((), (), None, ("", ["tester", "planner", "coder", "main"], 1, 1)),
        ((MAIN,), (), None, ("main", ["planner", "coder"], 3, 2)),
        ((MAIN,), (), 5, ("main", ["planner", "coder"], 5, 2)),
        ((MAIN, OTHER), (), None, ("", ["tester", "planner", "coder", "main"], 1, 1)),
        ((MAIN, OTHER), ("other",), None, ("other", ["planner"], 1, 1)),
        ((MAIN,), ("main",), None, ("main", ["planner", "coder"], 3, 2)),
        ((MAIN,), ("main", "main"), 1, ("main", ["planner", "coder"], 1, 2)),
        ((OTHER,), ("main",), None, ("", ["main"], 1, 1)),
        ((MAIN,), ("tester",), None, ("", ["tester", "planner", "coder"], 1, 1)),
        ((MAIN,), ("coder", "planner"), 2, ("", ["planner", "coder"], 2, 1)),
    ],
)
def test_what_runs(
    pipelines: tuple[ComposePipeline, ...],
    names: tuple[str, ...],
    iterations: int | None,
    expected: tuple[str, list[str], int, int],
) -> None:
    found = select(file(*pipelines), names, iterations)
    tasks = [task.name for task in found.tasks]
    assert (found.pipeline, tasks, found.iterations, found.parallelism) == expected


@pytest.mark.parametrize(
    ("names", "iterations", "message"),
    [
        (
            ("codr",),
            None,
            "unknown pipeline or task codr. Did you mean coder? Known: main, tester, planner, coder",
        ),
        (("main", "coder"), None, "the pipeline main must be the only name"),
        ((), 0, "at least one iteration is needed"),
    ],
)
def test_what_cannot_run(names: tuple[str, ...], iterations: int | None, message: str) -> None:
    with pytest.raises(ComposeError) as raised:
        select(file(MAIN), names, iterations)
    assert (raised.value.line, raised.value.message) == (0, message)
