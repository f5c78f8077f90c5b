"""Terminals that no test can leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tests.pty.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Open(Protocol):
    """Opens a terminal with `teambot` in it."""

    def __call__(
        self, *arguments: str, columns: int = 80, rows: int = 24, settings: str = ..., **environ: str
    ) -> Terminal: ...


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    """Return a way to open terminals; whatever runs in them is gone afterwards."""
    terminals: list[Terminal] = []

    def open_one(
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        settings: str = 'backend = "echo"\n',
        **environ: str,
    ) -> Terminal:
        terminals.append(
            Terminal(tmp_path, *arguments, columns=columns, rows=rows, settings=settings, **environ)
        )
        return terminals[-1]

    yield open_one
    for terminal in terminals:
        terminal.close()
