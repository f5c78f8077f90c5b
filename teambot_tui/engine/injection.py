"""What an agent is sent: the person's words with the outputs they asked for, each put in once.

Outputs are data. They are placed between the parts of the prompt and never looked at again, so whatever an
answer contains, it commands nothing, and none of its lines passes for one of ours. What is put in is bounded,
and says so.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from teambot_tui.engine import context
from teambot_tui.engine.board import State
from teambot_tui.engine.dependencies import Via
from teambot_tui.engine.headings import as_data
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.outcomes import ending
from teambot_tui.engine.ports import Given
from teambot_tui.engine.text import last_bytes, size_in_bytes
from teambot_tui.engine.values import value
from teambot_tui.language.nodes import Code, Directive, Reference, Variable, Words

if TYPE_CHECKING:
    from teambot_tui.engine.board import Board, Task
    from teambot_tui.engine.facts import TaskCreated
    from teambot_tui.language.nodes import Part


_NOTHING = "There is nothing to send"


@value
class Prompt:
    """The text to send, and the shared context to send beside it.

    `instruction` are the person's own words, `given` the outputs that went in. `problem` says why there is
    nothing to send, if there is not.
    """

    text: str
    instruction: str
    given: tuple[Given, ...] = ()
    context: str = ""
    problem: str = ""


@value
class _Missing:
    """An output that is not there yet, in the place of the task that is to say it."""

    agent: AgentId


def draft(task: Task, board: Board, limit: int) -> Prompt:
    """Return the prompt of a task as it stands, with words in the place of what is not there yet."""
    return _compose(task, board, limit, is_draft=True)


def compose(task: Task, board: Board, limit: int) -> Prompt:
    """Return the prompt of a task whose dependencies all have ended."""
    return _compose(task, board, limit, is_draft=False)


def _compose(task: Task, board: Board, limit: int, *, is_draft: bool) -> Prompt:
    plan = task.plan
    words = "".join(map(_said, plan.parts))
    told = context.render(context.entries(task, board), limit) if board.context or _has_context(task) else ""
    if not task.sources and not any(isinstance(part, Directive) for part in plan.parts):
        text = _prefaced(plan.preface, words)
        return Prompt(text, words, context=told, problem="" if text.strip() else _NOTHING + ".")
    handed: dict[Task | _Missing, None] = {}
    results: dict[Task | _Missing, None] = {}
    by_agent: dict[AgentId, Task | _Missing] = {}
    by_variable: dict[str, Task | _Missing] = {}
    for dependency, found in zip(plan.dependencies, task.sources, strict=True):
        is_there = found is not None and (not is_draft or found.ended is not None)
        assert is_there or is_draft, "a task starts when every dependency is bound"
        source = found if found is not None and is_there else _Missing(dependency.agent)
        match dependency.via:
            case Via.HANDOFF:
                handed[source] = None
            case Via.REFERENCE:
                by_agent[dependency.agent] = source
            case Via.VARIABLE:
                by_variable[dependency.name] = source
            case Via.RESULT:
                results[source] = None
            case Via.CONTEXT | Via.AFTER:
                pass
            case _:
                assert_never(dependency.via)
    used = (*handed, *results, *by_agent.values(), *by_variable.values())
    outputs = {source: _output(source, limit) for source in used}
    insertion = _Insertion(by_agent, by_variable, outputs, plan, board, limit)
    text = "".join(map(insertion.text, plan.parts))
    text = _handed_on([(source, outputs[source]) for source in handed], text)
    text = _after_results([(source, outputs[source]) for source in results], text)
    text = _prefaced(plan.preface, text)
    problem = ""
    if not plan.preface and not any(map(insertion.adds, plan.parts)) and all(map(_is_silent, used)):
        silent = ", ".join(dict.fromkeys(f"@{source.agent}" for source in used))
        problem = f"{_NOTHING}: {silent} said nothing." if silent else f"{_NOTHING}."
    given = tuple(Given(source.agent, outputs[source]) for source in outputs)
    return Prompt(text, words, given, told, problem)


def _has_context(task: Task | None) -> bool:
    while task is not None:
        if task.plan.context or any(each.via is Via.CONTEXT for each in task.plan.dependencies):
            return True
        task = task.parent
    return False


def _prefaced(preface: str, text: str) -> str:
    return f"{preface}\n\n{text}" if preface else text


def _after_results(results: list[tuple[Task | _Missing, str]], task: str) -> str:
    """Put results before a task; several are told apart by their labels or, where those do not, by ids."""
    if not results:
        return task
    labels = Counter(_label(source) for source, _ in results)
    sections: list[str] = []
    for source, result in results:
        label = _label(source)
        name = label if label and labels[label] == 1 else _name(source)
        which = f": {name}" if len(results) > 1 else ""
        sections.append(f"[Previous step result{which}]:\n{result}")
    return "\n\n".join([*sections, f"[Current task]:\n{task}"])


def _label(source: Task | _Missing) -> str | None:
    return None if isinstance(source, _Missing) else source.plan.label


def _name(source: Task | _Missing) -> str:
    return source.agent if isinstance(source, _Missing) else source.id


def _handed_on(handed: list[tuple[Task | _Missing, str]], task: str) -> str:
    if not handed:
        return task
    if not task and len(handed) == 1:
        return handed[0][1]
    sections = [f"=== Output from @{source.agent} ===\n{output}" for source, output in handed]
    if task:
        sections.append(f"=== Your Task ===\n{task}")
    return "\n\n".join(sections)


class _Insertion:
    """Puts outputs where the parts of a prompt ask for them."""

    def __init__(
        self,
        by_agent: dict[AgentId, Task | _Missing],
        by_variable: dict[str, Task | _Missing],
        outputs: dict[Task | _Missing, str],
        plan: TaskCreated,
        board: Board,
        limit: int,
    ) -> None:
        self._by_agent = by_agent
        self._by_variable = by_variable
        self._outputs = outputs
        self._plan = plan
        self._board = board
        self._limit = limit
        self._mentioned: set[str] = set()

    def text(self, part: Part) -> str:
        """Return what is sent for a part."""
        match part:
            case Words(text) | Code(text):
                return text
            case Reference(agent) if agent in self._mentioned:
                return f"[Output from @{agent}, above]"
            case Reference(agent):
                self._mentioned.add(agent)
                source = self._by_agent[AgentId(agent)]
                output = self._outputs[source]
                is_ending = not isinstance(source, _Missing) and source.spoiled
                return output if is_ending else f"[Output from @{agent}]: {output}"
            case Variable(name):
                return self._outputs[self._by_variable[name]] if name in self._by_variable else part.literal
            case Directive("output", name):
                return self._latest(name)
            case Directive():
                return part.literal
            case _:
                assert_never(part)

    def adds(self, part: Part) -> bool:
        """Whether a part says something besides the outputs that are waited for."""
        match part:
            case Words(text) | Code(text):
                return bool(text.strip())
            case Reference():
                return False
            case Variable(name):
                return name not in self._by_variable
            case _:
                return True

    def _latest(self, name: str) -> str:
        """The latest output of a task or an agent, framed; it is never waited for."""
        source = _latest(self._board, self._plan, name)
        if source is None:
            return f'(No output available from task "{name}")'
        said = _said_by(source, self._limit)
        if source.state is State.FAILED:
            said = as_data(f"(failed: {source.reason})") + f"\n{said}"
        return f'--- Output from task "{name}" ---\n{said}\n--- End output from task "{name}" ---'


def _latest(board: Board, plan: TaskCreated, name: str) -> Task | None:
    """Return the task that completed or failed last under a label or, where there is none, of an agent.

    A task of a workflow does not see what was said under a label in another scope: it belongs to another run.
    """
    sees_all = not plan.scope and plan.label is None
    lane = board.lanes.get(AgentId(name))
    for tasks in (board.labels.get(name, ()), lane.finished if lane else ()):
        for task in reversed(tasks):
            is_seen = sees_all or task.plan.scope == plan.scope or task.plan.label is None
            if is_seen and task.state in (State.COMPLETED, State.FAILED):
                return task
    return None


def _said(part: Part) -> str:
    match part:
        case Words(text) | Code(text):
            return text
        case Reference(agent):
            return f"@{agent}"
        case _:
            return part.literal


def _output(source: Task | _Missing, limit: int) -> str:
    """Return what stands for a task's output: what it said, or how it ended without."""
    if isinstance(source, _Missing):
        return f"… @{source.agent}'s output …"
    return as_data(f"[{ending(source)}]") if source.spoiled else _said_by(source, limit)


def _is_silent(source: Task | _Missing) -> bool:
    return (
        not isinstance(source, _Missing)
        and source.state is State.COMPLETED
        and not source.output.text.strip()
    )


def _said_by(source: Task, limit: int) -> str:
    """Return what a task said, as data."""
    # Programs end what they print with a newline; in the middle of a sentence nobody wants it.
    text = source.output.text.rstrip("\n")
    if not text.strip():
        return "(empty)"
    if source.output.total <= limit and not source.output.missing:
        return as_data(text)
    kept = last_bytes(text, limit)
    missing = source.output.missing + size_in_bytes(text) - size_in_bytes(kept)
    if not missing:
        return as_data(text)
    whole = (
        f"task {source.id} keeps the last {size_in_bytes(text):,}"
        if source.output.missing
        else f"the whole is in task {source.id}"
    )
    told = f"[The first {missing:,} bytes of @{source.agent}'s output are left out here; {whole}.]"
    return f"{told}\n{as_data(kept)}"
