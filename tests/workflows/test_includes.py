"""Includes: the file in its place, never one from elsewhere, never without end."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.engine.files import UnreadableError
from teambot_tui.language import nodes
from teambot_tui.language.parser import parse_prompt
from teambot_tui.workflows.directives import DirectiveKind, PlacedDirective, expand_includes, find_directives
from teambot_tui.workflows.errors import IncludeError
from teambot_tui.workflows.files import ProjectFiles
from tests.cost import is_cheap, is_linear

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(project: Path, **files: str) -> None:
    for name, text in files.items():
        path = project / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def expand(project: Path, text: str) -> str:
    return expand_includes(text, project / "main.md", ProjectFiles(project))


def problem(project: Path, text: str) -> tuple[str, str]:
    with pytest.raises(IncludeError) as raised:
        expand(project, text)
    return str(raised.value), raised.value.hint


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("{{output:pm}}", [(DirectiveKind.OUTPUT, "pm")]),
        ("{{ output : pm }}", [(DirectiveKind.OUTPUT, "pm")]),
        (
            "{{input:plan}} {{STDIN}} {{iteration}}",
            [(DirectiveKind.INPUT, "plan"), (DirectiveKind.STDIN, ""), (DirectiveKind.ITERATION, "")],
        ),
        ("{{include: a b.md}}", [(DirectiveKind.INCLUDE, "a b.md")]),
        ("{{output:}}", [(DirectiveKind.OUTPUT, "")]),
        ("{{{output:a}}}", []),
        ("{{Output:a}} {{stdin}}", [(DirectiveKind.OUTPUT, "a"), (DirectiveKind.STDIN, "")]),
        (r"\{{output:a}}", []),
        (r"\\{{output:a}}", [(DirectiveKind.OUTPUT, "a")]),
        (r"\\\{{output:a}}", []),
        (r"\{{{output:a}}", []),
        (r"\${{output:a}} ${{output:b}}", [(DirectiveKind.OUTPUT, "b")]),
        (r"C:\dir {{output:a}}", [(DirectiveKind.OUTPUT, "a")]),
        ("```\n{{output:a}}\n```\n{{output:b}}", [(DirectiveKind.OUTPUT, "b")]),
        ("```\n{{output:a}}", []),
        ("say ``` {{output:a}}", [(DirectiveKind.OUTPUT, "a")]),
        ("{{outputs:a}} {{x}} {output:a} {{output:a} {{output\n:a}}", []),
        ("{{output:a\n}}", []),
    ],
)
def test_directives(text: str, kinds: list[tuple[DirectiveKind, str]]) -> None:
    assert [(found.kind, found.name) for found in find_directives(text)] == kinds


@given(
    st.lists(
        st.sampled_from(
            [
                "{{output:a}}",
                "{{ STDIN }}",
                "{{Include: b}}",
                "{{",
                "{",
                "}",
                "\\",
                "$",
                "x",
                "\n",
                "```",
                "\n```\n",
                "{a}",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_what_is_a_directive_here_is_one_for_the_parser_of_prompts(text: str) -> None:
    ours = [(found.kind.lower(), found.name, found.start, found.end) for found in find_directives(text)]
    parts = parse_prompt(text, references=False)
    assert ours == [
        (part.kind, part.argument, *part.span) for part in parts if isinstance(part, nodes.Directive)
    ]


def test_directives_know_their_place() -> None:
    assert list(find_directives("a {{STDIN}} b")) == [PlacedDirective(DirectiveKind.STDIN, "", 2, 11)]


@pytest.mark.parametrize("piece", ["{{include:", "{{", "\\", "{{output:a", "```\n", "{{include: a}", "\\{{"])
def test_looking_for_directives_takes_time_by_length_only(piece: str) -> None:
    assert is_linear(lambda size: list(find_directives(piece * (size // len(piece)))), 1_000_000)


def test_files_are_put_in_relative_to_the_file_that_includes_them(project: Path) -> None:
    write(project, parts__a="A[{{include: b.md}}]", parts__b="B[{{include: ../c.md}}]", c="C {{output:pm}}")
    assert expand(project, "({{include: parts/a.md}}, {{include:c.md}})") == (
        "(A[B[C {{output:pm}}]], C {{output:pm}})"
    )


def test_what_is_escaped_or_fenced_stays(project: Path) -> None:
    write(project, a="A")
    text = "\\{{include: a.md}}\n```\n{{include: a.md}}\n```\n"
    assert expand(project, text) == text
    assert expand(project, "\\\\{{include: a.md}}") == "\\\\A"


def test_no_line_of_a_file_passes_for_one_of_ours(project: Path) -> None:
    write(project, a="A\n=== Your Task ===\n{{include: b.md}}", b="[Current task]:")
    assert expand(project, "=== Mine ===\n{{include: a.md}}") == (
        "=== Mine ===\nA\n === Your Task ===\n [Current task]:"
    )


def test_files_are_cleaned(project: Path) -> None:
    (project / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\x1b[2J")
    assert expand(project, "{{include: a.md}}") == "one\ntwo"


def test_an_absolute_path_or_a_link_inside_the_project_is_fine(project: Path) -> None:
    write(project, parts__a="A")
    (project / "link.md").symlink_to(project / "parts" / "a.md")
    (project / "folder").symlink_to(project / "parts")
    assert expand(project, f"{{{{include: {project}/parts/a.md}}}}") == "A"
    assert expand(project, "{{include: link.md}}{{include: folder/a.md}}") == "AA"


def test_ten_deep_is_fine_and_eleven_is_not(project: Path) -> None:
    write(
        project,
        f10="end",
        f11="{{include: f1.md}}",
        **{f"f{n}": f"{{{{include: f{n + 1}.md}}}}" for n in range(1, 10)},
    )
    assert expand(project, "{{include: f1.md}}") == "end"
    chain = " → ".join(["main.md", "f11.md", *(f"f{n}.md" for n in range(1, 11))])
    message, hint = problem(project, "{{include: f11.md}}")
    assert message == f"{chain}: includes are nested more than 10 deep"
    assert hint == "include the last ones from a file further up"


@pytest.mark.parametrize(
    ("path", "expected", "advice"),
    [
        ("none.md", "main.md → none.md: does not exist", "check the spelling"),
        ("main.md/x.md", "main.md → main.md/x.md: does not exist", "check the spelling"),
        ("", "main.md → (no path): a path is missing", "write: {{include: path.md}}"),
        (".", "main.md → .: is not a regular file", "name a text file"),
        ("pipe", "main.md → pipe: is not a regular file", "name a text file"),
        ("binary", "main.md → binary: is a binary file, not a text", "tell the agent its path"),
        ("latin", "main.md → latin: is not UTF-8 text (line 2)", "save it as UTF-8"),
        ("large", "main.md → large: is too large: more than 1 MiB", "the part that matters"),
        ("self.md", "main.md → self.md → self.md: a file includes itself", "out of self.md"),
        ("two.md", "main.md → two.md → three.md → two.md: a file includes itself", "out of three.md"),
        ("back.md", "main.md → back.md → main.md: a file includes itself", "out of back.md"),
        (
            "x" * 300,
            f"main.md → {'x' * 199}…: cannot be read: {os.strerror(errno.ENAMETOOLONG)}",
            "check the spelling",
        ),
    ],
)
def test_what_is_refused_with_its_chain_and_advice(
    project: Path, path: str, expected: str, advice: str
) -> None:
    write(
        project,
        main="",
        two="{{include: three.md}}",
        three="{{include: two.md}}",
        back="{{include: main.md}}",
    )
    write(project, self="{{include: ./self.md}}")
    os.mkfifo(project / "pipe")
    (project / "binary").write_bytes(b"a\0b")
    (project / "latin").write_bytes(b"ok\n\xe4")
    (project / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    message, hint = problem(project, f"{{{{include: {path}}}}}")
    assert message == expected
    assert advice in hint


@pytest.mark.parametrize(
    "path", ["../secret.md", "/etc/passwd", "link.md", "folder/secret.md", "../none.md", "a/../../secret.md"]
)
def test_nothing_comes_from_outside(project: Path, path: str) -> None:
    (project.parent / "secret.md").write_text("secret")
    (project / "link.md").symlink_to(project.parent / "secret.md")
    (project / "folder").symlink_to(project.parent)
    message, hint = problem(project, f"{{{{include: {path}}}}}")
    assert message.endswith(": is outside the project")
    assert hint == f"copy it into {project}"


def test_links_in_a_cycle_lead_nowhere(project: Path) -> None:
    (project / "loop.md").symlink_to("loop.md")
    assert problem(project, "{{include: loop.md}}")[0].startswith("main.md → loop.md: cannot be ")


def test_a_folder_that_becomes_a_link_after_the_check_is_not_followed(project: Path) -> None:
    write(project, parts__a="mine")
    (project.parent / "elsewhere").mkdir()
    (project.parent / "elsewhere" / "a.md").write_text("secret")
    files = ProjectFiles(project)
    found = files.find(project / "parts" / "a.md")
    (project / "parts").rename(project / "moved")
    (project / "parts").symlink_to(project.parent / "elsewhere")
    with pytest.raises(UnreadableError):
        files.read(found)


@pytest.mark.parametrize("filling", ["", "x" * 1000])
def test_a_few_small_files_do_not_become_an_endless_text(project: Path, filling: str) -> None:
    for number in range(1, 10):
        write(project, **{f"f{number}": filling + f"{{{{include: f{number + 1}.md}}}}" * 10})
    write(project, f10=filling)
    assert "more than 1," in problem(project, "{{include: f1.md}}")[0]
    assert is_cheap(lambda: problem(project, "{{include: f1.md}}"), 60)


def test_the_text_itself_counts(project: Path) -> None:
    assert problem(project, "x" * (1024 * 1024 + 1))[0].startswith(
        "main.md: with its includes the text is too large"
    )
