"""Compose files: values if everything is right, else the first thing that is wrong, and where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.text import one_line
from teambot_tui.workflows.compose import find_cycle, load_compose
from teambot_tui.workflows.errors import ComposeError
from teambot_tui.workflows.schema import ComposeFile, ComposeNeed, ComposePipeline, ComposeTask
from tests.cost import is_linear

if TYPE_CHECKING:
    from collections.abc import Callable

TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")

HEAD = "version: 1\ntasks:\n"
A = "  a: {prompt-string: x}\n"

EXAMPLE = """\
version: "1"
context: {goal: "Build a modern web app", tries: 3, on: [yes, ~]}
tasks:
  planner:
    agent: pm
    prompt: planner
    model: opus
    prefix: "Before"
    suffix: "After {{iteration}}"
    concurrency: 2
  linter: {prompt-string: Lint}
  coder:
    prompt-file: other/coder.md
    depends_on: [planner, {task: linter, condition: any}]
    inputs: {plan: planner}
pipelines:
  main: {iterations: 3, parallelism: 2, tasks: [planner, linter, coder]}
  everything:
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "prompts" / "planner.md").write_text("Plan. {{include: common.md}}")
    (tmp_path / "prompts" / "common.md").write_text("Be brief.")
    (tmp_path / "prompts" / "empty.md").write_text(" \n")
    (tmp_path / "prompts" / "typo.md").write_text("{{output:planer}}")
    (tmp_path / "other" / "coder.md").write_text(
        "Code {{input:plan}} after {{output:planner}}, {{output:pm}}"
    )
    return tmp_path


def load(folder: Path, text: str) -> ComposeFile:
    path = folder / "teambot.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    return load_compose(path, folder, TEAM)


def problem(folder: Path, text: str) -> tuple[int, int, str, str]:
    with pytest.raises(ComposeError) as raised:
        load(folder, text)
    error = raised.value
    assert str(error).startswith(str(folder / "teambot.yaml"))
    assert one_line(str(error), 1000) == str(error)
    return error.line, error.column, error.message, error.hint


def test_the_example_of_the_manual(folder: Path) -> None:
    assert load(folder, EXAMPLE) == ComposeFile(
        folder / "teambot.yaml",
        {
            "planner": ComposeTask(
                "planner", "Plan. Be brief.", "pm", "opus", "Before", "After {{iteration}}", 2, line=4
            ),
            "linter": ComposeTask("linter", "Lint", line=11),
            "coder": ComposeTask(
                "coder",
                "Code {{input:plan}} after {{output:planner}}, {{output:pm}}",
                needs=(ComposeNeed("planner"), ComposeNeed("linter", Condition.ANY)),
                inputs={"plan": "planner"},
                line=12,
            ),
        },
        {
            "main": ComposePipeline("main", ("planner", "linter", "coder"), 3, 2),
            "everything": ComposePipeline("everything", ("planner", "linter", "coder")),
        },
        {"goal": "Build a modern web app", "tries": "3", "on": ["yes", None]},
    )


@pytest.mark.parametrize("version", ["1", "'1'", '"1"'])
def test_versions(folder: Path, version: str) -> None:
    load(folder, f"version: {version}\ntasks: {{a: {{prompt-string: x}}}}")


@pytest.mark.parametrize("condition", list(Condition))
def test_conditions(folder: Path, condition: Condition) -> None:
    file = load(
        folder,
        f"{HEAD}{A}  b: {{prompt-string: x, depends_on: [{{task: a, condition: {condition}}}]}}",
    )
    assert file.tasks["b"].needs == (ComposeNeed("a", condition),)


def test_an_alias_of_an_agent_is_its_id(folder: Path) -> None:
    file = load(folder, "version: 1\ntasks: {a: {agent: project_manager, prompt-string: x}}")
    assert file.tasks["a"].agent == "pm"


def test_without_a_team_any_id_is_an_agent(folder: Path) -> None:
    path = folder / "x.yaml"
    path.write_text("version: 1\ntasks: {a: {agent: scanner, prompt-string: x}}")
    assert load_compose(path).tasks["a"].agent == "scanner"


def test_text_that_looks_like_a_directive_and_is_none(folder: Path) -> None:
    text = "\\{{output:x}} {{x}} {{STDIN}}\n```\n{{output:x}}\n```\n"
    file = load(
        folder,
        "version: 1\ntasks:\n a:\n  prompt-string: |\n"
        + "".join(f"   {line}\n" for line in text.splitlines()),
    )
    assert file.tasks["a"].prompt == text


