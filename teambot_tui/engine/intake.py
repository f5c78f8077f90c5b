"""What a backend reports becomes clean here: no text of an agent gets past this door as it came.

Words are cleaned; what an agent does or asks to do is made visible instead, so that nothing of it is missing.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, assert_never

from teambot_tui.engine.ports import Notice, Permission, Plan, Step, Text, Thought, ToolCall, Usage
from teambot_tui.engine.text import Cleaner, one_line, visible

if TYPE_CHECKING:
    from teambot_tui.engine.ports import Update

_LONGEST_DETAIL = 64 * 1024
_LONGEST_NAME = 200
_LONGEST_TITLE = 1600
_MOST_STEPS = 200
_MOST_TOKENS = 10**15


class Intake:
    """Cleans the updates of one task: a control sequence may be cut anywhere between two pieces."""

    def __init__(self) -> None:
        self._words = Cleaner()
        self._thoughts = Cleaner()

    def clean(self, update: Update) -> Update:
        """Return the update with nothing in it that a terminal would obey."""
        match update:
            case Text(text):
                return Text(self._words.feed(text))
            case Thought(text):
                return Thought(self._thoughts.feed(text))
            case ToolCall():
                return replace(
                    update,
                    id=one_line(update.id, _LONGEST_NAME),
                    title=one_line(visible(update.title[:_LONGEST_TITLE])),
                    kind=one_line(update.kind, _LONGEST_NAME),
                    detail=_bounded(update.detail),
                )
            case Plan(steps):
                return Plan(
                    tuple(Step(one_line(step.text), one_line(step.state)) for step in steps[:_MOST_STEPS])
                )
            case Usage(tokens_in, tokens_out, cost, context):
                sane = cost is not None and isfinite(cost) and cost >= 0
                return Usage(
                    _count(tokens_in),
                    _count(tokens_out),
                    cost if sane else None,
                    _count(context) if context is not None else None,
                )
            case Notice(text):
                return Notice(one_line(text))
            case Permission():
                return update  # `showing` makes of it what the person is asked
            case _:
                assert_never(update)


def _bounded(text: str) -> str:
    if len(text) <= _LONGEST_DETAIL:
        return visible(text)
    return f"{visible(text[:_LONGEST_DETAIL])}\n… ({len(text):,} characters in all)"


def _count(tokens: int) -> int:
    return min(max(0, tokens), _MOST_TOKENS)
