"""The help is read at 80 columns too: names on the left, words in a column of their own."""

from __future__ import annotations

from teambot_tui.ui.help import help_text
from teambot_tui.ui.keys import Keys

ROOM = 68
"""The columns of a dialog in the smallest terminal that people use."""


def test_it_fits_and_words_never_run_under_names() -> None:
    rows = help_text(Keys()).plain.split("\n")
    assert max(map(len, rows)) <= ROOM
    for row in rows:
        indent = len(row) - len(row.lstrip())
        assert indent in (0, 2, 4, 30), row
    assert "  ctrl+_, super+z             undo" in rows
