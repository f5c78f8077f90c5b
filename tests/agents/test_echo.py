"""The echo returns exactly what was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from teambot_tui.agents.backends.echo import Echo
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Backend, Request, Text


def request(prompt: str) -> Request:
    return Request(
        task=TaskId("pm#1"),
        agent=AgentId("pm"),
        prompt=prompt,
        system="You plan.",
        model=None,
        directory=Path(),
        instruction="something else",
        given=(),
    )


@pytest.mark.parametrize(
    "prompt", ["Plan it", "  two\nlines\n", "$ba {x} -> @pm &", "[/x]\x1b[31m", "🚀" * 9]
)
async def test_answers_with_the_prompt_in_one_piece(prompt: str) -> None:
    backend: Backend = Echo()
    assert [update async for update in backend.run(request(prompt))] == [Text(prompt)]


async def test_an_empty_prompt_has_no_answer() -> None:
    assert [update async for update in Echo().run(request(""))] == []