KEYS = "agent, prompt, prompt-file, prompt-string, model, prefix, suffix, concurrency, depends_on, inputs"
TEAM_LIST = ", ".join(TEAM)

# The mark shows where the error is to point.
WRONG = {
    "empty": ("▸", "version is missing"),
    "a list": ("▸- a", "a compose file must be a table"),
    "a text": ("▸hello", "a compose file must be a table"),
    "version": ("version: ▸2\n" + "tasks:\n" + "  a: {prompt-string: x}\n", 'version must be "1"'),
    "version 1.0": ("version: ▸1.0\n" + "tasks:\n" + "  a: {prompt-string: x}\n", 'version must be "1"'),
    "no tasks": ("▸version: 1", "there is no task"),
    "empty tasks": ("version: 1\ntasks:▸", "there is no task"),
    "tasks a list": ("version: 1\ntasks: ▸[a]", "tasks must be a table"),
    "top key": (
        HEAD + A + "▸piplines: {}",
        "unknown key piplines. Did you mean pipelines? Known: version, context, tasks, pipelines",
    ),
    "task key": (
        HEAD + "  a:\n" + "    prompt-string: x\n" + "    ▸dependson: []",
        f"unknown key dependson. Did you mean depends_on? Known: {KEYS}",
    ),
    "task name": (HEAD + "  ▸big name: {prompt-string: x}", "big name is no name for a task"),
    "task name a number": (HEAD + "  ▸1st: {prompt-string: x}", "1st is no name for a task"),
    "task name with _ first": (HEAD + "  ▸_x: {prompt-string: x}", "_x is no name for a task"),
    "task name in letters of others": (HEAD + "  ▸é: {prompt-string: x}", "é is no name for a task"),
    "task name all": (HEAD + "  ▸all: {prompt-string: x}", "all is no name for a task"),
    "task name path": (HEAD + "  ▸../../x: {prompt-string: x}", "../../x is no name for a task"),
    "task name NUL": (HEAD + '  ▸"\\0": {prompt-string: x}', "this is no name for a task"),
    "task name long": (HEAD + f"  ▸{'x' * 65}: {{prompt-string: x}}", f"{'x' * 39}… is no name for a task"),
    "task a text": (HEAD + "  ▸a: do it", "a must be a table"),
    "no prompt": (HEAD + "  ▸a: {model: x}", "a has no prompt"),
    "misspelt prompt": (
        HEAD + "  a: {▸promt: x}",
        f"unknown key promt. Did you mean prompt? Known: {KEYS}",
    ),
    "misspelt version": (
        "▸verison: 1\ntasks:\n" + A,
        "unknown key verison. Did you mean version? Known: version, context, tasks, pipelines",
    ),
    "misspelt tasks": (
        "version: 1\n▸task:\n" + A,
        "unknown key task. Did you mean tasks? Known: version, context, tasks, pipelines",
    ),
    "misspelt task of a need": (
        HEAD + A + "  c: {prompt-string: x, depends_on: [{▸tsk: a}]}",
        "unknown key tsk. Did you mean task? Known: task, condition",
    ),
    "nothing": (HEAD + "  ▸a:", "a has no prompt"),
    "two prompts": (
        HEAD + "  a: {prompt-string: x, model: y, ▸prompt: planner}",
        "prompt-string is given already: a task has one prompt",
    ),
    "empty prompt": (HEAD + "  a: {prompt-string: ▸' '}", "prompt-string must be a text that is not empty"),
    "prompt a list": (HEAD + "  a: {prompt-string: ▸[x]}", "prompt-string must be a text that is not empty"),
    "missing prompt": (HEAD + "  a: {prompt: ▸none}", "prompts/none.md does not exist"),
    "empty file": (HEAD + "  a: {prompt: ▸empty}", "prompts/empty.md is empty"),
    "prompt outside": (HEAD + "  a: {prompt-file: ▸../x.md}", "../x.md is outside the project"),
    "prompt name outside": (HEAD + "  a: {prompt: ▸../../x}", "prompts/../../x.md is outside the project"),
    "prompt absolute": (HEAD + "  a: {prompt-file: ▸/etc/passwd}", "/etc/passwd is outside the project"),
    "include": (
        HEAD + "  a: {prompt-string: ▸'{{include: none.md}}'}",
        "teambot.yaml → none.md: does not exist",
    ),
    "agent": (
        HEAD + "  a: {agent: ▸builder1, prompt-string: x}",
        f"unknown agent builder1. Did you mean builder-1? Known: {TEAM_LIST}",
    ),
    "model": (HEAD + "  a: {model: ▸[x], prompt-string: x}", "model must be a text that is not empty"),
    "long model": (
        HEAD + f"  a: {{model: ▸{'x' * 201}, prompt-string: x}}",
        "model must have at most 200 characters",
    ),
    "concurrency": (
        HEAD + "  a: {concurrency: ▸-1, prompt-string: x}",
        "concurrency must be a whole number from 0 to 1000",
    ),
    "concurrency digits": (
        HEAD + "  a: {concurrency: ▸٣, prompt-string: x}",
        "concurrency must be a whole number from 0 to 1000",
    ),
    "need": (
        HEAD + A + "  bb: {prompt-string: x}\n  c: {prompt-string: x, depends_on: [▸bbb]}",
        "unknown task bbb. Did you mean bb? Known: a, bb, c",
    ),
    "needs a text": (HEAD + A + "  c: {prompt-string: x, depends_on: ▸a}", "depends_on must be a list"),
    "need a list": (HEAD + A + "  c: {prompt-string: x, depends_on: [▸[a]]}", "expected the name of a task"),
    "need without task": (
        HEAD + A + "  c: {prompt-string: x, depends_on: [▸{condition: any}]}",
        "task is missing",
    ),
    "need key": (
        HEAD + A + "  c: {prompt-string: x, depends_on: [{task: a, ▸if: any}]}",
        "unknown key if. Known: task, condition",
    ),
    "need twice": (
        HEAD + A + "  c: {prompt-string: x, depends_on: [a, {task: ▸a, condition: any}]}",
        "a is given twice",
    ),
    "condition": (
        HEAD + A + "  c: {prompt-string: x, depends_on: [{task: a, condition: ▸maybe}]}",
        "maybe is no condition",
    ),
    "self": (HEAD + "  a: {prompt-string: x, depends_on: [▸a]}", "a depends on itself"),
    "cycle": (
        HEAD
        + "  z: {prompt-string: x, depends_on: [c]}\n"
        + "  ▸a: {prompt-string: x, depends_on: [b]}\n"
        + "  b: {prompt-string: x, depends_on: [c]}\n"
        + "  c: {prompt-string: x, depends_on: [a]}",
        "tasks wait for each other: a → b → c → a",
    ),
    "output": (
        HEAD + "  planner: {prompt-string: ▸'{{output:planer}}'}",
        f"{{{{output:planer}}}}: unknown task planer. Did you mean planner? Known: planner, {TEAM_LIST}",
    ),
    "output in a file": (
        HEAD + "  a: {prompt: ▸typo}",
        f"prompts/typo.md: {{{{output:planer}}}}: unknown task planer. Known: a, {TEAM_LIST}",
    ),
    "output in prefix": (
        HEAD + "  a: {prefix: ▸'{{output:}}', prompt-string: x}",
        f"{{{{output:}}}}: unknown task (empty). Known: a, {TEAM_LIST}",
    ),
    "input": (HEAD + "  a: {prompt-string: ▸'{{input:plan}}'}", "{{input:plan}}: there is no such input"),
    "input in suffix": (
        HEAD + "  a: {prompt-string: x, suffix: ▸'{{input:plan}}'}",
        "{{input:plan}}: there is no such input",
    ),
    "inputs": (HEAD + "  a: {prompt-string: x, inputs: {plan: ▸b}}", "unknown task b. Known: a"),
    "inputs a list": (HEAD + "  a: {prompt-string: x, inputs: ▸[b]}", "inputs must be a table"),
    "input name": (HEAD + "  a: {prompt-string: x, inputs: {▸'a b': a}}", "a b is no name for an input"),
    "pipeline name": (HEAD + A + "pipelines: {▸m.1: {}}", "m.1 is no name for a pipeline"),
    "pipeline key": (
        HEAD + A + "pipelines: {m: {▸iteration: 3}}",
        "unknown key iteration. Did you mean iterations? Known: iterations, parallelism, tasks",
    ),
    "iterations": (
        HEAD + A + "pipelines: {m: {iterations: ▸0}}",
        "iterations must be a whole number from 1 to 1000",
    ),
    "iterations text": (
        HEAD + A + "pipelines: {m: {iterations: ▸many}}",
        "iterations must be a whole number from 1 to 1000",
    ),
    "parallelism": (
        HEAD + A + "pipelines: {m: {parallelism: ▸1.5}}",
        "parallelism must be a whole number from 1 to 100",
    ),
    "pipeline task": (HEAD + A + "pipelines: {m: {tasks: [▸b]}}", "unknown task b. Known: a"),
    "pipeline twice": (HEAD + A + "pipelines: {m: {tasks: [a, ▸a]}}", "a is given twice"),
    "pipeline empty": (HEAD + A + "pipelines: {m: {tasks: ▸[]}}", "a pipeline needs at least one task"),
    "outside the pipeline": (
        HEAD + A + "  b: {prompt-string: x, depends_on: [a]}\npipelines: {m: {tasks: [▸b]}}",
        "b depends on a, which is not in this pipeline",
    ),
    "context": (
        "version: 1\n" + "context: ▸[a]\n" + "tasks:\n" + "  a: {prompt-string: x}\n",
        "context must be a table",
    ),
    "duplicate": (HEAD + A + "  ▸a: {prompt-string: x}\n", "a is given twice"),
    "alias": (HEAD + "  a: ▸&x {prompt-string: x}\n  b: *x", "an anchor is not allowed: &x"),
    "deep": ("context: " + "[" * 19 + "▸" + "[" * 11, "nested more than 20 deep"),
    "the first of several": (
        HEAD
        + "  a: {prompt-string: x, depends_on: [▸y]}\n"
        + "  B: {}\n"
        + "pipelines: {X: 1}\n"
        + "what: 1",
        "unknown task y. Known: a, B",
    ),
    "terminal": (HEAD + '  a: {prompt-string: x, ▸"\\e[2Jkey": 1}', f"unknown key key. Known: {KEYS}"),
    "hostile names": (
        HEAD + '  a: {prompt-string: x, depends_on: [▸b]}\n  "x\\ny": {prompt-string: x}',
        "unknown task b. Known: a, x y",
    ),
    "task a list": (HEAD + "  ▸a: [x]", "a must be a table"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_with_its_place(folder: Path, case: str) -> None:
    text, message = WRONG[case]
    before, _, _ = text.partition("▸")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert problem(folder, text.replace("▸", ""))[:3] == (line, column, message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "does not exist"),
        (lambda path: path.mkdir(), "is not a regular file"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.write_bytes(b"\xff\xfeversion"), "is not UTF-8 text (line 1)"),
        (lambda path: path.write_bytes(b"a\0b"), "is a binary file, not a text"),
        (lambda path: path.write_bytes(b" " * (4 * 1024**2 + 1)), "is too large: more than 4 MiB"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, make: object, message: str) -> None:
    path = tmp_path / "teambot.yaml"
    assert callable(make)
    make(path)
    with pytest.raises(ComposeError) as raised:
        load_compose(path)
    assert (raised.value.line, raised.value.message) == (0, message)


def test_a_path_that_is_none() -> None:
    with pytest.raises(ComposeError, match="its path is not valid"):
        load_compose(Path("a\0b"))


def test_a_file_in_a_folder_of_the_project_may_use_the_whole_project(folder: Path) -> None:
    (folder / "swarm").mkdir()
    path = folder / "swarm" / "swarm.yaml"
    path.write_text("version: 1\ntasks: {a: {prompt-file: ../prompts/planner.md}}")
    assert load_compose(path, folder).tasks["a"].prompt == "Plan. Be brief."
    for project in (None, folder / "other"):  # then its own folder is the project
        with pytest.raises(ComposeError, match="is outside the project"):
            load_compose(path, project)


def test_a_linked_prompt_from_outside_is_refused(folder: Path) -> None:
    (folder / "project" / "prompts").mkdir(parents=True)
    (folder / "project" / "prompts" / "x.md").symlink_to(folder / "prompts" / "planner.md")
    _, _, message, _ = problem(folder / "project", HEAD + "  a: {prompt: x}")
    assert message.endswith("is outside the project")


def many_tasks(count: int) -> str:
    lines = [
        f"  task-{number}:\n    agent: pm\n    prompt: planner\n    model: opus\n"
        f"    prefix: p\n    suffix: s\n"
        f"    concurrency: 0\n    inputs: {{plan: task-0}}\n    depends_on: [{needs}]\n"
        for number in range(count)
        for needs in [", ".join(f"task-{before}" for before in range(max(0, number - 3), number))]
    ]
    return HEAD + "".join(lines) + "pipelines: {main: {iterations: 3}}"


def test_a_thousand_tasks_load_in_the_time_of_their_number(folder: Path) -> None:
    assert len(load(folder, many_tasks(1000)).tasks) == 1000
    assert is_linear(lambda count: load(folder, many_tasks(count)), 2000)


def each(task: str) -> Callable[[int], str]:
    return lambda count: "".join(f"  t{n}: {{{task.format(n, (n + 1) % count)}}}\n" for n in range(count))


@pytest.mark.parametrize(
    ("tasks", "count"),
    [
        (each("promt: x"), 4000),
        (each("prompt-string: x, depends_on: [u{}]"), 4000),
        (each("prompt-string: x, depends_on: [t{1}]"), 4000),
        (each("prompt-string: '{{{{include: big.md}}}}'"), 4000),
        (lambda count: "  a: {prompt-string: '" + "{{output:x}}" * count + "'}", 40_000),
    ],
    ids=["unknown keys", "unknown tasks", "one long cycle", "much text", "unknown outputs"],
)
def test_a_file_full_of_mistakes_is_refused_in_the_time_of_its_length(
    folder: Path, tasks: Callable[[int], str], count: int
) -> None:
    (folder / "big.md").write_text("x" * 1_000_000)
    assert is_linear(lambda size: problem(folder, HEAD + tasks(size)), count)


@pytest.mark.parametrize(
    ("needs", "cycle"),
    [
        ({}, []),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, []),
        ({"a": ["a"]}, ["a"]),
        ({"x": ["a"], "a": ["b"], "b": ["c", "a"], "c": []}, ["a", "b"]),
        ({"a": ["unknown"]}, []),
    ],
)
def test_cycles(needs: dict[str, list[str]], cycle: list[str]) -> None:
    assert find_cycle(needs) == cycle


LINES = st.lists(
    st.sampled_from(
        [
            *EXAMPLE.splitlines(),
            "    depends_on: [coder]",
            "    prompt-string: '{{output:x}} {{include: a}}'",
            "  - x",
            "tasks: []",
            "  coder: *a",
            "  planner: &a {}",
            "? [a]",
            "    inputs: {plan: {}}",
            "\t",
            "    depends_on: {a: b}",
            "    condition:",
            "pipelines: x",
        ]
    ),
    max_size=25,
)


@given(
    LINES.map("\n".join)
    | st.builds(
        lambda at, junk: EXAMPLE[:at] + junk + EXAMPLE[at:], st.integers(0, len(EXAMPLE)), st.text(max_size=4)
    )
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_a_file_or_one_clear_error(folder: Path, text: str) -> None:
    error = None
    try:
        load(folder, text)
    except ComposeError as raised:
        error = raised
    assert error is None or (one_line(str(error)) == str(error) and error.message)


# Warnings


def test_a_directive_that_names_a_task_which_is_not_upstream_is_told_at_its_place(folder: Path) -> None:
    (folder / "plan.md").write_text("Plan.\n\nSee {{output:b}}.\n")
    (folder / "rules.md").write_text("As {{output:last}} said")
    text = HEAD + (
        "  a:\n"
        "    prompt-file: plan.md\n"
        "    prefix: |\n"
        "      First {{output:a}},\n"
        "      then {{input:it}}.\n"
        "    inputs: {it: c}\n"
        "  b: {prompt-string: '{{output:a}} {{output:pm}} {{output:c}} {{output:c}}', depends_on: [a]}\n"
        "  c: {prompt-string: 'x {{include: rules.md}}', suffix: '{{output:a}}', depends_on: [b]}\n"
        "  last: {prompt-string: '{{output:a}} {{output:c}}', depends_on: [c]}\n"
    )
    found = load(folder, text)
    hint = " (only an earlier iteration has an output of it)"
    assert [(warning.task, warning.text) for warning in found.warnings] == [
        ("a", f"plan.md, line 3, column 5: {{{{output:b}}}}: b does not run before a{hint}"),
        ("a", f"teambot.yaml, line 6, column 13: {{{{output:a}}}}: a does not run before a{hint}"),
        ("a", f"teambot.yaml, line 7, column 12: {{{{input:it}}}}: c does not run before a{hint}"),
        ("b", f"teambot.yaml, line 9, column 50: {{{{output:c}}}}: c does not run before b{hint}"),
        ("c", f"teambot.yaml, line 10, column 25: {{{{output:last}}}}: last does not run before c{hint}"),
    ]


def test_where_waiting_would_close_no_cycle_it_is_advised(folder: Path) -> None:
    (warning,) = load(folder, HEAD + A + "  b: {prompt-string: '{{output:a}}'}\n").warnings
    assert warning.text == (
        "teambot.yaml, line 4, column 23: {{output:a}}: a does not run before b"
        " (only an earlier iteration has an output of it; to wait for it, add it to depends_on)"
    )


def test_names_of_tasks_may_have_capitals_and_underscores(folder: Path) -> None:
    found = load(folder, HEAD + "  Plan_it: {prompt-string: x}\n  b-2_: {prompt-string: y}\n")
    assert list(found.tasks) == ["Plan_it", "b-2_"]
