"""`/spawn`: what each option means, and what is wrong with what cannot be understood."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.workflows.spawn_command import SpawnCommand, SpawnCommandError, parse_spawn


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Look around", SpawnCommand("Look around")),
        ("@pm Look\nat -> it --after x", SpawnCommand("Look\nat -> it --after x", "pm")),
        (
            "--after research --include-result --label design @builder-1 Design the UI",
            SpawnCommand("Design the UI", "builder-1", ("research",), include_result=True, label="design"),
        ),
        ("--after a --after @b --after=pm#1 @ba x", SpawnCommand("x", "ba", ("a", "b", "pm#1"))),
        ('--label "my step" --model=opus x', SpawnCommand("x", label="my step", model="opus")),
        ("--retries 2 --timeout 1.5 x", SpawnCommand("x", retries=2, timeout=1.5)),
        ("--on-failure proceed x", SpawnCommand("x", on_failure="proceed")),
        ("--after @business_analyst @project_manager x", SpawnCommand("x", "pm", ("ba",))),
        ("@pm --after x", SpawnCommand("--after x", "pm")),
    ],
)
def test_what_is_understood(text: str, expected: SpawnCommand) -> None:
    assert parse_spawn(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Say what is to be done."),
        ("@pm", "Say what is to be done."),
        ("--after", "--after needs a value."),
        ("--after --label x y", "--after needs a value."),
        ('--label "" x', "--label needs a value."),
        ("--label a --label b x", "--label is given twice."),
        ("--include-result x", "--include-result needs --after"),
        ("--include-result=yes x", "--include-result takes no value."),
        ("--modl opus x", "Unknown option: --modl. Did you mean --model?"),
        ("-- x", "Unknown option: --."),
        ("--retries -1 x", "--retries must be a number such as 2, not -1."),
        ("--retries 99999 x", "--retries must be a number"),
        ("--timeout soon x", "--timeout must be a number of seconds above 0, not soon."),
        ("--timeout 0 x", "--timeout must be a number of seconds above 0"),
        ("--timeout inf x", "--timeout must be a number of seconds above 0"),
        ("--on-failure stop x", "--on-failure must be skip, refuse, proceed, not stop."),
    ],
)
def test_what_is_not(text: str, message: str) -> None:
    with pytest.raises(SpawnCommandError) as error:
        parse_spawn(text)
    assert str(error.value).startswith(message)
    assert "Try: /spawn" in str(error.value)


@given(st.text(alphabet='-@"= \nabefrt1.', max_size=60))
def test_any_text_is_understood_or_refused(text: str) -> None:
    with contextlib.suppress(SpawnCommandError):
        assert parse_spawn(text).task
