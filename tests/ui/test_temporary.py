"""Agents that come and go, on the screen: panels, tabs, completion, and every command about them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input, OptionList, Select, Static, TextArea

from teambot_tui.engine.facts import AgentPromoted
from teambot_tui.engine.ids import AgentId
from teambot_tui.ui.controllers.panels import MOST_JOINED
from teambot_tui.ui.widgets.graph import Graph
from tests.ui.stage import LARGE, NORMAL, SMALL, on_stage

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.engine.facts import Fact
    from tests.ui.stage import Stage

SCANNER = '$scanner := {base: "reviewer", prompt: "You look for holes.", model: "opus"}'
FIXER = '$fixer := {base: "builder-1", prompt: "You mend them."}'
FLOW = f"""{SCANNER}
{FIXER}
$scanner:"Scan the login":issues ->
$fixer:"Fix these: {{issues}}":fixes ->
reviewer:"Verify it\""""


async def here(stage: Stage, *agents: str) -> None:
    """Wait until these agents have a panel."""
    await stage.until(
        lambda: all(stage.screen.query(f"#panel-{agent}") for agent in agents), f"{agents} to be here"
    )


async def gone(stage: Stage, agent: str) -> None:
    """Wait until an agent has no panel any more."""
    await stage.until(lambda: not stage.screen.query(f"#panel-{agent}"), f"{agent} to be gone")


