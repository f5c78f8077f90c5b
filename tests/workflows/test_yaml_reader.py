"""YAML: plain values with their places, or one clear error, at once."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from teambot_tui.engine.text import one_line
from teambot_tui.workflows import yaml_reader
from teambot_tui.workflows.yaml_reader import DEEPEST, MOST_NODES, Items, Scalar, Table, YamlError, read_yaml
from tests.cost import is_cheap

"""Seconds. It is a tenth of that where nothing else runs; a bomb that goes off takes minutes."""


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with the fast parser and with the one that is always there."""
    if request.param == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("this PyYAML has no fast parser")


def problem(text: str) -> tuple[int, int, str]:
    with pytest.raises(YamlError) as raised:
        read_yaml(text)
    return raised.value.line, raised.value.column, raised.value.message


@pytest.mark.parametrize(
    "written",
    ["no", "1.10", "2026-01-01", "0x10", "1_000", "true", "1e3", "12:30:45", "=", "<<", "null", "~"],
)
@pytest.mark.usefixtures("loader")
def test_a_scalar_stays_what_was_written(written: str) -> None:
    assert read_yaml(f"- {written}") == Items([Scalar(written, True, 1, 3)], 1, 1)
    assert read_yaml(f"- '{written}'") == Items([Scalar(written, False, 1, 3)], 1, 1)


@pytest.mark.usefixtures("loader")
def test_every_value_knows_its_place() -> None:
    assert read_yaml("ä: 1\nb:\n  - x\n  - {c: d}\n") == Table(
        [
            (Scalar("ä", True, 1, 1), Scalar("1", True, 1, 4)),
            (
                Scalar("b", True, 2, 1),
                Items(
                    [
                        Scalar("x", True, 3, 5),
                        Table([(Scalar("c", True, 4, 6), Scalar("d", True, 4, 9))], 4, 5),
                    ],
                    3,
                    3,
                ),
            ),
        ],
        1,
        1,
    )


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "---\n...\n"])
@pytest.mark.usefixtures("loader")
def test_nothing_is_a_value_too(text: str) -> None:
    node = read_yaml(text)
    assert isinstance(node, Scalar)
    assert node.is_nothing


def test_what_a_terminal_would_obey_is_cleaned() -> None:
    assert read_yaml(r'"a\e[2Jb\0"') == Scalar("ab", False, 1, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x 1\nb: *x", (1, 4, "an anchor is not allowed: &x")),
        ("b: *x", (1, 4, "an alias is not allowed: *x")),
        ("a: 1\nb:\n  c: 1\n  c: 2", (4, 3, "c is given twice")),
        ("a: 1\n'a': 2", (2, 1, "a is given twice")),
        ("a: !!int 1", (1, 4, "a tag is not allowed: tag:yaml.org,2002:int")),
        ("a: !x [1]", (1, 4, "a tag is not allowed: !x")),
        ("a: ! 1", (1, 4, "a tag is not allowed: !")),
        ("[a, b]: 1", (1, 1, "a key must be a text")),
        ("{a: 1}: 1", (1, 1, "a key must be a text")),
        ("a: 1\n---\nb: 1", (2, 1, "a second document begins here")),
        ("a: \udc80", (1, 4, "not valid YAML: a character that is none is not allowed")),
        ("a:\n  b\x01", (2, 4, "not valid YAML: a control character is not allowed")),
        ("[" * 30, (1, DEEPEST + 1, f"nested more than {DEEPEST} deep")),
        ("a: " + "x" * 4_200_000, (0, 0, "is larger than 4 MiB")),
    ],
)
@pytest.mark.usefixtures("loader")
def test_what_is_refused(text: str, expected: tuple[int, int, str]) -> None:
    assert problem(text) == expected


@pytest.mark.parametrize(
    "text", ["a: [1", "a: 'x", "a: b: c", "\ta: 1", "a:\n\tb: 1", "- a\nb: 1", "%YAML 9.9\n---\n", "@", "`"]
)
@pytest.mark.usefixtures("loader")
def test_what_is_no_yaml_is_told_with_its_place(text: str) -> None:
    line, column, message = problem(text)
    assert line >= 1
    assert column >= 1
    assert message.startswith("not valid YAML: ")


def test_tabs_are_told_apart() -> None:
    with pytest.raises(YamlError) as raised:
        read_yaml("a:\n\tb: 1")
    assert raised.value.hint == "indent with blanks, not with tabs"


def test_depth_and_number_just_at_the_limit_are_fine() -> None:
    read_yaml("[" * DEEPEST + "]" * DEEPEST)
    read_yaml("- a\n" * (MOST_NODES - 1))
    assert problem("- a\n" * MOST_NODES)[2] == f"more than {MOST_NODES:,} values"


LAUGHS = "\n".join(
    ["a0: &a0 [x,x,x,x,x,x,x,x,x]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
)


@pytest.mark.parametrize(
    "bomb",
    [
        LAUGHS,
        "&a [*a]",
        "[" * 4_000_000,
        "{" * 4_000_000,
        "? " * 2_000_000,
        "- " * 2_000_000,
        "[[]," * 1_000_000,
        "{a: " * 1_000_000,
        "- a\n" * 1_000_000,
        "[" + "a," * 2_000_000,
        "{" + "a," * 2_000_000,
        "\n".join(f"k{number}: v" for number in range(300_000)),
        "%TAG ! x\n" * 400_000,
        "&a " * 1_000_000,
        '"' + "a" * 4_000_000,
        "a:" * 2_000_000,
    ],
    ids=range(16),
)
def test_bombs_are_refused_at_once(bomb: str) -> None:
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("this PyYAML has no fast parser")

    def refuse() -> None:
        with pytest.raises(YamlError):
            read_yaml(bomb)

    assert is_cheap(refuse, 60)


YAML_LIKE = st.text(
    st.sampled_from(list("ab01 \n\t-:?,[]{}#&*!|>'\"%@`<~.\\\ufeff\u2028ä\udc80\x00\x85")), max_size=60
)


@given(YAML_LIKE | st.text(max_size=60))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_value_or_one_clear_error(text: str) -> None:
    error = None
    try:
        yaml_reader.plain_value(read_yaml(text))
    except YamlError as raised:
        error = raised
    assert error is None or (
        one_line(error.message) == error.message and error.line >= 1 and error.column >= 1
    )
