"""What a tool call would do is shown whole, and nothing in it passes for anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from teambot_tui.agents.backends.acp_requests import (
    acts,
    described,
    diff,
    exact,
    requested,
    with_true_changes,
)

if TYPE_CHECKING:
    from pathlib import Path

EDIT = {"type": "diff", "path": "/a", "oldText": "1\n2\n", "newText": "1\n3\n"}
SHOWN = "--- /a\n+++ /a\n@@ -2 +2 @@\n 1\n-2\n+3"


def text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "call-1"),
        ({"title": "Run"}, "call-1"),
        ({"rawInput": {"command": "make", "description": "tidy"}}, "make\ndescription: tidy"),
        ({"rawInput": {"command": "rm -rf x"}, "content": [EDIT]}, f"rm -rf x\n{SHOWN}"),
        ({"rawInput": {"command": ["rm", "a b"]}, "content": [EDIT, EDIT]}, f"rm 'a b'\n{SHOWN}\n{SHOWN}"),
        ({"rawInput": {"command": {"x": 1}, "path": "/a"}}, 'command: {"x": 1}\npath: /a'),
        ({"rawInput": {"command": "make\ncwd: /safe", "cwd": "/"}}, "make\n  cwd: /safe\ncwd: /"),
        ({"rawInput": {"why\ncwd": "/"}}, "why<LF>cwd: /"),
        ({"rawInput": "rm -rf x\nls"}, "rm -rf x\n  ls"),
        ({"rawInput": ["rm", "x"]}, '["rm", "x"]'),
        ({"rawInput": {"edits": [{"new": "a\nb"}]}}, 'edits: [{"new": "a\\nb"}]'),
        (
            {
                "rawInput": {"file_path": "/a", "new_string": "1\n3\n", "old_string": "1\n4\n"},
                "content": [EDIT],
            },
            f"file_path: /a\nnew_string: (in the change below)\nold_string: 1\n  4\n  \n{SHOWN}",
        ),
        (
            {
                "rawInput": {"command": "sh -s", "stdin": "rm x\n2\n3\n4\n"},
                "content": [{**EDIT, "oldText": "rm x\n2\n3\n4\n", "newText": "rm x\n2\n3\n4\n5\n"}],
            },
            "sh -s\nstdin: rm x\n  2\n  3\n  4\n  \n--- /a\n+++ /a\n@@ -5 +5 @@\n 2\n 3\n 4\n+5",
        ),
        ({"content": [text("look\n--- /x")]}, "text: look\n  --- /x"),
        (
            {"content": [{"type": "terminal", "terminalId": "t"}]},
            'text: {"type": "terminal", "terminalId": "t"}',
        ),
        (
            {
                "rawInput": {"path": "/a"},
                "locations": [{"path": "/a"}, {"path": "/b\nx"}, {"path": "/a", "line": 3}],
            },
            "path: /a\nat: /b<LF>x\nat: /a:3",
        ),
        ({"content": [{**EDIT, "path": "/a\n+++ /b"}]}, SHOWN.replace("/a", "/a<LF>+++ /b")),
    ],
)
def test_everything_is_shown(fields: dict[str, Any], shown: str) -> None:
    assert requested("call-1", fields) == shown


def test_what_an_agent_prints_is_not_what_it_does() -> None:
    assert described({"rawInput": {"command": "ls"}, "content": [text("a list"), EDIT]}) == f"ls\n{SHOWN}"


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a\r\nb\n", "a\nb\n", "-a\r\n+a\n b"),
        ("a\n", "a", "-a\n+a\n\\ no newline at the end"),
        ("a", "a\n", "-a\n\\ no newline at the end\n+a"),
        ("a\x0cb", "a\x0bb", "-a\x0cb\n\\ no newline at the end\n+a\x0bb\n\\ no newline at the end"),
        ("a\n", "a\u2028b\n", "-a\n+a\u2028b"),
        ("a\n\n", "a\n", " a\n-"),
    ],
)
def test_no_change_is_too_small_to_be_shown(old: str, new: str, shown: str) -> None:
    assert diff("/a", old, new).split(" @@\n", 1)[1] == shown


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"rawInput": {"file_path": "/a", "offset": 3, "limit": 5}}, False),
        ({"rawInput": {"pattern": "x", "path": "/a", "glob": "*.py", "-n": True}}, False),
        ({"rawInput": {"description": "look", "encoding": "utf-8"}}, False),
        ({"content": [text("found")], "locations": [{"path": "/a"}]}, False),
        ({"rawInput": {"command": "ls"}}, True),
        ({"rawInput": {"command": ["ls"]}}, True),
        ({"rawInput": {"bashCommand": "ls"}}, True),
        ({"rawInput": {"path": "/a", "options": [{"SHELL": "ls"}]}}, True),
        ({"rawInput": {"file_path": "/a", "new_string": "x"}}, True),
        ({"rawInput": {"path": "/a", "newText": "x"}}, True),
        ({"rawInput": {"path": "/a", "file_text": "x"}}, True),
        ({"rawInput": "rm -rf x"}, True),
        ({"rawInput": ["rm", "x"]}, True),
        ({"content": [EDIT]}, True),
        ({"content": [{"type": "terminal", "terminalId": "t"}]}, True),
    ],
)
def test_what_is_more_than_reading(fields: dict[str, Any], expected: bool) -> None:
    assert acts(fields) is expected


def test_what_looks_the_same_is_told_apart() -> None:
    one = {"rawInput": {"command": "(in the change below)"}}
    texts = [exact(each) for each in (one, {"rawInput": "(in the change below)"}, {**one, "kind": "read"})]
    assert len(set(texts)) == 3


@pytest.mark.parametrize(
    ("held", "hidden"),
    [
        ("1\n2\n3\n4\n5\n6\n7\n", True),
        ("before\n1\n2\n3\n4\n5\n6\n7\nafter\n", True),
        ("other\n", False),
        (None, False),
    ],
)
def test_nothing_passes_for_unchanged_that_the_file_does_not_hold(
    tmp_path: Path, held: str | None, hidden: bool
) -> None:
    path = tmp_path / "a"
    if held is not None:
        path.write_text(held)
    old = "1\n2\n3\n4\n5\n6\n7\n"
    change = {"type": "diff", "path": str(path), "oldText": old, "newText": f"{old}8\n"}
    shown = requested("call-1", with_true_changes({"content": [change, text("why")]}))
    assert "text: why" in shown
    assert ("\n+1\n" not in shown) == hidden
    assert shown.endswith("\n+8")
