"""Temporary agents as files: written and removed with the facts, loaded at the start."""

from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui import Session
from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.persona import AgentFile, parse_agent_file, render_agent_file
from teambot_tui.agents.team_files import read_team_files
from teambot_tui.agents.trust import trust
from teambot_tui.engine.facts import SubscriberFailed
from teambot_tui.engine.ids import AgentId
from teambot_tui.store import prune
from teambot_tui.store.agent_files import AgentFiles
from teambot_tui.store.folders import StoreError
from tests.team import Watch, settle

DEFINED = '$scanner := {base: "Plan", prompt: "You \\"look\\".\\n---\\nname: x", model: "opus"}'
FILE = "---\nname: helper\ndescription: Helps\nbase: general-purpose\n---\nYou help.\n"


def session(project: Path, *, ephemeral: bool = False) -> Session:
    return Session(
        directory=project, backend="echo", environ={"HOME": str(project / "home")}, ephemeral=ephemeral
    )


def folder(project: Path) -> Path:
    return project / ".teambot" / "temp-agents"


def put(project: Path, name: str, text: str | bytes) -> Path:
    folder(project).mkdir(parents=True, exist_ok=True)
    path = folder(project) / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    environ = {"HOME": str(project / "home")}
    trust(read_team_files(project, environ), environ)
    return path


def warnings(watch: Watch) -> list[str]:
    """Return what was told of the files of temporary agents."""
    return [
        fact.reason
        for fact in watch.facts
        if isinstance(fact, SubscriberFailed) and fact.subscriber == "temporary agents"
    ]


async def written(running: Session) -> None:
    """Wait until everything that was to be written is."""
    keeper = running._keeper
    if keeper._thread is not None:
        await asyncio.wrap_future(keeper._thread.submit(lambda: None))


async def test_a_definition_is_a_file_while_the_session_lives(tmp_path: Path) -> None:
    async with session(tmp_path) as running:
        running.submit(f'{DEFINED}\n$other := {{base: "scanner", prompt: "p"}}\nplan:"Go"')
        await running.spawn("x")
        await written(running)
        files = sorted(path.name for path in folder(tmp_path).glob("*.md"))
        assert files == ["other.md", "scanner.md"], "who joins only to be called or started has no file"
        path = folder(tmp_path) / "scanner.md"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        told = parse_agent_file(path, path.read_bytes())
        assert (told.name, told.base, told.model) == ("scanner", "plan", "opus")
        assert told.prompt == 'You "look".\n---\nname: x'
        old = time.time() + 1e6
        assert not prune.find(tmp_path, tmp_path, 0, old, ["temp-agents"]), "prune leaves what is in use"
        await running.idle()
        running.dismiss(AgentId("other"))
        await written(running)
        assert not (folder(tmp_path) / "other.md").exists()
    assert not (tmp_path / ".teambot").exists(), "nothing is left"


async def test_an_ephemeral_session_writes_nothing(tmp_path: Path) -> None:
    async with session(tmp_path, ephemeral=True) as running:
        running.submit(f"{DEFINED}\n@scanner go")
        await running.idle()
    assert not (tmp_path / ".teambot").exists()


async def test_what_was_there_before_is_loaded_told_and_stays(tmp_path: Path) -> None:
    put(tmp_path, "helper.md", FILE)
    put(tmp_path, "a-child.md", FILE.replace("helper", "a-child").replace("general-purpose", "helper"))
    kept = put(tmp_path, "notes.txt", "mine")
    running = session(tmp_path)
    assert running.roster.temporary.keys() == {"helper", "a-child"}
    (note,) = running.notes
    assert note == (
        "In .teambot/temp-agents from before: ~helper, ~a-child. To keep one: teambot agents promote helper."
        " To let one go: /forget helper, or remove its file."
    )
    async with running:
        result = await running.run('@a-child Hello\nhelper:"Go"')
        assert result.outcomes[1].output == "You help.\n\nGo"
        running.submit(DEFINED)
        await written(running)
    assert kept.exists()
    assert sorted(path.name for path in folder(tmp_path).glob("*.md")) == ["a-child.md", "helper.md"]


async def test_what_was_there_before_goes_when_somebody_lets_it_go(tmp_path: Path) -> None:
    path = put(tmp_path, "helper.md", FILE)
    async with session(tmp_path) as running:
        await running.run("@helper Hello")
        running.dismiss(AgentId("helper"))
    assert not path.exists()


