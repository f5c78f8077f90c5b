"""The report of `teambot doctor`: a table for people, one JSON object for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from teambot_tui.agents.doctor import BackendHealth, Health

_HEAD = ("backend", "type", "found", "version", "logged in", "what to do")


def as_json(health: Health) -> str:
    """Return everything as one JSON object."""
    return json.dumps(asdict(health), indent=2, ensure_ascii=True)


def as_table(health: Health) -> str:
    """Return everything as lines of text."""
    rows = [_HEAD, *(_row(each) for each in health.backends)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    # Not a column: a whole team would push what to do off the screen.
    used = [each for each in health.backends if each.used_by]
    lines += _section(
        "Who runs on what",
        (f"{each.name}: {', '.join(f'@{agent}' for agent in each.used_by)}" for each in used),
    )
    lines += ["", "Settings"]
    lines += [f"  {file.path}: {file.state}" for file in health.files]
    lines += _section("Notes", health.notes)
    lines += _section("Warnings", health.warnings)
    return "\n".join(lines)


def _row(each: BackendHealth) -> tuple[str, ...]:
    return (
        each.name,
        each.type,
        "yes" if each.found else "no",
        each.version or "-",
        each.login or "-",
        each.what_to_do,
    )


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = [f"  {line}" for line in lines]
    return ["", title, *found] if found else []
