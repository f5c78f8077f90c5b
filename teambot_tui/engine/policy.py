"""The numbers a session is run by. Settings fill them in; the engine only reads them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OnFailure(StrEnum):
    """What happens to a task when something it depends on did not complete."""

    SKIP = "skip"
    PROCEED = "proceed"


@dataclass(frozen=True, slots=True)
class Policy:
    """How long to wait, how much at once, how much to keep."""

    wait_timeout: float = 300.0
    max_parallel: int = 6
    max_references: int = 10
    inject_limit: int = 100 * 1024
    output_limit: int = 1024 * 1024
    on_dependency_failure: OnFailure = OnFailure.SKIP
    references: bool = True
    budget: float | None = None
    """US dollars after which nothing more starts."""
    token_budget: int | None = None
