"""The door for foreign text: what passes it cannot move a cursor, and what it keeps is bounded."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.engine.text import Cleaner, Tail, last_bytes, one_line, printable

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\x9b\x9d\x90[]0;31mHP\\\x07\x9c\r\n\t\x18\x00\u202e\u2028\ud800a "),
    )
)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mx\x1b[?25l", "x"),
        ("\x1b]52;c;ZXZpbA==\x07x", "x"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cx", "x"),
        ("\x1bPq#0\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z\x1bXsos\x1b\\!", "xyz!"),
        ("\x1bcreset", "reset"),
        ("\x1b(Bx", "x"),
        ("never closed \x1b]0;title\nnext line", "never closed \nnext line"),
        ("cut \x1b[31", "cut "),
        ("\x1b[3\nx", "\nx"),
        ("a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd"),
        ("\u202eevil\u2066x\u2069", "evilx"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("\ud800x", "\ufffdx"),
        ("NUL\x00 BEL\x07 BS\x08 DEL\x7f VT\x0b", "NUL BEL BS DEL VT"),
        ("👩‍👩‍👧 日本語 é", "👩‍👩‍👧 日本語 é"),
        ("x[/] [@click=app.quit]go[/]", "x[/] [@click=app.quit]go[/]"),
    ],
)
def test_cleaning(text: str, clean: str) -> None:
    assert printable(text) == clean


@given(HOSTILE)
def test_nothing_a_terminal_obeys_passes(text: str) -> None:
    assert OBEYED.search(printable(text)) is None


@given(HOSTILE, st.data())
def test_a_sequence_may_be_cut_anywhere(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    cleaner = Cleaner()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(cleaner.feed, pieces)) == printable(text)


@given(HOSTILE)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@given(st.lists(st.text("aé日😀\n", max_size=30), max_size=60), st.integers(0, 50))
def test_a_tail_keeps_the_last_bytes_exactly(pieces: list[str], limit: int) -> None:
    tail = Tail(limit)
    for piece in pieces:
        tail.append(piece)
    whole = "".join(pieces)
    assert tail.text == last_bytes(whole, limit)
    assert whole.endswith(tail.text)
    assert tail.total == len(whole.encode())
    assert tail.missing == tail.total - len(tail.text.encode())
    assert len(tail.text.encode()) <= limit
    assert tail.missing == 0 or len(tail.text.encode()) > limit - 4


def test_a_tail_of_tiny_pieces_stays_small() -> None:
    tail = Tail(1000)
    for index in range(100_000):
        tail.append(f"{index % 10}")
    assert len(tail.text) == 1000
    assert tail.total == 100_000


def test_one_line_is_one_short_line() -> None:
    assert one_line("  a\n\tb\x1b[31m  c ") == "a b c"
    assert len(one_line("word " * 10_000)) == 400
