"""Workflows on the screen: the picture before they start, what is seen while they run, and saving one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Static

from teambot_tui.engine.facts import IterationStarted, TaskCreated, UpEnded, UpStarted
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.workflow_progress import Progress, Workflows
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.graph_plan import PlanGraph
from tests.ui.stage import LARGE, NORMAL, SMALL, on_stage
from tests.ui.views import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ui.stage import Stage

FLOW = """\
version: "1"
tasks:
  planner: {agent: pm, prompt-string: "Plan. {{output:coder}}"}
  coder: {prompt-string: "Code {{output:planner}}", model: opus, depends_on: [planner]}
  mender: {prompt-string: "Mend it", depends_on: [{task: coder, condition: failure}]}
pipelines:
  main: {iterations: 2}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "teambot.yaml").write_text(FLOW)
    return tmp_path


async def preview(stage: Stage, command: str = "/up") -> PlanGraph:
    """Ask for a workflow, and wait until it is shown."""
    await stage.paste(command)
    await stage.until(lambda: stage.dialog, "the preview")
    await stage.pilot.pause()
    return stage.app.screen.query_one(PlanGraph)


async def run(stage: Stage, command: str = "/up", *, made: int = 3) -> None:
    """Start a workflow."""
    await preview(stage, command)
    await stage.press("enter")
    await stage.until(lambda: len(stage.app.views.tasks()) == made, f"{made} tasks")


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_it_is_drawn_before_it_starts(project: Path, size: tuple[int, int]) -> None:
    async with on_stage(size, folder=project) as stage:
        graph = await preview(stage)
        assert stage.dialog.startswith("teambot.yaml · main · 3 tasks · 2 iterations\n")
        assert graph.drawn
        drawn = graph.text
        for words in ("○ planner", "@pm", "○ coder", "~coder · opus", "○ mender", "~mender", "failure"):
            assert words in drawn
        assert "success" not in drawn
        boxes = [graph.box(TaskId(name)) for name in ("planner", "coder", "mender")]
        assert [box.x for box in boxes if box] == sorted(box.x for box in boxes if box)
        assert stage.app.views.tasks() == ()
        await stage.press("down", "right", "space", "escape")
        assert not stage.dialog
        assert stage.app.views.tasks() == ()
        assert stage.bar.has_focus


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_what_may_not_be_meant_is_told_before_it_starts(project: Path, size: tuple[int, int]) -> None:
    tasks = "".join(f"  t{number}: {{prompt-string: '{{{{output:last}}}}'}}\n" for number in range(5))
    (project / "teambot.yaml").write_text(f'version: "1"\ntasks:\n{tasks}  last: {{prompt-string: x}}\n')
    async with on_stage(size, folder=project) as stage:
        await preview(stage)
        told = str(stage.app.screen.query_one("#up-says", Static).render())
        assert "line 3, column 24: {{output:last}}: last does not run before t0" in told
        assert told.count("does not run before") == 3
        assert told.endswith("and 2 more like this")
        await stage.press("enter")
        await stage.until(lambda: len(stage.app.views.tasks()) == 6)


async def test_instances_are_told(project: Path) -> None:
    (project / "teambot.yaml").write_text(FLOW.replace("iterations: 2", "parallelism: 3"))
    async with on_stage(folder=project) as stage:
        graph = await preview(stage)
        assert "3 tasks · 3 instances side by side" in stage.dialog
        assert "~mender-1 and 2 more" in graph.text
        await stage.press("enter")
        await stage.until(lambda: len(stage.app.views.tasks()) == 9)
        assert "  main · 0/9 tasks" in stage.line("title")
        task = stage.app.views.task(TaskId("coder-2#1"))
        assert task.step
        assert task.step.words == "main.2"


