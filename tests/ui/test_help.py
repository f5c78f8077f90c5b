"""The help can be read at any width: names on the left, words in a column of their own."""

from __future__ import annotations

import pytest

from teambot_tui.ui.help import found_text, help_sections, laid_out
from teambot_tui.ui.keys import Keys, key_name


@pytest.mark.parametrize("width", [40, 68, 96, 200])
def test_it_fits_and_words_never_run_under_names(width: int) -> None:
    rows = laid_out(help_sections(Keys()), width).plain.split("\n")
    assert max(map(len, rows)) <= width
    column = min(26, width - 20) + 4
    for row in rows:
        indent = len(row) - len(row.lstrip())
        assert indent in (0, 2, 4, column), row
        assert indent or not row or row.startswith(("keys: ", "commands", "manual")), row


def test_keys_are_called_as_people_call_them() -> None:
    text = laid_out(help_sections(Keys()), 96).plain
    assert "  Ctrl+_, Super+Z             undo" in text
    assert "  Ctrl+J, Shift+Enter         newline" in text
    assert "  1…9 " in text
    assert "underscore" not in text
    for key, name in (
        ("ctrl+underscore", "Ctrl+_"),
        ("ctrl+@", "Ctrl+@"),
        ("pageup", "PgUp"),
        ("R", "R"),
        ("alt+left", "Alt+Left"),
        ("equals_sign", "="),
        ("ctrl+right_square_bracket", "Ctrl+]"),
        ("f1", "F1"),
    ):
        assert key_name(key) == name


def test_what_says_a_text_is_found_in_keys_commands_and_the_manual() -> None:
    found = found_text(help_sections(Keys()), "compose")
    assert "── commands ──\n/up [file.yaml]" in found
    assert "── /help workflows ──\n" in found
    assert "|---" not in found
    assert found_text(help_sections(Keys()), "no such words anywhere") == ""
