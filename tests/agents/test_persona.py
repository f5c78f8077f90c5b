"""Personas: what is read from a file, what is refused and where, and who overrides whom."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.persona import BUILT_IN, Persona, Personas, load_personas, parse_persona
from teambot_tui.agents.team import BASES, DEFAULT_TEAM
from teambot_tui.agents.team_files import read_team_files
from teambot_tui.engine.files import SIZE_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

TEAMBOT = ".teambot/agents"
CLAUDE = ".claude/agents"


def load(project: Path) -> Personas:
    """Return the personas of a project that is trusted."""
    return load_personas(read_team_files(project, {"HOME": str(project)}))


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parse(text: str | bytes, path: Path = BUILT_IN / "x.md") -> Persona:
    return parse_persona(path, text.encode() if isinstance(text, str) else text)


def persona(name: str, prompt: str = "Hello.", **more: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in {"name": name, **more}.items())
    return f"---\n{lines}---\n{prompt}\n"


def test_the_built_in_personas_are_the_default_team_and_the_bases(tmp_path: Path) -> None:
    personas = load(tmp_path)
    assert set(personas) == {*DEFAULT_TEAM, *BASES}
    assert personas.notes == ()
    assert len({each.prompt for each in personas.values()}) == len(personas)
    for name, each in personas.items():
        assert each.path == BUILT_IN / f"{name}.md"
        assert each.name == name
        assert 20 < len(each.description) < 110
        assert "[Output from @" in each.prompt
        assert "=== Output from @" in each.prompt
        assert "word for word" in each.prompt


def test_everything_a_file_can_say() -> None:
    found = parse(
        "---\nname: scout\ndescription: Looks\nmodel: opus\nbackend: local\ntools: a, b\n---\n\nGo.\n\n"
    )
    path = BUILT_IN / "x.md"
    assert found == Persona("scout", "Looks", "opus", "local", ("a", "b"), "Go.", path)


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("description: Plain words: with a colon", "Plain words: with a colon"),
        ("description: don't stop", "don't stop"),
        ('description: "say \\"hi\\"\\nand \\\\go" # comment', 'say "hi" and \\go'),
        ("description: 'it''s'", "it's"),
        ("description: words # a comment", "words"),
        ("description: C# and #1", "C# and"),
        ("description: # nothing", ""),
        ("description:", ""),
        ("description: |\n  two\n  lines", "two lines"),
        ("description: >-\n  two\n\n  lines", "two lines"),
        ("description: goes\n  on", "goes on"),
        ("description: \x1b]0;title\x07red\x1b[31m \u202eevil", "red evil"),
        ("# a comment\n\ndescription: x", "x"),
        ("color: blue\nhooks:\n  PreToolUse:\n    - matcher: 'never closed\ndescription: x", "x"),
        ("unknown: [never closed\ndescription: x", "x"),
    ],
)
def test_descriptions(line: str, description: str) -> None:
    assert parse(f"---\nname: x\n{line}\n---\nHi").description == description


@pytest.mark.parametrize(
    ("lines", "tools"),
    [
        ("tools: Read, Grep,Glob", ("Read", "Grep", "Glob")),
        ("tools: [Read, 'Grep', \"Glob\"]", ("Read", "Grep", "Glob")),
        ("tools: [Read,\n  Grep]", ("Read", "Grep")),
        ("tools:\n  - Read\n  - 'Grep'", ("Read", "Grep")),
        ("tools:\n- Read\n-   Grep # why", ("Read", "Grep")),
        ("tools: Bash(git add:*, git log:*), Read", ("Bash(git add:*, git log:*)", "Read")),
        ('tools: "*"', ("*",)),
        ("tools: Bash(git, Read", ("Bash(git, Read",)),
        ("tools: []", ()),
        ("tools: ,, ,", ()),
        ("tools:", ()),
        ("color: red", ()),
    ],
)
def test_tools(lines: str, tools: tuple[str, ...]) -> None:
    assert parse(f"---\nname: x\n{lines}\n---\nHi").tools == tools


@pytest.mark.parametrize(
    ("value", "model"), [("opus", "opus"), ("inherit", None), ("", None), ('"o 1"', "o 1")]
)
def test_models(value: str, model: str | None) -> None:
    assert parse(persona("x", model=value)).model == model


def test_line_ends_and_the_byte_order_mark_do_not_matter() -> None:
    plain = parse(persona("x", "One\n---\n\tTwo"))
    assert plain.prompt == "One\n---\n\tTwo"
    assert parse(b"\xef\xbb\xbf" + persona("x", "One\n---\n\tTwo").replace("\n", "\r\n").encode()) == plain


def test_a_prompt_cannot_command_the_terminal() -> None:
    assert parse(persona("x", "a\x1b[2Jb\x00c\x9b1md\u202e")).prompt == "abcd"


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "expected front matter"),
        ("# Title\n", 1, "expected front matter"),
        ("---\nname: x\n", 1, "not closed"),
        ("---\nname x\n---\nHi", 2, "expected `key: value`"),
        ("---\nname:x\n---\nHi", 2, "expected `key: value`"),
        ("---\n  name: x\n---\nHi", 2, "before an indented line"),
        ("---\nname: x\n{}\n---\nHi", 3, "expected `key: value`"),
        ("---\nname: x\nname: y\n---\nHi", 3, "`name` is given twice"),
        ("---\ndescription: x\n---\nHi", 1, "`name` is missing"),
        ("---\nx: y\nname: ''\n---\nHi", 3, "`name` is missing"),
        ('---\nname: "x\n---\nHi', 2, "quotation mark"),
        ("---\nname: 'x' y\n---\nHi", 2, "quotation mark"),
        ("---\nname: Code Reviewer\n---\nHi", 2, "not Code Reviewer"),
        ("---\nname: PM\n---\nHi", 2, "an agent id (lowercase"),
        ("---\nname: a--b\n---\nHi", 2, "not a--b"),
        ("---\nname: a_b\n---\nHi", 2, "not a_b"),
        ("---\nname: ../pm\n---\nHi", 2, "not ../pm"),
        ("---\nname: all\n---\nHi", 2, "means the whole team"),
        (f"---\nname: {'a' * 65}\n---\nHi", 2, "at most 64 characters"),
        ("---\nname: x\ntools: [a, b\n---\nHi", 3, "expected `]`"),
        ("---\nname: x\ntools:\n  a\n  - b\n---\nHi", 3, "expected a list"),
        ("---\nname: x\n---\n \n", 0, "has no prompt"),
        (b"---\nname: x\n---\nHi \xff", 0, "is not UTF-8 text (line 4)"),
        (b"\xff\xfe-\x00-\x00-\x00", 0, "is not UTF-8"),
        (b"\x00" * 1000, 1, "expected front matter"),
    ],
)
def test_a_refused_file_is_named_with_the_line(content: str | bytes, line: int, message: str) -> None:
    with pytest.raises(PersonaError) as caught:
        parse(content)
    assert caught.value.line == line
    assert message in caught.value.message
    assert str(caught.value).startswith(f"{BUILT_IN / 'x.md'}{f', line {line}' if line else ''}: ")
    assert "\n" not in str(caught.value)


@hypothesis.settings(deadline=None)
@given(
    st.one_of(st.binary(), st.text().map(str.encode), st.text().map(lambda text: persona("x", text).encode()))
)
def test_any_bytes_give_a_persona_or_one_error(content: bytes) -> None:
    with suppress(PersonaError):
        parse(content)


@hypothesis.settings(deadline=None)
@given(st.text(alphabet="name: x'\"[]()|>-#\\,\n\tdescriptonlsbak"))
def test_any_front_matter_gives_a_persona_or_one_error(lines: str) -> None:
    with suppress(PersonaError):
        parse(f"---\nname: x\n{lines}\n---\nHi")


@pytest.mark.parametrize("unit", ["a,", "(", "()", "\\", "' ", "'", "[", " #", "- "])
@pytest.mark.parametrize("start", ["", "'", '"', "[", "|"])
def test_the_largest_file_is_read_in_a_moment(start: str, unit: str) -> None:
    value = start + unit * (SIZE_LIMIT // (3 * len(unit)))
    with suppress(PersonaError):
        parse(f"---\nname: x\ntools: {value}\ndescription: {value}\n---\nHi")


def test_the_project_overrides_claude_and_claude_the_built_in(tmp_path: Path) -> None:
    write(tmp_path / CLAUDE / "a.md", persona("pm", "Claude's", color="blue"))
    write(tmp_path / CLAUDE / "b.md", persona("ba", "Claude's"))
    write(tmp_path / TEAMBOT / "c.md", persona("pm", "Ours"))
    write(tmp_path / TEAMBOT / "d.md", persona("scout", "New"))
    personas = load(tmp_path)
    assert {name: personas[name].prompt for name in ("pm", "ba", "scout")} == {
        "pm": "Ours",
        "ba": "Claude's",
        "scout": "New",
    }
    assert personas["reviewer"].path.parent == BUILT_IN
    assert personas.notes == ()


def test_other_files_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    for name in ("notes.txt", "pm.md.bak", "._pm.md", ".hidden.md", "sub/pm.md"):
        write(tmp_path / TEAMBOT / name, "not a persona")
    assert set(load(tmp_path)) == {*DEFAULT_TEAM, *BASES}


def link_out(folder: Path) -> None:
    (folder / "bad.md").symlink_to(write(folder.parents[2] / "outside.md", persona("bad")))


def link_in_cycle(folder: Path) -> None:
    (folder / "bad.md").symlink_to("bad.md")


def link_to_nothing(folder: Path) -> None:
    (folder / "bad.md").symlink_to("gone.md")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "bad.md")


def device(folder: Path) -> None:
    (folder / "bad.md").symlink_to("/dev/zero")


def twice(folder: Path) -> None:
    write(folder / "awful.md", persona("bad"))
    write(folder / "bad.md", persona("bad"))


BROKEN = {
    "leads out of the project": (link_out, device),
    "cannot be followed": (link_in_cycle,),
    "does not exist": (link_to_nothing,),
    "is not a regular file": (pipe, lambda folder: (folder / "bad.md").mkdir()),
    "is already defined in": (twice,),
    "is too large: more than 1 MiB": (lambda folder: write(folder / "bad.md", b"x" * (SIZE_LIMIT + 1)),),
    "not My Agent": (lambda folder: write(folder / "bad.md", persona("My Agent")),),
    "is not UTF-8": (lambda folder: write(folder / "bad.md", b"\x80"),),
}


@pytest.mark.parametrize(
    ("message", "make"), [(text, make) for text, all_ in BROKEN.items() for make in all_]
)
@pytest.mark.parametrize("folder", [TEAMBOT, CLAUDE])
def test_a_broken_file_is_passed_over_and_told(
    tmp_path: Path, message: str, make: object, folder: str
) -> None:
    assert callable(make)
    (tmp_path / "project" / folder).mkdir(parents=True)
    write(tmp_path / "project" / folder / "good.md", persona("good"))
    make(tmp_path / "project" / folder)
    files = read_team_files(tmp_path / "project", {"HOME": str(tmp_path)})
    personas = load_personas(files)
    assert "good" in personas
    (note,) = (*files.problems, *personas.notes)
    assert message in note
    assert str(tmp_path / "project" / folder / "bad.md") in note


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    for folder in (CLAUDE, TEAMBOT):
        write(tmp_path / folder, "a file")
    files = read_team_files(tmp_path, {"HOME": str(tmp_path)})
    assert not files.content
    for problem, folder in zip(files.problems, (CLAUDE, TEAMBOT), strict=True):
        assert folder in problem
        assert "Not a directory" in problem


def test_a_folder_of_too_many_files(tmp_path: Path) -> None:
    for number in range(501):
        write(tmp_path / CLAUDE / f"{number:03}.md", persona(f"a{number}"))
    files = read_team_files(tmp_path, {"HOME": str(tmp_path)})
    assert len(files.content) == 500
    (problem,) = files.problems
    assert "has more than 500 files: those after 499.md do not count" in problem


@pytest.mark.parametrize(
    ("bases", "left", "problems"),
    [
        ({"a": "nobody"}, set(), ["is not a persona"]),
        ({"a": "nobody", "b": "a"}, set(), ["is not a persona", "is not a persona"]),
        ({"a": "b", "b": "a"}, set(), ["leads in a cycle", "is not a persona"]),
        ({"a": "nobody", "b": "plan"}, {"b"}, ["is not a persona"]),
        ({"pm": "nobody", "b": "pm"}, {"b"}, ["is not a persona"]),
        ({"a": "b", "b": "nobody"}, set(), ["is not a persona", "is not a persona"]),
        ({"a": "pm", "pm": "nobody"}, {"a"}, ["is not a persona"]),
    ],
)
def test_a_persona_without_its_base_is_passed_over_with_what_is_made_of_it(
    tmp_path: Path, bases: dict[str, str], left: set[str], problems: list[str]
) -> None:
    for name, base in bases.items():
        write(tmp_path / TEAMBOT / f"{name}.md", persona(name, base=base))
    personas = load(tmp_path)
    assert set(personas) == {*DEFAULT_TEAM, *BASES, *left}
    assert len(personas.notes) == len(problems)
    assert all(problem in note for problem, note in zip(problems, personas.notes, strict=True))


def test_a_link_inside_the_project_and_a_project_behind_a_link_are_fine(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / "prompts" / "scout.md", persona("scout"))
    (project / TEAMBOT).mkdir(parents=True)
    (project / TEAMBOT / "scout.md").symlink_to("../../prompts/scout.md")
    (tmp_path / "link").symlink_to(project)
    assert "scout" in load(tmp_path / "link")


def test_a_folder_that_is_a_link_out_of_the_project_brings_nothing(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "pm.md", persona("pm", "Not yours"))
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    (tmp_path / "project" / CLAUDE).symlink_to(tmp_path / "elsewhere")
    files = read_team_files(tmp_path / "project", {"HOME": str(tmp_path)})
    assert load_personas(files)["pm"].path.parent == BUILT_IN
    assert "leads out of the project" in files.problems[0]