@pytest.mark.parametrize(("size", "graphing"), [(NORMAL, True), (LARGE, False)], ids=["normal", "large"])
async def test_it_runs_and_is_watched_live(project: Path, size: tuple[int, int], graphing: bool) -> None:
    async with on_stage(size, folder=project) as stage:
        await run(stage)
        assert stage.screen.has_class("-graphing") is graphing
        assert stage.bar.has_focus
        assert stage.screen.query_one("#graph", Graph).region
        await stage.until(lambda: stage.screen.query("#panel-coder"), "a panel for who has joined")
        assert "  main · iteration 1 of 2 · 0/3 tasks" in stage.line("title")
        assert "planner" in stage.screen.query_one("#graph", Graph).text
        await stage.answer("pm#1", "the plan")
        await stage.until(lambda: "1/3 tasks" in stage.line("title"))
        await stage.answer("coder#1", "the code")
        await stage.until(lambda: "iteration 2 of 2 · 0/3" in stage.line("title"), "the second iteration")
        assert stage.state("mender#1") == "skipped"
        await stage.fail("pm#2", "no idea")
        await stage.until(lambda: "main is done: 2 completed, 1 failed, 3 skipped." in stage.notices)
        assert "iteration" not in stage.line("title")
        assert stage.notices == ["main is done: 2 completed, 1 failed, 3 skipped."]


async def test_each_iteration_is_marked(project: Path) -> None:
    async with on_stage(LARGE, folder=project) as stage:
        await run(stage)
        await stage.answer("pm#1", "first plan")
        await stage.answer("coder#1", "first code")
        await stage.answer("pm#2", "second plan")
        await stage.paste("@coder and this", made=7)
        await stage.answer("coder#2", "second code")
        await stage.answer("coder#3", "typed")
        stage.screen.controls.chosen.inspect(AgentId("coder"))
        await stage.pilot.pause()
        lines = [str(line) for line in stage.drawn("#inspector-earlier").splitlines()]
        assert [line.strip()[:23] for line in lines] == ["✓ coder#2 iteration 2 0", "✓ coder#1 iteration 1 0"]
        stage.screen.controls.chosen.inspect(AgentId("coder"), TaskId("coder#1"))
        await stage.pilot.pause()
        assert "coder#1 · opus · iteration 1" in stage.inspector.text
        heads = [row.strip() for row in stage.drawn("#output").splitlines() if "coder#2 · " in row]
        assert any(row.startswith("✓ @coder  iteration 2") for row in heads)
        assert any(row.endswith("coder#2 · 0:00 · opus") for row in heads)


async def test_one_iteration_needs_no_mark(project: Path) -> None:
    async with on_stage(folder=project) as stage:
        await run(stage, "/up main --iterations 1")
        assert "  main · 0/3 tasks" in stage.line("title")
        step = stage.app.views.task(TaskId("coder#1")).step
        assert step
        assert step.words == ""


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("/up nightly", "unknown pipeline or task nightly."),
        ("/up other.yaml", "other.yaml: does not exist"),
        ("/up broken.yaml", "broken.yaml, line 4, column 79: unknown task planer. Did you mean planner?"),
    ],
)
async def test_what_is_wrong_is_said_and_the_text_stays(project: Path, command: str, complaint: str) -> None:
    (project / "broken.yaml").write_text(FLOW.replace("[planner]", "[planer]"))
    async with on_stage(folder=project) as stage:
        await stage.paste(command)
        await stage.until(lambda: complaint in stage.complaint.replace("\n", ""), complaint)
        assert stage.bar.text.startswith("/up")
        assert stage.app.views.tasks() == ()
        assert not stage.dialog


