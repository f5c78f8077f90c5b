"""A compose file is read and checked as a whole before anything of it starts: values, or one error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.checks import unknown
from teambot_tui.engine.dependencies import Condition
from teambot_tui.engine.files import UnreadableError, decode_text, read_whole
from teambot_tui.engine.text import one_line, size_in_bytes
from teambot_tui.language.names import ALIASES
from teambot_tui.workflows.directives import DirectiveKind, PlacedDirective, expand_includes, find_directives
from teambot_tui.workflows.errors import ComposeError, IncludeError, placed
from teambot_tui.workflows.fields import Problems, short
from teambot_tui.workflows.files import ProjectFiles
from teambot_tui.workflows.schema import (
    ComposeFile,
    ComposeNeed,
    ComposePipeline,
    ComposeTask,
    ComposeWarning,
)
from teambot_tui.workflows.yaml_reader import LARGEST, Items, Scalar, Table, YamlError, plain_value, read_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from teambot_tui.workflows.fields import Field
    from teambot_tui.workflows.yaml_reader import Node, Value

VERSION: Final = "1"
PROMPTS: Final = "prompts"
_TOP: Final = ("version", "context", "tasks", "pipelines")
_SOURCES: Final = ("prompt", "prompt-file", "prompt-string")
_TASK: Final = (
    *("agent", *_SOURCES, "model", "prefix", "suffix"),
    *("concurrency", "depends_on", "inputs"),
)
_NEED: Final = ("task", "condition")
_PIPELINE: Final = ("iterations", "parallelism", "tasks")
_INPUT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_CONDITIONS: Final = {str(condition): condition for condition in Condition}
_MOST_TEXT: Final = 16 * 1024 * 1024
_MOST_CONCURRENT: Final = 1000
_MOST_ITERATIONS: Final = 1000
_MOST_INSTANCES: Final = 100


def load_compose(
    path: Path, project: Path | None = None, agents: Collection[str] | None = None
) -> ComposeFile:
    """Read a compose file with all prompts it names.

    Files are taken from the project only; a compose file that lies outside is a project of its own. If the
    agents of the team are given, a task can be given to no other.

    Raises:
        ComposeError: It cannot be used; of all that is wrong, the first by place.
    """
    source = _text(path)
    try:
        document = read_yaml(source)
    except YamlError as error:
        raise ComposeError(path, error.line, error.column, error.message, error.hint) from error
    return _ComposeReader(path, source, project, agents).read(document)


def _text(path: Path) -> str:
    try:
        return decode_text(read_whole(path, LARGEST))
    except UnreadableError as error:
        raise ComposeError(path, 0, 0, str(error)) from error
    except FileNotFoundError as error:
        raise ComposeError(path, 0, 0, "does not exist") from error


@dataclass(frozen=True, slots=True)
class _Speaker:
    """The task whose texts are read, and which task each of its inputs is."""

    task: str
    inputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Written:
    """A text of a task as it is written: the value of a field, or the file that it names."""

    of: _Speaker
    node: Node
    text: str
    file: Path


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


class _Order:
    """Which task runs before which: one bit for each, so that a long chain costs no more than its length."""

    def __init__(self, tasks: Mapping[str, ComposeTask]) -> None:
        self._numbers = {name: number for number, name in enumerate(tasks)}
        self._before: dict[str, int] = {}
        needs = {name: [need.task for need in task.needs] for name, task in tasks.items()}
        for name in TopologicalSorter(needs).static_order():
            before = 0
            for need in needs[name]:
                before |= self._before[need] | 1 << self._numbers[need]
            self._before[name] = before

    def runs_before(self, first: str, then: str) -> bool:
        return bool(self._before[then] >> self._numbers[first] & 1)


class _ComposeReader:
    """Turns the nodes of one file into values, noting what is wrong."""

    def __init__(self, path: Path, source: str, project: Path | None, agents: Collection[str] | None) -> None:
        self._path = path
        self._source = source
        self._file = path.resolve()
        inside = project is not None and self._file.is_relative_to(project.resolve())
        self._files = ProjectFiles(project if project is not None and inside else self._file.parent)
        self._agents = agents
        self._names: Collection[str] = ()
        self._speakers: Collection[str] = ()
        self._room = _MOST_TEXT
        self._problems = Problems(path)
        self._texts: list[_Written] = []

    def read(self, document: Node) -> ComposeFile:
        """Return the file's values, or raise its first problem."""
        problems = self._problems
        top = problems.fields(document, "a compose file", _TOP)
        self._version(document, top.get("version"))
        context = self._context(top.get("context"))
        written, pipelined = (
            problems.entries(top[name][1], name) if name in top else [] for name in ("tasks", "pipelines")
        )
        if not written:
            place = top["tasks"][1] if "tasks" in top else document
            problems.note_missing(
                document, place, "there is no task", "such as: tasks: {planner: {prompt-string: Plan it}}"
            )
        self._names = {key.text: None for key, _ in written}.keys()
        self._speakers = dict.fromkeys((*self._names, *(self._agents or ()))).keys()
        tasks = {key.text: self._task(key, node) for key, node in written}
        pipelines = {key.text: self._pipeline(key, node, tasks) for key, node in pipelined}
        self._refuse_cycle(written, tasks)
        problems.raise_first()
        return ComposeFile(self._path, tasks, pipelines, context, self._warnings(tasks))

    def _version(self, document: Node, found: Field | None) -> None:
        if found is None:
            expected = f'expected: version: "{VERSION}"'
            self._problems.note_missing(document, document, "version is missing", expected)
        elif not isinstance(found[1], Scalar) or found[1].text != VERSION:
            self._problems.note(found[1], f'version must be "{VERSION}"')

    def _context(self, found: Field | None) -> dict[str, Value]:
        if found is None:
            return {}
        return {key.text: plain_value(value) for key, value in self._problems.entries(found[1], "context")}

    def _task(self, key: Scalar, node: Node) -> ComposeTask:
        problems = self._problems
        problems.task_name(key, "a task")
        if isinstance(node, Items) or (isinstance(node, Scalar) and not node.is_nothing):
            problems.note(key, f"{short(key.text)} must be a table", "such as: {prompt-string: Plan it}")
        fields = problems.fields(node, "a task", _TASK)
        of = _Speaker(key.text, self._inputs(fields.get("inputs")))
        return ComposeTask(
            key.text,
            self._prompt(key, node, [fields[source] for source in fields if source in _SOURCES], of),
            self._agent(fields.get("agent")),
            problems.line(fields.get("model")),
            self._around(fields.get("prefix"), of),
            self._around(fields.get("suffix"), of),
            problems.integer(fields.get("concurrency"), 0, 0, _MOST_CONCURRENT),
            self._needs(key.text, fields.get("depends_on")),
            of.inputs,
            key.line,
        )

    def _agent(self, found: Field | None) -> str | None:
        if found is None:
            return None
        node = found[1]
        if isinstance(node, Scalar) and node.text in ALIASES:
            node = Scalar(ALIASES[node.text], node.plain, node.line, node.column)
        if self._agents is not None:
            return self._problems.known(node, "agent", self._agents)
        return self._problems.agent_name(node)

    def _needs(self, task: str, found: Field | None) -> tuple[ComposeNeed, ...]:
        problems = self._problems
        if found is None:
            return ()
        needs: list[tuple[ComposeNeed, Node]] = []
        for item in problems.items(found[1], "depends_on"):
            node, condition = item, Condition.SUCCESS
            if isinstance(item, Table):
                fields = problems.fields(item, "a dependency", _NEED)
                if "task" not in fields:
                    such_as = "such as: {task: planner, condition: any}"
                    problems.note_missing(item, item, "task is missing", such_as)
                    continue
                node = fields["task"][1]
                condition = self._condition(fields.get("condition"))
            name = problems.known(node, "task", self._names)
            if name == task:
                problems.note(node, f"{short(task)} depends on itself")
            elif name is not None:
                needs.append((ComposeNeed(name, condition), node))
        problems.different((need.task, node) for need, node in needs)
        return tuple(need for need, _ in needs)

    def _condition(self, found: Field | None) -> Condition:
        if found is None:
            return Condition.SUCCESS
        node = found[1]
        if isinstance(node, Scalar) and node.text in _CONDITIONS:
            return _CONDITIONS[node.text]
        shown = short(node.text) if isinstance(node, Scalar) else "this"
        self._problems.note(
            node, f"{shown or 'nothing'} is no condition", f"expected {', '.join(_CONDITIONS)}"
        )
        return Condition.SUCCESS

    def _inputs(self, found: Field | None) -> dict[str, str]:
        inputs: dict[str, str] = {}
        for key, node in self._problems.entries(found[1], "inputs") if found else ():
            if not _INPUT.fullmatch(key.text):
                shown = short(key.text)
                self._problems.note(key, f"{shown} is no name for an input", "letters, digits, - and _")
            inputs[key.text] = self._problems.known(node, "task", self._names) or ""
        return inputs

    def _prompt(self, key: Scalar, task: Node, sources: list[Field], of: _Speaker) -> str:
        if not sources:
            message, hint = f"{short(key.text)} has no prompt", f"give one of {', '.join(_SOURCES)}"
            self._problems.note_missing(task, key, message, hint)
            return ""
        if len(sources) > 1:
            first, second = sources[0][0].text, sources[1][0]
            self._problems.note(second, f"{first} is given already: a task has one prompt")
            return ""
        source, node = sources[0]
        text = self._problems.text(sources[0])
        if text is None:
            return ""
        if source.text == "prompt-string":
            return self._expanded(node, text, self._file, of)
        place = self._file.parent / (
            f"{PROMPTS}/{text.strip()}.md" if source.text == "prompt" else text.strip()
        )
        try:
            file = self._files.find(place)
            content = self._files.read(file)
        except UnreadableError as error:
            is_name = source.text == "prompt"
            hint = "prompt is a name; to give a path, use prompt-file" if is_name else error.hint
            self._problems.note(node, f"{one_line(self._files.shown(place))} {error}", hint)
            return ""
        if not content.strip():
            self._problems.note(node, f"{one_line(self._files.shown(file))} is empty")
        return self._expanded(node, content, file, of)

    def _around(self, found: Field | None, of: _Speaker) -> str:
        text = self._problems.text(found)
        return "" if found is None or text is None else self._expanded(found[1], text, self._file, of)

    def _expanded(self, node: Node, written: str, file: Path, of: _Speaker) -> str:
        """Return the text with its includes, after a look at the names in its other directives."""
        text = written
        where = "" if file == self._file else f"{one_line(self._files.shown(file))}: "
        try:
            text = expand_includes(text, file, self._files) if self._room > 0 else ""
        except IncludeError as error:
            self._problems.note(node, str(error), error.hint)
            return ""
        self._room -= size_in_bytes(text)
        if self._room < 0:
            self._problems.note(node, f"all prompts together have more than {_MOST_TEXT // 1024**2} MiB")
        for directive in find_directives(text):
            name = directive.name
            spelled = f"{where}{{{{{directive.kind}:{short(name)}}}}}"
            if directive.kind is DirectiveKind.OUTPUT and name not in self._speakers:
                self._problems.note(node, partial(self._no_output, spelled, name))
            elif directive.kind is DirectiveKind.INPUT and name not in of.inputs:
                self._problems.note(
                    node, f"{spelled}: there is no such input", "map it: inputs: {name: task}"
                )
        self._texts.append(_Written(of, node, written, file))
        return text

    def _warnings(self, tasks: Mapping[str, ComposeTask]) -> tuple[ComposeWarning, ...]:
        """Tell of each name in a directive that is no name of a task before, once for a task."""
        warnings: dict[tuple[str, str], ComposeWarning] = {}
        order = _Order(tasks)
        for written in self._texts:
            task, inputs = written.of.task, written.of.inputs
            for found, each in self._directives(written):
                name = inputs[each.name] if each.kind is DirectiveKind.INPUT else each.name
                if name not in tasks or order.runs_before(name, task) or (task, name) in warnings:
                    continue
                message = f"{{{{{each.kind}:{short(each.name)}}}}}: {name} does not run before {task}"
                hint = "only an earlier iteration has an output of it"
                if not order.runs_before(task, name) and name != task:
                    hint += "; to wait for it, add it to depends_on"
                text = placed(*self._place(written, found), message, hint)
                warnings[task, name] = ComposeWarning(task, text)
        return tuple(warnings.values())

    def _directives(self, written: _Written) -> Iterator[tuple[PlacedDirective, PlacedDirective]]:
        """Yield the directives that name a task, each behind the include that brings it in, or itself."""
        for found in find_directives(written.text):
            if found.kind is DirectiveKind.INCLUDE:
                included = written.text[found.start : found.end]
                within = find_directives(expand_includes(included, written.file, self._files))
            else:
                within = iter((found,))
            yield from (
                (found, each) for each in within if each.kind in (DirectiveKind.OUTPUT, DirectiveKind.INPUT)
            )

    def _place(self, written: _Written, found: PlacedDirective) -> tuple[str, int, int]:
        """Return where a directive stands in its file, or where its text begins if that cannot be told."""
        shown = self._files.shown(written.file)
        if written.file != self._file:
            return shown, *_line_and_column(written.text, found.start)
        node = written.node
        spelled = written.text[found.start : found.end]
        at = sum(len(line) + 1 for line in self._source.split("\n")[: node.line - 1]) + node.column - 2
        for _ in range(written.text.count(spelled, 0, found.start) + 1):
            at = self._source.find(spelled, at + 1)
            if at < 0:  # it is written with escapes
                return shown, node.line, node.column
        return shown, *_line_and_column(self._source, at)

    def _no_output(self, spelled: str, name: str) -> str:
        return f"{spelled}: {unknown('task', name, self._speakers)}"

    def _pipeline(self, key: Scalar, node: Node, tasks: dict[str, ComposeTask]) -> ComposePipeline:
        problems = self._problems
        problems.task_name(key, "a pipeline")
        fields = problems.fields(node, "a pipeline", _PIPELINE)
        iterations = problems.integer(fields.get("iterations"), 1, 1, _MOST_ITERATIONS)
        parallelism = problems.integer(fields.get("parallelism"), 1, 1, _MOST_INSTANCES)
        if "tasks" not in fields:
            return ComposePipeline(key.text, tuple(tasks), iterations, parallelism)
        listed = fields["tasks"][1]
        nodes = {}
        chosen: list[tuple[str, Node]] = []
        for item in problems.items(listed, "tasks"):
            if (name := problems.known(item, "task", self._names)) is not None:
                chosen.append((name, item))
                nodes[name] = item
        problems.different(chosen)
        if isinstance(listed, Items) and not listed.items:
            problems.note(listed, "a pipeline needs at least one task", "leave tasks out to take all")
        for name, item in nodes.items():
            for need in tasks[name].needs:
                if need.task not in nodes:
                    missing = short(need.task)
                    said = f"{short(name)} depends on {missing}, which is not in this pipeline"
                    problems.note(item, said, f"add {missing}")
        return ComposePipeline(key.text, tuple(nodes), iterations, parallelism)

    def _refuse_cycle(self, written: list[Field], tasks: dict[str, ComposeTask]) -> None:
        cycle = find_cycle({name: [need.task for need in task.needs] for name, task in tasks.items()})
        if cycle:
            keys = {key.text: key for key, _ in written}
            first = min((keys[name] for name in cycle), key=lambda key: (key.line, key.column))
            at = cycle.index(first.text)
            turned = [*cycle[at:], *cycle[:at], first.text]
            shown = turned if len(turned) <= 12 else [*turned[:10], "…", first.text]
            self._problems.note(first, f"tasks wait for each other: {' → '.join(map(short, shown))}")


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of one cycle, each waiting for the next and the last for the first; or nothing."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        backwards: list[str] = error.args[1]
        return backwards[:0:-1]
    return []