async def test_a_new_definition_leaves_the_file_from_before_as_it_is(tmp_path: Path) -> None:
    path = put(tmp_path, "helper.md", FILE)
    watch = Watch()
    async with session(tmp_path) as running:
        with running.bus.subscribe(watch.see):
            running.submit('$helper := {base: "plan", prompt: "You help otherwise."}')
            await written(running)
            await settle()
    assert path.read_text() == FILE
    assert warnings(watch) == [
        "not kept in .teambot/temp-agents: helper.md is there from before this session"
    ]


async def test_a_session_that_cannot_read_a_file_does_not_replace_it(tmp_path: Path) -> None:
    path = put(tmp_path, "scanner.md", "half a fi")
    async with session(tmp_path) as running:
        running.submit(DEFINED)
    assert path.read_text() == "half a fi"


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("pm.md", FILE.replace("helper", "pm"), "the name pm is taken by the team"),
        ("helper.md", FILE.replace("general-purpose", "nobody"), "nobody"),
        ("helper.md", FILE.replace("general-purpose", "helper"), "helper"),
        ("helper.md", FILE.replace("base: general-purpose\n", ""), "`base` is missing"),
        ("helper.md", "---\nname: helper\nbase: plan\n---\n", "has no prompt"),
        ("other.md", FILE, "call the file helper.md"),
        ("helper.md", b"\xff\xfe", "is not UTF-8"),
        ("helper.md", "", "expected front matter"),
        ("helper.md", FILE.replace("helper", "Hel per"), "`name`"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_note_and_stays(
    tmp_path: Path, name: str, text: str | bytes, note: str
) -> None:
    path = put(tmp_path, name, text)
    opened = session(tmp_path)
    assert not opened.roster.temporary
    assert len(opened.notes) == 1
    assert note in opened.notes[0]
    assert str(path) in opened.notes[0]
    assert path.exists()


async def test_another_session_in_the_same_place_leaves_the_files_alone(tmp_path: Path) -> None:
    async with session(tmp_path) as first:
        first.submit(DEFINED)
        await written(first)
        second = session(tmp_path)
        assert not second.roster.temporary
        watch = Watch()
        async with second:
            with second.bus.subscribe(watch.see):
                second.submit(DEFINED.replace("scanner", "other"))
                second.submit(DEFINED.replace("scanner", "third"))
                await written(second)
                await settle()
        assert warnings(watch) == ["not kept in .teambot/temp-agents: another teambot uses it"]
        assert [path.name for path in folder(tmp_path).glob("*.md")] == ["scanner.md"]


@pytest.mark.parametrize("obstacle", ["file", "link"])
async def test_what_cannot_be_written_is_one_note_and_no_harm(tmp_path: Path, obstacle: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".teambot").mkdir()
    if obstacle == "file":
        folder(tmp_path).write_text("x")
    else:
        folder(tmp_path).symlink_to(elsewhere)
    running = session(tmp_path)
    watch = Watch()
    async with running:
        with running.bus.subscribe(watch.see):
            result = await running.run(f"{DEFINED}\n@scanner go\n@scanner again")
            assert result.completed
            await written(running)
            await settle()
    assert len(running.notes) == len(warnings(watch)) == 1, "one for reading, one for writing"
    assert all(".teambot/temp-agents" in note for note in (*running.notes, *warnings(watch)))
    assert not list(elsewhere.iterdir())


def test_the_folder_is_marked_until_it_is_closed(tmp_path: Path) -> None:
    first, second = AgentFiles(tmp_path), AgentFiles(tmp_path)
    first.write("x", "text")
    with pytest.raises(StoreError, match="another teambot uses it"):
        second.write("x", "other")
    second.close()
    assert (folder(tmp_path) / "x.md").read_text() == "text"
    first.close()
    second.write("x", "other")
    assert (folder(tmp_path) / "x.md").read_text() == "other"
    second.close()
    assert not folder(tmp_path).exists()


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=80)


@given(WORDS, st.none() | WORDS.filter(lambda text: text.strip() == text and text != "inherit"))
def test_what_is_written_is_read_again(prompt: str, model: str | None) -> None:
    agent = AgentFile("x", "plan", prompt.strip() or "p", " ".join(model.split()) if model else None)
    try:
        again = parse_agent_file(Path("x.md"), render_agent_file(agent).encode())
    except PersonaError as error:
        raise AssertionError(render_agent_file(agent)) from error
    assert (again.name, again.base, again.prompt) == (agent.name, agent.base, agent.prompt.strip())
    assert again.summary == agent.summary
    assert again.model == (agent.model or None)