async def test_e_edits_the_file_and_shows_it_anew(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    script = project / "editor"

    @contextmanager
    def lend() -> Iterator[None]:
        yield

    async with on_stage(folder=project) as stage:
        monkeypatch.setattr(stage.app, "suspend", lend)
        graph = await preview(stage)
        monkeypatch.delenv("EDITOR", raising=False)
        await stage.press("e")
        assert "No editor is set." in stage.dialog
        for change, title, words in (
            ("s/mender/repairer/", "teambot.yaml · main · 3 tasks · 2 iterations", ""),
            (
                "s/planner]/nobody]/",
                "teambot.yaml: nothing can run",
                "line 4, column 79: unknown task nobody",
            ),
            ("s/nobody]/planner]/", "teambot.yaml · main · 3 tasks · 2 iterations", ""),
        ):
            script.write_text(f'#!/bin/sh\nexec sed -i "{change}" "$1"\n')
            script.chmod(0o700)
            monkeypatch.setenv("EDITOR", str(script))
            await stage.press("e")
            await stage.until(lambda: stage.dialog.startswith(title) and words in stage.dialog, title)  # noqa: B023
            if words:
                await stage.press("enter")
                assert stage.dialog, "there is nothing to run"
        assert "○ repairer" in graph.text
        await stage.press("enter")
        await stage.until(lambda: stage.state("repairer#1") == "waiting", "what the file says now")
        script.write_text("#!/bin/sh\nexit 3\n")
        await preview(stage)
        await stage.press("e")
        assert "ended with status 3" in stage.dialog


async def test_cancelling_says_what_it_does_to_the_workflow(project: Path) -> None:
    async with on_stage(folder=project) as stage:
        await run(stage)
        await stage.press("escape")
        await stage.paste("/cancel coder")
        assert "cancels coder#1; skips mender#1; lets no further iteration of main begin" in stage.dialog
        await stage.press("escape", "ctrl+q")
        assert "cancels pm#1, coder#1, mender#1; ends main" in stage.dialog
        await stage.press("escape")
        await stage.paste("/cancel all")
        assert "; ends main" in stage.dialog
        await stage.press("enter")
        await stage.until(lambda: "main has ended: cancelled; 3 cancelled." in stage.notices)
        assert any(notice.endswith("ends main. /up starts it again.") for notice in stage.notices)
        assert len(stage.app.views.tasks()) == 3


async def test_saving(project: Path) -> None:
    async with on_stage(folder=project) as stage:
        await stage.paste("@pm plan it -> @ba check it", made=2)
        await stage.paste("/save flow.yaml")
        await stage.until(lambda: stage.notices, "it to be saved")
        assert stage.notices[0].startswith(f"Saved to {project / 'flow.yaml'}")
        assert "/up flow.yaml runs it" in stage.notices[0]
        assert not stage.dialog, "who types on is not held up"
        saved = (project / "flow.yaml").read_text()
        assert "check it" in saved

        await stage.paste("@writer write it", made=3)
        for key, words in (("escape", ""), ("enter", "write it")):
            await stage.paste("/save flow.yaml")
            await stage.until(lambda: stage.dialog.startswith("Overwrite flow.yaml?"), "the question")
            await stage.press(key)
            await stage.until(
                lambda: len(stage.notices) == 2 if words else not stage.dialog,  # noqa: B023
                "the answer to count",
            )
            assert ("write it" in (project / "flow.yaml").read_text()) is bool(words)
        await stage.press("escape")
        await stage.paste("/save no/such/place.yaml")
        await stage.until(lambda: "Could not write it: No such file or directory" in stage.notices)

        graph = await preview(stage, "/up flow.yaml")
        assert "flow.yaml · 3 tasks" in stage.dialog
        assert "@writer" in graph.text


async def test_a_model_with_a_hostile_name_is_text(project: Path) -> None:
    async with on_stage(folder=project) as stage:
        for text in HOSTILE[:5]:
            file = FLOW.replace("opus", f'"{text[:60]}"')
            (project / "teambot.yaml").write_text(file)
            graph = await preview(stage)
            assert f"~coder · {text}"[:12] in graph.text
            await stage.press("escape")


def test_what_else_is_made_meanwhile_is_no_step() -> None:
    ups = Workflows()
    ups.see(UpStarted(0.0, "up-1", "", "x/[b]x.yaml", "", ("plan",), ("",), 2))

    def created(task: str, label: str | None = "plan", scope: str = "") -> None:
        ups.see(TaskCreated(0.0, TaskId(task), AgentId("pm"), (), (), False, None, label, scope))

    created("pm#1")
    ups.see(IterationStarted(0.0, "up-1", "", 1))
    created("pm#2", None)
    created("pm#3", scope="other/")
    created("pm#4")
    created("pm#5")
    assert [task for task in range(1, 6) if ups.step(TaskId(f"pm#{task}"))] == [4]
    assert ups.progress() == (Progress(("[b]x.yaml", "iteration 1 of 2", "0/1 task")),)
    assert ups.falls_with([TaskId("pm#5")]) == ""
    assert ups.falls_with([TaskId("pm#4")]) == "ends [b]x.yaml"
    ups.see(UpEnded(0.0, "up-1", "@pm has left"))
    (outcome,) = ups.outcomes
    assert outcome.words == "[b]x.yaml has ended: @pm has left; nothing ran."
    assert ups.progress() == ()
