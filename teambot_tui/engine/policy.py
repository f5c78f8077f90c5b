"""The numbers a session is run by. Settings fill them in; the engine only reads them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OnFailure(StrEnum):
    """What happens to a task when something it depends on did not complete."""

    SKIP = "skip"
    PROCEED = "proceed"


class OnWaitTimeout(StrEnum):
    """What happens to a task that waits too long for one that is still to end."""

    TELL = "tell"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Policy:
    """How long to wait, how much at once, how much to keep."""

    wait_timeout: float = 300.0
    """Seconds after which a wait for an agent that nobody has given work to has failed."""
    on_wait_timeout: OnWaitTimeout = OnWaitTimeout.TELL
    """What then becomes of a wait that has a task behind it."""
    max_parallel: int = 6
    """How many may be at work at once, besides those that agents started."""
    max_references: int = 10
    inject_limit: int = 100 * 1024
    output_limit: int = 1024 * 1024
    on_dependency_failure: OnFailure = OnFailure.SKIP
    references: bool = True
    budget: float | None = None
    """US dollars after which nothing more starts."""
    token_budget: int | None = None
    spawn_depth: int = 2
    """How far down agents may start agents; what the person starts has depth 0."""
    spawn_children: int = 8
    """How many runs one run may start."""
    spawn_runs: int = 200
    """How many runs may be started in a session by agents and scripts."""
    spawn_parallel: int = 6
    """How many that agents started may be at work at once, at each depth."""
    idle_agents: int = 8
    """How many agents without a task may keep their processes."""
    retry_delay: float = 1.0
    """Seconds before the first retry of a run; each further one waits twice as long."""

    def at_once(self, depth: int) -> int:
        """Return how many tasks of one depth may be at work at once."""
        return self.spawn_parallel if depth else self.max_parallel
