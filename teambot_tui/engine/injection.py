"""What an agent is sent: the person's words with the outputs they asked for, each put in once.

Outputs are data. They are placed between the parts of the prompt and never looked at again, so whatever an
answer contains, it commands nothing. What is put in is bounded, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from teambot_tui.engine.board import State
from teambot_tui.engine.facts import Via
from teambot_tui.engine.ports import Given
from teambot_tui.engine.text import last_bytes, size_in_bytes
from teambot_tui.language.nodes import Code, Directive, Reference, Variable, Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.engine.board import Task
    from teambot_tui.language.nodes import Part


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text to send; `instruction` are the person's own words, `given` the outputs that went in."""

    text: str
    instruction: str
    given: tuple[Given, ...] = ()


def compose(task: Task, limit: int) -> Prompt:
    """Return the prompt of a task whose dependencies all have ended."""
    parts = task.plan.parts
    words = _words(parts)
    if not task.sources:
        return Prompt(words, words)
    named: dict[str, Task] = {}
    handed: list[Task] = []
    for dependency, source in zip(task.plan.dependencies, task.sources, strict=True):
        assert source is not None, "a task starts when every dependency is bound"
        if dependency.via is Via.HANDOFF:
            handed.append(source)
        else:
            named[dependency.agent] = source
    outputs = {source: _output(source, limit) for source in (*handed, *named.values())}
    return Prompt(
        _prompt(
            [(source, outputs[source]) for source in handed],
            _inserted(parts, named, outputs) if named else words,
        ),
        words,
        tuple(Given(source.agent, output) for source, output in outputs.items()),
    )


def _prompt(handed: list[tuple[Task, str]], task: str) -> str:
    if not handed:
        return task
    if not task and len(handed) == 1:
        return handed[0][1]
    sections = [f"=== Output from @{source.agent} ===\n{output}" for source, output in handed]
    if task:
        sections.append(f"=== Your Task ===\n{task}")
    return "\n\n".join(sections)


def _inserted(parts: Iterable[Part], named: dict[str, Task], outputs: dict[Task, str]) -> str:
    pieces: list[str] = []
    mentioned: set[str] = set()
    for part in parts:
        match part:
            case Words(text) | Code(text):
                pieces.append(text)
            case Variable() | Directive():
                pieces.append(part.literal)
            case Reference(agent) if agent in mentioned:
                pieces.append(f"[Output from @{agent}, above]")
            case Reference(agent):
                mentioned.add(agent)
                source = named[agent]
                output = outputs[source]
                pieces.append(output if source.spoiled else f"[Output from @{agent}]: {output}")
            case _:
                assert_never(part)
    return "".join(pieces)


def _words(parts: Iterable[Part]) -> str:
    return "".join(map(_word, parts))


def _word(part: Part) -> str:
    match part:
        case Words(text) | Code(text):
            return text
        case Reference(agent):
            return f"@{agent}"
        case Variable() | Directive():
            return part.literal
        case _:
            assert_never(part)


def _output(source: Task, limit: int) -> str:
    if source.state is not State.COMPLETED:
        return f"[{ending(source)}]"
    # Programs end what they print with a newline; in the middle of a sentence nobody wants it.
    text = source.output.text.rstrip("\n")
    if source.output.total <= limit and not source.output.missing:
        return text
    kept = last_bytes(text, limit)
    missing = source.output.missing + size_in_bytes(text) - size_in_bytes(kept)
    if not missing:
        return text
    whole = (
        f"task {source.id} keeps the last {size_in_bytes(text):,}"
        if source.output.missing
        else f"the whole is in task {source.id}"
    )
    return f"[The first {missing:,} bytes of @{source.agent}'s output are left out here; {whole}.]\n{kept}"


def ending(task: Task) -> str:
    """Say how a task without output ended: `@pm failed: exit status 3`."""
    match task.state:
        case State.FAILED:
            return f"@{task.agent} failed: {task.reason}"
        case State.SKIPPED:
            return f"@{task.agent} was skipped: {task.reason}"
        case _:
            return f"@{task.agent} was {task.state}"
