"""What a person is asked to allow: nothing of it is hidden or obeyed, and no two requests are the same."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import asdict

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from teambot_tui.engine.ports import Permission
from teambot_tui.engine.showing import LARGEST, Shown, show
from teambot_tui.engine.text import visible

TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\x9b]0;[31m\x07\r\n\t\x00 ab<>\u200b\u202e\u2066\ufe0f\u00ad\ud83d\ude00😀"),
    ),
    max_size=30,
)
BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""What Unicode calls a letter or a symbol, and nobody sees."""
REQUESTS = st.tuples(TEXTS, TEXTS, TEXTS, TEXTS)


def shown(tool: str = "Run", kind: str = "execute", detail: str = "ls", exact: str = "") -> Shown:
    return show(Permission("1", tool, kind, detail, lambda verdict, words="": None, exact))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain text,\n\tindented\n", "plain text,\n\tindented\n"),
        ("echo hello \x1b]0; touch pwned #\x07", "echo hello <ESC>]0; touch pwned #<BEL>"),
        ("\x9b2J\x9d0;t\x9c", "<U+009B>2J<U+009D>0;t<U+009C>"),
        ("a\r\nb\rc", "a<CR>\nb<CR>c"),
        ("rm\u00a0-rf\u3000/\u2003", "rm<U+00A0>-rf<U+3000>/<U+2003>"),
        ("\u202eevil\u2066x\u2069\u061c\u200f", "<U+202E>evil<U+2066>x<U+2069><U+061C><U+200F>"),
        ("a\u200bb\u200dc\ufeffd\u00ade\u2060", "a<U+200B>b<U+200D>c<U+FEFF>d<U+00AD>e<U+2060>"),
        ("x\ufe0f\U000e0101\U000e0041\u034f", "x<U+FE0F><U+E0101><U+E0041><U+034F>"),
        ("\u115f\u3164\uffa0\u2800\u17b5\u180e", "<U+115F><U+3164><U+FFA0><U+2800><U+17B5><U+180E>"),
        ("\u2028\u2029\x0b\x0c\x85", "<U+2028><U+2029><U+000B><U+000C><U+0085>"),
        ("\ud800 \ue000 \U000ffffd", "<U+D800> <U+E000> <U+FFFFD>"),
        ("日本語 e\u0301 é 😀 ελ עב", "日本語 e\u0301 é 😀 ελ עב"),
    ],
)
def test_what_shows_nothing_is_named(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_a_name_has_one_line() -> None:
    assert visible("a\n\tb", layout=False) == "a<LF><TAB>b"


@given(REQUESTS, REQUESTS)
def test_requests_that_differ_anywhere_have_different_keys(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    assert (shown(*one).key == shown(*other).key) == (one == other)


@given(REQUESTS, st.integers(0, 3), TEXTS, TEXTS, st.characters())
def test_one_character_more_is_another_request(
    request: tuple[str, str, str, str], which: int, before: str, after: str, character: str
) -> None:
    changed = list(request)
    changed[which] = before + after
    one = shown(*changed)
    changed[which] = before + character + after
    assert shown(*changed).key != one.key


@given(REQUESTS, st.integers(0, 2))
def test_a_border_between_two_parts_is_not_moved(request: tuple[str, str, str, str], which: int) -> None:
    moved = list(request)
    moved[which], moved[which + 1] = moved[which] + moved[which + 1], ""
    assume(tuple(moved) != request)
    assert shown(*moved).key != shown(*request).key


@given(REQUESTS)
def test_everything_is_seen_and_nothing_obeyed(request: tuple[str, str, str, str]) -> None:
    tool, kind, detail, _ = request
    seen = shown(*request)
    for raw, text in ((tool, seen.tool), (kind, seen.kind), (detail, seen.detail)):
        rest = iter(text)
        for character in raw:
            if unicodedata.category(character)[0] in "LNPS" and character not in BLANK:
                assert character in rest, "in its place"
        assert len(text) >= len(raw)
        for character in text.replace("\n", "").replace("\t", ""):
            assert character == " " or unicodedata.category(character)[0] not in "CZ"


def test_a_shown_request_is_plain_data() -> None:
    request = shown("\ud800", "\x1b", "\udfff\x00", "\ud800")
    assert Shown(**json.loads(json.dumps(asdict(request)))) == request
    json.dumps(asdict(request)).encode()


@pytest.mark.parametrize(
    ("tool", "detail", "is_whole"),
    [
        ("", "x" * LARGEST, True),
        ("x", "x" * LARGEST, False),
        ("x" * LARGEST, "x", False),
        ("", "\u200b" * (LARGEST // 2), False),
    ],
)
def test_what_is_too_large_says_so_and_is_still_known(tool: str, detail: str, is_whole: bool) -> None:
    request = shown(tool, "", detail)
    assert request.is_whole is is_whole
    assert ("cannot be allowed" in request.detail) is not is_whole
    assert len(request.tool) + len(request.detail) <= LARGEST
    assert shown(tool, "", detail[:-1] + "y").key != request.key
