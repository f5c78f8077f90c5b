"""A budget as it is typed and as it is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from teambot_tui.ui.glyphs import money, tokens

if TYPE_CHECKING:
    from teambot_tui.engine.views import BudgetView

_NONE: Final = "none"
_DOLLARS: Final = re.compile(r"\$?(\d{1,9}(?:\.\d{0,6})?|\.\d{1,6})")
_TOKENS: Final = re.compile(r"(\d{1,12})([kKmM]?)")
_UNITS: Final = {"": 1, "k": 1000, "m": 1_000_000}


def dollars_of(word: str) -> float | None:
    """Return the dollars that a word says; None is no limit.

    Raises:
        ValueError: it says no number of dollars.
    """
    if word == _NONE:
        return None
    if found := _DOLLARS.fullmatch(word):
        return float(found[1])
    raise ValueError(f"{word} is no number of dollars. Type for example: /budget 5, or /budget none")


def tokens_of(word: str) -> int | None:
    """Return the number of tokens that a word says: `200000`, `200k`, `2M`; None is no limit.

    Raises:
        ValueError: it says no number of tokens.
    """
    if word == _NONE:
        return None
    if found := _TOKENS.fullmatch(word):
        return int(found[1]) * _UNITS[found[2].lower()]
    raise ValueError(f"{word} is no number of tokens. Type for example: /budget 5 200k, or /budget none 200k")


def limit_words(cost: float | None, count: int | None) -> str:
    """Say what is allowed; nothing if there is no limit."""
    limits = [money(cost)] if cost is not None else []
    limits += [f"{tokens(count)} tokens"] if count is not None else []
    return " and ".join(limits)


def told(budget: BudgetView) -> str:
    """Say what was used, what is allowed, and how to change that."""
    return "\n".join(
        (
            f"used:    {money(budget.cost)} and {tokens(budget.tokens)} tokens, as far as the agents say",
            f"allowed: {limit_words(budget.cost_limit, budget.token_limit) or 'no limit'}",
            "",
            "When it is used up, what runs goes on and nothing more starts.",
            "/budget 5 allows 5 dollars in all, /budget 5 200k also 200,000 tokens, /budget none any amount.",
        )
    )
