"""Four times the text takes four times the work, whatever the text is made of."""

from __future__ import annotations

import gc
from time import process_time
from typing import TYPE_CHECKING

import pytest

from teambot_tui.language import StatementError, parse, render
from teambot_tui.language.nodes import Command, Pipeline, Reference
from tests.language.build import without_places

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL, LARGE = 250_000, 1_000_000
TOO_STEEP = 8.0
"""Linear is 4, quadratic is 16."""
QUICK = 0.02
"""Below this many seconds for a megabyte there is nothing to measure and nothing to fear."""

REPEATED = [
    *("a", " ", "\n", "\\", "$", "-", ">", "->", "&", "{", "/", "@", ",", "`", "```", ":", "_", "世", "\u00a0"),
    *("$pm ", "$pm", "$a-", "$$a", "$A ", "\\$", "\\{", "\\-> ", "\\-> @ba ", "\\\\$pm ", "\\@pm\n", "\n\\@pm"),
    *("-> @ba y ", "->@ba", "-> \\@ba ", "->  \n", '-> a:" '[:4], "-> $a", "->-", "\\->", "& ", " &", "\\& ", "\\&\n"),
    *("@pm,", "@pm, ", "pm,", ", ", "@pm x\n", "@pm x &\n", "@pm -m opus x\n", "@ba\nx\n", "/help\n", "/help x\n"),
    *("\n```", "\n```\n", "```\nx\n```\n", "\n/a/b", "\n@A", "\n$a", "\na:", "\n$a :", "\n  ", "\r\n", "{{x}}"),
    *("- m ", " -m", " =", "\ufeff", "a\\", "\\\n", "-a", "a-", "A-", "\n/a-"),
]
BEFORE = ["", "@pm ", "@pm x ->", "/help ", "@pm x\n$a", "@pm,", "@pm -m ", "@pm x\n```\n", "@pm x\n", "@pm x ->\\"]
AFTER = ["", "X", "_", "&", "\n@pm x", "@pm x"]


def work(text: str) -> None:
    try:
        render(parse(text))
    except StatementError as error:
        error.pointer()
        str(error)


def least_time(function: Callable[[str], None], text: str, runs: int) -> float:
    times = []
    for _ in range(runs):
        gc.collect()
        gc.disable()
        begin = process_time()
        function(text)
        times.append(process_time() - begin)
        gc.enable()
    return min(times)


def is_linear(unit: str, before: str = "", after: str = "") -> bool:
    def of_size(size: int) -> str:
        return before + unit * (size // len(unit)) + after

    large = least_time(work, of_size(LARGE), 1)
    if large < QUICK:
        return True
    # Another process may take the processor's cache at any moment: measure again before believing it.
    return any(
        least_time(work, of_size(LARGE), runs) < TOO_STEEP * least_time(work, of_size(SMALL), runs)
        for runs in (1, 3, 6)
    )


@pytest.mark.parametrize("unit", REPEATED)
def test_a_megabyte_of_one_thing(unit: str) -> None:
    assert is_linear(unit)
    assert is_linear(unit, before="@pm ")
