"""The streams of known agents: what they say is understood, and nothing they print does harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.agents.backends.command import CommandBackend
from teambot_tui.agents.backends.json_lines import Lines
from teambot_tui.agents.backends.stream_dialects import STREAMS
from teambot_tui.agents.catalogue import TYPES
from teambot_tui.engine.intake import Intake
from teambot_tui.engine.ports import BackendError, Text
from tests.agents.cli_lines import SHAPES, Told, lines
from tests.agents.test_command import OWN_NAME, request
from tests.agents.test_process import python
from tests.cost import is_linear

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.engine.ports import Update

PRINT = "sys.stdin.read(); sys.stdout.write(open(sys.argv[1]).read()); sys.stdout.flush(); sys.exit({status})"
KEYS = (
    *("type", "event", "message", "content", "delta", "text", "item", "id", "part", "state", "data", "usage"),
    *("input_tokens", "cost", "tokens", "error", "result", "is_error", "stats", "role", "changes", "items"),
)
KINDS = sorted(
    {json.loads(line)["type"] for told in SHAPES.values() for line in told.lines}
    | {"text", "tool_use", "tool_result", "agent_message", "command_execution", "file_change", "assistant"}
)


def understood(told: Told) -> tuple[list[Update], str]:
    stream = STREAMS[told.stream]()
    updates = [update for line in told.lines for update in stream.feed(line)]
    return updates + stream.finish(), stream.error


@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_says(shape: str) -> None:
    told = SHAPES[shape]
    assert understood(told) == (told.updates, told.error)


def test_the_settings_know_every_stream() -> None:
    allowed = TYPES["command"].options.keys["stream"].allowed
    assert allowed == f"one of text, {', '.join(STREAMS)}"


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_program_that_prints_it(tmp_path: Path, shape: str) -> None:
    told = SHAPES[shape]
    printed = tmp_path / "printed"
    noise = ["Welcome!", '{"type": "of tomorrow"}', "[1, 2]", "", "{broken"]
    printed.write_text("\r\n".join([*noise, *told.lines]), encoding="utf-8")
    command = CommandBackend(python(PRINT.format(status=0), printed), stream=told.stream)
    updates: list[Update] = []
    error = ""
    try:
        async for update in command.run(request(tmp_path, prompt="Plan")):
            updates.append(update)  # noqa: PERF401  what came before an error counts
    except BackendError as failure:
        error = str(failure)
    assert updates == told.updates
    kept = "; its partial output is kept" if any(isinstance(each, Text) for each in updates) else ""
    assert error == (f"{OWN_NAME} failed: {told.error}{kept}" if told.error else "")


@pytest.mark.parametrize(
    ("printed", "status", "error"),
    [
        ("not logged in\n", 3, "ended with exit status 3: not logged in"),
        ('{"type": "turn.started"}\nbanner\n', 3, "ended with exit status 3 and wrote nothing to its"),
        (
            "hello\n",
            0,
            'printed nothing that is known as codex-json: check its command, or set stream = "text"',
        ),
        ("", 0, "printed nothing that is known as codex-json"),
    ],
)
async def test_a_program_that_prints_something_else(
    tmp_path: Path, printed: str, status: int, error: str
) -> None:
    (tmp_path / "printed").write_text(printed)
    command = CommandBackend(python(PRINT.format(status=status), tmp_path / "printed"), stream="codex-json")
    with pytest.raises(BackendError) as caught:
        async for _ in command.run(request(tmp_path)):
            pass
    assert str(caught.value).startswith(f"{OWN_NAME} {error}")


async def test_arguments_that_are_added_where_there_is_something_to_say(tmp_path: Path) -> None:
    command = CommandBackend(
        python("print(*sys.argv[1:], sys.stdin.read(), sep='|', end='')"),
        model_arguments=["--model={model}"],
        system_arguments=["--as", "{system}"],
    )
    for system, model, expected in (
        ("", None, "Plan"),
        ("You plan.", None, "--as|You plan.|Plan"),
        ("", "opus", "--model=opus|Plan"),
        ("{model}", "{system}", "--model={system}|--as|{model}|Plan"),
    ):
        work = request(tmp_path, prompt="Plan", system=system, model=model)
        assert [update async for update in command.run(work)] == [Text(expected)]


async def test_a_persona_can_stand_before_the_prompt(tmp_path: Path) -> None:
    work = request(tmp_path, prompt="Plan", system="You plan.\n")
    by_input = CommandBackend(["cat"], system_in_prompt=True)
    assert [update async for update in by_input.run(work)] == [Text("You plan.\n\nPlan")]
    by_argument = CommandBackend(["printf", "%s", "{prompt}"], system_in_prompt=True)
    assert [update async for update in by_argument.run(work)] == [Text("You plan.\n\nPlan")]


def json_values() -> st.SearchStrategy[object]:
    leaves = (
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(KINDS)
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
        max_leaves=12,
    )


@hypothesis.settings(max_examples=100, deadline=None)
@given(
    events=st.lists(
        st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(KEYS), json_values(), max_size=5)),
        max_size=5,
    )
)
def test_no_shape_does_harm(events: list[tuple[str, dict[str, object]]]) -> None:
    printed = [json.dumps(fields | {"type": kind}) for kind, fields in events]
    for make in STREAMS.values():
        stream, intake = make(), Intake()
        for update in [update for line in printed for update in stream.feed(line)] + stream.finish():
            intake.clean(update)
        assert isinstance(stream.error, str)


@hypothesis.settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_bytes_do_harm(data: bytes) -> None:
    cut = Lines()
    for line in [*cut.feed(data), *cut.finish()]:
        for make in STREAMS.values():
            make().feed(line)


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"type":' + '{"a":' * 100_000,
        f'{{"type": "result", "usage": {{"input_tokens": {"9" * 5000}}}}}',
    ],
)
def test_a_line_that_hurts_parsers_is_passed_over(line: str) -> None:
    for make in STREAMS.values():
        stream = make()
        assert stream.feed(line) == []
        assert not stream.understood


@hypothesis.settings(max_examples=60, deadline=None)
@given(data=st.binary(), cuts=st.lists(st.integers(0, 50), max_size=8))
def test_lines_do_not_depend_on_where_the_bytes_were_cut(data: bytes, cuts: list[int]) -> None:
    cut = Lines()
    pieces, start = [], 0
    for length in cuts:
        pieces.append(data[start : start + length])
        start += length
    found = [line for piece in [*pieces, data[start:]] for line in cut.feed(piece)] + cut.finish()
    assert found == [line.decode("utf-8", "replace") for line in data.split(b"\n") if line.strip()]


def test_a_line_over_the_limit_is_left_out_and_the_next_one_is_not() -> None:
    cut = Lines(limit=10)
    assert cut.feed(b"x" * 8) == []
    assert cut.feed(b"y" * 8) == []
    assert cut.feed(b"z\nnext\n" + b"w" * 10 + b"\n") == ["next", "w" * 10]
    assert cut.finish() == []


def read_lines(count: int) -> None:
    """Read a stream of so many lines, in pieces that fit no line."""
    (line,) = lines({"type": "message", "role": "assistant", "content": "word ", "delta": True})
    data = f"{line}\n".encode() * count
    cut, stream = Lines(), STREAMS["gemini-json"]()
    said = 0
    for position in range(0, len(data), 4093):
        for each in cut.feed(data[position : position + 4093]):
            said += len(stream.feed(each))
    assert said == count


def test_lines_cost_the_same_however_many_there_are() -> None:
    assert is_linear(read_lines, 40_000)


def read_one_line(size: int) -> None:
    (line,) = lines({"type": "message", "role": "assistant", "content": "x" * size, "delta": True})
    data, cut, found = f"{line}\n".encode(), Lines(), []
    for position in range(0, len(data), 1024):
        found += cut.feed(data[position : position + 1024])
    assert STREAMS["gemini-json"]().feed(found[0]) == [Text("x" * size)]


def test_a_very_long_line_costs_no_more_than_its_bytes() -> None:
    assert is_linear(read_one_line, 8 * 1024**2)
