"""What the log file tells of a session: who received what from whom, after how long, and what was refused."""

from __future__ import annotations

from contextlib import contextmanager
from logging import DEBUG, getLogger
from typing import TYPE_CHECKING

from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.engine.board import Task

logger = getLogger(__name__)


def log_dependencies(task: Task) -> None:
    """Log, for a task that starts, each output it received and how long it waited for it."""
    if not logger.isEnabledFor(DEBUG):
        return
    for dependency, source in zip(task.plan.dependencies, task.sources, strict=True):
        if source is None or source.ended is None:
            continue
        logger.debug(
            "%s received %s@%s from %s (%s) after waiting %.3f s",
            task.id,
            dependency.via,
            dependency.agent,
            source.id,
            source.state,
            max(0.0, source.ended - task.plan.time),
        )


@contextmanager
def log_refusal(what: str, kind: type[Exception]) -> Iterator[None]:
    """Log why something is refused, and let the refusal go where it goes."""
    try:
        yield
    except kind as error:
        logger.info("%s refused: %s", what, one_line(str(error)))
        raise