@pytest.mark.parametrize("size", [SMALL, NORMAL])
async def test_a_flow_of_temporary_agents(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await stage.paste(FLOW, made=3)
        await here(stage, "scanner", "fixer")
        assert stage.badge("scanner") == "● executing"
        assert stage.badge("fixer") == "◷ waiting for @scanner"
        assert " ~scanner " in stage.line("tabs")
        if size == SMALL:
            assert "7 ~scanner" in stage.drawn("#panel-scanner")
        else:
            assert "7 ~scanner · opus" in str(stage.panel("scanner")._card())
            assert "8 ~fixer · builder-1" in str(stage.panel("fixer")._card())
        await stage.answer("scanner#1", "hole one\nhole two\n")
        await stage.answer("fixer#1", "mended")
        await stage.answer("reviewer#1", "fine")
        assert stage.gate.prompt("fixer#1") == "You mend them.\n\nFix these: hole one\nhole two"
        assert stage.gate.prompt("reviewer#1") == "Verify it"


async def test_the_plan_says_who_is_defined() -> None:
    async with on_stage() as stage:
        await stage.type_text(FIXER)
        assert stage.plan == " ▸ defines $fixer"
        await stage.press("ctrl+c")
        await stage.paste(SCANNER)
        await here(stage, "scanner")
        assert stage.notices == ["~scanner joined. @scanner gives it a task."], (
            "its panel may be out of sight"
        )
        await stage.type_text('$scanner:"x":found -> pm:"Use {found}"')
        assert stage.plan.startswith(" ▸ @scanner starts · @pm waits for @scanner · {found} ◷")


async def test_completion_knows_agents_and_variables() -> None:
    async with on_stage() as stage:
        await stage.paste(FLOW, made=3)
        await here(stage, "scanner")
        for typed, taken in (
            ("@sca", "@scanner "),
            ("@pm use $sca", "@pm use $scanner"),
            ("$sca", "$scanner"),
            ("@pm use {is", "@pm use {issues}"),
            ('pm:"Use {fi', 'pm:"Use {fixes}'),
        ):
            await stage.type_text(typed)
            await stage.press("tab")
            await stage.until(lambda taken=taken: stage.bar.text == taken, taken)  # type: ignore[misc]
            await stage.press("ctrl+c")


async def test_the_graph_names_what_goes_along() -> None:
    async with on_stage(LARGE) as stage:
        await stage.paste(FLOW, made=3)
        await stage.press("f3")
        graph = stage.screen.query_one("#graph", Graph)
        await stage.until(lambda: "{issues}" in graph.text, "the picture")
        assert "▶" in graph.text
        assert "{}" not in graph.text


async def test_who_leaves_takes_panel_tab_and_name_along() -> None:
    async with on_stage() as stage:
        await stage.paste(f"{SCANNER}\n{FIXER}")
        await here(stage, "scanner", "fixer")
        stage.screen.controls.display.step_agent(-2)
        assert stage.screen.query_one("#tabs").agent == "scanner"  # type: ignore[attr-defined]
        await stage.paste("/forget scanner")
        await gone(stage, "scanner")
        assert stage.notices[-1] == "~scanner has left."
        assert "scanner" not in stage.line("tabs")
        assert stage.screen.query_one("#tabs").agent is None  # type: ignore[attr-defined]
        assert "scanner" not in stage.bar.completer.agents
        assert stage.panel("fixer").number == 7
        await stage.paste("@scanner go")
        assert "Unknown agent: @scanner" in stage.complaint
        await stage.press("ctrl+c")
        await stage.paste(SCANNER)
        await here(stage, "scanner")
        assert stage.panel("scanner").number == 8


async def test_only_so_many_who_joined_have_a_panel() -> None:
    async with on_stage() as stage:
        names = [f"t-{number}" for number in range(MOST_JOINED + 5)]
        await stage.paste("\n".join(f'${name} := {{base: "pm", prompt: "p"}}' for name in names))
        await stage.until(lambda: len(stage.screen.query(".panel")) == 6 + MOST_JOINED, "the panels")
        assert not stage.screen.query("#panel-t-0")
        await stage.paste("@t-0 go", made=1)
        await here(stage, "t-0")
        assert len(stage.screen.query(".panel")) == 6 + MOST_JOINED
        for name in names[1:]:
            await stage.ask(lambda session, name=name: session.dismiss(AgentId(name)))  # type: ignore[misc]
        await gone(stage, "t-1")
        await stage.until(lambda: len(stage.screen.query(".panel")) == 7, "one to be left")
        for _ in names:
            await stage.press("alt+right")


async def test_commands_that_report() -> None:
    async with on_stage() as stage:
        await stage.paste("/vars")
        assert "none yet" in stage.dialog
        await stage.press("escape")
        await stage.paste(FLOW, made=3)
        await stage.answer("scanner#1", "hole one [b]\nhole two")
        for command, title, *words in (
            ("/agents", "The team", "~scanner    temporary, of reviewer", "opus", "@pm"),
            ("/vars", "Variables", "{issues}", "scanner#1", "✓ completed", "21  hole one [b]", "{fixes}"),
            ("/models", "Models", "●   @scanner    opus"),
            ("/model scanner", "Models of @scanner", "●   @scanner  opus"),
            ("/status", "Status", "~fixer", "● executing"),
        ):
            await stage.paste(command)
            await stage.until(lambda title=title: stage.dialog.startswith(title), command)  # type: ignore[misc]
            for word in words:
                assert word in stage.dialog, command
            await stage.press("escape")
        await stage.paste("/model scanner sonnet")
        await stage.paste("/model scanner")
        await stage.until(lambda: "●   @scanner  sonnet" in stage.dialog, "the model")


async def test_what_cannot_be_done_is_said_and_the_text_stays() -> None:
    async with on_stage() as stage:
        await stage.paste(f"{SCANNER}\n@scanner go", made=1)
        await here(stage, "scanner")
        for command, *words in (
            ("/forget", "Say which agent: /forget scanner"),
            ("/forget pm", "@pm is of the team"),
            ("/forget scaner", "There is no temporary agent scaner.", "Did you mean scanner?"),
            ("/forget ~scanner", "@scanner still has work: scanner#1."),
            ("/promote nobody", "There is no temporary agent nobody. There are scanner."),
            ("/promote scanner --as", "--as cannot be understood. Try: /promote scanner"),
            ("/context goal", "Nobody is told goal."),
            ("/context unset", "Say which key to take back"),
            ("/context unset goal", "Nobody is told goal."),
            ('/context $x "y"', "A key is a word of its own"),
            ("/spawn", "Say what is to be done. Try: /spawn --after"),
            ("/spawn --retries many @ba x", "--retries must be a number such as 2, not many."),
        ):
            await stage.paste(command)
            for word in words:
                assert word in stage.complaint, command
            assert stage.bar.text == command
            await stage.press("ctrl+c")


async def test_errors_of_definitions_are_shown_at_their_place_and_the_text_stays() -> None:
    async with on_stage() as stage:
        await stage.paste('pm:"A":found', made=1)
        await stage.fail("pm#1", "no idea")
        for text, *words in (
            ('$scaner:"Look"', "1:1 Undefined temporary agent: $scaner. Known: pm, ba,"),
            ('$x := {base: "pm"}', "1:18 Expected the field prompt."),
            ('$x := {base: "pm", promt: "p"}', "1:20 Unknown field: promt.", "did you mean prompt?"),
            (
                '$x := {base: "nobody", prompt: "p"}',
                "1:14 Unknown base: nobody. Known bases: pm, ba,",
            ),
            ('$pm := {base: "ba", prompt: "p"}', "1:1 The name pm is taken by the team."),
            ('ba:"{fund}"', "1:5 Unknown variable: {fund}. Known: found", "did you mean {found}?"),
            ('ba:"{found}"', "1:5 Variable {found} was never produced: pm#1 failed: no idea."),
            ('ba:"{x}" -> writer:"B":x', "1:5 Variable {x} is used before the stage that captures it."),
        ):
            await stage.paste(text)
            for word in words:
                assert word in stage.complaint, text
            assert stage.bar.text == text
            await stage.press("ctrl+c")
        assert len(stage.app.views.tasks()) == 1
        assert not stage.app.views.roster.temporary


async def test_a_spawned_run_waits_and_a_refused_one_comes_back() -> None:
    async with on_stage() as stage:
        await stage.paste("/spawn --label research @pm Look around", made=1)
        await stage.paste(
            "/spawn --after research --include-result --label design @builder-1 Design it", made=2
        )
        await stage.until(lambda: stage.badge("builder-1") == "◷ waiting for @pm", "it to wait")
        await stage.paste("/tasks")
        assert "◷ @pm        builder-1#1  Design it" in stage.dialog
        await stage.press("escape")
        await stage.answer("pm#1", "seen")
        await stage.answer("builder-1#1", "designed")
        prompt = "[Previous step result]:\nseen\n\n[Current task]:\nDesign it"
        assert stage.gate.prompt("builder-1#1") == prompt
        await stage.paste("/spawn @writer Write down $pm, {{output:research}}", made=3)
        await stage.until(lambda: "writer#1" in stage.gate.started, "it to start")
        assert stage.gate.prompt("writer#1").startswith("Write down [Output from @pm]: seen, --- Output from")
        await stage.paste("/spawn --after reserch @ba Check")
        await stage.until(lambda: stage.complaint, "the refusal")
        assert "There is no task, label or agent reserch. Did you mean research?" in stage.complaint
        assert stage.bar.text == "/spawn --after reserch @ba Check"


async def test_a_child_shows_its_parent() -> None:
    async with on_stage() as stage:
        await stage.paste("@pm plan", made=1)
        await stage.until(lambda: "pm#1" in stage.gate.started)
        task = stage.app.views.tasks()[0]
        stage.app.bridge.run(
            lambda service: service._session.spawn("x", agent="ba", label="design", parent=task)
        )
        await here(stage, "design")
        assert "7 ~design ← pm#1" in str(stage.panel("design")._card())
        await stage.paste("/agents")
        assert "~design     temporary, of ba, by pm#1" in stage.dialog


# What everyone is told


async def test_the_shared_context_is_shown_and_edited() -> None:
    async with on_stage(LARGE) as stage:
        await stage.paste('/context goal "Ship it"')
        await stage.until(lambda: stage.app.views.context, "the context")
        await stage.paste("/context limits [1, 2]")
        await stage.paste("/context note just text [/x] [@click=app.quit]go[/]")
        await stage.until(lambda: len(stage.app.views.context) == 3, "the context")
        await stage.paste("/context limits")
        assert "limits: [1, 2]" in stage.dialog
        await stage.press("escape")
        run = {"goal": "Sell it"}
        stage.app.bridge.run(lambda service: service._session.spawn("x", agent="ba", shared_context=run))
        await stage.until(lambda: stage.state("ba#1") == "executing", "the run")
        assert 'note: "just text [/x]' in stage.gate.requests[-1].system
        await stage.paste("/task ba#1")
        told = 'goal: "Sell it"  ← ba#1, overrides session'
        await stage.until(lambda: told in stage.inspector.text, "the inspector")
        await stage.press("escape")

        await stage.press("f6")
        modal = stage.app.screen
        keys = modal.query_one("#context-keys", OptionList)
        await stage.until(lambda: keys.option_count == 3, "the keys")
        assert 'ba#1: goal: "Sell it"  (overrides session)' in stage.dialog
        await stage.press("up", "home", "delete")
        await stage.until(lambda: keys.option_count == 2, "one to be gone")
        await stage.press("enter")
        line = modal.query_one("#context-line", Input)
        assert line.value == "limits [1, 2]"
        line.value = "limits {}"
        await stage.press("enter")
        await stage.until(lambda: stage.app.views.context[0].value == "{}", "the change")
        line.value = "unset"
        await stage.press("enter")
        assert "Say which key" in str(modal.query_one("#context-says", Static).visual)
        await stage.press("escape")
        assert not stage.dialog
        await stage.paste("/context unset note")
        await stage.until(lambda: len(stage.app.views.context) == 1, "one to be left")


# The form


async def test_the_form_defines_an_agent_and_says_what_is_wrong() -> None:
    async with on_stage() as stage:
        await stage.paste("/define")
        await stage.until(lambda: stage.dialog.startswith("Define a temporary agent"), "the form")
        form = stage.app.screen
        says = form.query_one("#define-says", Static)

        async def complains(words: str) -> None:
            await stage.until(lambda: words in str(says.visual), words)

        await complains("A name is a small letter")
        assert says.has_class("-incomplete"), "nothing is wrong before anything is typed"
        assert not says.has_class("-error")
        await stage.type_text("pm")
        form.query_one(TextArea).text = 'You say "hello"\n```\n$x := {}'
        await complains("The name pm is taken by the team.")
        assert says.has_class("-error")
        await stage.press("escape")
        assert not stage.dialog
        assert not stage.app.views.roster.temporary
        await stage.paste("/define")
        await stage.until(lambda: stage.dialog, "the form again")
        form = stage.app.screen
        says = form.query_one("#define-says", Static)
        name = form.query_one("#define-name", Input)
        assert name.value == "pm", "nothing is lost"
        name.value = "greeter"
        form.query_one(Select).value = "writer"
        form.query_one(TextArea).text += "   "
        form.query_one("#define-model", Input).value = "opus"
        await complains("defines $greeter")
        form.query_one(TextArea).text = " "
        await complains("The field prompt is empty.")
        await stage.press("ctrl+s")
        assert stage.dialog, "not while something is wrong"
        form.query_one(TextArea).text = 'You say "hello"\n```\n$x := {}'
        await complains("defines $greeter")
        await stage.press("ctrl+s")
        await here(stage, "greeter")
        defined = stage.app.views.roster.temporary[AgentId("greeter")]
        assert (defined.base, defined.model) == ("writer", "opus")
        assert defined.prompt == 'You say "hello"\n```\n$x := {}'
        await stage.paste("/define")
        await stage.until(lambda: stage.dialog, "an empty form")
        assert not stage.app.screen.query_one("#define-name", Input).value


# Keeping some


async def test_promote_and_its_clash(tmp_path: Path) -> None:
    promoted: list[Fact] = []
    async with on_stage(folder=tmp_path) as stage:
        await stage.paste(f"{SCANNER}\n{FIXER}\n@scanner go", made=1)
        await here(stage, "scanner")
        with stage.screen.controls.actions.agents._bridge._session.bus.subscribe(
            promoted.append, AgentPromoted
        ):
            await stage.paste("/promote scanner")
            await stage.until(lambda: bool(promoted), "the promotion as a fact")
        await stage.until(lambda: any("is in" in notice for notice in stage.notices), "the promotion")
        text = (tmp_path / ".teambot/agents/scanner.md").read_text()
        assert "base: reviewer" in text
        assert "You look for holes." in text
        await stage.paste("/promote fixer --as scanner")
        await stage.until(lambda: stage.dialog, "the clash")
        assert "There is an agent scanner already." in stage.dialog
        assert "-You look for holes." in stage.dialog
        assert "+You mend them." in stage.dialog
        assert "/promote fixer --force" in stage.dialog
        await stage.press("escape")
        await stage.paste("/promote fixer --as scanner --force")
        await stage.until(lambda: "mend" in (tmp_path / ".teambot/agents/scanner.md").read_text(), "force")
        registry = json.loads((tmp_path / ".teambot/agents/registry.json").read_text())
        assert registry["agents"]["scanner"]["description"] == "You mend them."


async def test_leaving_offers_to_keep_what_did_its_work(tmp_path: Path) -> None:
    async with on_stage(folder=tmp_path) as stage:
        await stage.paste(FLOW, made=3)
        await stage.answer("scanner#1", "hole")
        await stage.answer("fixer#1", "mended")
        await stage.answer("reviewer#1", "fine")
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.dialog.startswith("Keep temporary agents?"), "the offer")
        await stage.press("escape")
        assert not stage.dialog
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.dialog, "the offer")
        offered = stage.app.screen.query_one(OptionList)
        await stage.press("a", "down", "space")
        prompts = [str(offered.get_option_at_index(number).prompt) for number in range(2)]
        assert prompts == ["[x] ~scanner  You look for holes.", "[ ] ~fixer  You mend them."]
        await stage.press("enter")
        await stage.until(lambda: stage.app.return_code == 0, "the end")
        assert [path.name for path in sorted((tmp_path / ".teambot/agents").glob("*.md"))] == ["scanner.md"]


@pytest.mark.parametrize("text", ["@pm plan", FIXER, ""])
async def test_leaving_offers_nothing_when_nothing_did_its_work(text: str) -> None:
    async with on_stage() as stage:
        if text:
            await stage.paste(text)
        if text.startswith("@"):
            await stage.answer("pm#1", "done")
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.app.return_code == 0, "the end")
