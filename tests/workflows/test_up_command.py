"""`/up` as it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from teambot_tui.workflows.up_command import EXAMPLE, UpCommand, UpCommandError, parse_up


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("", UpCommand()),
        ("main", UpCommand(names=("main",))),
        ("flow.yaml", UpCommand(Path("flow.yaml"))),
        ("FLOW.YML main", UpCommand(Path("FLOW.YML"), ("main",))),
        ("flows/nightly main", UpCommand(Path("flows/nightly"), ("main",))),
        ("planner coder.yaml", UpCommand(None, ("planner", "coder.yaml"))),
        ("-f teambot main", UpCommand(Path("teambot"), ("main",))),
        ("main --file='my flow.yaml'", UpCommand(Path("my flow.yaml"), ("main",))),
        ("main --iterations 3", UpCommand(None, ("main",), 3)),
        ("--iterations=1000 a b", UpCommand(None, ("a", "b"), 1000)),
        ("$(reboot) ; x", UpCommand(None, ("$(reboot)", ";", "x"))),
    ],
)
def test_understood_and_said_again(text: str, command: UpCommand) -> None:
    assert parse_up(text) == command
    assert command.text.startswith("/up")
    assert parse_up(command.text.removeprefix("/up")) == command


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("'main", "A quote is not closed."),
        ("main --iterations", "--iterations needs a value."),
        ("--iterations=", "--iterations needs a value."),
        ("-f", "-f needs a value."),
        ("a.yaml -f b.yaml", "Two files are given."),
        ("--iteration 2", "Unknown option: --iteration. Did you mean --iterations?"),
        ("-x", "Unknown option: -x."),
        *(
            (f"--iterations {number}", f"must be a number from 1 to 1000, not {number}")
            for number in ("0", "-1", "1001", "12345678901234567890", "٣", "many")
        ),
    ],
)
def test_refused_with_what_to_type(text: str, complaint: str) -> None:
    with pytest.raises(UpCommandError) as refused:
        parse_up(text)
    assert complaint in str(refused.value)
    assert str(refused.value).endswith(f" Try: {EXAMPLE}")
