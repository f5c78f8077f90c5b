"""A session becomes a compose file that runs: each task with its agent, its words and what it depends on.

Wherever an output went in, by `$agent`, by `{variable}` or along `->`, the file asks for the output of that
very task. What a temporary agent was told about itself stands before its tasks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.dependencies import Condition, Via
from teambot_tui.language.nodes import Code, Directive, Reference, Variable, Words
from teambot_tui.workflows.errors import WorkflowError
from teambot_tui.workflows.fields import is_task_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.engine.board import Board, Task
    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.roster import Roster

# Backslashes before a mark count, and braces in pairs may be a directive: both are made text.
_MARK: Final = re.compile(r"(?P<slashes>\\*+)(?P<mark>\$?\{++|\$)")
_FENCE: Final = re.compile(r"(?P<run>`{3,}+)(?P<info>[^\s`]++(?=[^\S\n]*+$))?", re.MULTILINE)
_JOINING: Final = ("\\", "{", "$")
_NOT_PLAIN: Final = re.compile("[\ufeff\ufffe\uffff]")


def save_text(board: Board, roster: Roster) -> str:
    """Return a compose file that does what was done in a session, except what agents started themselves.

    Raises:
        WorkflowError: Nothing was done yet.
    """
    tasks = [task for task in board.tasks.values() if task.parent is None]
    if not tasks:
        raise WorkflowError("There is nothing to save yet.")
    names = _names(tasks)
    lines = ['version: "1"']
    if board.context:
        lines.append("context:")
        lines += (f"  {_quoted(key)}: {value}" for key, value in board.context.items())
    lines.append("tasks:")
    for task in tasks:
        lines += _task(task, names, board, roster)
    return "\n".join(lines) + "\n"


def _names(tasks: list[Task]) -> dict[TaskId, str]:
    """Return what each task is called: its label, where that is a name, else after its agent and number."""
    names: dict[TaskId, str] = {}
    taken: set[str] = set()
    for number, task in enumerate(tasks, 1):
        wanted = (task.plan.label or "", task.id.replace("#", "-"), f"task-{number}")
        name = next(
            (each for each in wanted if is_task_name(each) and each not in taken), f"saved-task-{number}"
        )
        taken.add(name)
        names[task.id] = name
    return names


def _task(task: Task, names: Mapping[TaskId, str], board: Board, roster: Roster) -> list[str]:
    lines = [f"  {names[task.id]}:"]
    defined = task.plan.definition
    model = defined.model if task.plan.model is None and defined else task.plan.model
    if defined is None:
        lines.append(f"    agent: {task.agent}")
    elif defined.prompt:
        lines += _field("prefix", _escaped(defined.prompt))
    lines += _field("prompt-string", _prompt(task, names, board, roster) or "(no words)")
    if model:
        lines.append(f"    model: {_quoted(model)}")
    if needs := _needs(task, names):
        lines.append(f"    depends_on: [{', '.join(needs)}]")
    return lines


def _needs(task: Task, names: Mapping[TaskId, str]) -> list[str]:
    conditions: dict[str, Condition] = {}
    for dependency, source in zip(task.plan.dependencies, task.sources, strict=True):
        if source is not None and source.id in names:
            name = names[source.id]
            if name not in conditions or dependency.condition is Condition.SUCCESS:
                conditions[name] = dependency.condition
    return [
        name if condition is Condition.SUCCESS else f"{{task: {name}, condition: {condition}}}"
        for name, condition in conditions.items()
    ]


def _prompt(task: Task, names: Mapping[TaskId, str], board: Board, roster: Roster) -> str:
    bound: dict[tuple[Via, str], str] = {}
    before: list[str] = []
    for dependency, source in zip(task.plan.dependencies, task.sources, strict=True):
        if source is None or source.id not in names:
            continue
        output = f"{{{{output:{names[source.id]}}}}}"
        if dependency.via in (Via.HANDOFF, Via.RESULT, Via.CONTEXT):
            before.append(output)
        name = dependency.agent if dependency.via is Via.REFERENCE else dependency.name
        bound[dependency.via, name] = output
    said = "".join(f"{output}\n\n" for output in before)
    for part in task.plan.parts:
        begins_line = not said or said.endswith("\n")
        match part:
            case Words(text):
                said += _unfenced(_escaped(text), begins_line)
                continue
            case Code(text):
                said += text if begins_line else f"\n{text}"
                continue
            case Reference(agent):
                output = bound.get((Via.REFERENCE, agent), "")
                literal = f"@{agent}"
            case Variable(name):
                output = bound.get((Via.VARIABLE, name), "")
                literal = part.literal
            case Directive(kind, name, _, literal):
                output = _latest(name, names, board, roster) if kind == "output" else ""
        # What would change the meaning of the braces is kept apart from them.
        said += f"{' ' * said.endswith(_JOINING)}{output}" if output else _escaped(literal)
    return said.strip("\n").rstrip()


def _latest(name: str, names: Mapping[TaskId, str], board: Board, roster: Roster) -> str:
    """Return what asks for the output that a name in the session stands for, if it still would."""
    labelled = [names[task.id] for task in board.labels.get(name, ()) if task.id in names]
    if not labelled and name not in roster.team:
        return ""
    return f"{{{{output:{labelled[-1] if labelled else name}}}}}"


def _unfenced(text: str, begins_line: bool) -> str:
    """Return words in which nothing is a fence in a file that was none where it was typed."""

    def part(found: re.Match[str]) -> str:
        is_first = begins_line if found.start() == 0 else text[found.start() - 1] == "\n"
        return " " * is_first + found["run"] + (f" {found['info']}" if found["info"] else "")

    return _FENCE.sub(part, text)


def _escaped(text: str) -> str:
    def escape(found: re.Match[str]) -> str:
        slashes, mark = found["slashes"], found["mark"]
        return f"{slashes * 2}\\{mark}" if slashes or "{{" in mark else mark

    return _MARK.sub(escape, text)


def _field(key: str, text: str) -> list[str]:
    if "\n" not in text or _NOT_PLAIN.search(text):
        return [f"    {key}: {_quoted(text)}"]
    return [f"    {key}: |2-", *(f"      {line}" if line else "" for line in text.split("\n"))]


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
