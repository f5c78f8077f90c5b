"""A temporary agent becomes one of the project: never over another by accident, and counted from then on."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from teambot_tui import Session
from teambot_tui.agents.persona import AgentFile, Personas, load_personas, render_agent_file
from teambot_tui.agents.team_files import read_team_files
from teambot_tui.engine.ids import AgentId
from teambot_tui.language.errors import StatementError
from teambot_tui.store.folders import StoreError
from teambot_tui.workflows.promote import ClashError, PromoteError, Promotion, find, promote, specific
from teambot_tui.workflows.registry import Promoted, count_uses, read_registry, record

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
SCANNER = AgentFile("scanner", "plan", "You look.", "opus")


def keep(project: Path, agent: AgentFile = SCANNER, *others: AgentFile, **how: object) -> Promotion:
    known = {each.name: each for each in others}
    return promote(project, agent, known, NOW, {"HOME": str(project)}, **how)  # type: ignore[arg-type]


def personas(project: Path) -> Personas:
    return load_personas(read_team_files(project, {"HOME": str(project)}))


def agents(project: Path) -> Path:
    return project / ".teambot" / "agents"


async def test_a_promoted_agent_is_on_the_team_of_every_later_session_and_counted(tmp_path: Path) -> None:
    temporary = tmp_path / ".teambot" / "temp-agents" / "scanner.md"
    temporary.parent.mkdir(parents=True)
    temporary.write_text(render_agent_file(replace(SCANNER, description="Looks for holes")))
    done = keep(tmp_path)
    assert done == Promotion("scanner", agents(tmp_path) / "scanner.md", ())
    assert not temporary.exists(), "it moved"
    plan = personas(tmp_path)["plan"]
    for count in (1, 2):
        async with Session(
            directory=tmp_path, backend="echo", environ={"HOME": str(tmp_path)}, ephemeral=False
        ) as session:
            assert "scanner" in session.roster.team
            await session.run("@scanner go")
            member = session.project.team.members[session.roster.team[-1]]
            assert (member.system, member.model) == (f"{plan.prompt}\n\nYou look.", "opus")
        known = json.loads((agents(tmp_path) / "registry.json").read_text())["agents"]
        assert known == {
            "scanner": {
                "created": "2026-01-05T09:00:00+0000",
                "description": "Looks for holes",
                "used": count,
            }
        }


def test_a_clash_shows_the_difference_and_can_be_settled_both_ways(tmp_path: Path) -> None:
    keep(tmp_path)
    other = AgentFile("scanner", "plan", "You peek.")
    with pytest.raises(ClashError) as clash:
        keep(tmp_path, other)
    assert str(clash.value) == "There is an agent scanner already."
    assert "-You look." in clash.value.diff
    assert "+You peek." in clash.value.diff
    assert keep(tmp_path, other, name="peeker").name == "peeker"
    keep(tmp_path, other, force=True)
    assert "You peek." in (agents(tmp_path) / "scanner.md").read_text()
    assert read_registry(tmp_path).keys() == {"scanner", "peeker"}


def test_the_file_that_has_the_name_is_overwritten_whatever_it_is_called(tmp_path: Path) -> None:
    agents(tmp_path).mkdir(parents=True)
    (agents(tmp_path) / "old.md").write_text("---\nname: scanner\n---\nOld.\n")
    keep(tmp_path, force=True)
    assert [path.name for path in agents(tmp_path).glob("*.md")] == ["old.md"]
    assert personas(tmp_path)["scanner"].prompt.endswith("You look.")


def test_what_it_is_made_of_comes_along_if_it_is_temporary(tmp_path: Path) -> None:
    child = AgentFile("child", "scanner", "Twice.")
    keep(tmp_path, child, SCANNER, child)
    text = (agents(tmp_path) / "child.md").read_text()
    assert "base: plan" in text
    assert 'model: "opus"' in text
    assert text.endswith("You look.\n\nTwice.\n")


@pytest.mark.parametrize(
    ("agent", "how", "message"),
    [
        (SCANNER, {"name": "Not An Id"}, "Not An Id: "),
        (SCANNER, {"name": "../../x"}, "../../x: "),
        (SCANNER, {"name": "plan", "force": True}, "scanner is made of plan and cannot take its place."),
        (AgentFile("x", "nobody", "p"), {}, "Its base, nobody, is not a persona"),
        (AgentFile("x", "x", "p"), {}, "Its base, x, is not a persona"),
    ],
)
def test_what_cannot_be_promoted(
    tmp_path: Path, agent: AgentFile, how: dict[str, object], message: str
) -> None:
    with pytest.raises(PromoteError) as error:
        keep(tmp_path, agent, agent, **how)
    assert str(error.value).startswith(message)
    assert not (tmp_path / ".teambot").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".teambot").mkdir()
    agents(tmp_path).symlink_to(elsewhere)
    with pytest.raises(PromoteError, match="cannot be written"):
        keep(tmp_path)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("prompt", "sign"),
    [
        ("Check src/auth/login.py", "src/auth/login.py"),
        ("Look into /etc/passwd.d/x", "/etc/passwd.d/x"),
        ("Mind lines 10-20", "lines 10-20"),
        ("See main.go:42 first", "main.go"),
        ("You know This Project well", "This Project"),
        ("Fix issue #12", "issue #12"),
    ],
)
def test_a_prompt_for_one_task_is_told(prompt: str, sign: str) -> None:
    assert any(f"“{sign}”" in line for line in specific(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a security expert. Focus on OWASP top 10 vulnerabilities.",
        "Fix security issues while maintaining functionality.",
        "Answer yes and/or no; prefer Python 3.11, e.g. type hints. Ratio 1:2",
    ],
)
def test_a_prompt_for_many_tasks_is_not(prompt: str) -> None:
    assert specific(prompt) == ()


def test_long_prompts_are_looked_at_in_a_moment() -> None:
    for unit in ("a.", "a/", "/", "#", "line ", "this "):
        specific(unit * 100_000)


def test_find_names_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(PromoteError, match="There are: none"):
        find(tmp_path, "scanner")
    folder = tmp_path / ".teambot" / "temp-agents"
    folder.mkdir(parents=True)
    (folder / "scanner.md").write_text(render_agent_file(SCANNER))
    (folder / "broken.md").write_text("nothing")
    assert find(tmp_path, "scanner")[0].prompt == "You look."
    with pytest.raises(PromoteError, match="Did you mean scanner"):
        find(tmp_path, "scaner")
    with pytest.raises(PromoteError, match="front matter"):
        find(tmp_path, "broken")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"agents": 3}', '{"agents": {"x": {}}}', "[" * 100_000])
def test_a_broken_list_is_told_and_left(tmp_path: Path, text: str) -> None:
    agents(tmp_path).mkdir(parents=True)
    path = agents(tmp_path) / "registry.json"
    path.write_text(text)
    with pytest.raises(StoreError, match="mend it, or remove it"):
        count_uses(tmp_path, {"x": 1})
    done = keep(tmp_path)
    assert done.path.exists()
    assert "mend it, or remove it" in done.warnings[-1]
    assert path.read_text() == text


def test_uses_are_counted_for_promoted_agents_only(tmp_path: Path) -> None:
    count_uses(tmp_path, {"pm": 3})
    assert not (tmp_path / ".teambot").exists()
    record(tmp_path, "scanner", Promoted("2026", "Looks"))
    count_uses(tmp_path, {"scanner": 2, "pm": 3})
    count_uses(tmp_path, {"scanner": 1})
    assert read_registry(tmp_path) == {"scanner": Promoted("2026", "Looks", 3)}


async def test_statements_that_define_a_promoted_agent_still_run(tmp_path: Path) -> None:
    keep(tmp_path)
    statements = '$scanner := {base: "plan", prompt: "You stare.", model: "haiku"}\n@scanner go'
    async with Session(
        directory=tmp_path, backend="echo", environ={"HOME": str(tmp_path)}, ephemeral=False
    ) as session:
        assert session.explain(statements).replaced == ("scanner",)
        assert (await session.run(statements)).completed
        assert session.models[AgentId("scanner")] == "haiku"
        assert session.explain(statements).replaced == (), "it is a temporary one by now"
        with pytest.raises(StatementError, match="The name pm is taken by the team"):
            session.submit('$pm := {base: "plan", prompt: "x"}')
    assert "You look." in (agents(tmp_path) / "scanner.md").read_text(), "the promoted one stays as it was"
    async with Session(directory=tmp_path, backend="echo", environ={"HOME": str(tmp_path)}) as session:
        assert "scanner" in session.roster.team
